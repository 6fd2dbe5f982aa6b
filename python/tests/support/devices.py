"""Tests that `pytest --device=NAME` runs, and what devices do not support."""

# Modules with programs that run on a device. Others test the package on the host, or use what
# devices do not support: iterators, explain() and Ctrl-C during a run. test_devices.py tests all
# devices in any run.
MODULES = {
    "test_bind", "test_calls", "test_compile", "test_element_types", "test_extents",
    "test_forest_arrays", "test_forest_objects", "test_forest_references", "test_forest_sharing",
    "test_forest_types", "test_ragged",
    "test_ragged_functions", "test_recursion_data", "test_recursions", "test_recursive_models",
    "test_trees", "test_vmap", "test_vmap_operations", "test_vmap_random",
}
WAITS = "control flow waits for a tensor, so only strategy 'lazy' is legal"
# Tests that fail on a device, and the reason. A run fails if such a test passes or does not exist.
UNSUPPORTED = {
    **{f"test_extents.py::test_question[of_argument-products-{question}]": WAITS
       for question in ("n * n > 3", "n // 2 == 1", "n % 2 == 0")},
}


def mark(items, xfail):
    """Returns the items to run, and marks those that fail as expected.

    Raises ValueError if an entry of UNSUPPORTED names no test of the collected modules.
    """
    items = [item for item in items if item.path.stem in MODULES]
    names = {f"{item.path.name}::{item.name}": item for item in items}
    collected = {item.path.name for item in items}
    for name, reason in UNSUPPORTED.items():
        if name in names:
            names[name].add_marker(xfail(reason=reason, strict=True))
        elif name.split("::")[0] in collected:
            raise ValueError(f"support/devices.py lists {name}, which does not exist")
    return items
