#!/usr/bin/env python3
"""check_instances.py: tests strategy `replicate`, in which units run an instance, or a set of
instances, together.

The script runs models with loops and branches, for single instances and several, in batches of 1, 7
and 64, on one to three workers. Results have the bits of the unbatched code. The script also checks
the numbers of barriers, copies and tasks, memory that does not grow with the rounds of a
loop, and each error.
"""

import json
import os
import re
import subprocess

import batchtest

checks = batchtest.Checks("single instances")
# Allocations that fail must return null under a sanitizer, too.
for sanitizer in ("ASAN_OPTIONS", "TSAN_OPTIONS"):
    os.environ[sanitizer] = os.environ.get(sanitizer, "") + ":allocator_may_return_null=1"
scratch = batchtest.temporary()

# A loop that ends when a computed value is small, or never ends. After the loop, the program reads
# a row of a parameter at an index that is an input.
LOOP = """
!vec = tensor<16xf32>
func.func @main(%x: !vec {batch.name = "x"}, %word: i32 {batch.name = "word"},
                %E: tensor<?x16xf32> {batch.shared = "E"})
    -> (!vec {batch.name = "y"}, i64 {batch.name = "n"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %small = arith.constant 0.02 : f32
  %shrink = arith.constant dense<0.75> : !vec
  %y, %n = scf.while (%v = %x, %n = %zero) : (!vec, i64) -> (!vec, i64) {
    %size = math.absf %v : !vec
    %e = tensor.extract %size[%c0] : !vec
    %more = arith.cmpf ugt, %e, %small : f32
    scf.condition(%more) %v, %n : !vec, i64
  } do {
  ^bb0(%v: !vec, %n: i64):
    %next = arith.mulf %v, %shrink : !vec
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : !vec, i64
  }
  %i = arith.index_cast %word : i32 to index
  %row = tensor.extract_slice %E[%i, 0] [1, 16] [1, 1] : tensor<?x16xf32> to !vec
  %z = arith.addf %y, %row : !vec
  return %z, %n : !vec, i64
}
"""

# Control flow reads an element of a computed tensor, at an index that is an input.
ELEMENT = """
!vec = tensor<16xf32>
func.func @main(%x: !vec {batch.name = "x"}, %i: index {batch.name = "i"})
    -> (!vec {batch.name = "y"}) attributes {batch.entry} {
  %zero = arith.constant 0.0 : f32
  %size = math.absf %x : !vec
  %e = tensor.extract %size[%i] : !vec
  %more = arith.cmpf ugt, %e, %zero : f32
  %y = scf.if %more -> !vec {
    %t = math.tanh %size : !vec
    scf.yield %t : !vec
  } else {
    scf.yield %x : !vec
  }
  return %y : !vec
}
"""
# A branch with one product on one side, and two on the other side, which contains another branch
BRANCHES = """
!vec = tensor<64xf32>
!mat = tensor<64x64xf32>
func.func private @layer(%W: !mat, %x: !vec) -> !vec {
  %a = linalg.matvec ins(%W, %x : !mat, !vec) outs(%x : !vec) -> !vec
  %b = math.tanh %a : !vec
  return %b : !vec
}
func.func @main(%x: !vec {batch.name = "x"}, %W: !mat {batch.shared = "W"},
                %U: !mat {batch.shared = "U"})
    -> (!vec {batch.name = "y"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %h = func.call @layer(%W, %x) : (!mat, !vec) -> !vec
  %e = tensor.extract %h[%c0] : !vec
  %more = arith.cmpf ugt, %e, %zero : f32
  %y = scf.if %more -> !vec {
    %t = func.call @layer(%U, %h) : (!mat, !vec) -> !vec
    scf.yield %t : !vec
  } else {
    %t = func.call @layer(%W, %h) : (!mat, !vec) -> !vec
    %f = tensor.extract %t[%c0] : !vec
    %again = arith.cmpf ugt, %f, %e : f32
    %u = scf.if %again -> !vec {
      %v = func.call @layer(%U, %t) : (!mat, !vec) -> !vec
      scf.yield %v : !vec
    } else {
      scf.yield %h : !vec
    }
    scf.yield %u : !vec
  }
  return %y : !vec
}
"""
# A tensor that is larger than the address space
LARGE = """
!vec = tensor<70368744177664xf32>
func.func @main(%x: f32 {batch.name = "x"}, %i: index {batch.name = "i"})
    -> (f32 {batch.name = "y"}) attributes {batch.entry} {
  %all = tensor.splat %x : !vec
  %t = math.tanh %all : !vec
  %e = tensor.extract %t[%i] : !vec
  return %e : f32
}
"""

# The second recurrence reads results of the first recurrence in the same round and in the next
# round. The next round may be in another group of 64 rounds.
FORWARDED = """
!vec = tensor<64xf32>
!mat = tensor<64x64xf32>
func.func @main(%x: !vec {batch.name = "x"}, %n: index {batch.name = "n"},
                %U: !mat {batch.shared = "U"}, %W: !mat {batch.shared = "W"})
    -> (!vec {batch.name = "h"}, !vec {batch.name = "d"}) attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y:3 = scf.for %i = %zero to %n step %one iter_args(%g = %x, %h = %x, %d = %x)
      -> (!vec, !vec, !vec) {
    %a = linalg.matvec ins(%U, %g : !mat, !vec) outs(%x : !vec) -> !vec
    %next = math.tanh %a : !vec
    %p = linalg.matvec ins(%W, %next : !mat, !vec) outs(%x : !vec) -> !vec
    %q = arith.mulf %p, %d : !vec
    %r = arith.subf %q, %h : !vec
    %s = math.tanh %r : !vec
    scf.yield %next, %s, %next : !vec, !vec, !vec
  }
  return %y#1, %y#2 : !vec, !vec
}
"""

# If the loop has no rounds, its result is the table itself. Then the last insertion must not
# write to the table, because reads in the same kernel or in a later kernel would see the change.
EMPTY = """
!vec = tensor<64xf32>
!table = tensor<4x64xf32>
func.func @main(%x: !vec {batch.name = "x"}, %n: index {batch.name = "n"},
                %W: !table {batch.shared = "W"})
    -> (!table {batch.name = "r"}, !table {batch.name = "u"}, !table {batch.name = "d"})
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = tensor.insert_slice %x into %W[1, 0] [1, 64] [1, 1] : !vec into !table
  %r, %y = scf.for %i = %zero to %n step %one iter_args(%a = %t, %v = %x)
      -> (!table, !vec) {
    %b = math.tanh %a : !table
    %w = math.cos %v : !vec
    scf.yield %b, %w : !table, !vec
  }
  %four = arith.constant 4 : index
  %place = arith.remui %n, %four : index
  %u = tensor.insert_slice %y into %t[%place, 0] [1, 64] [1, 1] : !vec into !table
  READ
}
"""
READS = {"later": "return %r, %u, %r : !table, !table, !table",
         "at once": "%d = arith.subf %r, %u : !table return %W, %u, %d : !table, !table, !table"}


def compiled(name, text=None, *options):
    path = batchtest.write_lines(os.path.join(scratch, name + ".mlir"), [text]) if text else \
        batchtest.model(name)
    return checks.run("compile " + " ".join((name,) + options), lambda:
                      batchtest.compile_model(path, os.path.join(
                          scratch, "-".join((name,) + options).replace("/", "_") + ".so"),
                          None, "--strategy=replicate", *options))


def run(program, inputs, *options, **more):
    return batchtest.run_model(program, inputs, *options, **more)


def words(name, lengths):
    return batchtest.write_lines(os.path.join(scratch, name), [
        json.dumps({"tokens": [(7 * i + length) % 90 for i in range(length)]})
        for length in lengths])


def check_bits():
    """Checks that each way to run a batch computes the same bits as the unbatched code."""
    sentences = words("sentences", [(5 * i) % 80 for i in range(64)])
    for name, inputs, options in (
            ("seq2seq", "random:3,64", ["--size=H=16", "--size=V=40"]),
            ("attention", "random:3,64", ["--size=D=8", "--size=HEADS=3"]),
            ("nasrnn", sentences, ["--size=H=16"]),
            ("lstm10", sentences, ["--size=H=16"]),
            ("lstm10", sentences, ["--size=H=16", "--order=layers"]),
            ("lstm10", sentences, ["--size=H=16", "--order=wavefront"])):
        for level in ("auto", "block", "cluster", "device"):
            program = compiled(name, None, "--level=" + level, *options)
            for batch, threads in ((1, 2), (7, 1), (7, 2), (64, 3)) if program else ():
                checks.run("%s, level %s, batch %d, %d threads" % (
                    name, level, batch, threads),
                    lambda: run(program, inputs, batch=batch, threads=threads))


def check_forwarding():
    """Checks tensors that loops carry, for each order of the tasks of a loop, and for loops
    without a round."""
    inputs = batchtest.write_lines(os.path.join(scratch, "rounds"), [
        json.dumps({"x": {"tensor": "x"}, "n": n}) for n in (0, 1, 63, 64, 65, 200)])
    tensors = os.path.join(scratch, "starts")
    batchtest.write_safetensors(tensors, {"x": ("F32", [64], [i / 64 for i in range(64)])})
    for order in ("rounds", "layers", "wavefront"):
        program = compiled("forwarded", FORWARDED, "--level=device", "--order=" + order)
        if program:
            checks.run("forwarded, order " + order, lambda: run(
                program, inputs, "--input-tensors=" + tensors, threads=2))
    for when, read in READS.items():
        for level in "block", "device":
            program = compiled("empty-" + when.replace(" ", "-"),
                               EMPTY.replace("READ", read), "--level=" + level)
            what = "no rounds, read %s, level %s" % (when, level)
            report = program and checks.run(what, lambda: run(
                program, inputs, "--input-tensors=" + tensors, threads=2))
            if report:
                # For each of six instances, three results and the table for the last insertion
                # are copied.
                checks.equal(what + ": copies", report["copied_bytes"], 6 * 4 * 4 * 64 * 4)


def check_counts():
    """Checks counts. nasrnn has one barrier for each round, and one more for every 64 rounds, whose
    products run ahead together. Its memory and copies do not depend on the number of words. Also
    checks barriers of the other models, and the copies of attention."""
    program = compiled("nasrnn", None, "--size=H=16", "--level=device")
    found = {}
    for length in (1, 10, 64, 65, 100, 1000, 100000) if program else ():
        found[length] = checks.run("%d words" % length, lambda: run(
            program, words("words%d" % length, [length]), threads=2, check=False))
    reports = {length: report for length, report in found.items() if report}
    if len(reports) == 7:
        for length in (10, 64, 65, 100, 1000):
            checks.equal("barriers of %d words" % length,
                         reports[length]["barriers"] - reports[1]["barriers"],
                         length - 1 + (length - 1) // 64)
        checks.equal("memory of 10 and of 100,000 words",
                     *(reports[length]["memory_bytes"]["scratch"]
                       for length in (10, 100000)))
        checks.equal("copies of results alone", reports[1000]["copied_bytes"],
                     reports[1]["copied_bytes"])
    # With ten layers and 64 words, there is a barrier before the products of each layer, and
    # before each round of each layer. In wavefront order, there is a wave for each word and for
    # each layer except the last. The remaining barriers precede or follow all of these.
    for order, wanted in (("layers", 10 * 65 + 2), ("wavefront", 64 + 9 + 4)):
        program = compiled("lstm10", None, "--size=H=16", "--level=device",
                           "--order=" + order)
        report = program and checks.run("lstm10, " + order, lambda: run(
            program, words("words64", [64]), threads=2))
        if report:
            checks.equal("lstm10, %s: barriers" % order, report["barriers"], wanted)
    program = compiled("seq2seq", None, "--size=H=16", "--size=V=40", "--level=device")
    report = program and checks.run("seq2seq", lambda: run(
        program, "random:3,1", threads=2))
    if report:
        rounds = (report["tasks"] - 1) // 2
        checks.expect("seq2seq: at most 4 barriers a round",
                      rounds > 3 and report["barriers"] <= 4 * rounds + 3,
                      "%d in %d rounds" % (report["barriers"], rounds))
        checks.equal("seq2seq: one launch", report["launches"], 1)
    program = compiled("attention", None, "--size=D=8", "--size=HEADS=3", "--level=device")
    report = program and checks.run("attention", lambda: run(
        program, "random:3,1", threads=2))
    if report:
        cache, rows = 3 * 64 * 64, 32 * 3 * 64
        checks.equal("attention: copies of caches before, of results after",
                     report["copied_bytes"], 4 * cache + rows)
        checks.expect("attention: at most 5 barriers a step",
                      report["barriers"] <= 5 * 32 + 3, report["barriers"])


def check_sets():
    """Checks that instances that run together compute only their own rows. A set runs the same
    tasks as its instances do one by one. In a loop, a set takes as many steps as the instance
    with the most rounds. In a branch, it takes one step for each product on any of the paths."""
    values = [[0.9 * (i + 1) / 24] * 16 for i in range(24)]
    tensors = os.path.join(scratch, "set")
    batchtest.write_safetensors(tensors, {
        "x%d" % i: ("F32", [16], row) for i, row in enumerate(values)})
    params = os.path.join(scratch, "set-params")
    batchtest.write_safetensors(params, {"E": ("F32", [8, 16], [0.5] * 128)})
    given = ["--input-tensors=" + tensors]

    def report(program, lines, **more):
        return run(program, batchtest.write_lines(os.path.join(scratch, "lines"), lines),
                   *given, threads=2, **more)

    # Numbers of rounds differ. Some instances take one side of a branch, and some take the other
    # side.
    loop = [json.dumps({"x": {"tensor": "x%d" % i}, "word": i % 8}) for i in range(24)]
    branches = [json.dumps({"x": [((i * 7 + j * 5) % 11 - 5) / 4 for j in range(64)]})
                for i in range(24)]
    for name, text, lines, more, steps in (
            ("loop", LOOP, loop, {"params": params}, None),
            ("branches", BRANCHES, branches, {}, 4)):
        program = compiled(name, text, "--level=device")
        if not program:
            continue
        single = [checks.run("%s, instance %d" % (name, i), lambda: report(
            program, [line], **more)) for i, line in enumerate(lines)]
        batched = checks.run(name + ", all", lambda: report(program, lines, **more))
        if not batched or None in single:
            continue
        checks.equal(name + ": tasks", batched["tasks"],
                     sum(one["tasks"] for one in single))
        checks.equal(name + ": steps", batched["batches"],
                     steps or max(one["batches"] for one in single))
        checks.expect(name + ": not all run the same",
                      len({one["tasks"] for one in single}) > 1)
        checks.equal(name + ": copies", batched["copied_bytes"],
                     sum(one["copied_bytes"] for one in single))
        checks.equal(name + ": launches", batched["launches"], 1)
    # More instances than a set has memory for, also in several mini-batches
    program = compiled("seq2seq", None, "--size=H=16", "--size=V=40", "--level=device")
    for batch in (65, 150) if program else ():
        checks.run("sets of %d" % batch, lambda: run(
            program, "random:3,150", batch=batch, threads=2))


def trace_share(program):
    """Returns the share of a trace's time that is spent in kernels. The only worker never waits."""
    path = os.path.join(scratch, "trace1")
    run(program, "random:3,1", "--trace=" + path, threads=1, check=False)
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    spent = sum(event["dur"] for event in events)
    return sum(event["dur"] for event in events if event["name"] != "barrier") / spent


def check_trace():
    """Checks the tasks and barriers of each worker in a trace, and the number of previous runs
    of each kernel."""
    program = compiled("seq2seq", None, "--size=H=16", "--size=V=40", "--level=device")
    path = os.path.join(scratch, "trace")
    report = program and checks.run("a trace", lambda: run(
        program, "random:3,1", "--trace=" + path, threads=2))
    if not report:
        return
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    kernels = [event for event in events if event["name"] != "barrier"]
    tasks = [event for event in kernels if event["args"]["tasks"] > 0]
    checks.equal("workers of the trace", {event["tid"] for event in events}, {0, 1})
    checks.equal("tasks of the trace", len(tasks), 2 * report["tasks"])
    checks.equal("barriers of the trace", len(events) - len(kernels),
                 2 * report["barriers"])
    # Most of the time in the trace is spent in kernels, not at barriers.
    checks.expect("kernels take most of a trace on one worker", trace_share(program) > 0.5)
    for worker in (0, 1):
        own = [event for event in events if event["tid"] == worker]
        checks.expect("worker %d does one after the other" % worker, all(
            one["ts"] + one["dur"] <= next["ts"] + 1e-3 for one, next in zip(own, own[1:])))
        counts = {}
        for event in own:
            before = counts.setdefault(event["name"], 0)
            begins = event["name"] == "barrier" or event["args"]["tasks"] > 0
            if event["args"]["run"] != before - (not begins):
                checks.equal("runs of " + event["name"], event["args"]["run"], before)
            counts[event["name"]] += begins


def fails(what, text, *command):
    """Checks that the command ends with exit code 1, and that its error contains `text`. In `text`,
    "..." matches any characters."""
    done = subprocess.run([batchtest.tool(command[0]), *command[1:]],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    error = done.stderr.decode()
    pattern = ".*".join(map(re.escape, text.split("...")))
    checks.expect(what, done.returncode == 1 and re.search(pattern, error),
                  "exit code %d: %s" % (done.returncode, error))


def check_element():
    program = compiled("element", ELEMENT)
    x = [1.0 + i for i in range(16)]
    inputs = batchtest.write_lines(os.path.join(scratch, "elements"), [
        json.dumps({"x": x, "i": i}) for i in (15, 16)])
    for threads in (1, 2) if program else ():
        fails("an element out of range, %d threads" % threads,
              "instance 1: index 16 is out of range for dimension 0 of a tensor of type "
              "tensor<16xf32>, read at element.mlir:7:8", "batch-run", program,
              "--inputs=" + inputs, "--threads=%d" % threads)


def check_errors():
    program = compiled("loop", LOOP)
    if not program:
        return
    tensors = os.path.join(scratch, "tensors")
    rows = {"ok": [1.0] * 16, "never": [float("nan")] * 16}
    batchtest.write_safetensors(tensors, {
        name: ("F32", [16], row) for name, row in rows.items()})

    def lines(name, *instances):
        return batchtest.write_lines(os.path.join(scratch, name), [
            json.dumps({"x": {"tensor": row}, "word": word}) for row, word in instances])

    good = lines("good", ("ok", 3), ("ok", 0))
    params = os.path.join(scratch, "params")
    batchtest.write_safetensors(params, {"E": ("F32", [8, 16], [0.5] * 128)})
    given = ["--params=" + params, "--input-tensors=" + tensors]
    checks.run("a loop that ends", lambda: run(program, good, given[1], params=params))
    endless = lines("endless", ("ok", 1), ("never", 1), ("ok", 2))
    for threads in (1, 2):
        command = ["batch-run", program, "--inputs=" + endless,
                   "--threads=%d" % threads, "--max-steps=50"] + given
        fails("a loop without an end, %d threads" % threads,
              "instance 1: exceeded the limit of 50 steps, the last one in a loop at "
              "loop.mlir:11:12; allow more with --max-steps=N, or write the results of "
              "the other instances with --partial-results", *command)
        out = os.path.join(scratch, "partial.safetensors")
        fails("results of the others, %d threads" % threads, "instance 1: ", *command,
              "--partial-results", "--outputs=" + out)
        outputs = batchtest.read_safetensors(out)
        checks.equal("rounds of the others", [outputs["n"][2][i] for i in (0, 2)],
                     [14, 14])
        outside = lines("outside", ("ok", 3), ("ok", 1000000))
        fails("an index out of range, %d threads" % threads,
              "instance 1: index 1000000 is out of range for parameter 'E' with 8 rows",
              "batch-run", program, "--inputs=" + outside, "--threads=%d" % threads,
              *given)
    for option in ("--policy=greedy", "--refill", "--max-fibers=2"):
        fails(option, option.split("=")[0] + " does not apply to this model: strategy "
              "'replicate' records no tasks and has no lanes",
              "batch-run", program, "--inputs=" + good, option, *given)
    check_element()
    program = compiled("large", LARGE)
    if program:
        fails("too little memory", "out of memory: cannot allocate 281474976710656 bytes for "
              "tensors of instances that run together; use a smaller batch (--batch) or fewer "
              "workers (--threads)",
              "batch-run", program, "--inputs=" + batchtest.write_lines(
                  os.path.join(scratch, "small"), ['{"x": 1, "i": 3}']))
    model = os.path.join(scratch, "loop.mlir")
    fails("an unknown level", "expected 'auto', 'block', 'cluster' or 'device'",
          "batch-compile", model, "--strategy=replicate", "--level=warp", "-o",
          os.path.join(scratch, "x.so"))
    # Code for the emulator has no instrumentation, so compile it without the options of
    # $BATCH_COMPILE_OPTIONS.
    device = os.path.join(scratch, "device.so")
    batchtest.call("batch-compile", model, "--strategy=replicate", "--device=emulator",
                   "-o", device)
    fails("a trace of a device", "tracing is not supported on devices, which run a whole "
          "mini-batch in one launch; omit --trace or use --device=cpu", "batch-run", device,
          "--inputs=" + good, "--trace=" + os.path.join(scratch, "trace"), *given)
    fails("recursion", "fib.mlir:...: error: strategy 'replicate' does not support this "
          "call; it only supports recursion", "batch-compile",
          batchtest.model("fib"), "--strategy=replicate", "-o", os.path.join(scratch, "x.so"))


check_bits()
check_forwarding()
check_counts()
check_sets()
check_trace()
check_errors()
checks.exit()
