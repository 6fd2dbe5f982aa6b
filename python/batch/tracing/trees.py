"""Trees of arrays (JAX pytrees)."""

import jax

_LEVELS = 200


def flatten_tree(tree, what="the arguments"):
    """Returns the leaves and the structure of a tree.

    Raises ValueError if the tree contains itself or has more than 200 levels.
    """
    check_tree(tree, what)
    return jax.tree.flatten(tree)


def check_tree(tree, what):
    """Raises ValueError for a tree that contains itself or has more than 200 levels.

    JAX functions also raise an error for such a tree. After that error, the interpreter has no
    stack space left for further calls (jaxlib 0.10).
    """
    work = [(tree, 0)]
    while work:
        value, level = work.pop()
        if level > _LEVELS:
            raise ValueError(f"the tree of {what} contains itself or has more than {_LEVELS} "
                             "levels")
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, (list, tuple)):
            continue
        work.extend((part, level + 1) for part in value
                    if isinstance(part, (list, tuple, dict)))
