#!/usr/bin/env python3
"""check_c_api.py LIBRARY: tests the C API. It returns the same results as batch-run, bit
for bit, for arrays with any strides. It rejects invalid arguments, ends cancelled runs and
runs again afterwards, and works in forked processes and on several threads."""

import array
import itertools
import json
import os
import random
import signal
import sys
import threading
import time

import batchtest
import c_api
from c_api import ARGUMENT, F32, I32, I64, OUTPUT, PARAMETER, Tensor, values

checks = batchtest.Checks("the C API")
path = batchtest.temporary_paths()
library = c_api.Library(sys.argv[1])
generator = random.Random(7)
FILE_TYPES = {"F32": F32, "I64": I64, "I32": I32}


def numbers(count):
    # Decimal text represents these numbers exactly.
    return [generator.randrange(-64, 64) / 64 for _ in range(count)]


def product(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


class Program:
    """A compiled model, with the parameters of this script both in a file and bound"""
    numbers = itertools.count()

    def __init__(self, source, *options, words=1000):
        number = next(Program.numbers)
        self.path = batchtest.compile_model(source, path("model%d.so" % number), None,
                                            *options)
        self.model = c_api.Model(library, self.path)
        file, bound = {}, {}
        for field in self.model.fields(PARAMETER):
            shape = [words if extent < 0 else extent
                     for extent in field.shape[:field.rank]]
            scale = 1 / max(shape[-1:] + [8])
            elements = [scale * number for number in numbers(product(shape))]
            file[field.name.decode()] = ("F32", shape, elements)
            bound[field.name.decode()] = Tensor(F32, shape, elements)
        self.file = path("params%d.safetensors" % number)
        batchtest.write_safetensors(self.file, file)
        self.tensors = bound
        self.parameters = self.model.bind(bound)

    def session(self, **options):
        return c_api.Session(self.model, self.parameters, **options)

    def expected(self, instances):
        """Returns {output: (elements, offsets or None)} of batch-run for a list of JSON values."""
        lines = batchtest.write_lines(path("inputs.jsonl"), instances)
        outputs = path("outputs.safetensors")
        batchtest.call("batch-run", self.path, "--inputs=" + lines,
                       "--params=" + self.file, "--outputs=" + outputs)
        tensors = batchtest.read_safetensors(outputs)
        return {name: (tensor[2], list(tensors[name + ".offsets"][2])
                       if name + ".offsets" in tensors else None)
                for name, tensor in tensors.items() if not name.endswith(".offsets")}


def same(session, wanted):
    """Returns whether all outputs equal `wanted`, bit for bit."""
    for number, field in enumerate(session.model.fields(OUTPUT)):
        elements, offsets = session.read(number)
        bits, places = wanted[field.name.decode()]
        if elements.tobytes() != bits.tobytes():
            return False
        if bool(field.isRagged) != (places is not None) or \
                (places is not None and offsets != places):
            return False
    return True


# --- tensors and numbers, with strides ----------------------------------------------

LOOP = """
!vec = tensor<$nxf32>
module {
  func.func @main(%x: tensor<2x$nxf32> {batch.name = "x"}, %limit: f32 {batch.name = "limit"},
                  %W: tensor<$nx$nxf32> {batch.shared = "W"})
      -> (tensor<2x$nxf32> {batch.name = "y"}, i32 {batch.name = "rounds"})
      attributes {batch.entry} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %step = arith.constant dense<1.0> : tensor<2x$nxf32>
    %half = arith.constant dense<0.5> : tensor<2x$nxf32>
    %none = arith.constant dense<0.0> : tensor<2x$nxf32>
    %y, %rounds = scf.while (%now = %x, %count = %zero)
        : (tensor<2x$nxf32>, i32) -> (tensor<2x$nxf32>, i32) {
      %first = tensor.extract %now[%c0, %c0] : tensor<2x$nxf32>
      %less = arith.cmpf olt, %first, %limit : f32
      scf.condition(%less) %now, %count : tensor<2x$nxf32>, i32
    } do {
    ^bb0(%now: tensor<2x$nxf32>, %count: i32):
      %p = linalg.matmul ins(%now, %W : tensor<2x$nxf32>, tensor<$nx$nxf32>)
                         outs(%none : tensor<2x$nxf32>) -> tensor<2x$nxf32>
      %t = math.tanh %p : tensor<2x$nxf32>
      %s = arith.mulf %t, %half : tensor<2x$nxf32>
      %a = arith.addf %now, %step : tensor<2x$nxf32>
      %b = arith.addf %a, %s : tensor<2x$nxf32>
      %more = arith.addi %count, %one : i32
      scf.yield %b, %more : tensor<2x$nxf32>, i32
    }
    return %y, %rounds : tensor<2x$nxf32>, i32
  }
}
"""


def loop_model(extent):
    return batchtest.write_lines(path("loop%d.mlir" % extent),
                                 [LOOP.replace("$n", str(extent))])


N, WIDTH = 11, 5
rows = numbers(N * 2 * WIDTH)
limits = [float(generator.randrange(-2, 6)) for _ in range(N)]
loop_json = [{"x": [rows[i * 2 * WIDTH + r * WIDTH:][:WIDTH] for r in range(2)],
              "limit": limits[i]} for i in range(N)]
# With strategy "auto", workers run small instances like these separately.
STRATEGIES = ["auto", "lockstep", "mask", "lazy", "replicate"]
loops = {}


def dense_inputs():
    return c_api.inputs(N, [values(F32, [N, 2, WIDTH], rows), values(F32, [N], limits)])


def strided_inputs():
    """Returns the values of dense_inputs() with different strides: x by columns and in reverse,
    and limits with zeros between them."""
    memory = [0.0] * (2 * WIDTH * N)
    for i, r, c in itertools.product(range(N), range(2), range(WIDTH)):
        memory[(c * 2 + r) * N + (N - 1 - i)] = rows[(i * 2 + r) * WIDTH + c]
    spread = [0.0] * (2 * N)
    spread[::2] = limits
    return c_api.inputs(N, [
        values(F32, [N, 2, WIDTH], memory, strides=[-1, N, 2 * N], begin=N - 1),
        values(F32, [N], spread, strides=[2])])


for strategy in STRATEGIES:
    program = checks.run("compile with " + strategy, lambda: Program(
        loop_model(WIDTH), "--strategy=" + strategy))
    if not program:
        continue
    loops[strategy] = program
    wanted = program.expected(loop_json)
    for threads in 1, 2, 3:
        session = program.session(threads=threads)
        what = "%s, %d threads" % (strategy, threads)
        for name, given in [("dense", dense_inputs()), ("strided", strided_inputs())] * 2:
            session.run(given)
            checks.expect("%s, %s inputs: the same" % (what, name), same(session, wanted))
        checks.equal(what + ": all have ended", session.progress()[:2], (N, N))
        # Reads y by columns, with gaps.
        found, _ = session.read(0, strides=[3, 40 * N, 3 * N], begin=1,
                                capacity=40 * N + 15 * N + 40)
        checks.expect(what + ": strided outputs",
                      found.tobytes() == wanted["y"][0].tobytes())
        if strategy == "lazy":
            checks.equal(what + ": flushes", session.progress()[2],
                         max(wanted["rounds"][0]))
        session.run(c_api.inputs(0, [values(F32, [0, 2, WIDTH], []), values(F32, [0], [])]))
        checks.equal(what + ": no instance", session.rows(0), 0)
        session.close()

# Descriptions
program = loops["lockstep"]
for kind, wanted in [
        (PARAMETER, [("W", "tensor<5x5xf32>", F32, [5, 5], 0)]),
        (ARGUMENT, [("x", "tensor<2x5xf32>", F32, [2, 5], 0), ("limit", "f32", F32, [], 0)]),
        (OUTPUT, [("y", "tensor<2x5xf32>", F32, [2, 5], 0), ("rounds", "i32", I32, [], 0)])]:
    checks.equal("fields %d" % kind, [
        (field.name.decode(), field.description.decode(), field.type,
         field.shape[:field.rank], field.lists)
        for field in program.model.fields(kind)], wanted)
checks.equal("the descriptor is JSON", json.loads(
    library.calls.batchModelDescriptor(program.model.handle))["abi"],
    library.calls.batchAbiVersion())

# With stride 0, all instances share one array for x.
session = program.session()
session.run(c_api.inputs(N, [
    values(F32, [N, 2, WIDTH], rows[:2 * WIDTH], strides=[0, WIDTH, 1]),
    values(F32, [N], limits)]))
wanted = program.expected([dict(line, x=loop_json[0]["x"]) for line in loop_json])
checks.expect("one array for all instances", same(session, wanted))

# --- lists ---------------------------------------------------------------------------

sentences = [[generator.randrange(900) for _ in range(generator.randrange(1, 12))]
             for _ in range(9)]
flat = [word for sentence in sentences for word in sentence]
offsets = [0] + list(itertools.accumulate(map(len, sentences)))
words = {}
for kind in c_api.I16, I32, I64:
    words["offsets, type %d" % kind] = values(kind, [len(flat)], flat, [offsets])
words["offsets, every third number"] = values(
    I32, [len(flat)], [flat[i // 3] if i % 3 == 0 else 7 for i in range(3 * len(flat))],
    [offsets], strides=[3])
program = checks.run("compile a parser", lambda: Program(batchtest.model("stackrnn"),
                                                         "--size=H=16", "--size=ACTIONS=5"))
parser = program
wanted = program.expected([{"tokens": sentence} for sentence in sentences])
for threads in 1, 2:
    session = program.session(threads=threads)
    for name, argument in words.items():
        session.run(c_api.inputs(len(sentences), [argument]))
        checks.expect("lists, %d threads, %s" % (threads, name), same(session, wanted))
even = [generator.randrange(900) for _ in range(24)]
session.run(c_api.inputs(4, [values(I32, [4, 6], even)]))
checks.expect("lists of equal length", same(session, program.expected(
    [{"tokens": even[i:i + 6]} for i in range(0, 24, 6)])))

# --- trees ---------------------------------------------------------------------------

trees = [batchtest.parse_brackets(line) for line in batchtest.contents(
    os.path.join(batchtest.INPUTS, "trees.txt")).decode().splitlines()]
known = {}


class Nodes:
    """Nodes of trees. Leaves have variant `leaf`, and inner nodes have variant `node`."""

    def __init__(self, trees, leaf, node):
        self.instances, self.variants, self.roots = [0], [], []
        self.words, self.left, self.right = [], [], []
        self.leaf, self.node, self.json = leaf, node, []
        for tree in trees:
            root, text = self.add(tree)
            self.roots.append(root)
            self.json.append(text)
            self.instances.append(len(self.variants))

    def add(self, tree):
        if isinstance(tree[1], str):
            word = known.setdefault(tree[1], len(known))
            self.words.append(word)
            self.variants.append(self.leaf)
            return len(self.variants) - 1, ["leaf", word]
        (left, a), (right, b) = self.add(tree[1]), self.add(tree[2])
        self.left.append(left)
        self.right.append(right)
        self.variants.append(self.node)
        return len(self.variants) - 1, ["node", a, b]

    def inputs(self):
        fields = [[] for _ in range(max(self.leaf, self.node) + 1)]
        fields[self.leaf] = [values(I64, [len(self.words)], self.words)]
        fields[self.node] = [values(I64, [len(self.left)], self.left),
                             values(I64, [len(self.right)], self.right)]
        return c_api.inputs(len(self.roots), [values(I64, [len(self.roots)], self.roots)],
                            c_api.nodes(self.instances, self.variants, fields))


program = checks.run("compile TreeLSTM", lambda: Program(batchtest.model("treelstm_nary"),
                                                         "--size=H=16"))
variants = [(name, kind, [(f.name.decode(), f.description.decode()) for f in fields])
            for name, kind, fields in program.model.variants()]
checks.expect("variants", ("leaf", "Tree", [("word", "index")]) in variants and
              ("node", "Tree", [("left", "Tree"), ("right", "Tree")]) in variants, variants)
leaf = next(i for i, v in enumerate(variants) if v[:2] == ("leaf", "Tree"))
node = next(i for i, v in enumerate(variants) if v[:2] == ("node", "Tree"))
forest = Nodes(trees, leaf, node)
wanted = program.expected(forest.json)
for threads in 1, 2:
    session = program.session(threads=threads)
    for _ in range(2):
        session.run(forest.inputs())
        checks.expect("trees, %d threads: the same" % threads, same(session, wanted))
    one = Nodes(trees[3:4], leaf, node)
    session.run(one.inputs())
    checks.expect("one tree, %d threads" % threads, same(session, program.expected(one.json)))
tree_program, tree_session = program, session
session.run(forest.inputs())
for number, field in enumerate(program.model.fields(OUTPUT)):
    name, count = field.name.decode(), session.rows(number)
    # Values by columns, with gaps
    found, offsets = session.read(number, strides=[3, 3 * count], begin=1,
                                  capacity=3 * count * field.shape[0] + 1)
    checks.expect("strided rows of " + name, (found.tobytes(), offsets) == (
        wanted[name][0].tobytes(), wanted[name][1]))

# --- rows with a count -----------------------------------------------------------------

ROWS = """
#one = affine_map<(i) -> (i)>
func.func @main(%x: tensor<5xf32> {batch.name = "x"}, %k: i32 {batch.name = "k"})
    -> (tensor<5xf32> {batch.name = "numbers", batch.rows = "n"},
        tensor<5x3xf32> {batch.name = "rows", batch.rows = "n"}, i32 {batch.name = "n"})
    attributes {batch.entry} {
  %none = tensor.empty() : tensor<5xf32>
  %twice = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<5xf32>) outs(%none : tensor<5xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %e, %e : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  %init = tensor.empty() : tensor<5x3xf32>
  %rows = linalg.broadcast ins(%twice : tensor<5xf32>) outs(%init : tensor<5x3xf32>)
      dimensions = [1]
  return %twice, %rows, %k : tensor<5xf32>, tensor<5x3xf32>, i32
}
"""
counted = checks.run("compile rows with a count", lambda: Program(
    batchtest.write_lines(path("rows.mlir"), [ROWS])))
counts = [3, 0, 5, 1]
session = counted.session()
session.run(c_api.inputs(4, [values(F32, [4, 5], list(range(20))), values(I32, [4], counts)]))
kept = [2.0 * (5 * i + row) for i, count in enumerate(counts) for row in range(count)]
offsets = [0, 3, 3, 8, 9]
for name, strides in ("", None), (", backwards", [-2]):
    found, places = session.read(0, strides=strides, begin=17, capacity=18) if strides else \
        session.read(0)
    checks.equal("numbers with a count" + name, (list(found), places), (kept, offsets))
checks.equal("rows with a count", [list(part) for part in session.read(1)],
             [[number for number in kept for _ in range(3)], offsets])

# --- invalid arguments -----------------------------------------------------------------


def refused(what, text, action, status="invalid"):
    try:
        action()
    except c_api.ApiError as error:
        checks.expect(what, error.status == status and text in error.message, error)
    else:
        checks.expect(what, False, "was accepted")


loop = loops["lockstep"]
session = loop.session()
for what, text, arguments in [
        ("a type", "argument 'x' has elements of type i32, but the model expects f32",
         [values(I32, [N, 2, WIDTH], [0] * (2 * N * WIDTH)), values(F32, [N], limits)]),
        ("a shape", "argument 'x' has shape [11,5,2]; expected [11,2,5]",
         [values(F32, [N, WIDTH, 2], rows), values(F32, [N], limits)]),
        ("a number of instances", "argument 'limit' has shape [10]; expected [11]",
         [values(F32, [N, 2, WIDTH], rows), values(F32, [N - 1], limits[1:])]),
        ("an element type", "unknown element type 99",
         [values(F32, [N, 2, WIDTH], rows), values(F32, [N], limits)])]:
    given = c_api.inputs(N, arguments)
    if "element" in what:
        given.arguments[1].elements.type = 99
    refused("refuse " + what, text, lambda: session.run(given))
for what in "shape", "data":
    given = dense_inputs()
    setattr(given.arguments[0].elements, what, None)
    refused("refuse null", "argument 'x': the %s is null" % what, lambda: session.run(given))
refused("refuse no arguments", "the arguments are null",
        lambda: session.run(c_api.Inputs(N)))
refused("refuse a number of instances", "the number of instances -1 is out of range; expected "
        "0 to 2147483647", lambda: session.run(c_api.inputs(-1, [])))
refused("no results after that", "the session has no results", lambda: session.rows(0))
session.run(dense_inputs())
checks.expect("a run after that", same(session, loop.expected(loop_json)))
refused("refuse an output", "output 2 is out of range; the model has 2 outputs",
        lambda: session.rows(2))
wrong = Tensor(F32, [N, 3], [0.0] * 3 * N)
refused("refuse the array of an output", "shape [11,2,5], but the array has element type f32 and "
        "shape [11,3]", lambda: library.call("batchSessionRead", session.handle,
                                             c_api.int64(0), c_api.ctypes.byref(wrong.array),
                                             None))
refused("refuse a file", "cannot read", lambda: c_api.Model(library, "/none.so"), "failed")
refused("refuse a version", "compile it with the library's header",
        lambda: library.make("batchModelOpenVersion", 1, loop.path.encode()))
refused("refuse a missing parameter", "parameter 'W' of type tensor<5x5xf32> is missing",
        lambda: loop.model.bind({}))
refused("refuse an unknown parameter", "the model has no parameter 'V'",
        lambda: loop.model.bind(dict(loop.tensors, V=loop.tensors["W"])))
refused("refuse a parameter's shape", "parameter 'W' is tensor<5x5xf32>, but the array is "
        "tensor<5xf32>", lambda: loop.model.bind({"W": Tensor(F32, [5], numbers(5))}))
refused("refuse parameters of another model", "belong to another model",
        lambda: c_api.Session(loop.model, tree_program.parameters))
refused("refuse no thread", "at least 1 thread", lambda: loop.session(threads=0))
refused("refuse a parameter given twice", "parameter 'W' is given twice", lambda: library.make(
    "batchParametersBind", loop.model.handle, c_api.int64(2),
    (c_api.ctypes.c_char_p * 2)(b"W", b"W"),
    (c_api.Array * 2)(loop.tensors["W"].array, loop.tensors["W"].array)))
refused("refuse a large parameter", "parameter 'E' of shape [1152921504606846976,16] is too large "
        "to fit in memory",
        lambda: parser.model.bind(dict(parser.tensors, E=Tensor(F32, [1 << 60, 16], []))))

# Null pointers, and numbers that are out of range
nothing = Tensor(F32, [N, 2, WIDTH], [0.0] * len(rows))
nothing.array.data = None
given, reference = dense_inputs(), c_api.ctypes.byref
for text, name, *arguments in [
        ("the path is null", "batchModelOpenVersion", library.calls.batchAbiVersion(), None, None),
        ("the object is null", "batchModelAdopt", None, None),
        ("the model is null", "batchModelField", None, OUTPUT, c_api.int64(0), None),
        ("the output pointer for the field is null", "batchModelField", loop.model.handle, OUTPUT,
         c_api.int64(0), None),
        ("field 2 is out of range for 2 fields", "batchModelField", loop.model.handle, OUTPUT,
         c_api.int64(2), reference(c_api.Field())),
        ("unknown variant 0", "batchModelVariant", loop.model.handle, c_api.int64(0), None),
        ("the output pointer for the cancellation is null", "batchCancellationMake", None),
        ("the model, the parameters, the options or the output pointer for the session is null",
         "batchSessionMake", None, None, None, None),
        ("the session is null", "batchSessionRun", None, reference(given), None),
        ("the inputs are null", "batchSessionRun", session.handle, None, None),
        ("the output pointer for the text is null", "batchSessionExplain", session.handle,
         reference(given), None, None)]:
    refused("refuse: " + text, text, lambda: library.call(name, *arguments))
session.run(given)
for text, name, *arguments in [
        ("the output pointer for the number of rows is null", "batchSessionRows", None),
        ("the array is null", "batchSessionRead", None, None),
        ("the array for output 'y' is null", "batchSessionRead",
         reference(nothing.array), None)]:
    refused("refuse: " + text, text, lambda: library.call(
        name, session.handle, c_api.int64(0), *arguments))
checks.equal("the failure of another instance", session.failure(N),
             "instance 11 is out of range, or the session has no results")

# Streams
for what, text, program in [
        ("a list", "argument 'tokens' is neither a tensor nor a number; streams support no other "
         "arguments", parser),
        ("a count", "the number of rows of output 'numbers' differs between instances; streams do "
         "not support such outputs", counted)]:
    refused("refuse a stream of " + what, text, lambda: library.make(
        "batchStreamOpen", program.session().handle, c_api.int64(2)))

nowhere = values(I32, [2], [3, 4], [[0, 1, 2]])
nowhere.offsets[0] = None
session = parser.session()
for what, text, argument in [
        ("an index", "index -1 is out of range; expected 0 to 2147483647",
         values(I32, [2], [3, -1], [[0, 1, 2]])),
        ("a word that is not there", "index 1000 is out of range",
         values(I32, [2], [3, 1000], [[0, 1, 2]])),
        ("offsets", "offsets[0] begins with 1",
         values(I32, [2], [3, 4], [[1, 1, 2]])),
        ("falling offsets", "offsets[0][2] is 1, less than the previous offset 2",
         values(I32, [1], [3], [[0, 2, 1]])),
        ("more offsets than elements", "has shape [2]; expected [3]",
         values(I32, [2], [3, 4], [[0, 2, 3]])),
        ("null offsets", "argument 'tokens': offsets[0] is null", nowhere),
        ("floats for indices", "but the model expects an integer type",
         values(F32, [2], [3, 4], [[0, 1, 2]]))]:
    refused("refuse " + what, text, lambda: session.run(c_api.inputs(2, [argument])),
            "failed" if "there" in what else "invalid")


def changed(change):
    """Changes the inputs of three small trees, and returns a function that runs them."""
    few = Nodes(trees[:3], leaf, node)
    change(few)
    return lambda: tree_session.run(few.inputs())


for what, text, change in [
        ("a parent before its child", "the nodes before its parent in instance ",
         lambda t: t.left.__setitem__(0, t.instances[1] - 1)),
        ("a node of another instance", ", the nodes of instance ",
         lambda t: t.roots.__setitem__(0, t.instances[1])),
        ("a shared node of a tree", "is a child of two nodes, but the model declares Tree as "
         "'kind tree'; declare it 'kind dag'", lambda t: t.right.__setitem__(0, t.left[0])),
        ("a node of no argument", "is not part of any argument",
         lambda t: t.roots.__setitem__(1, t.instances[1])),
        ("a variant", "has unknown variant 200", lambda t: t.variants.__setitem__(0, 200)),
        ("nodes that are those of nobody", "begin at",
         lambda t: t.instances.__setitem__(3, t.instances[3] - 1)),
        ("too few fields", "field 'leaf.word' has shape", lambda t: t.words.pop())]:
    refused("refuse " + what, text, changed(change))
for what, text, change in [
        ("a number of nodes", "the number of nodes -1 is out of range; expected 0 to 2147483647",
         lambda nodes: setattr(nodes, "count", -1)),
        ("no nodes", " is out of range, because instance 0 has no nodes",
         lambda nodes: setattr(nodes, "count", 0)),
        ("null variants", "the instances, variants or fields of the nodes are null",
         lambda nodes: setattr(nodes, "variants", None)),
        ("null fields", "the fields of variant 'leaf' are null",
         lambda nodes: nodes.fields.__setitem__(leaf, None))]:
    given = forest.inputs()
    change(given.nodes.contents)
    refused("refuse " + what, text, lambda: tree_session.run(given))
tree_session.run(forest.inputs())
checks.expect("trees after that", same(tree_session, wanted))

NESTED = """
rec.adt @Pair { rec.variant @pair(part: !rec.adt<@Word>) }
rec.adt @Word arity 1 { rec.variant @word(words: !rec.list<!rec.adt<@Word>>) }
func.func @main(%p: !rec.adt<@Pair> {batch.name = "p"},
                %l: !rec.list<!rec.list<index>> {batch.name = "l"},
                %x: tensor<2xf32> {batch.name = "x"})
    -> (tensor<2xf32> {batch.name = "y"}) attributes {batch.entry} {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
"""
nested = checks.run("compile nested arguments", lambda: Program(
    batchtest.write_lines(path("nested.mlir"), [NESTED])))
numbers_of = {name: i for i, (name, _, _) in enumerate(nested.model.variants())}
none = values(I64, [0], [], [[0, 0], [0]])
for what, text, root, words, lists in [
        ("a node of another type", "node 0 is of ADT Word; expected ADT Pair", 0, [], none),
        ("no offsets", "argument 'l' contains lists of lists, so it requires offsets", 3, [],
         values(I64, [1, 2], [3, 4])),
        ("two words", "node 2 has 2 children of Word, but the model declares arity 1", 3, [0, 1],
         none)]:
    fields = [[], []]
    fields[numbers_of["pair"]] = [values(I64, [1], [2])]
    fields[numbers_of["word"]] = [values(I64, [len(words)], words, [[0, 0, 0, len(words)]])]
    refused("refuse " + what, text, lambda: nested.session().run(c_api.inputs(
        1, [values(I64, [1], [root]), lists, values(F32, [1, 2], [0.0, 0.0])],
        c_api.nodes([0, 4], 3 * [numbers_of["word"]] + [numbers_of["pair"]], fields))))

# --- instances without results ----------------------------------------------------------

for strategy, program in loops.items():
    # In lock step, the limit counts blocks, and a round has at least one block.
    session = program.session(maxSteps=40, partialResults=1)
    endless = [1e30 if i == 4 else limit for i, limit in enumerate(limits)]
    session.run(c_api.inputs(N, [values(F32, [N, 2, WIDTH], rows),
                                 values(F32, [N], endless)]))
    wanted = program.expected(loop_json)["y"][0]
    size = 2 * WIDTH
    found, _ = session.read(0)
    checks.expect(strategy + ": the others have results", all(
        found[i * size:(i + 1) * size] == (
            array.array("f", [0] * size) if i == 4 else wanted[i * size:(i + 1) * size])
        for i in range(N)))
    checks.expect(strategy + ": why one has none",
                  "maxSteps" in (session.failure(4) or ""), session.failure(4))
    checks.equal(strategy + ": the others have no failure", session.failure(3), None)
    session = program.session(maxSteps=40)
    refused(strategy + ": an instance without an end", "instance 4",
            lambda: session.run(c_api.inputs(N, [values(F32, [N, 2, WIDTH], rows),
                                                 values(F32, [N], endless)])), "failed")
    session.run(dense_inputs())
    checks.expect(strategy + ": a run after that", same(session, program.expected(loop_json)))

# A loop whose condition reads only numbers, not computed tensors, can also be endless.
doubling_file = batchtest.write_lines(path("doubling.mlir"), [batchtest.DOUBLING])
for strategy in "linearize", "lazy":
    program = Program(doubling_file, "--strategy=" + strategy)
    requests = c_api.inputs(4, [values(F32, [4], [4, 0, 5, 6])])
    session = program.session(maxSteps=1000, partialResults=1)
    session.run(requests)
    checks.equal(strategy + ": the others of a number", list(session.read(0)[0]),
                 [2, 0, 1, 1])
    checks.expect(strategy + ": why a number has no result",
                  "exceeded the limit of 1000 steps, the last one in a loop at "
                  "doubling.mlir:" in (session.failure(1) or ""), session.failure(1))
    checks.equal(strategy + ": others of a number", session.failure(2), None)
    session = program.session(maxSteps=1000)
    refused(strategy + ": a number without an end", "instance 1: exceeded the limit of 1000",
            lambda: session.run(requests), "failed")

# --- runs that are cancelled ----------------------------------------------------------

SEARCH = """
module {
  func.func @main(%n: index {batch.name = "n"}, %E: tensor<2048x4xf32> {batch.shared = "E"})
      -> (tensor<4xf32> {batch.name = "row"}) attributes {batch.entry} {
    %zero = arith.constant 0 : index
    %three = arith.constant 3 : index
    %one = arith.constant 1 : index
    %mask = arith.constant 1023 : index
    %found = scf.while (%i = %one) : (index) -> index {
      %other = arith.cmpi ne, %i, %n : index
      scf.condition(%other) %i : index
    } do {
    ^bb0(%i: index):
      %a = arith.muli %i, %three : index
      %b = arith.addi %a, %one : index
      %c = arith.andi %b, %mask : index
      scf.yield %c : index
    }
    %row = tensor.extract_slice %E[%found, 0] [1, 4] [1, 1]
        : tensor<2048x4xf32> to tensor<4xf32>
    %twice = arith.addf %row, %row : tensor<4xf32>
    return %twice : tensor<4xf32>
  }
}
"""
search = checks.run("compile a search", lambda: Program(
    batchtest.write_lines(path("search.mlir"), [SEARCH])))
cancellation = library.make("batchCancellationMake")


def end_soon(what, session, given, after):
    """Cancels a run that has no end. Checks that it ends soon and has no results, and that no new
    run begins before the cancellation is reset."""
    library.calls.batchCancellationReset(cancellation)
    asked = []

    def ask():
        time.sleep(after)
        asked.append(time.monotonic())
        library.calls.batchCancellationRequest(cancellation)

    thread = threading.Thread(target=ask)
    thread.start()
    refused(what + ": is cancelled", "the run was cancelled",
            lambda: session.run(given, cancellation), "cancelled")
    seconds = time.monotonic() - asked[0] if asked else -1
    thread.join()
    # A run takes about 10 µs per round. The limit allows for a busy machine.
    checks.expect(what + ": ends within half a second", 0 <= seconds < 0.5,
                  "(%.3f s)" % seconds)
    refused(what + ": has no results", "the session has no results", lambda: session.rows(0))
    refused(what + ": begins no run", "the run was cancelled",
            lambda: session.run(given, cancellation), "cancelled")
    library.calls.batchCancellationReset(cancellation)


def endless_inputs(instances=range(N)):
    limit = [1e30 if i in instances else limits[i] for i in range(N)]
    return c_api.inputs(N, [values(F32, [N, 2, WIDTH], rows), values(F32, [N], limit)])


UNITS = [("lockstep", ""), ("mask", ""), ("lazy", ""), ("replicate", "--level=device"),
         ("replicate", "--level=block"), ("replicate", "")]
units = {}
for strategy, level in UNITS:
    program = loops[strategy] if not level else checks.run(
        "compile with %s %s" % (strategy, level), lambda: Program(
            loop_model(WIDTH), "--strategy=" + strategy, level))
    units[strategy, level] = program
    wanted = program.expected(loop_json)
    for threads in 1, 2, 3:
        what = "%s %s, %d threads" % (strategy, level, threads)
        session = program.session(threads=threads)
        for which in range(N), [0], [N - 1]:
            end_soon("%s, endless %s" % (what, list(which)), session, endless_inputs(which),
                     0.05)
            session.run(dense_inputs(), cancellation)
            checks.expect(what + ": the same after that", same(session, wanted))
        # Runs that would end on their own can also be cancelled at any moment.
        good = True
        for i in range(30):
            library.calls.batchCancellationReset(cancellation)
            timer = threading.Timer(i * 4e-5, library.calls.batchCancellationRequest,
                                    [cancellation])
            timer.start()
            try:
                session.run(dense_inputs(), cancellation)
                good = good and same(session, wanted)
            except c_api.ApiError as error:
                good = good and error.status == "cancelled"
            timer.join()
        session.run(dense_inputs())
        checks.expect(what + ": at any moment", good and same(session, wanted))
        session.close()
for threads in 1, 2:
    session = search.session(threads=threads)
    few = [5, 121, 364, 4, 13] * 200  # enough instances for two inspectors
    wanted = search.expected([{"n": n} for n in few])
    end_soon("an inspector, %d threads" % threads, session,
             c_api.inputs(1000, [values(I64, [1000], few[:-1] + [2000])]), 0.05)
    session.run(c_api.inputs(1000, [values(I64, [1000], few)]))
    checks.expect("an inspector after that, %d threads" % threads, same(session, wanted))

# A thread that a signal wakes may also cancel a run.
session = loops["lockstep"].session(threads=2)
library.calls.batchCancellationReset(cancellation)
signal.signal(signal.SIGALRM, lambda *_: None)
read_end, write_end = os.pipe()
os.set_blocking(write_end, False)
signal.set_wakeup_fd(write_end)


def on_signal():
    os.read(read_end, 1)
    library.calls.batchCancellationRequest(cancellation)


thread = threading.Thread(target=on_signal)
thread.start()
signal.setitimer(signal.ITIMER_REAL, 0.1)
refused("a signal ends a run", "the run was cancelled",
        lambda: session.run(endless_inputs(), cancellation), "cancelled")
thread.join()
signal.set_wakeup_fd(-1)

# Progress is visible during a run in which all instances except one end.
for strategy, level in ("lockstep", ""), ("mask", ""), ("replicate", "--level=block"):
    session = units[strategy, level].session(threads=2)
    library.calls.batchCancellationReset(cancellation)
    seen = []

    def watch():
        end = time.monotonic() + 20
        while time.monotonic() < end and (not seen or seen[-1][:2] != (N, N - 1)):
            time.sleep(0.002)
            seen.append(session.progress())
        library.calls.batchCancellationRequest(cancellation)

    thread = threading.Thread(target=watch)
    thread.start()
    refused(strategy + ": watched", "cancelled",
            lambda: session.run(endless_inputs([N - 1]), cancellation), "cancelled")
    thread.join()
    checks.equal(strategy + ": progress is seen", seen[-1][:2], (N, N - 1))

# --- processes and threads ---------------------------------------------------------------


def in_fork(action):
    """Returns whether action() is true in a forked process."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a hang is a failure
        good = False
        try:
            good = action()
        finally:
            os._exit(0 if good else 1)
    return os.waitpid(child, 0)[1] == 0


for strategy, program in loops.items():
    wanted = program.expected(loop_json)
    for threads in 1, 2:
        session = program.session(threads=threads)
        session.run(dense_inputs())
        what = "%s, %d threads" % (strategy, threads)

        def again():
            session.run(dense_inputs())
            good = same(session, wanted)
            if not in_fork(lambda: session.run(dense_inputs()) is None):
                return False
            session.close()
            return good

        checks.expect(what + ": a forked process", in_fork(again))
        checks.expect(what + ": one that only closes",
                      in_fork(lambda: session.close() is None))
        session.run(dense_inputs())
        checks.expect(what + ": the first one after that", same(session, wanted))

shared = tree_program
wanted = shared.expected(forest.json)
failures = []


def serve():
    own = shared.session(threads=2)
    for _ in range(5):
        own.run(forest.inputs())
        if not same(own, wanted):
            failures.append("another result")
    own.close()


threads = [threading.Thread(target=serve) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
checks.equal("threads with sessions of their own", failures, [])

# A session that is in a call rejects another call.
session = loops["replicate"].session()
library.calls.batchCancellationReset(cancellation)
thread = threading.Thread(target=lambda: refused(
    "the first call", "cancelled", lambda: session.run(endless_inputs(), cancellation),
    "cancelled"))
thread.start()
time.sleep(0.2)
refused("a second call at the same time", "the session is in use by another call",
        lambda: session.run(dense_inputs()))
library.calls.batchCancellationRequest(cancellation)
thread.join()

# Objects created from a model outlive it.
program = loops["lockstep"]
session = program.session()
wanted = program.expected(loop_json)
fields = program.model.fields(OUTPUT)
program.model.fields = lambda kind: fields
program.model.close()
library.calls.batchParametersFree(program.parameters)
session.run(dense_inputs())
elements, _ = session.read(0)
checks.expect("a session outlives its model",
              elements.tobytes() == wanted["y"][0].tobytes())
session.close()
checks.exit()
