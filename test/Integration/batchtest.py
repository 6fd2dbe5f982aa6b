"""Shared code of the integration tests: tools, files, trees. Standard library only.

The tools are in $BATCH_TOOLS, or on the PATH. $BATCH_RUN names another batch-run, such as
an instrumented one or one in an emulator. $BATCH_COMPILE_OPTIONS contains additional
options of batch-compile. $BATCH_TEST_CACHE, if set, caches compiled models by the state
of batch-compile, the source and the options.
"""

import array
import datetime
import functools
import hashlib
import importlib
import itertools
import json
import os
import platform
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INPUTS = os.path.join(ROOT, "examples", "data")

# Models by the kind of structure that they read
BINARY = ["treernn", "treernn_w", "treefc", "treegru_nary", "treelstm_nary",
          "treelstm_nary_tai", "mvrnn"]
CHILD_SUM = ["treegru_cs", "simpletreegru", "treelstm_cs"]
DEP = ["treegru_cs_dep", "treelstm_cs_dep"]
DAG = ["dagrnn"]
ALL = BINARY + CHILD_SUM + DEP + DAG
# Models with their own inputs (sequences.py)
TYPED = ["treelstm_2type"]
CHAINS = ["bilstm_tagger", "bilstm_tagger_char", "lstm_nmt"]
LATTICES = ["lattice_lstm", "lattice_lstm_ed", "lattice_gru", "lattice_gru_pool",
            "lattice_gru_gate"]
EVERY = ALL + TYPED + CHAINS + LATTICES
# Recurrences over sentences, a tree, and loops with a given number of steps. They are tested only
# by golden cases
FURTHER = ["nasrnn", "nasrnn_add", "lstm10", "rae", "attention", "attention_masked",
           "nestedrnn", "birnn", "rnn_map"]
# Networks of residual blocks, written by residual_models.py
RESIDUAL = ["blockdrop", "blockdrop_given", "skipnet38", "skipnet101"]
# Loops and branches that read tensors. They are tested only by golden cases, except skipnet101
# (check_skipnet101.py) and berxit (check_waiting_models.py)
DECIDING = ["seq2seq", "seq2seq_forced", "berxit"] + RESIDUAL
# Loops and branches without recursion: strategy `replicate` also runs them.
REPLICATED = ["nasrnn", "nasrnn_add", "lstm10", "attention", "attention_masked", "seq2seq",
              "seq2seq_forced", "blockdrop", "blockdrop_given", "skipnet38", "rae",
              "treernn", "treernn_w", "treefc", "treegru_nary", "treelstm_nary",
              "treelstm_nary_tai", "treelstm_2type", "mvrnn"]
# Decoding with a draft, written by speculative_models.py
SPECULATIVE = ["specdec", "specdec_sample"]
# Models that wait for tensors (strategy `lazy`). They are tested by golden cases (beam search by
# check_beam_search.py instead), and in other sizes by check_waiting_models.py
WAITING = ["lstm_nmt_greedy", "lstm_nmt_beam", "stackrnn", "nestedrnn_td", "drnn", "berxit",
           "moe_top1", "moe_top2"] + SPECULATIVE
# Models whose control flow reads numbers and tensors (posteriors.py)
CONTROL = ["fib", "ackermann", "nuts_gauss", "nuts_logreg", "german_credit", "arK",
           "blr", "eight_schools_noncentered", "kidscore_interaction"]

# Folders of models
FOLDERS = (os.path.join(ROOT, "examples", "mlir"), os.path.join(ROOT, "test", "models"))
# Generated models, and the modules that write them
GENERATED = {**dict.fromkeys(RESIDUAL, "residual_models"),
             **dict.fromkeys(SPECULATIVE, "speculative_models")}


def models():
    """Returns the names of all models."""
    return sorted([name[:-len(".mlir")] for folder in FOLDERS for name in os.listdir(folder)
                   if name.endswith(".mlir")] + list(GENERATED))


@functools.lru_cache(maxsize=None)
def model(name):
    """Returns the path of a model. Writes a generated one to a temporary folder."""
    for folder in FOLDERS:
        path = os.path.join(folder, name + ".mlir")
        if os.path.exists(path):
            return path
    if name not in GENERATED:
        raise ToolError("unknown model '%s'; expected one of %s" % (name, ", ".join(models())))
    path = os.path.join(temporary(), name + ".mlir")
    with open(path, "w") as file:
        file.write(importlib.import_module(GENERATED[name]).write(name))
    return path


def where_and_when(benchmark):
    """Returns the name, the machine and the time for a benchmark's record."""
    cpu = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            cpu = next((line.split(":", 1)[1].strip() for line in file
                        if line.startswith("model name")), cpu)
    except OSError:
        pass
    return {"benchmark": benchmark, "cpu": cpu, "cores": os.cpu_count(),
            "date": datetime.datetime.now(datetime.timezone.utc)
            .strftime("%Y-%m-%d %H:%M UTC")}


def sample(items, seed, share=4):
    """Returns one in `share` items, drawn by `seed`, in their original order. Without a seed,
    returns all items."""
    items = list(items)
    if seed is None:
        return items
    drawn = random.Random(seed).sample(range(len(items)), -(-len(items) // share))
    return [items[i] for i in sorted(drawn)]


def store_record(path, record):
    """Writes a benchmark's record as JSON, with one line per result."""
    head = {key: value for key, value in record.items() if key != "results"}
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w") as file:
        file.write('%s,\n "results": [\n%s\n ]\n}\n' % (
            json.dumps(head, indent=1)[:-len("\n}")],
            ",\n".join("  " + json.dumps(result) for result in record["results"])))


class ToolError(Exception):
    """A tool ended with an error. The text names the tool and the error."""


def check_names(what, given, known):
    """Ends the program with an error if `known` lacks a name in `given`."""
    unknown = set(given) - set(known)
    if unknown:
        sys.exit("unknown %s: %s; expected one of %s" % (
            what, ", ".join(sorted(unknown)), ", ".join(known)))


def tool(name):
    if name == "batch-run" and os.environ.get("BATCH_RUN"):
        return os.environ["BATCH_RUN"]
    folder = os.environ.get("BATCH_TOOLS")
    path = os.path.join(folder, name) if folder else shutil.which(name)
    if not path or not os.path.exists(path):
        raise ToolError("cannot find %s in %s" % (name, folder or "PATH"))
    return path


def call(name, *arguments, timeout=1800, errors=False):
    """Runs a tool. Returns its standard output, or its standard error if `errors` is true."""
    command = [tool(name)] + [str(a) for a in arguments]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ToolError("%s\ndid not end within %d s" % (" ".join(command), timeout))
    if done.returncode != 0:
        raise ToolError("%s\nexited with code %d:\n%s" %
                        (" ".join(command), done.returncode,
                         (done.stdout + done.stderr).decode(errors="replace")))
    return (done.stderr if errors else done.stdout).decode()


def compile_model(source, output, size=None, *options):
    """Runs batch-compile, unless the cache contains the object. Returns the path of the object."""
    arguments = (["--size=H=%d" % size] if size else []) + list(options)
    arguments += os.environ.get("BATCH_COMPILE_OPTIONS", "").split()
    cache = os.environ.get("BATCH_TEST_CACHE")
    if not cache:
        call("batch-compile", source, "-o", output, *arguments)
        return output
    state = os.stat(tool("batch-compile"))
    name = "%x-%x" % (state.st_mtime_ns, state.st_size)
    folder = os.path.join(cache, name)
    os.makedirs(folder, exist_ok=True)
    for other in os.listdir(cache):
        if other != name:  # compiled by a different version of batch-compile
            shutil.rmtree(os.path.join(cache, other), ignore_errors=True)
    key = hashlib.sha256(repr(arguments).encode() + contents(source)).hexdigest()
    kept = os.path.join(folder, os.path.basename(source) + key[:16] + ".so")
    if not os.path.exists(kept):
        call("batch-compile", source, "-o", output, *arguments)
        partial = "%s.%d" % (kept, os.getpid())
        shutil.copyfile(output, partial)
        os.replace(partial, kept)
    return kept


def small_size(source):
    """Returns the size for compile_model: 16 if the model has a size H, and None otherwise."""
    with open(source) as file:
        return 16 if "{H = " in file.read() else None


def table_of_passes(pipeline):
    """Returns the names of the passes in a table of docs/reference/pipelines.md, in
    order."""
    with open(os.path.join(ROOT, "docs", "reference", "pipelines.md")) as file:
        section = file.read().split("\n## %s\n" % pipeline)[1].split("\n## ")[0]
    return re.findall(r"^\| *\d+ *\| *`([a-z0-9-]+)` *\|", section, re.M)


def autobatch_passes(options, without=(), extra=None):
    """Returns the passes of --autobatch in docs/reference/pipelines.md as flags of
    batch-opt. `options` maps names of passes to options. Omits the passes in `without`. Of
    the passes that the pipeline adds only on request, includes only `extra`."""
    return ["--" + name + ("=" + options[name] if name in options else "")
            for name in table_of_passes("--autobatch")
            if name not in without and
            (name not in ("rec-refactor", "batch-layout-pq") or name == extra)]


def vector_options():
    """Returns options of --cpu-workers, as batch-compile sets them for this machine."""
    bits, registers = 128, 32
    if platform.machine() == "x86_64":
        with open("/proc/cpuinfo") as file:
            wide = re.search(r"\bavx512f\b", file.read())
        bits, registers = (512, 32) if wide else (256, 16)
    return "vector-bits=%d vector-registers=%d" % (bits, registers)


def run_model(program, inputs, *options, params="random:1", batch=None,
              threads=1, check=True):
    """Runs batch-run --json; returns the object that it prints."""
    arguments = [program, "--params=" + params, "--inputs=" + inputs,
                 "--threads=%d" % threads, "--json"]
    if batch:
        arguments.append("--batch=%d" % batch)
    if check:
        arguments.append("--check-unbatched")
    return json.loads(call("batch-run", *arguments, *options))


def mini_batches(instances, batch):
    """Returns the number of mini-batches of exactly `batch` instances. Benchmarks omit a smaller
    last mini-batch, because it would change the mean."""
    if instances < batch:
        raise ToolError("%d instances are too few for a mini-batch of %d" % (instances, batch))
    return instances // batch


# Counts how often a number must be doubled to reach 10. The loop is endless for 0. Control
# flow reads no computed tensor.
DOUBLING = """
func.func @main(%x: f32 {batch.name = "x"}) -> (i32 {batch.name = "n"})
    attributes {batch.entry} {
  %limit = arith.constant 10.0 : f32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%v = %x, %n = %zero) : (f32, i32) -> (f32, i32) {
    %less = arith.cmpf olt, %v, %limit : f32
    scf.condition(%less) %v, %n : f32, i32
  } do {
  ^bb0(%v: f32, %n: i32):
    %twice = arith.addf %v, %v : f32
    %m = arith.addi %n, %one : i32
    scf.yield %twice, %m : f32, i32
  }
  return %r#1 : i32
}
"""


class Checks:
    """Counts checks and prints each one. Scripts call exit() at the end."""

    def __init__(self, title):
        self.title, self.passed, self.failures = title, 0, []

    def expect(self, what, condition, detail=""):
        if condition:
            self.passed += 1
            print("ok: %s" % what)
        else:
            self.failures.append(what)
            print("FAILED: %s %s" % (what, detail))
        sys.stdout.flush()
        return condition

    def equal(self, what, found, wanted):
        return self.expect(what, found == wanted,
                           "(found %r, wanted %r)" % (found, wanted))

    def run(self, what, function):
        """Calls a function and returns its result. A ToolError counts as a failed check."""
        try:
            result = function()
        except ToolError as error:
            self.expect(what, False, "\n" + str(error))
            return None
        self.expect(what, True)
        return result

    def refused(self, what, error, text, function):
        """Calls a function, which must raise this error with this text."""
        try:
            function()
        except error as found:
            self.expect(what, text in str(found), repr(found))
        except Exception as found:
            self.expect(what, False, repr(found))
        else:
            self.expect(what, False, "was accepted")

    def exit(self):
        print("%s: %d passed, %d failed" %
              (self.title, self.passed, len(self.failures)))
        sys.exit(1 if self.failures else 0)


# --- safetensors ------------------------------------------------------------

# Elements of F16 and BF16 are represented by their bits.
CODES = {"F32": "f", "F64": "d", "I8": "b", "I16": "h", "I32": "i", "I64": "q",
         "U8": "B", "BOOL": "B", "F16": "H", "BF16": "H"}


def read_safetensors(path):
    """Returns {name: (dtype, shape, array)} of a safetensors file."""
    data = contents(path)
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        values = array.array(CODES[entry["dtype"]])
        values.frombytes(data[8 + size + begin:8 + size + end])
        tensors[name] = (entry["dtype"], entry["shape"], values)
    return tensors


def write_safetensors(path, tensors):
    header, data = {}, bytearray()
    for name, (dtype, shape, values) in sorted(tensors.items()):
        raw = array.array(CODES[dtype], values).tobytes()
        header[name] = {"dtype": dtype, "shape": list(shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def encode(kind, value):
    """Returns an element of f16, bf16 or another type as read_safetensors represents it."""
    if kind == "f16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    if kind == "bf16":  # the upper half of an f32
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    return value


def decode(kind, element):
    """Returns the number whose encode() is `element`."""
    if kind == "f16":
        return struct.unpack("<e", struct.pack("<H", element))[0]
    if kind == "bf16":
        return struct.unpack("<f", struct.pack("<I", element << 16))[0]
    return element


def rows(tensor):
    """Returns the rows of a two-dimensional tensor of read_safetensors."""
    _, shape, values = tensor
    return [values[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]


def write_lines(path, values):
    with open(path, "w") as file:
        for value in values:
            file.write(value if isinstance(value, str)
                       else json.dumps(value, separators=(",", ":")))
            file.write("\n")
    return path


# --- trees and graphs -------------------------------------------------------

def parse_brackets(line):
    """Returns a bracketed tree as [label, child, …] or [label, "word"]."""
    stack = [[]]
    for token in line.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token == ")":
            tree = stack.pop()
            stack[-1].append(tree)
        else:
            stack[-1].append(token)
    return stack[0][0]


def size_and_height(tree):
    """Returns the number of nodes and the height of a bracketed tree; a leaf has height
    0."""
    nodes, height, work = 0, 0, [(tree, 0)]
    while work:
        node, depth = work.pop()
        nodes += 1
        height = max(height, depth)
        if not isinstance(node[1], str):
            work += [(kid, depth + 1) for kid in node[1:]]
    return nodes, height


def dep_trees(lines):
    """Returns bracketed trees as values with a word at each node: the number of the label at
    inner nodes, and the number of the word at leaves. Labels and words share one
    numbering, in the order of first appearance."""
    words = {}

    def number(word):
        return words.setdefault(word, len(words))

    def convert(tree):
        if isinstance(tree[1], str):
            return ["leaf", number("word " + tree[1])]
        return ["node", number("label " + tree[0]),
                [convert(kid) for kid in tree[1:]]]

    return [convert(parse_brackets(line)) for line in lines]


def grid(generator, height, width, diagonals, vocabulary=100):
    """Returns a pixel grid as a value with shared nodes. The children of a pixel are its neighbors
    to the west, to the north and, if `diagonals` is true, to the north-west."""
    nodes = []
    for i in range(height):
        for j in range(width):
            kids = []
            if j:
                kids.append(i * width + j - 1)
            if i:
                kids.append((i - 1) * width + j)
            if i and j and diagonals:
                kids.append((i - 1) * width + j - 1)
            nodes.append(["node", generator.randrange(vocabulary),
                          [{"ref": kid} for kid in kids]])
    return {"nodes": nodes, "root": height * width - 1}


def random_dag(generator, count, vocabulary=100):
    """Returns a random DAG with one sink, its last node."""
    nodes, unused = [], set()
    for i in range(count):
        if i + 1 == count:
            kids = sorted(unused)
        else:
            kids = sorted(generator.sample(range(i), min(i, generator.randrange(5))))
        unused.difference_update(kids)
        unused.add(i)
        nodes.append(["node", generator.randrange(vocabulary),
                      [{"ref": kid} for kid in kids]])
    return {"nodes": nodes, "root": count - 1}


def dags(count, seed=5):
    """Returns grids and random DAGs alternately; the first is a 10x10 grid."""
    generator = random.Random(seed)
    values = [grid(generator, 10, 10, True)]
    while len(values) < count:
        if len(values) % 2:
            values.append(random_dag(generator, generator.randint(1, 60)))
        else:
            values.append(grid(generator, generator.randint(1, 12),
                               generator.randint(1, 12),
                               generator.random() < 0.5))
    return values[:count]


def add_soak_options(parser, count, what="programs"):
    """Adds options that specify which random programs a script makes, and how many."""
    parser.add_argument("--" + what, dest="programs", type=int, default=count, metavar="N",
                        help="make N %s (default: %%(default)s)" % what)
    parser.add_argument("--minutes", type=float, metavar="N",
                        help="make %s for N minutes instead" % what)
    parser.add_argument("--first", type=int, default=0, metavar="N",
                        help="begin with number N (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N",
                        help="draw %s from seed N (default: %%(default)s); the same seed and "
                        "number give the same one" % what)


def begun_within(minutes, cases):
    """Yields cases until `minutes` have passed, or all cases if `minutes` is None."""
    end = None if minutes is None else time.monotonic() + 60 * minutes
    for case in cases:
        if end is not None and time.monotonic() >= end:
            return
        yield case


def soak_numbers(options, step=1):
    """Returns an iterator over the numbers of the programs to make, in steps of `step`."""
    if options.minutes is None:
        return iter(range(options.first, options.first + options.programs, step))
    return begun_within(options.minutes, itertools.count(options.first, step))


def add_draw_options(parser, what):
    """Adds the options of a script that has a fixed list of cases. A run with a time limit draws
    some of them."""
    parser.add_argument("--minutes", type=float, metavar="N",
                        help="run %s in random order for N minutes" % what)
    parser.add_argument("--seed", type=int, default=1, metavar="N",
                        help="seed of the random order (default: %(default)s)")


def draw(options, cases):
    """Returns the cases that the options of add_draw_options choose. By default, returns all."""
    if options.minutes is None:
        return cases
    cases = random.Random(options.seed).sample(cases, len(cases))
    return begun_within(options.minutes, cases)


def temporary():
    """Creates a folder that is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="batch-test-")
    import atexit
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def temporary_paths():
    """Returns a function that maps a name to its path in a folder of temporary()."""
    folder = temporary()
    return lambda name: os.path.join(folder, name)


def contents(path):
    """Returns the bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def narrow(value):
    """Returns a number rounded to f32."""
    return struct.unpack("f", struct.pack("f", value))[0]
