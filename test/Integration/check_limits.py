#!/usr/bin/env python3
"""check_limits.py: tests that --max-steps applies to each way to run an instance, and
ends only the instance that exceeds the limit.

Numbers determine how often a loop or a recursion runs, so no strategy waits. The error
names the instance and the place. With --partial-results, the other instances have their
results, in each mini-batch, on each worker and in unbatched code.
"""

import subprocess

import batchtest

checks = batchtest.Checks("limits of steps")
path = batchtest.temporary_paths()

# A recursion over numbers, without memoization, that makes three calls at each level
CALLS = """
func.func private @tries(%n: index, %m: index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.cmpi eq, %n, %zero : index
  %r = scf.if %end -> index {
    scf.yield %m : index
  } else {
    %less = arith.subi %n, %one : index
    %twice = arith.addi %m, %m : index
    %odd = arith.addi %twice, %one : index
    %a = func.call @tries(%less, %twice) : (index, index) -> index
    %b = func.call @tries(%less, %odd) : (index, index) -> index
    %s = arith.addi %a, %b : index
    scf.yield %s : index
  }
  return %r : index
}
func.func @main(%x: index {batch.name = "x"}) -> (index {batch.name = "n"})
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %r = func.call @tries(%x, %zero) : (index, index) -> index
  return %r : index
}
"""
# The input is the number of rounds, each of which has a task.
ROUNDS = """
func.func @main(%x: index {batch.name = "x"}, %v: tensor<8xf32> {batch.name = "v"})
    -> (tensor<8xf32> {batch.name = "n"}) attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %x step %one iter_args(%h = %v) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %t = linalg.tanh ins(%h : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
"""
ROW = ', "v": [1, 2, 3, 4, 5, 6, 7, 8]'
MODELS = {
    "doubling": (batchtest.DOUBLING, [4, 0, 5, 6, 0, 7], "", "a loop at doubling.mlir:7:"),
    "calls": (CALLS, [2, 60, 3, 1, 62, 0], "", "function 'tries' at calls.mlir:2:"),
    "rounds": (ROUNDS, [2, 2 ** 31 - 1, 3, 1, 2 ** 31 - 1, 0], ROW, "a loop at rounds.mlir:6:"),
}
# With --level=device, instances run in sets. Their members run different numbers of rounds.
REPLICATE = [("replicate", ""), ("replicate", " --level=device")]
STEPS = 1000
ENDLESS = (1, 4)


def run(*command):
    """Returns the exit code of batch-run, or -1 if it does not end, and its standard error."""
    try:
        done = subprocess.run([batchtest.tool("batch-run")] + list(command),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    except subprocess.TimeoutExpired:
        return -1, "no end"
    return done.returncode, done.stderr.decode()


def rows(file, count):
    """Returns the bytes of each instance's result."""
    (_, shape, values), = batchtest.read_safetensors(file).values()
    bits = values.tobytes()
    checks.equal("results", shape[0], count)
    size = len(bits) // count
    return [bits[i * size:(i + 1) * size] for i in range(count)]


for name, (source, given, more, place) in MODELS.items():
    with open(path(name + ".mlir"), "w") as file:
        file.write(source)
    lines = batchtest.write_lines(path(name + ".jsonl"),
                                  ['{"x": %s%s}' % (x, more) for x in given])
    good = [i for i in range(len(given)) if i not in ENDLESS]
    few = batchtest.write_lines(path(name + "-good.jsonl"),
                                ['{"x": %s%s}' % (given[i], more) for i in good])
    strategies = [("linearize", ""), ("lazy", ""), ("none", "")]
    if name == "rounds":  # 'replicate' does not run recursion over numbers
        strategies += REPLICATE
    for strategy, level in strategies:
        what = "%s, %s%s" % (name, strategy, level)
        program = checks.run("compile " + what, lambda: batchtest.compile_model(
            path(name + ".mlir"), path(what.replace(", ", "-") + ".so"), None,
            "--strategy=" + strategy, *level.split()))
        if not program:
            continue
        forms = [["--unbatched"]]
        if strategy == "replicate":
            forms += [["--threads=2"], ["--batch=2"], []]
        elif strategy != "none":
            forms += [["--threads=2", "--nodes-per-worker=1"], ["--batch=2"], []]
        for form in forms:
            out = path("out.safetensors")
            what = "%s, %s%s %s" % (name, strategy, level, " ".join(form))
            command = [program, "--max-steps=%d" % STEPS, "--outputs=" + out] + form
            code, text = run(*command, "--inputs=" + few)
            if not checks.expect(what + ": no limit is met", code == 0, text):
                continue
            wanted = rows(out, len(good))
            code, text = run(*command, "--inputs=" + lines)
            checks.expect(
                what + ": the instance and the place", code == 1 and
                "error: instance 1: exceeded the limit of %d steps, the last one in %s"
                % (STEPS, place) in text and "; allow more with --max-steps=N, or write "
                "the results of the other instances with --partial-results\n" in text, text)
            code, text = run(*command, "--inputs=" + lines, "--partial-results")
            checks.expect(what + ": all that have no end", code == 1 and
                          [line.split(": ")[2] for line in text.splitlines()] ==
                          ["instance %d" % i for i in ENDLESS], text)
            found = rows(out, len(given))
            checks.expect(what + ": the others", [found[i] for i in good] == wanted)
            checks.expect(what + ": zeros", all(not any(found[i]) for i in ENDLESS))

# Two loops, with ceil(x / 3) and max(y - 2, 0) rounds. A limit equal to the sum of both numbers is
# enough. If the limit is one less, the error names the loop that exceeds it.
TWICE = """
func.func @main(%x: index {batch.name = "x"}, %y: index {batch.name = "y"},
                %v: f32 {batch.name = "v"}) -> (f32 {batch.name = "n"})
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %half = arith.constant 0.5 : f32
  %a = scf.for %i = %zero to %x step %three iter_args(%h = %v) -> f32 {
    %t = arith.mulf %h, %half : f32
    scf.yield %t : f32
  }
  %b = scf.for %i = %two to %y step %one iter_args(%h = %a) -> f32 {
    %t = arith.addf %h, %half : f32
    scf.yield %t : f32
  }
  return %b : f32
}
"""
with open(path("twice.mlir"), "w") as file:
    file.write(TWICE)
pairs = [(1, 0), (7, 9), (0, 12), (30, 2)]  # 1, 10, 10 and 10 rounds
inputs = batchtest.write_lines(path("twice.jsonl"), [
    '{"x": %d, "y": %d, "v": 1}' % pair for pair in pairs])
PLACES = {1: "twice.mlir:14:", 2: "twice.mlir:14:", 3: "twice.mlir:10:"}
for strategy, level in [("linearize", ""), ("lazy", ""), ("none", "")] + REPLICATE:
    program = checks.run("compile twice, " + strategy + level, lambda: batchtest.compile_model(
        path("twice.mlir"), path("twice-%s%s.so" % (strategy, level.strip())), None,
        "--strategy=" + strategy, *level.split()))
    for form in ([], ["--batch=1"], ["--unbatched"]):
        what = "twice, %s%s %s" % (strategy, level, " ".join(form))
        if strategy == "none" and form != ["--unbatched"]:
            continue
        out = path("twice.safetensors")
        command = [program, "--inputs=" + inputs, "--outputs=" + out] + form
        code, text = run(*command, "--max-steps=10")
        checks.expect(what + ": as many steps as allowed", code == 0, text)
        wanted = [0.5, 0.125 + 3.5, 6.0, 0.5 ** 10]
        found = list(batchtest.read_safetensors(out)["n"][2]) if code == 0 else []
        checks.expect(what + ": results", found == wanted, found)
        code, text = run(*command, "--max-steps=9", "--partial-results")
        checks.expect(what + ": one step less", code == 1 and text.count("limit of 9 steps") == 3
                      and all("instance %d: exceeded the limit of 9 steps, the last one in a "
                              "loop at %s" % each in text for each in PLACES.items()), text)
checks.exit()
