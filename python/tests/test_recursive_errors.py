"""Error messages about recursive functions and their data types."""

import sys

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from support.comparison import assert_same, raises
from support.word_trees import Leaf, Node, Rose, Tree, height, mirror, rose, total, tree

import batch

TREES = [tree, Leaf(4)]
ROSES = [rose, Rose.rose(5, [])]


def name_of(kind):
    """Returns the name of the JAX type for int or float."""
    return jnp.result_type(kind).name


# --- results of functions ---------------------------------------------------------------

@batch.function
def endless(tree: Tree):
    return endless(tree.left if isinstance(tree, Node) else tree)


def test_no_path_with_a_result():
    with raises(TypeError, "annotate the result, as in `def endless"):
        batch.vmap(endless)(TREES)


@batch.function
def grows(tree: Tree, x):
    return x.sum() if isinstance(tree, Leaf) else grows(tree.left, jnp.concatenate([x, x]))


def test_types_that_grow():
    name = name_of(float)
    with raises(TypeError, f"new argument types each time ({name}[1]; {name}"):
        grows(tree, jnp.ones(1))


def test_types_that_differ():
    @batch.function
    def disagrees(tree: Tree):
        return 1 if isinstance(tree, Leaf) else 1.0

    with raises(TypeError, f"disagrees returns {name_of(int)}[] for Leaf, but {name_of(float)}[] "
                "for Node; all paths must return the same types"):
        batch.vmap(disagrees)(TREES)


def test_type_that_differs_from_the_annotation():
    @batch.function
    def annotated(tree: Tree) -> int:
        return 1.5

    with raises(TypeError, f"annotated returns {name_of(float)}[]; expected {name_of(int)}[], as "
                "in its annotation"):
        batch.vmap(annotated)(TREES)


def test_value_of_an_enclosing_function():
    @batch.function
    def outer(x):
        @batch.function
        def inner(y):
            return x * y

        return inner(x)

    with raises(TypeError, "inner reads a value that an enclosing function computes; pass it as"):
        batch.vmap(outer)(jnp.ones(2))


def test_method():
    class Model:
        @batch.function
        def method(self):
            return 1

    with raises(TypeError, "@batch.function does not support methods"):
        _ = Model().method


def test_number_of_another_type():
    @batch.function
    def makes_float(tree: Tree):
        return Leaf(0.5)

    with raises(TypeError, f"Tree.Leaf.word: expected {name_of(int)}[], got {name_of(float)}[]"):
        batch.vmap(makes_float)(TREES)


def forgets(tree: Tree):
    match tree:
        case Tree.Leaf(word):
            return word


def twice(tree: Tree):
    return mirror(tree), mirror(tree)


def iterates(r: Rose):
    return sum(height(kid) for kid in r.below)


def gives_rows(r: Rose):
    return r.below.map(height)


# --- values -----------------------------------------------------------------------------

def asks_truth(tree: Tree):
    return 1 if tree else 2


def compares(tree: Tree):
    return 1 if tree == tree else 2


def misspells(tree: Tree):
    return tree.words if isinstance(tree, Leaf) else 1


def asks_result(tree: Tree):
    return 1 if isinstance(mirror(tree), Leaf) else 2


def makes_wrong(tree: Tree):
    return Node(tree, 3)


def makes_short(tree: Tree):
    return Node(tree)


@batch.adt
class Numbers:
    class numbers:
        xs: list[float]


def branch_rows(n: Numbers):
    xs = n.xs
    return lax.cond(xs.length > 1, lambda: xs.map(lambda x: x * 2),
                    lambda: xs.map(lambda x: x - 1)).sum()


@pytest.mark.parametrize("function, arguments, error, text", [
    pytest.param(branch_rows, [Numbers.numbers([1.5, -1.0])], NotImplementedError,
                 "read list.array before the branch", id="rows_that_leave_a_branch"),
    pytest.param(forgets, TREES, TypeError, f"forgets returns {name_of(int)}[] for Leaf, but "
                 "None for Node; add a case or a return statement for Node",
                 id="forgotten_variant"),
    pytest.param(asks_truth, TREES, TypeError, "distinguish its variants", id="truth_value"),
    pytest.param(compares, TREES, TypeError, "no identity", id="comparison"),
    pytest.param(misspells, TREES, AttributeError,
                 "Tree.Leaf has no field 'words'; expected word", id="absent_field"),
    pytest.param(asks_result, TREES, TypeError, "pass the value to a @batch.function",
                 id="variant_of_a_result"),
    pytest.param(iterates, [rose], TypeError, "instead of a loop, use list.map(f)",
                 id="iterated_list"),
    pytest.param(gives_rows, [rose], NotImplementedError, "reduce over the rows",
                 id="rows_as_result"),
    pytest.param(makes_wrong, TREES, TypeError, "Tree.Node.right: expected Tree, got 3",
                 id="wrong_field"),
    pytest.param(makes_short, TREES, TypeError, "field 'right' of Tree.Node is missing",
                 id="missing_field"),
    pytest.param(twice, TREES, TypeError, "results 0 and 1 both contain nodes of Tree",
                 id="results_of_one_data_type"),
])
def test_unsupported(function, arguments, error, text):
    with raises(error, text):
        batch.vmap(batch.function(function))(arguments)


def test_data_without_annotation():
    with raises(TypeError, "an argument of type Tree requires an annotation; write `def f(tree: "
                "Tree)`, or pass a batch.forest"):
        batch.vmap(lambda tree: 1)(TREES)


def test_data_of_all_instances():
    with raises(ValueError, "in_axes=None is unsupported for an argument of type Tree, which "
                "differs between instances; use in_axes=0"):
        batch.vmap(mirror, in_axes=None)(TREES)


def test_object_of_data_type():
    with raises(TypeError, "data type Tree cannot be instantiated; call a variant: Tree.Leaf, "
                "Tree.Node"):
        Tree(1)


def gives_list(r: Rose):
    return r.below


def gives_array_of_data(r: Rose):
    return r.below.array


def maps_other_rows(r: Rose):
    return r.below.sum(lambda kid, x: kid.value * x, jnp.ones(3))


def maps_data(r: Rose):
    return r.below.sum(lambda kid, other: kid.value, r)


def folds_with_number(r: Rose):
    return r.below.fold(lambda carry, kid, x: carry + kid.value * x, r.value, 3)


def maps_empty_rows(r: Rose):
    values = r.below.map(lambda kid: kid.value)
    return r.below.sum(lambda kid, none: kid.value, values[:, None][:, :0])


def folds_to_another_type(r: Rose):
    return r.below.fold(lambda carry, kid: jnp.stack([carry, kid.value]), r.value)


@pytest.mark.parametrize("function, error, text", [
    (gives_list, TypeError, "result 0 has unsupported type list[Rose]; return the list as"),
    (gives_array_of_data, TypeError, "list[Rose] has no array because its elements are values of a "
     "data type"),
    (maps_other_rows, TypeError, "one row for each element; got an array of shape (3,)"),
    (maps_data, TypeError, "arguments of list.map and list.fold must be lists, or arrays with one "
     "row for each element; got <traced Rose>"),
    (folds_with_number, TypeError, "one row for each element; got 3"),
    (maps_empty_rows, NotImplementedError, "arrays whose rows have no elements; omit them"),
    (folds_to_another_type, TypeError,
     f"the function of list.fold returns {name_of(int)}[2] for rose; expected "
     f"{name_of(int)}[], as in init")],
    ids=["result", "array_of_data", "other_rows", "data", "number", "empty_rows", "fold"])
def test_unsupported_use_of_a_list(function, error, text):
    with raises(error, text):
        batch.vmap(batch.function(function))(ROSES)


def test_list_outside_of_its_trace():
    kept = []

    def keeps(r: Rose):
        kept.append(r.below)
        return 1

    batch.vmap(batch.function(keeps))(ROSES)
    assert repr(kept[0]) == "<traced list[Rose]>"
    with raises(TypeError, "use lists only in a @batch.function"):
        kept[0].sum(height)


@pytest.mark.parametrize("make, text", [
    (lambda n: Node(Leaf(1), Leaf(2), Leaf(3)),
     "too many arguments for Tree.Node; expected 2 (left, right), got 3"),
    (lambda n: Node(Leaf(1), Leaf(2), left=Leaf(3)), "Tree.Node got field 'left' twice"),
    (lambda n: Node(Leaf(1), middle=Leaf(3)),
     "Tree.Node has no field 'middle'; expected left or right"),
    (lambda n: Leaf("abc"), "Tree.Leaf.word: expected int, got 'abc'"),
    (lambda n: Rose.rose(1, 7), "Rose.rose.below: expected list[Rose], got 7"),
    (lambda n: Rose.rose(1, [Leaf(1)]), "Rose.rose.below[0]: expected Rose, got <traced Tree>"),
    (lambda n: Numbers.numbers(Rose.rose(1, [])),
     "Numbers.numbers.xs: expected list[float], got <traced Rose>"),
], ids=["too_many", "twice", "unknown", "text", "number_for_list", "element", "data_for_list"])
def test_construction_in_a_function(make, text):
    with raises(TypeError, text):
        batch.vmap(batch.function(make))(jnp.ones(2))


def test_list_of_another_type():
    @batch.adt
    class Whole:
        class whole:
            xs: list[int]

    def converts(n: Numbers):
        return Whole.whole(n.xs)

    with raises(TypeError, "Whole.whole.xs: expected list[int], got list[float]"):
        batch.vmap(batch.function(converts))([Numbers.numbers([1.5])])


def other_tree():
    @batch.adt
    class Tree:
        class One:
            x: int

    return Tree


def test_two_data_types_of_one_name():
    one = other_tree().One(1)
    with raises(TypeError, "two data types of a program have the name Tree; rename one of them"):
        batch.vmap(lambda a, b: total(a) + b.x)(
            batch.forest(Tree, TREES), batch.forest(one._adt, [one, one]))


def length(r: Rose):
    return len(r.below)


def element(r: Rose):
    return height(r.below[0])


def truth(r: Rose):
    return 1 if not r.below else 2


@pytest.mark.parametrize("function, text", [
    (length, "instead of len(list), use list.length"),
    (element, "instead of list[i], use list.fold(f, init)"),
    (truth, "instead of `if list`, use list.length > 0"),
], ids=["length", "element", "truth"])
def test_list_as_in_python(function, text):
    """The message contains the location of the line that uses the list."""
    with raises(TypeError, text) as caught:
        batch.vmap(batch.function(function))(ROSES)
    line = function.__code__.co_firstlineno + 1
    assert f"test_recursive_errors.py:{line}" in str(caught.value)


def test_post_init_of_objects():
    @batch.adt
    class Checked:
        class Checked:
            x: float

            def __post_init__(self):
                raise ValueError("of objects")

    @batch.function
    def makes_checked(x):
        return Checked.Checked(x)

    with raises(TypeError, "Checked.Checked has a __post_init__"):
        batch.vmap(makes_checked)(jnp.ones(2))


@batch.function
def last(r: Rose) -> int:
    return r.below.map(last)[-1] + r.value


def test_last_row_of_none():
    with raises(batch.Error, "may be empty; read a row only where `x.shape[0] > 0`"):
        batch.vmap(last)(ROSES)


@batch.function
def last_if_any(r: Rose) -> int:
    rows = r.below.map(last_if_any)
    return (rows[-1] if rows.shape[0] > 0 else 0) + r.value


def test_last_row_where_one_exists():
    assert batch.vmap(last_if_any)(ROSES).tolist() == [8, 5]


# --- arguments --------------------------------------------------------------------------

TUPLES = [("rose", 1, [("rose", 2, [])])]


def test_tuples_with_an_annotation():
    assert batch.vmap(height)(TUPLES).tolist() == [2]


def test_tuples_without_an_annotation():
    with raises(TypeError, "annotate the argument as in `def f("):
        batch.vmap(lambda r: height(r))(TUPLES)


def test_tuples_without_an_annotation_in_batch_map():
    with raises(TypeError, "annotate the argument as in `def f("):
        batch.map(lambda r: height(r), TUPLES)


def test_tuple_inside_a_function():
    with raises(TypeError, "construct nodes with their variants"):
        batch.vmap(batch.function(lambda x: height(("rose", 1, x))))(jnp.ones(1))


def test_tree_instead_of_a_list():
    with raises(TypeError, "must be a list with one Tree for each instance"):
        batch.vmap(total)(tree)


def test_tree_without_an_annotation():
    with raises(TypeError, "def f(tree: Tree)"):
        batch.vmap(lambda t: 1)(tree)


def test_one_tree_for_all_instances():
    with raises(ValueError, "use in_axes=0"):
        batch.vmap(total, in_axes=None, axis_size=2)(TREES)


def test_one_result_for_all_instances():
    with raises(ValueError, "out_axes=None is unsupported for batch.Nodes"):
        batch.vmap(mirror, out_axes=None)(TREES)


def test_keyword_only_argument_of_a_direct_call():
    @batch.function
    def plus(tree: Tree, *, x):
        return total(tree) + x

    with raises(TypeError, "plus cannot take keyword-only arguments when it is called directly"):
        plus(tree, x=1)

    def total_plus_1(tree: Tree):
        return plus(tree, x=1)

    assert_same(batch.vmap(total_plus_1)(TREES), batch.vmap(total)(TREES) + 1)


def test_number_instead_of_a_function():
    with raises(TypeError, "@batch.function expects a Python function, got 3"):
        batch.function(3)


def test_type_instead_of_a_variant():
    with raises(TypeError, "call a variant: Tree.Leaf, Tree.Node"):
        Tree(3)


# --- transformations of JAX -------------------------------------------------------------

@batch.function
def scaled(tree: Tree, x):
    return total(tree) * x


@pytest.mark.parametrize("transform", [jax.jit, jax.grad], ids=["jit", "grad"])
def test_transformation_of_jax(transform):
    with raises(TypeError, "JAX cannot trace scaled, a @batch.function"):
        transform(lambda x: scaled(tree, x))(1.0)


def test_data_of_inner_lanes():
    with raises(TypeError, "JAX cannot trace a batch.Forest, batch.Ragged or batch.Nodes"):
        batch.vmap(batch.vmap(lambda n: Leaf(n)))(jnp.arange(12).reshape(3, 4))


def test_walks_of_inner_lanes():
    with raises(NotImplementedError, "do not support calls, data types and lists"):
        batch.vmap(lambda r, xs: jax.vmap(
            lambda x: r.below.sum(lambda kid: kid.value * x))(xs))(
                batch.forest(Rose, ROSES), jnp.arange(8).reshape(2, 4))


# --- declarations -----------------------------------------------------------------------

@pytest.mark.parametrize("found, wanted", [
    (batch.tensor((3,), jnp.int32), batch.tensor(3, dtype="int32")),
    (batch.tensor([2, 4]), batch.tensor(2, 4)),
    (batch.tensor((), dtype="bool"), batch.tensor(dtype="bool")),
], ids=["tuple_and_type", "list", "empty_tuple"])
def test_shape_and_type_of_a_tensor(found, wanted):
    assert found == wanted


def test_type_among_extents():
    with raises(TypeError, "and the element type as dtype="):
        batch.tensor(3, jnp.int32)


def test_more_than_a_shape_and_a_type():
    with raises(TypeError, "expects a shape and a dtype, got 3 arguments"):
        batch.tensor((3,), "int32", 4)


def test_extent_of_zero():
    with raises(TypeError, "invalid extent 0 of batch.tensor; expected a positive integer"):
        batch.tensor(0)


def test_unsupported_type_of_elements():
    with raises(TypeError, "unsupported element type 'complex64'; expected one of bool, int8"):
        batch.tensor(3, dtype="complex64")


def test_no_variants():
    with raises(TypeError, "has no variants; define a class for each"):
        batch.adt(type("Empty", (), {}))


def test_name_that_is_not_ascii():
    with raises(TypeError, "must be ASCII identifiers"):
        batch.adt(type("B\u00fcro", (), {"A": type("A", (), {})}))


def test_unknown_kind():
    with raises(ValueError, "invalid kind 'bush'; expected 'tree', 'sequence' or 'dag'"):
        batch.adt(kind="bush")


def test_negative_arity():
    with raises(ValueError, "invalid arity -1; expected a non-negative integer"):
        batch.adt(arity=-1)


def with_field(name, kind):
    """Returns a data type whose variant A has one field."""
    return batch.adt(type("Odd", (), {"A": type("A", (), {"__annotations__": {name: kind}})}))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="annotations are not evaluated")
@pytest.mark.parametrize("name", ["_hidden", "mro"])
def test_reserved_name_of_a_field(name):
    with raises(TypeError, f"A: field name '{name}' is reserved; rename the field"):
        with_field(name, int)


def test_unknown_type_of_a_field():
    with raises(TypeError, "A: cannot resolve type 'Absent': name 'Absent' is not defined; "
                "define the name before"):
        batch.vmap(lambda t: 1)(batch.forest(with_field("x", "Absent"), [1]))


@pytest.mark.parametrize("kind, text", [
    (dict, "<class 'dict'>; expected int"),
    (jnp.ndarray, "Array, which specifies no shape; use batch.tensor(shape), such as "
     "batch.tensor(4)"),
], ids=["dict", "array"])
def test_unsupported_type_of_a_field(kind, text):
    """Python 3.14 evaluates annotations later than the declaration."""
    with raises(TypeError, f"A: unsupported field type {text}"):
        data = with_field("x", kind)
        batch.vmap(lambda t: 1)(batch.forest(data, [1]))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="annotations are not evaluated")
def test_unsupported_type_in_a_declaration():
    with raises(TypeError, "A: unsupported field type Array, which specifies no shape"):
        with_field("x", jnp.ndarray)


def test_two_children_in_a_sequence():
    @batch.adt(kind="sequence")
    class Two:
        class Fork:
            left: "Two"
            right: "Two"

    with raises(ValueError, "Fork has 2 children, but Two is declared as a sequence"):
        batch.vmap(lambda t: 1)(batch.forest(Two, [1]))


def test_list_in_a_sequence():
    @batch.adt(kind="sequence")
    class Two:
        class Long:
            all: list["Two"]

    with raises(ValueError, "Long has a list of children, but Two is declared as a sequence"):
        batch.vmap(lambda t: 1)(batch.forest(Two, [1]))


def test_more_fields_than_the_arity():
    @batch.adt(arity=1)
    class Two:
        class Fork:
            left: "Two"
            right: "Two"

    with raises(ValueError, "Fork has 2 children, but Two is declared with arity 1; declare it "
                "with arity 2 or more"):
        batch.vmap(lambda t: 1)(batch.forest(Two, [1]))


# --- data that contradict their declaration ---------------------------------------------

@batch.adt(kind="tree")
class Doubled:
    class end:
        pass

    class step:
        left: "Doubled"
        right: "Doubled"


def test_tree_with_two_to_the_power_of_40_paths():
    chain = ("end",)
    for _ in range(40):
        chain = "step", chain, chain
    forest = batch.forest(Doubled, [chain])
    with raises(ValueError,
                ": more than 16777216 nodes; Doubled is declared as a tree or a sequence, where "
                "each reference to an object is a separate node; declare it with kind='dag' to "
                "share objects"):
        batch.vmap(batch.function(lambda d: 1))(forest)


@batch.adt(kind="tree", arity=2)
class Pairs:
    class tip:
        x: int

    class fork:
        kids: list[list["Pairs"]]
        other: Rose


TIP = Pairs.tip(1)
WIDE = Pairs.fork([[TIP], [], [TIP, TIP]], rose)
FITS = Pairs.fork([[TIP], [], [Pairs.fork([], rose)]], rose)


@pytest.mark.parametrize("given", [
    Pairs.fork([[], [TIP, WIDE]], rose),
    ("fork", [[], [TIP, ("fork", [[TIP], [], [TIP, TIP]], rose)]], rose),
], ids=["objects", "tuples"])
def test_more_children_than_declared(given):
    forest = batch.forest(Pairs, [FITS, given])
    with raises(ValueError,
                "values[1].kids[1][1]: 'fork' has 3 children of type Pairs, which is declared "
                "with arity 2"):
        batch.vmap(batch.function(lambda p: 1))(forest)


@batch.adt(arity=1)
class Row:
    class word:
        before: list["Row"]


def test_more_children_than_declared_in_arrays():
    with raises(ValueError,
                "node 2, a Row.word, has 2 children of type Row, which is declared with arity 1"):
        batch.Forest.of_arrays(Row, [0, 0, 0], {
            "word.before": batch.Ragged([0, 1], [0, 0, 0, 2])}, [2])
