"""Trees of arrays, as JAX has them."""

import jax

_LEVELS = 200


def flatten(tree, what="the arguments"):
    """The leaves and the structure of a tree."""
    check(tree, what)
    return jax.tree.flatten(tree)


def check(tree, what):
    """Refuses a tree that contains itself. JAX's own functions raise an error then, but
    leave the interpreter without room for further calls (jaxlib 0.10)."""
    work = [(tree, 0)]
    while work:
        value, level = work.pop()
        if level > _LEVELS:
            raise ValueError("%s are a tree of more than %d levels, or one that contains "
                             "itself" % (what, _LEVELS))
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, (list, tuple)):
            continue
        work.extend((part, level + 1) for part in value
                    if isinstance(part, (list, tuple, dict)))
