#!/usr/bin/env python3
"""check_package.py: the Python package runs models as batch-run does, keeps what it has
compiled, refuses what does not fit, ends on Ctrl-C, and goes on after a fork.

Runs in an environment that has the package, NumPy and JAX.
"""

import contextlib
import gc
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import numpy  # noqa: E402

import batchtest  # noqa: E402

checks = batchtest.Checks("the Python package")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
CACHE = os.path.join(path("cache"), "batch")
COMPILER = batchtest.tool("batch-compile")
os.environ["BATCH_COMPILE"] = COMPILER

import batch  # noqa: E402

generator = numpy.random.default_rng(5)


def run_python(code, **options):
    # A process whose parent ignores interrupts would ignore them, too.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + \
        textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, **options)


refused = checks.refused

# What is imported.
done = run_python("""
    import sys, batch
    print(sorted({"jax", "torch", "numpyro"} & {name.split(".")[0] for name in sys.modules}))
""")
checks.equal("import batch loads neither jax nor torch", done.stdout, b"[]\n")
done = run_python("""
    import sys
    sys.modules["jax"] = None  # as if it were not installed
    import batch
    try:
        batch.vmap
    except ImportError as error:
        print(error)
""")
checks.equal("without JAX", done.stdout,
             b"batch.vmap needs JAX: pip install 'jax>=0.9'\n")

# --- models, and batch-run as an oracle ------------------------------------------------

LOOP = """
module {
  func.func @main(%x: tensor<2x5xf32> {batch.name = "x"}, %limit: f32 {batch.name = "limit"},
                  %W: tensor<5x5xf32> {batch.shared = "W"})
      -> (tensor<2x5xf32> {batch.name = "y"}, i32 {batch.name = "rounds"})
      attributes {batch.entry} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %step = arith.constant dense<1.0> : tensor<2x5xf32>
    %none = arith.constant dense<0.0> : tensor<2x5xf32>
    %y, %rounds = scf.while (%now = %x, %count = %zero)
        : (tensor<2x5xf32>, i32) -> (tensor<2x5xf32>, i32) {
      %first = tensor.extract %now[%c0, %c0] : tensor<2x5xf32>
      %less = arith.cmpf olt, %first, %limit : f32
      scf.condition(%less) %now, %count : tensor<2x5xf32>, i32
    } do {
    ^bb0(%now: tensor<2x5xf32>, %count: i32):
      %p = linalg.matmul ins(%now, %W : tensor<2x5xf32>, tensor<5x5xf32>)
                         outs(%none : tensor<2x5xf32>) -> tensor<2x5xf32>
      %s = math.sin %p : tensor<2x5xf32>
      %a = arith.addf %now, %step : tensor<2x5xf32>
      %m = arith.mulf %s, %s : tensor<2x5xf32>
      %b = arith.addf %a, %m : tensor<2x5xf32>
      %more = arith.addi %count, %one : i32
      scf.yield %b, %more : tensor<2x5xf32>, i32
    }
    return %y, %rounds : tensor<2x5xf32>, i32
  }
}
"""
N = 9
x = generator.integers(-64, 64, (N, 2, 5)).astype(numpy.float32) / 64
limit = generator.integers(-2, 6, N).astype(numpy.float32)
W = generator.integers(-64, 64, (5, 5)).astype(numpy.float32) / 512
loop_file = batchtest.write_lines(path("loop.mlir"), [LOOP])


def oracle(source, parameters, instances, *options):
    """{output: (array, offsets or None)} of batch-run."""
    file = path("oracle.safetensors")
    batchtest.write_safetensors(file, {
        name: ("F32", list(value.shape), value.ravel().tolist())
        for name, value in parameters.items()})
    lines = batchtest.write_lines(path("oracle.jsonl"), instances)
    program = batchtest.compile_model(source, path("oracle.so"), None, *options)
    outputs = path("outputs.safetensors")
    batchtest.call("batch-run", program, "--inputs=" + lines, "--params=" + file,
                   "--outputs=" + outputs)
    tensors = batchtest.read_safetensors(outputs)
    return {name: (numpy.array(values).reshape(shape),
                   list(tensors[name + ".offsets"][2])
                   if name + ".offsets" in tensors else None)
            for name, (_, shape, values) in tensors.items()
            if not name.endswith(".offsets")}


def same(outputs, wanted):
    for name, (array, offsets) in wanted.items():
        found = outputs[name]
        if isinstance(found, batch.Ragged) != (offsets is not None):
            return False
        if offsets is not None:
            if found.offsets.tolist() != offsets:
                return False
            found = found.values
        if found.shape != array.shape or not numpy.array_equal(found, array):
            return False
    return outputs.keys() == wanted.keys()


wanted = oracle(loop_file, {"W": W}, [{"x": x[i].tolist(), "limit": float(limit[i])}
                                      for i in range(N)])
loop = batch.compile(loop_file)
checks.expect("repr", repr(loop) == "Model(x: tensor<2x5xf32>, limit: f32) -> "
              "(y: tensor<2x5xf32>, rounds: i32) with parameters (W: tensor<5x5xf32>)",
              repr(loop))
import jax  # noqa: E402
import jax.numpy  # noqa: E402

inputs = {
    "arrays": (x, limit),
    "Fortran order": (numpy.asfortranarray(x), limit),
    "a view": (numpy.repeat(x, 2, axis=0)[::2], numpy.flip(limit.copy())[::-1]),
    "reversed": (x[::-1].copy()[::-1], limit),
    "transposed": (numpy.ascontiguousarray(x.transpose(2, 0, 1)).transpose(1, 2, 0), limit),
    "read-only": (numpy.frombuffer(x.tobytes(), numpy.float32).reshape(x.shape), limit),
    "lists": (x.tolist(), limit.tolist()),
    "a list of arrays": (list(x), list(limit)),
    "JAX": (jax.numpy.asarray(x), jax.numpy.asarray(limit)),
    "memory views": (memoryview(x), limit),
}
for threads in 1, 2, None:
    f = loop.bind({"W": W}, threads=threads)
    for what, (a, b) in inputs.items():
        checks.expect("%s, threads=%s" % (what, threads), same(f(a, limit=b), wanted))
f = loop.bind({"W": jax.numpy.asarray(W)})
checks.expect("JAX arrays as parameters", same(f(x=x, limit=limit), wanted))
broadcast = f(numpy.broadcast_to(x[0], x.shape), limit)
checks.expect("one array for all", numpy.array_equal(
    broadcast["y"], f(numpy.stack([x[0]] * N), limit)["y"]))
empty = f(numpy.zeros((0, 2, 5), numpy.float32), [])
checks.equal("no instance", (empty["y"].shape, empty["rounds"].shape), ((0, 2, 5), (0,)))
batchtest.write_safetensors(path("W.safetensors"), {
    "W": ("F32", [5, 5], W.ravel().tolist())})
checks.expect("parameters from a file",
              same(loop.bind(path("W.safetensors"))(x, limit), wanted))
outputs = f(x, limit)
kept = {name: array.copy() for name, array in outputs.items()}
f(x + 1, limit)
checks.expect("outputs are the caller's", all(
    numpy.array_equal(outputs[name], kept[name]) for name in kept))
outputs["y"][0] = 7
checks.expect("and may be written", outputs["y"][0, 0, 0] == 7)

# Lists.
parser = batch.compile(os.path.join(batchtest.MODELS, "stackrnn.mlir"),
                       sizes={"H": 16, "ACTIONS": 5})
weights = {p.name: generator.integers(-64, 64, [200 if e < 0 else e for e in p.shape])
           .astype(numpy.float32) / 512 for p in parser.parameters}
sentences = [generator.integers(0, 200, generator.integers(1, 9)).tolist()
             for _ in range(7)]
parse = parser.bind(weights, threads=2)
wanted_parse = oracle(os.path.join(batchtest.MODELS, "stackrnn.mlir"), weights,
                      [{"tokens": sentence} for sentence in sentences],
                      "--size=H=16", "--size=ACTIONS=5")
flat = numpy.concatenate([numpy.array(sentence) for sentence in sentences])
offsets = numpy.cumsum([0] + [len(sentence) for sentence in sentences])
for what, tokens in [
        ("lists of lists", sentences),
        ("lists of arrays", [numpy.array(s, numpy.int32) for s in sentences]),
        ("int64 arrays", [numpy.array(s) for s in sentences]),
        ("Ragged", batch.Ragged(flat, offsets)),
        ("Ragged of a view", batch.Ragged(numpy.repeat(flat, 3)[::3], offsets)),
        ("JAX arrays", [jax.numpy.asarray(s) for s in sentences])]:
    checks.expect("lists: " + what, same(parse(tokens), wanted_parse))
even = generator.integers(0, 200, (4, 6))
checks.expect("lists of equal length", numpy.array_equal(
    parse(even)["root"], parse(even.tolist())["root"]))

# Data structures.
TREE = os.path.join(batchtest.MODELS, "treelstm_nary.mlir")
encoder = batch.compile(TREE, sizes={"H": 16})
tree_weights = {p.name: generator.integers(-64, 64, [100 if e < 0 else e for e in p.shape])
                .astype(numpy.float32) / 512 for p in encoder.parameters}


def random_tree(size):
    if size == 1:
        return ("leaf", int(generator.integers(0, 100)))
    left = int(generator.integers(1, size))
    return ("node", random_tree(left), random_tree(size - left))


trees = [random_tree(size) for size in (1, 2, 5, 11, 30)]
encode = encoder.bind(tree_weights, threads=2)
checks.expect("trees", same(encode(trees), oracle(
    TREE, tree_weights, json.loads(json.dumps(trees)), "--size=H=16")))
deep = ("leaf", 1)
for _ in range(3000):
    deep = ("node", ("leaf", 2), deep)
checks.equal("a tree of depth 3,000", len(encode([deep])["h"][0]), 6001)
twig = ("leaf", 1)
checks.equal("an object twice in a tree is two nodes",
             len(encode([("node", twig, twig)])["h"][0]), 3)

# Element types: of bfloat16 NumPy has none.
TYPES = """
module {
  func.func @main(%a: tensor<3xbf16> {batch.name = "a"}, %b: i1 {batch.name = "b"},
                  %c: tensor<2xi8> {batch.name = "c"}, %d: f64 {batch.name = "d"},
                  %w: tensor<3xbf16> {batch.shared = "w"})
      -> (tensor<3xbf16> {batch.name = "p"}, i1 {batch.name = "q"},
          tensor<2xi8> {batch.name = "r"}, f64 {batch.name = "s"})
      attributes {batch.entry} {
    %p = arith.mulf %a, %w : tensor<3xbf16>
    %true = arith.constant true
    %q = arith.xori %b, %true : i1
    %r = arith.addi %c, %c : tensor<2xi8>
    %s = arith.mulf %d, %d : f64
    return %p, %q, %r, %s : tensor<3xbf16>, i1, tensor<2xi8>, f64
  }
}
"""
types = batch.compile(TYPES)
a = jax.numpy.asarray([[1, 2, 3], [4, 5, 6]], jax.numpy.bfloat16)
w = jax.numpy.asarray([0.5, 2, -1], jax.numpy.bfloat16)
outputs = types.bind({"w": w})(a, [True, False], numpy.array([[1, 2], [3, 100]], numpy.int8),
                               [1.5, 1 / 3])
p = jax.numpy.from_dlpack(outputs["p"])
checks.expect("bfloat16 from and to JAX", p.dtype == jax.numpy.bfloat16 and
              (p == a * w).all())
checks.equal("bool", (outputs["q"].dtype, outputs["q"].tolist()),
             (numpy.dtype(bool), [False, True]))
checks.equal("int8", (outputs["r"].dtype, outputs["r"].tolist()),
             (numpy.dtype(numpy.int8), [[2, 4], [6, -56]]))
checks.equal("float64", outputs["s"].tolist(), [2.25, (1 / 3) * (1 / 3)])
three = numpy.full((1, 3), 3, numpy.int16)
refused("int16 is not bfloat16", TypeError, "found numbers of type int16",
        lambda: types.bind({"w": w})(three, [True], [[1, 2]], [1.5]))
refused("nor as a parameter", TypeError, "found numbers of type int16",
        lambda: types.bind({"w": three[0]}))

# --- what does not fit -----------------------------------------------------------------

for what, error, text, action in [
        ("a missing argument", TypeError, "argument 'limit' (f32) is missing", lambda: f(x)),
        ("an unknown argument", TypeError, "no argument 'z'; it has 'x', 'limit'",
         lambda: f(x, limit, z=1)),
        ("too many arguments", TypeError, "has 2 arguments, found 3",
         lambda: f(x, limit, 1)),
        ("an argument twice", TypeError, "'x' is given twice", lambda: f(x, limit, x=x)),
        ("other numbers of instances", ValueError, "x 9, limit 8", lambda: f(x, limit[1:])),
        ("a number for all", TypeError, "no first dimension", lambda: f(x, 1.0)),
        ("a shape", ValueError, "has shape [9,2,4], but [9,2,5] belongs here",
         lambda: f(x[:, :, :4], limit)),
        ("a type", ValueError, "has elements of type f64, but the model wants f32",
         lambda: f(x.astype(numpy.float64), limit)),
        ("complex numbers", TypeError, "elements are bool",
         lambda: f(x.astype(numpy.complex64), limit)),
        ("words", TypeError, "argument 'limit' is f32", lambda: f(x, ["a"] * N)),
        ("nothing", TypeError, "argument 'limit' is f32", lambda: f(x, [None] * N)),
        ("numbers out of range", ValueError, "from -128 to 127; found 1 to 300",
         lambda: types.bind({"w": w})(a, [True, False], [[1, 2], [3, 300]], [1.5, 2.5])),
        ("floats for integers", TypeError, "found numbers of type float64",
         lambda: types.bind({"w": w})(a, [True, False], [[1, 2], [3, 1.5]], [1.5, 2.5])),
        ("offsets of other lists", ValueError, "one offset more than there are lists",
         lambda: parse.run(3, [(numpy.array([1]), [numpy.array([0, 1])])])),
        ("too many levels of offsets", ValueError, "number of levels of lists",
         lambda: parse.run(1, [(numpy.array([1]), [numpy.array([0, 1])] * 2)])),
        ("an option that writes a file", ValueError, "writes a file",
         lambda: batch.compile(loop_file, options=["--write-params=/tmp/x"])),
        ("uneven lists", TypeError, "argument 'x' is tensor<2x5xf32>",
         lambda: f([[1], [1, 2]] + [[3]] * 7, limit)),
        ("a missing parameter", ValueError, "parameter 'W' of type tensor<5x5xf32> is missing",
         loop.bind),
        ("an unknown parameter", ValueError, "no parameter 'V'",
         lambda: loop.bind({"W": W, "V": W})),
        ("a parameter's shape", ValueError, "is tensor<5x5xf32>, but the array is",
         lambda: loop.bind({"W": W[1:]})),
        ("no thread", ValueError, "at least 1 thread", lambda: loop.bind({"W": W}, threads=0)),
        ("a file that is not there", batch.Error, "/none.safetensors",
         lambda: loop.bind("/none.safetensors")),
        ("a word", batch.Error, "index 200 is out of range", lambda: parse([[200]])),
        ("an index", ValueError, "an index lies between", lambda: parse([[-1]])),
        ("floats for words", ValueError, "wants an integer type",
         lambda: parse([numpy.array([1.5])])),
        ("a number for a list", TypeError, "is list of index for each instance",
         lambda: parse([3])),
        ("a variant", TypeError, "a Tree is a tuple that begins with 'leaf' or 'node'; found "
         "('twig', 1)", lambda: encode([("twig", 1)])),
        ("no tree", TypeError, "a Tree is a tuple", lambda: encode([3])),
        ("too few fields", TypeError, "'node' has 2 fields (left: Tree, right: Tree), found 1",
         lambda: encode([("node", ("leaf", 1))])),
        ("a leaf for a word", TypeError, "instance 0, .word is index; found ('leaf', 1)",
         lambda: encode([("leaf", ("leaf", 1))])),
        ("a model that is none", batch.CompileError, "error", lambda: batch.compile("no\n")),
        ("a located error", batch.CompileError, "bad.mlir:1:1: error", lambda: batch.compile(
            batchtest.write_lines(path("bad.mlir"), ["nonsense"]))),
        ("a file", FileNotFoundError, "none.mlir", lambda: batch.compile("/none.mlir")),
        ("a size", batch.CompileError, "", lambda: batch.compile(TREE, sizes={"Q": 1}))]:
    refused("refuse " + what, error, text, action)
checks.expect("a run after that", same(f(x, limit), wanted))

# --- instances without results, cancelled runs ---------------------------------------

endless = limit.copy()
endless[4] = 1e30
partial = loop.bind({"W": W}, max_steps=60, partial_results=True)
outputs = partial(x, endless)
checks.expect("partial results", list(partial.failures) == [4] and
              "max_steps" in partial.failures[4] and all(
                  numpy.array_equal(outputs["y"][i], wanted["y"][0][i])
                  for i in range(N) if i != 4), partial.failures)
refused("an instance without an end", batch.Error, "instance 4",
        lambda: loop.bind({"W": W}, max_steps=60)(x, endless))

doubling = batch.compile(batchtest.write_lines(path("doubling.mlir"), [batchtest.DOUBLING]),
                         strategy="linearize")
numbers = numpy.array([4, 0, 5, 6], numpy.float32)
partial = doubling.bind(max_steps=1000, partial_results=True)
checks.expect("a number without an end ends alone",
              partial(numbers)["n"].tolist() == [2, 0, 1, 1] and
              list(partial.failures) == [1] and "max_steps" in partial.failures[1],
              partial.failures)
refused("a number without an end", batch.Error, "instance 1",
        lambda: doubling.bind(max_steps=1000)(numbers))

cancellation = batch.Cancellation()
timer = threading.Timer(0.1, cancellation.request)
timer.start()
refused("another thread cancels", batch.Cancelled, "the run was cancelled",
        lambda: f(x, endless, cancellation=cancellation))
refused("what is cancelled stays so", batch.Cancelled, "the run was cancelled",
        lambda: f(x, limit, cancellation=cancellation))
cancellation.reset()
checks.expect("until it is reset", same(f(x, limit, cancellation=cancellation), wanted))

# Other threads go on meanwhile.
cancellation.reset()
ticks = []


def tick():
    for _ in range(20):
        time.sleep(0.005)
        ticks.append(1)
    cancellation.request()


thread = threading.Thread(target=tick)
thread.start()
with contextlib.suppress(batch.Cancelled):
    f(x, endless, cancellation=cancellation)
thread.join()
checks.equal("a run holds no lock of the interpreter", len(ticks), 20)

PRELUDE = """
    import os, signal, threading, time, numpy, batch
    x, limit, W = (numpy.load(%r)[name] for name in ("x", "limit", "W"))
    model = batch.compile(%r)
    f = model.bind({"W": W}, threads=2)
    wanted = f(x, limit)
    endless = limit.copy()
    endless[4] = 1e30
    def later(seconds):
        asked = []
        def kill():
            time.sleep(seconds)
            asked.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=kill).start()
        return asked
    def good(found):
        return all(numpy.array_equal(found[name], wanted[name]) for name in wanted)
""" % (path("inputs.npz"), loop_file)
numpy.savez(path("inputs.npz"), x=x, limit=limit, W=W)
done = run_python(PRELUDE + """
    for _ in range(3):
        asked = later(0.1)
        try:
            f(x, endless)
        except KeyboardInterrupt:
            late = time.monotonic() - asked[0]
            print("interrupted" if late < 0.5 else "after %.2f s" % late)
        print("well" if good(f(x, limit)) else "badly")
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
""")
checks.equal("Ctrl-C ends a run within half a second", done.stdout,
             b"interrupted\nwell\n" * 3 + b"True\n")
done = run_python(PRELUDE + """
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    many = numpy.tile(x, (400, 1, 1)), numpy.full(400 * len(x), 2000, numpy.float32)
    first = f(*many)
    asked = later(0.02)
    second = f(*many)
    time.sleep(0.1)
    print(len(seen), numpy.array_equal(first["y"], second["y"]))
""")
checks.equal("a handler that raises nothing lets it go on", done.stdout, b"1 True\n")
done = run_python(PRELUDE + """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked = later(0.1)
    c = batch.Cancellation()
    threading.Timer(0.4, c.request).start()
    start = time.monotonic()
    try:
        f(x, endless, cancellation=c)
    except batch.Cancelled:
        print(time.monotonic() - start > 0.3)
""")
checks.equal("an ignored signal ends nothing", done.stdout, b"True\n")

# --- processes and threads -------------------------------------------------------------


def child(queue):
    queue.put(same(f(x, limit), wanted) and same(parse(sentences), wanted_parse))


fork = multiprocessing.get_context("fork")
for _ in range(3):
    queue = fork.SimpleQueue()
    process = fork.Process(target=child, args=(queue,))
    process.start()
    process.join(60)
    checks.expect("a forked process", process.exitcode == 0 and queue.get())
    process.kill()
failures = []


def call():
    for _ in range(20):
        if not same(f(x, limit), wanted) or not same(parse(sentences), wanted_parse):
            failures.append(1)


threads = [threading.Thread(target=call) for _ in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
checks.equal("threads call one function", failures, [])


def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def use(times):
    for _ in range(times):
        f(x, limit)
        encode(trees)
        with contextlib.suppress(ValueError):
            f(x[:, :, :4], limit)
    for _ in range(times // 20):
        loop.bind({"W": W}, threads=2)(x, limit)
        batch.compile(loop_file)


use(100)
before = memory()
use(1000)
checks.expect("no memory is lost", memory() - before < 8 << 20,
              "(%d bytes more)" % (memory() - before))

# --- the cache ---------------------------------------------------------------------------

LOG = path("calls")
WRAPPER = path("batch-compile")
with open(WRAPPER, "w") as file:
    file.write('#!/bin/sh\n[ "$1" = --version ] || { echo $$ >> "%s"; sleep ${SLOW:-0}; }\n'
               'exec "%s" "$@"\n' % (LOG, COMPILER))
os.chmod(WRAPPER, 0o755)
os.environ["BATCH_COMPILE"] = WRAPPER


def calls():
    try:
        with open(LOG) as file:
            return len(file.readlines())
    except FileNotFoundError:
        return 0


def files(ending):
    return [name for name in os.listdir(CACHE) if name.endswith(ending)]


for what, wanted_calls, action in [
        ("compile", 1, lambda: batch.compile(loop_file)),
        ("the same file", 0, lambda: batch.compile(loop_file)),
        ("the same text", 0, lambda: batch.compile(LOOP + "\n")),
        ("the same as bytes", 0, lambda: batch.compile((LOOP + "\n").encode())),
        ("another option", 1, lambda: batch.compile(loop_file, options=["-O1"])),
        ("another strategy", 1, lambda: batch.compile(loop_file, strategy="lockstep")),
        ("another text", 1, lambda: batch.compile(LOOP.replace("%one", "%uno"))),
        ("after clearing", 1, lambda: (batch.clear_cache(), batch.compile(loop_file)))]:
    before = calls()
    action()
    checks.equal("compilations for " + what, calls() - before, wanted_calls)
table = path("tuning.json")
before = calls()
for rows in 5, 3, 3:
    text = '{"version": 1, "kernels": {"*": {"stage_rows": %d}}}' % rows
    batchtest.write_lines(table, [text])
    batch.compile(loop_file, options=["--tuning=" + table])
checks.equal("a file that an option names is a part of the key", calls() - before, 2)
known = set(files(".so"))
run_python("import batch; batch.compile(%r, sizes={'H': 52})" % TREE)
(new,) = set(files(".so")) - known
whole = batchtest.contents(os.path.join(CACHE, new))
# Objects that are cut, within the pages that are mapped too, and that have a changed bit.
for what, data in [("%d bytes of" % length, whole[:length])
                   for length in (0, 100, 5000, len(whole) - 1)] + [
                       ("a changed bit in byte %d of" % place, whole[:place] + bytes(
                           [whole[place] ^ 1]) + whole[place + 1:])
                       for place in (4, len(whole) // 2, len(whole) - 40, len(whole) - 1)]:
    with open(os.path.join(CACHE, new), "wb") as file:
        file.write(data)
    before = calls()
    for _ in range(2):  # a signal ends a process
        run_python("import batch; batch.compile(%r, sizes={'H': 52})" % TREE)
    checks.equal("%s a file: it is made again" % what, calls() - before, 1)
    checks.expect("%s a file: the same bytes" % what,
                  batchtest.contents(os.path.join(CACHE, new)) == whole)
before = calls()
many = [subprocess.Popen([sys.executable, "-c",
                          "import batch; batch.compile(%r, sizes={'H': 24})" % TREE],
                         env=dict(os.environ, SLOW="0.3")) for _ in range(5)]
checks.equal("five processes at once end well", [p.wait(120) for p in many], [0] * 5)
checks.equal("and compile once", calls() - before, 1)
checks.equal("and leave no part of a file", files(".partial"), [])

os.environ["BATCH_CACHE_BYTES"] = "100000"
sizes = []
for extent in 8, 12, 20, 28:
    batch.compile(TREE, sizes={"H": extent})
    sizes.append(sum(os.path.getsize(os.path.join(CACHE, name)) for name in files(".so")))
newest = os.path.getsize(os.path.join(CACHE, max(
    files(".so"), key=lambda name: os.path.getmtime(os.path.join(CACHE, name)))))
checks.expect("the cache is bounded", max(sizes) <= 100000 + newest, sizes)
before = calls()
batch.compile(TREE, sizes={"H": 28})
checks.equal("and keeps what is new", calls() - before, 0)
os.environ["BATCH_CACHE_BYTES"] = "much"
refused("refuse a size of the cache", ValueError, "BATCH_CACHE_BYTES",
        lambda: batch.compile(TREE, sizes={"H": 36}))
del os.environ["BATCH_CACHE_BYTES"]

done = run_python("""
    import os, signal, threading, batch
    threading.Timer(0.4, os.kill, [os.getpid(), signal.SIGINT]).start()
    try:
        batch.compile(%r, sizes={"H": 40})
    except KeyboardInterrupt:
        print("interrupted")
""" % TREE, env=dict(os.environ, SLOW="5"))
checks.equal("Ctrl-C ends a compilation", done.stdout, b"interrupted\n")
checks.equal("which leaves nothing", files(".partial"), [])
done = run_python("import batch; batch.compile(%r, sizes={'H': 44}, progress=True)" % TREE,
                  env=dict(os.environ, SLOW="1"))
text = done.stdout.decode()
checks.expect("a line shows progress", "batch: compiling " + TREE in text and
              "batch: compiled " in text and text.endswith("s\n"), repr(text))
done = run_python("import batch; batch.compile(%r, sizes={'H': 48})" % TREE,
                  env=dict(os.environ, SLOW="1"))
checks.equal("but not where nobody looks", done.stdout, b"")
os.environ["BATCH_COMPILE"] = "/none"
refused("refuse a compiler", batch.CompileError, "$BATCH_COMPILE is '/none'",
        lambda: batch.compile(LOOP))
checks.exit()
