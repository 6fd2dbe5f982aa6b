#!/usr/bin/env python3
"""check_import.py: batch-import. Modules of StableHLO give what JAX gives, text of
torch-mlir what the cell computes; names, values of resources, errors, and damaged files."""

import contextlib
import io
import os
import random
import re
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from jax import lax  # noqa: E402

import batchtest  # noqa: E402

checks = batchtest.Checks("batch-import")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")

import batch  # noqa: E402
from batch import import_  # noqa: E402

generator = numpy.random.default_rng(3)


def normal(*shape):
    return generator.normal(size=shape).astype("f")


def run(*arguments):
    """The exit code of the command, and what it prints."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            code = import_.main([str(a) for a in arguments])
        except SystemExit as error:  # of the options
            code = error.code
    return code, output.getvalue(), errors.getvalue()


def write(name, data):
    file = path(name)
    with open(file, "wb") as stream:
        stream.write(data if isinstance(data, bytes) else data.encode())
    return file


def imported(what, data, *options):
    """The model of a module, or None where it was refused."""
    code, output, errors = run(write("module.mlir", data), "-o", path("model.mlir"),
                               *options)
    if not checks.expect(what + ": imported", code == 0, errors):
        return None
    return batch.compile(path("model.mlir"))


# --- StableHLO ---------------------------------------------------------------------------

W, V = jnp.asarray(normal(4, 4) / 3), jnp.asarray(normal(4, 4))


def looping(W, x, n):
    return lax.while_loop(lambda s: s[1] < n, lambda s: (jnp.tanh(W @ s[0]) + x, s[1] + 1),
                          (x, jnp.int32(0)))


def newton(W, x, n):
    return lax.while_loop(lambda y: jnp.abs(y * y - x).max() > 1e-3,
                          lambda y: (y + x / y) / 2, jnp.abs(x) + 1) @ W


def nested(W, x, n):
    def outer(s):
        y, _ = lax.while_loop(lambda t: t[1] < s[1] % 3,
                              lambda t: (jnp.sin(t[0]) @ W, t[1] + 1), (s[0], jnp.int32(0)))
        return lax.cond(y[0] > 0, lambda: y * 0.5, lambda: y + W[0]), s[1] + 1
    return lax.while_loop(lambda s: s[1] < n, outer, (x, jnp.int32(0)))[0]


def attention(W, x, n):
    keys = W * x
    return jax.nn.softmax(keys @ x) @ W


POSITIVE = {newton}
PROGRAMS = {
    "layers": lambda W, x, n: {"y": jax.nn.gelu(W @ x), "z": jnp.argmax(W @ x)},
    "while": looping, "until converged": newton, "nested": nested,
    "cond": lambda W, x, n: lax.cond(n > 2, lambda: W @ x, lambda: x * n),
    "switch": lambda W, x, n: lax.switch(n % 4, [
        lambda: x, lambda: x * 2, lambda: W @ x, lambda: -x]),
    "switch beyond its branches": lambda W, x, n: lax.switch(n - 2, [
        lambda: x, lambda: x * 2, lambda: W @ x]),
    "scan": lambda W, x, n: lax.scan(lambda c, a: (jnp.tanh(W @ c + a), c[0]), x,
                                     jnp.stack([x, x + 1, x * n]))[1],
    "fori": lambda W, x, n: lax.fori_loop(0, n, lambda i, c: c + W[i % 4], x),
    "a row": lambda W, x, n: W[n % 4] + x[n % 4], "attention": attention,
    "an update": lambda W, x, n: x + lax.dynamic_update_slice(
        x, W[0, :2], (n % 3,)),
    "integers": lambda W, x, n: (n.astype(jnp.uint32) * 3 >> 1, n ^ 5, (x > 0).sum()),
    "half": lambda W, x, n: (x.astype(jnp.bfloat16) * 2).astype(jnp.float32),
    "calls": lambda W, x, n: jax.jit(lambda a: jnp.cumsum(a))(x) + jnp.var(x),
    "special": lambda W, x, n: jax.scipy.special.erfinv(jnp.tanh(x)) + lax.lgamma(
        jnp.abs(x) + 1),
    "convolution": lambda W, x, n: jnp.convolve(x, W[0], mode="same"),
    "chlo": lambda W, x, n: jnp.sinh(x) + jnp.square(jnp.tan(x / 9)) + lax.erf(x),
}
xs, ns = normal(5, 4), numpy.array([3, 0, 7, 1, 5], "i")
for name, f in PROGRAMS.items():
    arguments = numpy.abs(xs) + 0.5 if f in POSITIVE else xs
    lowered = jax.jit(f, keep_unused=True).lower(W, xs[0], ns[0])
    wanted = [jax.tree.leaves(jax.jit(f)(W, x, n)) for x, n in zip(arguments, ns)]
    exported = jax.export.export(jax.jit(f, keep_unused=True))(W, xs[0], ns[0])
    forms = {"text": lowered.as_text(), "text with places": lowered.as_text(debug_info=True)}
    if name in ("while", "cond", "integers"):
        forms["jax.export's text"] = exported.mlir_module()
        forms["portable bytecode"] = exported.mlir_module_serialized
    for form, text in forms.items():
        what = "%s, %s" % (name, form)
        named = [] if form in ("text with places", "portable bytecode") else \
            ["--name=0=W", "--name=1=x", "--name=2=n"]
        model = imported(what, text, "--shared=0", *named)
        if not model:
            continue
        results = model.bind({"W": W})(x=arguments, n=ns)
        found = [[numpy.asarray(results[key])[i] for key in results] for i in range(5)]
        checks.expect(what, all(
            len(a) == len(b) and
            all(numpy.allclose(u, v, 1e-5, 1e-5) for u, v in zip(a, b)) for a, b in zip(found, wanted)), "found %s, wanted %s" % (found, wanted))

params = {"W": [V, V], "b": normal(4)}


def layers(params, x):
    return {"y": params["W"][0] @ x + params["b"], "z": (x * 2, params["W"][1] @ x)}


model = imported("trees", jax.jit(layers).lower(params, xs[0]).as_text(debug_info=True),
                 "--shared=params.W.0,params.W.1,params.b", "--name=params.b=bias")
if model:
    outputs = model.bind({"params.W.0": V, "params.W.1": V, "bias": params["b"]})(x=xs)
    checks.equal("names of a tree", list(outputs), ["y", "z.0", "z.1"])
    checks.expect("a tree", numpy.allclose(outputs["y"], xs @ V.T + params["b"], 1e-5,
                                           1e-5))

# What a loop passes on as it is is no longer carried: a parameter stays one.
code, output, _ = run(write("f.mlir", jax.jit(looping).lower(W, xs[0], ns[0]).as_text()))
checks.expect("a loop carries what changes",
              re.search(r"scf.while \([^)]*\) : \(tensor<4xf32>, tensor<i32>\) ->", output) and
              "stablehlo" not in output, output)
code, output, _ = run(write("f.mlir", jax.jit(lambda x, y: x + y).lower(
    xs[0], xs[0]).as_text(debug_info=True)))
checks.expect("places stay", 'loc("%s":' % os.path.abspath(__file__) in output, output)

# --- linalg on tensors -------------------------------------------------------------------

CELL = os.path.join(TESTS, "Python", "Inputs", "lstm_cell.mlir")
for form in ".safetensors", ".npz":
    code, output, errors = run(CELL, "-o", path("cell.mlir"), "--params", path("w" + form),
                               "--name=0=x", "--name=arg1=h", "--name=2=c", "--outputs=h,c")
    if not checks.expect("torch-mlir, " + form, code == 0, errors):
        continue
    checks.expect("says what it has written, " + form, output.startswith(
        "entry @cell(x: tensor<4xf32>, h: tensor<4xf32>, c: tensor<4xf32>) -> "
        "(h: tensor<4xf32>, c: tensor<4xf32>)\n") and output.count("and shared") == 4, output)
    checks.expect("values are in the file alone, " + form,
                  b"0x" not in batchtest.contents(path("cell.mlir")))
    if form == ".npz":
        weights = dict(numpy.load(path("w.npz")))
        f = batch.compile(path("cell.mlir")).bind(weights)
    else:
        f = batch.compile(path("cell.mlir")).bind(path("w.safetensors"))
    x, h, c = normal(3, 5, 4)
    found = f(x=x, h=h, c=c)
    if form == ".npz":
        # Its constants are used in the order b_hh, W_hh, b_ih, W_ih.
        b, U, d, T = (weights["torch_tensor_16%s_torch.float32%s" % key] for key in (
            ("", "_1"), ("_4", "_1"), ("", ""), ("_4", "")))
        candidates = [x @ first.T + h @ second.T + b + d for first, second in
                      ((T, U), (U, T))]
        right = []
        for gates in candidates:
            i, g, u, o = numpy.split(gates, 4, 1)
            sigmoid = lambda v: 1 / (1 + numpy.exp(-v))  # noqa: E731
            new = sigmoid(g) * c + sigmoid(i) * numpy.tanh(u)
            right.append(numpy.allclose(found["c"], new, 1e-5, 1e-5) and numpy.allclose(
                found["h"], sigmoid(o) * numpy.tanh(new), 1e-5, 1e-5))
        checks.equal("an LSTM's cell", right.count(True), 1)

MODULE = """// A module. func.func @no(
#map = affine_map<(d0) -> (d0)>
module @named attributes {torch.debug = "a \\" } func.func @no(", x.keep} {
  func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = arith.addf %x, %x : tensor<4xf32> // )
    return %y : tensor<4xf32>
  }
  func.func public @"two words"(%x: tensor<4xf32> {jax.buffer = 1 : i64,
        batch.name = "in"},
      // Between lines (
      %w: tensor<4xf32>) -> tensor<4xf32> attributes {llvm.x = {a = "}"}} {
    %y = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = arith.mulf %y, %w : tensor<4xf32>
    return %z : tensor<4xf32>
  }
}
"""
model = imported("comments, strings, attributes", MODULE, "--shared=w", "--outputs=y")
if model:
    checks.equal("names", str(model), "Model(in: tensor<4xf32>) -> (y: tensor<4xf32>) with "
                 "parameters (w: tensor<4xf32>)")
    checks.expect("computes", numpy.array_equal(
        model.bind({"w": W[0]})(xs)["y"], 2 * xs * W[0]))
    checks.equal("lines stay where they are", len(MODULE.splitlines()),
                 len(batchtest.contents(path("model.mlir")).splitlines()))
model = imported("comments within attributes", """module @"a b" attributes {mhlo.x = 1 : i32, // why
    batch.sizes = {H = 4 : index} // last
} {
  func.func @f(%x: tensor<4xf32> { // the first
        batch.name = "a" }, %w: tensor<4xf32> {jax.q = {p = 1, // within
        q = "// not"}, batch.name = "b" // last
      } // of all
      ) -> (tensor<4xf32> { // its name:
        batch.name = "y"}) attributes {u, // c
      jax.k = 1} {
    %y = arith.addf %x, %w : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
""", "--shared=b")
if model:
    checks.equal("names between comments", str(model), "Model(a: tensor<4xf32>) -> (y: tensor<"
                 "4xf32>) with parameters (b: tensor<4xf32>)")
    checks.expect("nothing of front ends is left", not re.search(
        "mhlo|jax", batchtest.contents(path("model.mlir")).decode()))
plain = MODULE.replace("llvm.x", "x").replace("jax.buffer = 1 : i64,", "").replace(
    'torch.debug = "a \\" } func.func @no(", x.keep', "")
subprocess.run([batchtest.tool("batch-opt"), "-", "--emit-bytecode", "-o", path("b.mlirbc")],
               input=plain.encode(), check=True)
for form, text in [("bytecode", batchtest.contents(path("b.mlirbc"))),
                   ("the generic form", subprocess.run(
                       [batchtest.tool("batch-opt"), "-", "--mlir-print-op-generic"],
                       input=plain.encode(), stdout=subprocess.PIPE, check=True).stdout)]:
    model = imported(form, text, "--shared=1")
    checks.expect(form, model and numpy.array_equal(
        model.bind({"arg1": W[0]})(xs)["result"], 2 * xs * W[0]))
model = imported("util.func", """util.func public @f(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  %y = util.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  util.return %y : tensor<4xf32>
}
util.func private @g(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  util.return %x : tensor<4xf32>
}
""")
checks.expect("util.func", model and numpy.array_equal(model.bind()(xs)["result"], xs))

# --- errors ------------------------------------------------------------------------------

BAD = """func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
"""
SORT = jax.jit(jnp.sort).lower(xs[0]).as_text()
two = BAD + BAD.replace("@f", "@g")
hexed = batchtest.contents(CELL).decode()
for what, data, text, options in [
        ("no module", "", "the module is empty", []),
        ("no function", "module {\n}\n", "has no function with a body", []),
        ("two functions", two, "--entry=NAME says it; there are: f, g", []),
        ("an unknown entry", BAD, "no function 'h'; there are: f", ["--entry=h"]),
        ("an unknown argument", BAD, "no argument 'q'; there are: 0 (x), 1 (y)",
         ["--shared=q"]),
        ("a position too many", BAD, "no argument '2'", ["--name=2=z"]),
        ("a position in other digits", BAD, "no argument '\u00b2'", ["--name=\u00b2=z"]),
        ("a name for none", BAD, "write --name=ARG=NAME", ["--name=z"]),
        ("one name for two", BAD, "both called 'y'; --name=1=NAME", ["--name=0=y"]),
        ("a name that is none", BAD, ":1:14: error: argument 0 cannot be called 'a\"'",
         ['--name=0=a"']),
        ("all shared", BAD, "all arguments of 'f' are shared", ["--shared=0,1"]),
        ("no arguments", "func.func @f() -> tensor<4xf32> {\n  %y = arith.constant dense<1.0> :"
         " tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n", "'f' has no arguments", []),
        ("names of results", BAD, "names 2 results, 'f' has 1", ["--outputs=a,b"]),
        ("no results", "func.func @f(%x: i32) {\n  return\n}\n", "has no results", []),
        ("no resources", BAD, "no values of dense_resource", ["--params=w.npz"]),
        ("another kind of file", BAD, "write a .safetensors or an .npz", ["--params=w.pt"]),
        ("no text", b"\xff\xfe\x00", "neither MLIR's bytecode nor text", []),
        ("an open bracket", BAD.replace(") ->", " ->"), ":1:13: error: '(' is not closed", []),
        ("an operation that is none", BAD.replace("arith.addf", "arith.plus"),
         "in.mlir:2:8: error: ", []),
        ("an operation that is not supported", BAD.replace(
            "arith.addf %x, %y", "linalg.nothing %x, %y"), "in.mlir:2:", []),
        ("what jaxlib leaves", SORT, "error: stablehlo.sort is not supported: batch.vmap", []),
        ("types of StableHLO", SORT.replace("tensor<4xf32>", "tensor<5xf32>", 1),
         "in.mlir:", []),
        ("cut", SORT[:400], "in.mlir:", []),
        ("bytecode that ends", batchtest.contents(path("b.mlirbc"))[:200], "error", []),
        ("StableHLO's bytecode that ends",
         jax.export.export(jax.jit(jnp.sin))(xs[0]).mlir_module_serialized[:300], "error", []),
        ("a resource of another size", hexed.replace("0x04000000", "0x04000000FF", 1),
         "has 65 bytes, tensor<16xf32> 64", ["--params", path("x.npz")]),
        ("a resource that is no number", hexed.replace("0x04000000", "0x0400000G", 1),
         "is no hexadecimal number", ["--params", path("x.npz")])]:
    code, output, errors = run(write("in.mlir", data), "-o", path("none.mlir"), *options)
    checks.expect("refused: " + what, code == 1 and text in errors and
                  "Traceback" not in errors, (code, output, errors))
    checks.expect("nothing is written: " + what, not os.path.exists(path("none.mlir")) and
                  not os.path.exists(path("x.npz")))
checks.equal("located in the user's function", run(write("in.mlir", jax.jit(
    lambda x: jnp.fft.fft(x).real).lower(xs[0]).as_text(debug_info=True)))[2].split(" ")[0]
    .rpartition(":")[0].rpartition(":")[0].rpartition(":")[0], os.path.abspath(__file__))
for what, arguments, text in [("no file", [path("nowhere.mlir")], "No such file"),
                              ("a folder", [TESTS], "Is a directory"),
                              ("a folder that is not there", [
                                  write("in.mlir", BAD), "-o", path("no/where.mlir")],
                               "No such file")]:
    code, _, errors = run(*arguments)
    checks.expect("refused: " + what, code == 1 and text in errors, errors)
before = write("kept.mlir", "kept")
run(write("in.mlir", BAD), "-o", before, "--entry=h")
checks.equal("a file that was there stays", batchtest.contents(before), b"kept")
code, output, errors = run(write("in.mlir", BAD), "-o", "/dev/null")
checks.expect("a device is written to", code == 0 and os.path.exists("/dev/null") and
              not os.path.isfile("/dev/null"), errors)
code, output, _ = run("--help")
checks.expect("help has an example", code == 0 and "batch-import f.mlir" in output)

# The example of the help, as it stands there.
lines = output[output.index("  python -c"):output.index("positional")].splitlines()
folder = batchtest.temporary()
bin_folder = os.path.join(folder, "bin")
os.mkdir(bin_folder)
with open(os.path.join(bin_folder, "batch-import"), "w") as stream:
    stream.write('#!/bin/sh\nexec "%s" -m batch.import_ "$@"\n' % sys.executable)
os.chmod(os.path.join(bin_folder, "batch-import"), 0o755)
done = subprocess.run(
    ["bash", "-ec", "\n".join(line[2:] for line in lines)], cwd=folder, text=True,
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(
        os.environ, PATH=os.pathsep.join([
            bin_folder, os.path.dirname(sys.executable),
            os.path.dirname(batchtest.tool("batch-run")), os.environ["PATH"]])))
checks.expect("the example of the help", done.returncode == 0 and
              "y f%d [8,4]" % (64 if jax.config.jax_enable_x64 else 32) in done.stdout,
              done.stdout)

# --- damaged files -----------------------------------------------------------------------


def damaged(chance, text):
    """A text with a few changes."""
    text = bytearray(text)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text))
        kind = chance.randrange(5)
        if kind == 0:
            del text[at:at + chance.randrange(1, 30)]
        elif kind == 1:
            text[at:at] = bytes(chance.choice(b'()<>{}[]"%@#:,->x! 0\\') for _ in range(2))
        elif kind == 2:
            text[at] = chance.randrange(256)
        elif kind == 3:
            del text[at:]
        else:
            other = chance.randrange(len(text) or 1)
            text[at:at] = text[other:other + chance.randrange(1, 40)]
    return bytes(text)


count = 400 if "--long" in sys.argv else 40
chance = random.Random(7)
sources = {"text": MODULE.encode(), "torch-mlir": batchtest.contents(CELL),
           "StableHLO": jax.jit(nested).lower(W, xs[0], ns[0]).as_text().encode(),
           "StableHLO with places": jax.jit(looping).lower(
               W, xs[0], ns[0]).as_text(debug_info=True).encode()}
for name, source in sources.items():
    problems, refused = [], 0
    for i in range(count):
        data = damaged(chance, source)
        with contextlib.suppress(FileNotFoundError):
            os.remove(path("out.mlir"))
        try:
            code, _, errors = run(write("in.mlir", data), "-o", path("out.mlir"))
        except Exception as error:
            problems.append((i, repr(error)))
            continue
        refused += code != 0
        if code not in (0, 1) or (code == 0) != os.path.exists(path("out.mlir")) or \
                code == 1 and not re.search(r"error", errors):
            problems.append((i, code, errors))
    checks.equal("damaged %s: an error, or a model" % name, problems, [])
    checks.expect("most are refused: " + name, refused > count // 4, refused)
    left = [file for file in os.listdir(os.path.dirname(path("x"))) if "partial" in file]
    checks.equal("nothing half-written: " + name, left, [])

# What is asked for of other packages.
with contextlib.suppress(ModuleNotFoundError):
    import torch  # noqa: F401
if "torch" not in sys.modules:
    checks.refused("modules of PyTorch without it", ImportError, "pip install 'torch>=2.6'",
                   lambda: batch.from_torch(None, ()))

# Without batch-compile the model is written, not checked; without batch-opt bytecode is not
# read.
os.environ["BATCH_COMPILE"] = path("nothing")
os.environ["PATH"] = os.path.dirname(shutil.which("env"))
code, output, errors = run(write("in.mlir", BAD))
checks.expect("without a compiler", code == 0 and "not checked" in errors, (code, errors))
code, output, errors = run(path("b.mlirbc"))
checks.expect("bytecode without batch-opt", code == 1 and "batch-opt" in errors, errors)

checks.exit()
