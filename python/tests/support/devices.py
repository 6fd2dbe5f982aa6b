"""Tests that `pytest --device=NAME` runs, and what devices do not support."""

# Modules with programs that run on a device. Others test the package on the host, or use what
# devices do not support, such as iterators and Ctrl-C during a run. test_map and test_sample take
# too long in the emulator; test_devices.py has small cases of both.
MODULES = {
    "test_bind", "test_calls", "test_calls_and_jax", "test_compile", "test_element_types",
    "test_examples", "test_extents", "test_forest_arrays", "test_forest_objects",
    "test_forest_references", "test_forest_sharing", "test_forest_types", "test_kinds",
    "test_model", "test_ragged_functions", "test_recursion_data", "test_recursions",
    "test_recursive_models", "test_rules", "test_vmap", "test_vmap_operations",
    "test_vmap_random", "test_vmap_within_jax",
}
WAITS = "control flow waits for a tensor, so only strategy 'lazy' is legal"
EXPLAINS = "explain() is unsupported on devices"
NO_OPERATORS = "the program has no tensor code, so a device has nothing to do"
# Tests that fail on a device, and the reason. A run fails if such a test passes or does not exist.
UNSUPPORTED = {
    **{f"test_extents.py::test_question[of_argument-products-{question}]": WAITS
       for question in ("n * n > 3", "n // 2 == 1", "n % 2 == 0")},
    "test_kinds.py::test_kind[nothing but its argument]": NO_OPERATORS,
    "test_model.py::test_max_steps_of_linearized_loop": NO_OPERATORS,
    "test_model.py::test_partial_results_of_linearized_loop": NO_OPERATORS,
    "test_ragged_functions.py::test_function[reduction in a loop]": WAITS,
    "test_recursion_data.py::test_argument_as_result": NO_OPERATORS,
    "test_recursions.py::test_data_without_a_function": NO_OPERATORS,
    "test_recursions.py::test_recursion_on_a_condition": WAITS,
    "test_recursions.py::test_loops_with_calls_and_a_tree_of_results": WAITS,
    **{f"test_recursions.py::{name}": EXPLAINS for name in (
        "test_tasks_of_each_tree", "test_tasks_read_earlier_tasks_of_the_same_tree",
        "test_inner_nodes_read_two_results_and_leaves_none", "test_batches_of_tasks",
        "test_picture_of_a_tree_with_a_shared_node", "test_picture_of_an_absent_group",
        "test_tasks_for_which_control_waits")},
    "test_vmap_operations.py::test_scatter_program[all_outside]": NO_OPERATORS,
    "test_vmap_operations.py::test_scatter_program[no_update]": NO_OPERATORS,
    "test_vmap_within_jax.py::test_map_refuses_array_on_several_devices":
        "the test passes an iterator, which is unsupported on devices",
}
# Tests that take minutes in the emulator.
SLOW = {"test_recursions.py::test_tree_of_100000_levels"}


def mark(items, xfail):
    """Returns the items to run, and marks those that fail as expected.

    Raises ValueError if an entry above names no test of the collected modules.
    """
    items = {f"{item.path.name}::{item.name}": item for item in items
             if item.path.stem in MODULES}
    collected = {item.path.name for item in items.values()}
    absent = [name for name in (*UNSUPPORTED, *SLOW)
              if name not in items and name.split("::")[0] in collected]
    if absent:
        raise ValueError(f"support/devices.py lists tests that do not exist: {absent}")
    for name, reason in UNSUPPORTED.items():
        if name in items:
            items[name].add_marker(xfail(reason=reason, strict=True))
    return [item for name, item in items.items() if name not in SLOW]
