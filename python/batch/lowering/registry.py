"""Registry of the functions that emit equations, by primitive."""

writers = {}


def lowers(name):
    """Registers the function that emits the equations of a primitive.

    The function takes the lowering, the equation and the names of the operands. It returns
    the names of the results.
    """
    def register(function):
        writers[name] = function
        return function
    return register
