"""Functions, data types and models as pickles, in processes that have not seen them."""

import copy
import dataclasses
import importlib.util
import os
import pickle
import re
import shutil
import textwrap

import numpy
import pytest
from support import travelling
from support.comparison import raises
from support.processes import run_python

import batch
from batch.core import pickles

HERE = os.path.dirname(__file__)
needs_cloudpickle = pytest.mark.skipif(not importlib.util.find_spec("cloudpickle"),
                                       reason="cloudpickle is not installed")


@pytest.fixture
def without_cloudpickle(monkeypatch):
    monkeypatch.setattr(pickles, "_cloudpickle", lambda: None)


def run(program, *arguments, **environment):
    """Runs a program that can import the tests; returns its output."""
    done = run_python(f"import sys; sys.path.insert(0, {HERE!r})\n" + textwrap.dedent(program),
                      *map(str, arguments), env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout
    return done.stdout


def compilerless(folder):
    """Returns variables of a process without a compiler and with an empty cache."""
    return {"BATCH_COMPILE": "/nonexistent/batch-compile", "XDG_CACHE_HOME": str(folder / "cache")}


# Pickles each kind before and after its first use, and how it is used.
SENDER = """
    import pickle, sys
    import cloudpickle
    place, tool, path = sys.argv[1:]
    tool = {"pickle": pickle, "cloudpickle": cloudpickle}[tool]
    if place == "module":
        from support.travelling import *
    else:
        from support import travelling
        with open(travelling.__file__) as file:
            exec(compile(file.read(), "program.py", "exec"), globals())
    sent = {}
    for name, (make, use) in KINDS.items():
        if name == "viewed objects" and sys.argv[1:3] == ["__main__", "pickle"]:
            continue  # their class is not one of Batch, and pickle does not find it
        value = make()
        cold = tool.dumps(value)
        wanted = as_bytes(use(value))
        sent[name] = cold, tool.dumps(value), cloudpickle.dumps(use), wanted
    with open(path, "wb") as file:
        pickle.dump(sent, file)
"""
RECEIVER = """
    import pickle, sys
    from jax import tree
    import numpy
    with open(sys.argv[1], "rb") as file:
        sent = pickle.load(file)
    for name, (cold, warm, use, wanted) in sent.items():
        use = pickle.loads(use)
        if "vmap" in name or "@batch" in name:
            assert pickle.loads(cold) is pickle.loads(warm), name
        for data in cold, warm, cold:
            found = [numpy.asarray(leaf).tobytes()
                     for leaf in tree.leaves(use(pickle.loads(data)))]
            if found != wanted:
                print(name)
    print(len(sent), "support.travelling" in sys.modules)
"""


@needs_cloudpickle
@pytest.mark.parametrize("tool", ["pickle", "cloudpickle"])
@pytest.mark.parametrize("place", ["module", "__main__"])
def test_same_bits_in_a_fresh_process(place, tool, tmp_path):
    """Values of __main__ cross without the module that declares them."""
    run(SENDER, place, tool, tmp_path / "sent")
    count = len(travelling.KINDS) - ((place, tool) == ("__main__", "pickle"))
    assert run(RECEIVER, tmp_path / "sent") == f"{count} {place == 'module'}\n"


@needs_cloudpickle
def test_second_arrival_traces_and_compiles_nothing(tmp_path):
    """Objects cross with functions, so the first arrival compiles nothing, either."""
    run("""
        import builtins, pickle, sys
        import batch, jax.numpy as jnp, numpy
        from support.travelling import LOOP, TREES, W, Tree
        builtins.traces = []

        def f(x):
            traces.append("f")
            return jnp.sin(x) + 1

        @batch.function
        def count(tree: Tree):
            traces.append("count")
            match tree:
                case Tree.Leaf(word):
                    return word
                case Tree.Node(left, right):
                    return count(left) + count(right)

        sent = [(batch.vmap(f), [numpy.float32([1, 2])]), (batch.vmap(count), [TREES]),
                (count, [TREES[0]]),
                (batch.compile(LOOP).bind({"W": W}), [numpy.ones((1, 3), numpy.float32)])]
        for value, arguments in sent:
            value(*arguments)
        with open(sys.argv[1], "wb") as file:
            pickle.dump([(pickle.dumps(value), arguments) for value, arguments in sent], file)
    """, tmp_path / "sent")
    assert run("""
        import builtins, pickle, sys
        import batch
        builtins.traces, bound, bind = [], [], batch.Model.bind
        batch.Model.bind = lambda *a, **k: bound.append(1) or bind(*a, **k)
        with open(sys.argv[1], "rb") as file:
            sent = pickle.load(file)
        for data, arguments in sent:
            counts = []
            for _ in range(3):
                value = pickle.loads(data)
                value(*arguments)
                pickle.loads(pickle.dumps(value))(*arguments)
                counts.append((len(traces), len(bound)))
            print(counts[0][0] > 0, counts[0] == counts[2])
    """, tmp_path / "sent", **compilerless(tmp_path)) == "True True\n" * 4


@needs_cloudpickle
def test_compiles_where_an_object_is_damaged():
    f = batch.vmap(lambda x: x * 3.25 + 1)
    x = numpy.float32([1, 2])
    wanted = f(x)
    data = pickle.dumps(f)
    assert data.count(b"BATCHEND") == 1  # the end of the object
    assert numpy.array_equal(pickle.loads(data.replace(b"BATCHEND", b"        "))(x), wanted)


@needs_cloudpickle
def test_changed_globals_are_another_function():
    """A pickle contains the values of globals at its time."""
    def scaled(x):
        return x * factor[0]

    factor = numpy.float32([2])
    f = batch.vmap(scaled)
    first = pickle.loads(pickle.dumps(f))
    factor = numpy.float32([3])
    assert pickle.loads(pickle.dumps(f))(numpy.float32([1])) == 3
    assert first(numpy.float32([1])) == 2


def test_copies_are_the_function():
    f = batch.vmap(lambda x: x)
    assert copy.copy(f) is f and copy.deepcopy([f])[0] is f
    assert copy.deepcopy(travelling.encode) is travelling.encode


AGREEMENT = """
    import pickle, sys
    sys.path.insert(0, sys.argv[1])
    import bundled, cloudpickle
    from support import travelling
    with open(travelling.__file__) as file:
        exec(compile(file.read(), "program.py", "exec"), globals())

    def work(f, trees):
        assert isinstance(trees[1], Tree.Leaf) and not isinstance(trees[0], Tree.Leaf)
        return [as_bytes(g(values, WORDS)) for g in (f, batch.vmap(encode, in_axes=(0, None)))
                for values in (trees, batch.forest(Tree, trees), TREES)]

    f = batch.vmap(encode, in_axes=(0, None))
    tools = pickle, cloudpickle, bundled
    with open(sys.argv[2], "wb") as file:
        pickle.dump(([tool.dumps(f) for tool in tools], [tool.dumps(TREES) for tool in tools],
                     [tool.dumps(work) for tool in tools[1:]], work(f, TREES)), file)
"""


@needs_cloudpickle
def test_data_types_that_arrive_separately(tmp_path):
    """joblib and Ray bundle copies of cloudpickle, which give a process further copies of a
    class."""
    shutil.copytree(os.path.dirname(importlib.util.find_spec("cloudpickle").origin),
                    tmp_path / "bundled")
    run(AGREEMENT, tmp_path, tmp_path / "sent")
    assert run("""
        import itertools, pickle, sys
        sys.path.insert(0, sys.argv[1])
        with open(sys.argv[2], "rb") as file:
            *sent, wanted = pickle.load(file)
        same = 0
        for f, trees, work in itertools.product(*sent):
            same += pickle.loads(work)(pickle.loads(f), pickle.loads(trees)) == wanted
        print(same, "support.travelling" in sys.modules)
    """, tmp_path, tmp_path / "sent") == "18 False\n"


SCRIPT = """
    import multiprocessing, sys
    sys.path.insert(0, {here!r})
    from support import travelling
    with open(travelling.__file__) as file:
        exec(compile(file.read(), __file__, "exec"), globals())

    f = batch.vmap(encode, in_axes=(0, None))

    def work(f, trees):
        assert isinstance(trees[1], Tree.Leaf) and not isinstance(trees[0], Tree.Leaf)
        return [as_bytes(g(values, WORDS)) for g in (f, batch.vmap(encode, in_axes=(0, None)))
                for values in (trees, batch.forest(Tree, trees), TREES)], TREES

    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found, trees = pool.apply(work, (f, TREES))
        assert found == work(f, TREES)[0]
        assert found == work(f, trees)[0]
        print("same")
"""


@needs_cloudpickle
def test_script_with_processes(tmp_path):
    """In a new process, multiprocessing runs the script again, so its data types exist twice."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT).format(here=HERE))
    assert run(f"""
        import subprocess
        print(subprocess.run([sys.executable, "-P", {str(script)!r}], capture_output=True,
                             text=True))
    """).count("stdout='same\\n'") == 1


def test_names_need_no_cloudpickle(without_cloudpickle):
    for value in (travelling.encode, travelling.halved, travelling.Tree, travelling.Tree.Leaf):
        assert pickle.loads(pickle.dumps(value)) is value
    f = batch.vmap(travelling.halve)
    assert pickle.loads(pickle.dumps(f)).function is travelling.halve


def test_refuses_function_without_name(without_cloudpickle):
    with pytest.raises(TypeError) as raised:
        pickle.dumps(batch.vmap(lambda x: x))
    assert re.fullmatch("cannot pickle '<lambda>': .*<lambda>.*; give a function of a module, or "
                        "install cloudpickle", str(raised.value))


def test_refuses_data_type_without_name(without_cloudpickle):
    @batch.adt
    class Tree:
        class Leaf:
            word: int

    with raises(TypeError, "Tree, because its module has no such name; give a data type of a "
                           "module, or install cloudpickle"):
        pickle.dumps(Tree.Leaf(1))


@needs_cloudpickle
def test_registered_module_is_pickled_by_value(tmp_path):
    import cloudpickle
    cloudpickle.register_pickle_by_value(travelling)
    try:
        data = pickle.dumps((travelling.encode, travelling.Tree, travelling.WORDS))
    finally:
        cloudpickle.unregister_pickle_by_value(travelling)
    (tmp_path / "sent").write_bytes(data)
    assert run("""
        import pickle, sys
        with open(sys.argv[1], "rb") as file:
            encode, Tree, words = pickle.load(file)
        assert encode(Tree.Leaf(1), words).tolist() == words[1].tolist()
        print("support.travelling" in sys.modules)
    """, tmp_path / "sent") == "False\n"


def test_refuses_cancellation():
    for tool in (pickle.dumps, copy.copy):
        with raises(TypeError, "a batch.Cancellation belongs to this process and cannot be "
                               "pickled; create one in the process that calls the function"):
            tool(batch.Cancellation())


# --- data types --------------------------------------------------------------------------

def declare(size=3, kind=None, element=int, default=float("nan"), constant=1,
            body=lambda self: self.word):
    @batch.adt(kind=kind)
    class Chain:
        class End:
            word: element

        class Link:
            next: "Chain"
            weight: "batch.tensor(size)"
            extra: float = default
            rest: float = dataclasses.field(default_factory=lambda: 0.5)

        read, CONSTANT = body, constant
    assert size  # an annotation reads it
    return Chain


def test_equal_declarations():
    a, b = declare(), declare()
    assert a is not b and a == b and a.Link == b.Link and len({a, b}) == 1
    assert a.End != b.Link and a != a.End
    assert isinstance(b.End(1), a) and isinstance(b.End(1), a.End)
    assert not isinstance(b.End(1), a.Link)


@pytest.mark.parametrize("other", [
    {"size": 4}, {"kind": "tree"}, {"element": float}, {"default": 1.0}, {"constant": 2},
    {"body": lambda self: self.word + 1}], ids=lambda other: next(iter(other)))
def test_other_declarations(other):
    a, b = declare(), declare(**other)
    assert a != b and a.End != b.End
    assert not isinstance(b.End(1), a)


def test_derived_class_is_not_its_variant():
    Chain = declare()

    class End(Chain.End):
        pass

    assert End != Chain.End and isinstance(End(1), declare().End)


CHAIN = """
    import pickle, sys
    import batch, cloudpickle, jax.numpy as jnp, numpy

    def make(size):
        big = numpy.zeros(10 ** 6)

        @batch.adt
        class Chain:
            class End:
                pass

            class Link:
                next: "Chain"
                weight: "batch.tensor(size)"
                extra: int = 2

        assert size and len(big)
        return Chain
"""


@needs_cloudpickle
@pytest.mark.parametrize("tool", ["pickle", "cloudpickle"])
def test_local_data_type(tool, tmp_path):
    """A data type's pickle contains its fields' types, but not the variables of its function."""
    path = tmp_path / "sent"
    run(CHAIN + f"""
    Chain = make(3)
    values = [Chain.Link(Chain.End(), numpy.ones(3, numpy.float32))]
    data = {tool}.dumps(Chain)
    assert len(data) < 10 ** 5
    with open(sys.argv[1], "wb") as file:
        pickle.dump([data, pickle.dumps(values)], file)
    """, path)
    assert run(CHAIN + """
    with open(sys.argv[1], "rb") as file:
        Chain, values = map(pickle.loads, pickle.load(file))
    same = make(3)
    assert Chain is not same and Chain == same and Chain != make(4)
    try:
        Chain.Link(Chain.End())
    except TypeError as error:
        print(error)

    @batch.function
    def total(chain: same):
        match chain:
            case same.End():
                return jnp.zeros(3)
            case same.Link(rest, weight, extra):
                return total(rest) + weight * extra

    @batch.function
    def end(chain: Chain) -> Chain:
        return Chain.Link(Chain.End(), jnp.ones(3))

    print(batch.vmap(total)(values), batch.vmap(total)(batch.forest(Chain, values)))
    print(repr(Chain), repr(Chain.Link), batch.vmap(end)(values).extra.values)
    """, path).splitlines() == [
        "make.<locals>.Chain.Link.__init__() missing 1 required positional argument: 'weight'",
        "[[2. 2. 2.]] [[2. 2. 2.]]",
        "make.<locals>.Chain make.<locals>.Chain.Link [2]"]


@needs_cloudpickle
def test_unresolved_type():
    @batch.adt
    class Chain:
        class End:
            word: "Missing"  # noqa: F821

    with raises(TypeError, "cannot resolve type 'Missing'"):
        pickle.dumps(Chain)


# --- bound arrays ------------------------------------------------------------------------

def test_bound_arrays():
    """Arrivals share a value until one of them is updated."""
    array = batch.bind(numpy.float32([1, 2]))
    first, second = (pickle.loads(pickle.dumps(array)) for _ in range(2))
    assert first.value is second.value and first is not second
    first.update(numpy.float32([3, 4]))
    third = pickle.loads(pickle.dumps(first))
    assert (third.value.tolist(), third.version) == ([3, 4], 1)
    assert (second.value.tolist(), second.version) == ([1, 2], 0)
    array.update(numpy.float32([5, 6]))
    assert pickle.loads(pickle.dumps(array)).value.tolist() == [5, 6]


def test_bound_array_is_packed_once(monkeypatch):
    calls, bind = [], batch.Model.bind
    monkeypatch.setattr(batch.Model, "bind", lambda *a, **k: calls.append(1) or bind(*a, **k))
    f = batch.vmap(lambda x, w: x @ w, in_axes=(0, None))
    array = batch.bind(travelling.W)
    results = [f(travelling.ROWS, pickle.loads(pickle.dumps(array))) for _ in range(4)]
    assert len(calls) == 1
    numpy.testing.assert_array_equal(results[3], f(travelling.ROWS, travelling.W))
