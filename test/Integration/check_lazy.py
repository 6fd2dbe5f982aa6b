#!/usr/bin/env python3
"""check_lazy.py: tests control flow that waits for tensors (strategy `lazy`).

Batched results equal unbatched ones bit for bit, for any mini-batch, number of threads and order of
instances. An oracle replays decisions from the outputs to count the flushes: one for each
wait of the instance with the longest chain of waits, and one more if any task remains.
Tasks of instances that wait together run together, whatever the instances did before.
"""

import json
import os
import random
import re
import subprocess

import batchtest
from lazy_programs import (CIRCLE, ENDLESS, GROW, LATE, LONG, PAIR, PATH, PICK, ROUNDS, ROWS,
                           SHRINK, SPIN, WALK, many_loops)

checks = batchtest.Checks("lazy")
scratch = batchtest.temporary()


PROGRAMS = {}  # results of compiled(), by name


def compiled(name, text=None, size=None, options=""):
    """Returns the object of a model or a text, for strategy `lazy`, with these additional
    options of --autobatch."""
    source = batchtest.write_lines(os.path.join(scratch, name + ".mlir"), [text]) if text else \
        batchtest.model(name)
    if options:
        batchtest.call("batch-opt", source, "-o", source + options,
                       "--autobatch=strategy=lazy " + options)
        return checks.run("compile %s %s" % (name, options),
                          lambda: batchtest.compile_model(
                              source + options, source + options + ".so"))
    path = os.path.join(scratch, name + ".so")
    PROGRAMS[name] = checks.run("compile " + name, lambda: batchtest.compile_model(
        source, path, size, "--strategy=lazy"))
    return PROGRAMS[name]


def run(what, program, inputs, batch, threads, *options):
    """Returns the report and outputs of a run, or None twice if the run fails. On one thread, also
    compares the outputs with those of unbatched code."""
    out = os.path.join(scratch, "out.safetensors")
    report = checks.run(what, lambda: batchtest.run_model(
        program, inputs, "--outputs=" + out, *options, batch=batch,
        threads=threads, check=threads == 1))
    return (report, batchtest.contents(out)) if report else (None, None)


def fails(what, text, *command):
    done = subprocess.run([batchtest.tool(command[0]), *command[1:]],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    checks.expect(what, done.returncode == 1 and text in done.stdout.decode(),
                  done.stdout.decode())


def check_counts(name, program, inputs, count, chains, waits, left):
    """Checks a run. `chains`: the longest chain of waits of each instance. `waits`: the number of
    all waits, if known, or True for the sum of the chains. `left`: whether tasks that no wait needs
    remain in each mini-batch."""
    wanted = {}
    for batch in (1, 7, count):
        for threads in (1, 2, 3):
            what = "%s, batch %d, %d threads" % (name, batch, threads)
            # With two threads, rows that are no longer needed are reused.
            report, found = run(what, program, inputs, batch, threads,
                                "--share-tasks=1", "--nodes-per-worker=1", "--max-fibers=256",
                                "--reuse-rows=%d" % (1 if threads == 2 else 1024))
            if not report:
                continue
            checks.equal(what + ": workers that inspect", report["inspectors"],
                         min(threads, batch))
            wanted.setdefault("bytes", found)
            checks.expect(what + ": same bytes", found == wanted["bytes"])
            counts = [report[key] for key in ("flushes", "waits", "batches", "tasks")]
            checks.equal(what + ": same counts", counts,
                         wanted.setdefault(batch, counts))
    if callable(chains):
        chains = chains(batchtest.read_safetensors(
            os.path.join(scratch, "out.safetensors")))
    for batch in (1, 7, count):
        longest = [max(chains[i:i + batch]) for i in range(0, count, batch)]
        checks.equal("%s, batch %d: flushes" % (name, batch), wanted[batch][0],
                     sum(n + left for n in longest))
        if waits is True:
            waits = chains
        if waits:
            checks.equal("%s, batch %d: waits" % (name, batch), wanted[batch][1],
                         sum(waits))
    return wanted


def check(name, program, inputs, count, chains, left):
    """Checks a run without concurrent waits. `chains(outputs)`: the waits of each
    instance."""
    return check_counts(name, program, inputs, count, chains, True, left)


def check_order(name, program, lines, outputs):
    """Checks that instances in the opposite order have the same results, in one mini-batch and in
    several."""
    path = batchtest.write_lines(os.path.join(scratch, "opposite"), lines[::-1])
    out = os.path.join(scratch, "opposite.safetensors")
    for batch in (len(lines), 5):
        what = "%s, opposite order, batch %d" % (name, batch)
        if not checks.run(what, lambda: batchtest.run_model(
                program, path, "--outputs=" + out, batch=batch)):
            continue
        for key, (kind, shape, values) in batchtest.read_safetensors(out).items():
            size = len(values) // len(lines)
            rows = [values[i:i + size] for i in range(0, len(values), size)]
            forward = outputs[key][2]
            checks.expect("%s: same %s" % (what, key),
                          [v for row in rows[::-1] for v in row] == list(forward))


def random_tree(generator, height):
    if height == 0 or generator.random() < 0.1:
        return ["leaf", generator.randrange(100)]
    return ["node", random_tree(generator, height - 1),
            random_tree(generator, generator.randrange(height))]


def height_of(tree):
    return 0 if tree[0] == "leaf" else 1 + max(map(height_of, tree[1:]))


def check_trees():
    generator = random.Random(7)

    trees = [random_tree(generator, generator.randrange(9)) for _ in range(48)] + [["leaf", 99]]
    lines = [json.dumps(tree) for tree in trees]
    inputs = batchtest.write_lines(os.path.join(scratch, "trees"), lines)
    for name, text in (("shrink", SHRINK), ("walk", WALK)):
        program = compiled(name, text)
        if not program:
            continue
        first = 1 if name == "shrink" else 0
        wanted = check(name, program, inputs, len(lines),
                       lambda outputs: [n + first for n in outputs["steps"][2]],
                       left=1 - first)
        outputs = batchtest.read_safetensors(os.path.join(scratch, "out.safetensors"))
        checks.expect(name + ": instances differ", len(set(outputs["steps"][2])) > 3)
        check_order(name, program, lines, outputs)
        if name != "shrink":
            continue
        # One batch for each level of the highest tree, then one batch for each step
        checks.equal("shrink: batches", wanted[len(lines)][2],
                     max(map(height_of, trees)) + 1 + max(outputs["steps"][2]))


def check_rounds():
    """Checks that depths count from the last flush: tasks of instances that wait together run
    together, for any lengths of the earlier chains."""
    program = compiled("rounds", ROUNDS)
    eager = compiled("rounds", ROUNDS, options="defer=false")
    if not program or not eager:
        return
    ks = [(7 * i) % 6 for i in range(20)]
    lines = [json.dumps({"x": [0.1 + 0.05 * (i % 13)] * 16, "k": k})
             for i, k in enumerate(ks)]
    inputs = batchtest.write_lines(os.path.join(scratch, "rounds"), lines)
    wanted = check("rounds", program, inputs, len(lines),
                   lambda outputs: list(outputs["steps"][2]), left=1)
    outputs = batchtest.read_safetensors(os.path.join(scratch, "out.safetensors"))
    check_order("rounds", program, lines, outputs)
    steps = outputs["steps"][2]
    loop = sum(1 + max(k for k, n in zip(ks, steps) if n > t)
               for t in range(max(steps)))
    checks.equal("rounds: batches", wanted[len(lines)][2], loop + 1)
    # All policies run deferred tasks after all tasks that a wait depends on.
    for policy in ("agenda", "greedy"):
        report, found = run("rounds, " + policy, program, inputs, len(lines), 1,
                            "--policy=" + policy)
        if report:
            checks.expect("rounds, %s: same bytes" % policy, found == wanted["bytes"])
            checks.equal("rounds, %s: flushes and batches" % policy,
                         [report["flushes"], report["batches"]],
                         [wanted[len(lines)][0], loop + 1])
    # If the head is not deferred, it runs whenever instances have ended.
    report, found = run("rounds, heads not deferred", eager, inputs, len(lines), 1)
    if report:
        checks.expect("rounds, heads not deferred: same bytes",
                      found == wanted["bytes"])
        checks.equal("rounds, heads not deferred: batches", report["batches"],
                     loop + len(set(steps)))


def check_rows():
    """Checks that rows without a reader are reused, so that memory does not grow with the number
    of steps."""
    program = compiled("pair", PAIR)
    if not program:
        return
    count = 12
    slots = []
    for scale in (1, 1e30):
        lines = [json.dumps({"x": [0.1 * 3.0 ** (i % 5) * scale] * 16,
                             "y": [0.1 * 4.0 ** (i % 3) * scale ** (i % 2)] * 16})
                 for i in range(count)]
        name = "pair %g" % scale
        inputs = batchtest.write_lines(os.path.join(scratch, "pair"), lines)
        check_counts(name, program, inputs, count, lambda outputs: [
            2 + max(a, b) + c for a, b, c in
            zip(*(outputs[key][2] for key in ("first", "second", "third")))], None, left=0)
        check_order(name, program, lines, batchtest.read_safetensors(
            os.path.join(scratch, "out.safetensors")))
        report, _ = run(name + ", rows used again", program, inputs, count, 1,
                        "--reuse-rows=1")
        if report:
            slots.append(report["slots"])
            checks.expect(name + ": instances differ", report["flushes"] > 10)
    checks.expect("pair: rows", len(slots) == 2 and max(slots) <= 12 * count, slots)


def check_many_loops():
    """Checks that each of 34 loops becomes a function of the object at -O1, with the same results
    as at -O0. At -O0, or with only 30 loops, the loops do not become functions."""
    lines = [json.dumps({"x": [0.3 * 2.0 ** (i % 5)] * 16}) for i in range(8)]
    inputs = batchtest.write_lines(os.path.join(scratch, "many"), lines)
    for fork in (False, True):
        name = "many loops%s" % (", side by side" if fork else "")
        found, functions = [], []
        for calls, level in ((34, "-O0"), (34, "-O1"), (30, "-O1")):
            path = batchtest.write_lines(
                os.path.join(scratch, "many.mlir"), [many_loops(calls, fork)])
            options = ("--strategy=lazy", level)
            program = batchtest.compile_model(path, path + level + ".so", None, *options)
            if calls == 34:
                found.append(run(name + level, program, inputs, 8, 1)[1])
            batchtest.call("batch-compile", path, "-o", path + ".ll", "--emit-llvm", *options)
            with open(path + ".ll") as file:
                functions.append(len(re.findall(r"^define .* @main\.", file.read(), re.M)))
        checks.expect(name + ": same bytes", found[0] and found[0] == found[1])
        checks.expect(name + ": functions of loops",
                      max(functions[0], functions[2]) < 10 and functions[1] >= 34, functions)


def check_steps_memory():
    """Checks that a loop that keeps only its state needs the same memory for any number
    of rounds."""
    program = compiled("long", LONG)
    if not program:
        return
    found = []
    # Only the first run checks results, because the unbatched code of a check also needs memory.
    for check, steps in ((True, 3000), (False, 1000), (False, 100000)):
        inputs = batchtest.write_lines(os.path.join(scratch, "long"), [
            json.dumps({"x": [0.1 * i] * 256, "k": steps}) for i in range(8)])
        report = checks.run("long, %d steps" % steps, lambda: batchtest.run_model(
            program, inputs, batch=8, threads=1, check=check))
        if report and not check:
            checks.equal("long: tasks of %d steps" % steps, report["tasks"] // steps, 8)
            found.append(report["memory_bytes"])
    checks.expect("long: bytes", len(found) == 2 and found[0] == found[1], found)


def check_examples():
    """Checks models for which `lazy` is not the default strategy."""
    program = compiled("skipnet38")
    if program:
        check("skipnet38", program, "random:1,9", 9,
              lambda outputs: [17] * 9, left=1)
    program = compiled("seq2seq", size=16)
    if program:
        check("seq2seq", program, "random:3,9", 9,
              lambda outputs: list(outputs["count"][2]), left=1)


def check_forks():
    """Checks that independent calls wait concurrently."""
    generator = random.Random(9)

    def nodes_of(tree):
        return 0 if tree[0] == "leaf" else 1 + sum(map(nodes_of, tree[1:]))

    # A DAG with 2^39 paths from the root to the leaf.
    ladder = {"nodes": [["leaf", 1]] + [["node", {"ref": i}, {"ref": i}]
                                        for i in range(39)], "root": 39}
    trees = [random_tree(generator, generator.randrange(7)) for _ in range(18)]
    lines = [json.dumps(t) for t in trees] + [json.dumps(ladder)]
    inputs = batchtest.write_lines(os.path.join(scratch, "dags"), lines)
    heights = list(map(height_of, trees)) + [39]
    nodes = list(map(nodes_of, trees)) + [39]
    program = compiled("grow", GROW)
    if program:
        count = len(lines)
        wanted = check_counts("grow", program, inputs, count, heights, None, left=1)
        check_order("grow", program, lines, batchtest.read_safetensors(
            os.path.join(scratch, "out.safetensors")))
        single = batchtest.write_lines(os.path.join(scratch, "ladder"), lines[-1:])
        report, _ = run("a shared node under a wait", program, single, 1, 1)
        if report:
            checks.expect("a shared node under a wait: once", report["tasks"] <= 80,
                          report["tasks"])
        # A limit on the number of concurrent branches changes only which tasks wait together.
        for options, chains in ((["--max-fibers=0"], nodes), (["--max-fibers=3"], None),
                                (["--fiber-stack=256K"], heights)):
            what = "grow " + options[0]
            report, found = run(what, program, inputs, count, 1, *options)
            if report:
                checks.expect(what + ": same bytes", found == wanted["bytes"])
                if chains:
                    checks.equal(what + ": flushes", report["flushes"], max(chains) + 1)
                else:
                    checks.expect(what + ": flushes", max(heights) + 1 <=
                                  report["flushes"] <= max(nodes) + 1, report["flushes"])
        serial = compiled("grow", GROW, options="fork=false")
        if serial:
            report, found = run("grow fork=false", serial, inputs, count, 1)
            if report:
                checks.expect("grow fork=false: same bytes", found == wanted["bytes"])
                checks.equal("grow fork=false: flushes", report["flushes"],
                             max(nodes) + 1)
        # The last call of a node runs as a branch, on the stack of its caller.
        chain = '["leaf", 0]'
        for _ in range(20000):
            chain = '["node", ["leaf", 1], %s]' % chain
        deep = batchtest.write_lines(os.path.join(scratch, "deep"), [
            lines[0], '["node", %s, ["leaf", 0]]' % chain])
        for threads in ("1", "3"):
            fails("too deep on a branch", "instance 1: the recursion is deeper than the "
                  "stack of 262144 bytes allows; give a larger one with "
                  "--fiber-stack=BYTES", "batch-run", program, "--params=random:1",
                  "--inputs=" + deep, "--fiber-stack=256K", "--threads=" + threads,
                  "--nodes-per-worker=1")
        out = os.path.join(scratch, "partial.safetensors")
        done = subprocess.run([
            batchtest.tool("batch-run"), program, "--params=random:1", "--inputs=" + deep,
            "--fiber-stack=256K", "--partial-results", "--outputs=" + out],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        rows = list(batchtest.read_safetensors(out)["h"][2])
        checks.expect("partial results where a branch fails", done.returncode == 1 and
                      any(rows[:8]) and not any(rows[8:]), done.stdout.decode())
    program = compiled("rows", ROWS)
    if program:
        lines = [json.dumps([[10 ** generator.uniform(-3, 2)] * 16
                             for _ in range(generator.randrange(9))]) for _ in range(12)]
        inputs = batchtest.write_lines(os.path.join(scratch, "rows"), lines)
        out = os.path.join(scratch, "rows.safetensors")
        checks.run("rows", lambda: batchtest.run_model(
            program, inputs, "--outputs=" + out, batch=len(lines)))
        found = batchtest.read_safetensors(out)
        ends = list(found["steps.offsets"][2])
        waits = [[n + 1 for n in found["steps"][2][begin:end]]
                 for begin, end in zip(ends, ends[1:])]
        check_counts("rows", program, inputs, len(lines),
                     [max(rows, default=0) for rows in waits], list(map(sum, waits)),
                     left=0)
        # When the rounds of one row end, those of the next row begin. The number of flushes is
        # within Graham's bound for list scheduling.
        lines = [json.dumps([[10 ** generator.uniform(-3, 2)] * 16 for _ in range(320)])]
        inputs = batchtest.write_lines(os.path.join(scratch, "many-rows"), lines)
        checks.run("many rows", lambda: batchtest.run_model(
            program, inputs, "--outputs=" + out, batch=1))
        waits = [n + 1 for n in batchtest.read_safetensors(out)["steps"][2]]
        for most in (256, 4):
            what = "320 rows, %d side by side" % most
            report, _ = run(what, program, inputs, 1, 1, "--max-fibers=%d" % most)
            if report:
                checks.expect(what + ": flushes", report["flushes"] <=
                              max(waits) + sum(waits) // most, report["flushes"])
        # By default, the instances in progress share 256 stacks. The instances without rows end
        # first, and the others may then have more branches.
        lines = [json.dumps([[10 ** generator.uniform(-3, 2)] * 16
                             for _ in range(0 if i % 16 else 120)]) for i in range(64)]
        inputs = batchtest.write_lines(os.path.join(scratch, "few-with-rows"), lines)
        reports = [run("64 instances, %d threads" % threads, program, inputs, 64, threads,
                       "--nodes-per-worker=1", *options)
                   for threads, options in ((1, []), (2, []), (3, []),
                                            (1, ["--max-fibers=256"]), (1, ["--max-fibers=3"]))]
        if all(report for report, _ in reports):
            flushes = [report["flushes"] for report, _ in reports]
            fibers = [report["fibers_most"] for report, _ in reports]
            checks.equal("64 instances: same flushes", flushes[1:3], flushes[:1] * 2)
            checks.equal("64 instances: same fibers", fibers[1:3], fibers[:1] * 2)
            checks.expect("64 instances: same bytes",
                          all(found == reports[0][1] for _, found in reports))
            checks.expect("64 instances: fibers", fibers[4] < fibers[0] <= 256 < fibers[3], fibers)
            checks.expect("64 instances: flushes", flushes[3] <= flushes[0] < flushes[4] / 2,
                          flushes)
        # The last row needs no fiber, so `most` + 1 rows can run side by side.
        for count, most in ((257, 256), (2, 1)):
            lines = [json.dumps([[1.0] * 16] * count)]
            inputs = batchtest.write_lines(os.path.join(scratch, "equal-rows"), lines)
            what = "%d equal rows, %d side by side" % (count, most)
            report, _ = run(what, program, inputs, 1, 1, "--max-fibers=%d" % most)
            wanted, _ = run(what + ", alone", program, inputs, 1, 1, "--max-fibers=1000")
            if report and wanted:
                checks.equal(what + ": flushes", report["flushes"], wanted["flushes"])
    program = compiled("circle", CIRCLE)
    if program:
        lines = batchtest.write_lines(os.path.join(scratch, "circle"), [
            '["leaf", 60]', '["leaf", 70]', '["leaf", 7]', '["leaf", 8]'])
        for threads in ("1", "3"):
            fails("a call that needs its result", "instance 2: a recursive function "
                  "calls itself with equal arguments and never returns", "batch-run",
                  program, "--params=random:1", "--inputs=" + lines,
                  "--threads=" + threads, "--nodes-per-worker=1")


def check_workers():
    """Checks several inspecting workers. They create nodes and lists concurrently,
    compute values that are equal for all instances once in total, and report the first
    error."""
    values = [0.05 + 0.09 * (7 * i % 23) for i in range(20)]
    program = compiled("path", PATH)
    if program:
        inputs = batchtest.write_lines(os.path.join(scratch, "path"), [
            json.dumps({"x": [value] * 16, "xs": [[value / (i + 2)] * 16
                                                  for i in range(1 + index % 5)]})
            for index, value in enumerate(values)])
        check("room for nodes and lists", program, inputs, len(values),
              lambda outputs: list(outputs["steps"][2]), left=1)
        # Enough elements to move the arrays often while other workers read and write them
        many = batchtest.write_lines(os.path.join(scratch, "many"), [
            json.dumps({"x": [0.05 + i % 7 / 100] * 16, "xs": [[i / 999] * 16] * 20})
            for i in range(600)])
        found = [run("room for nodes and lists of many, %d threads" % threads, program,
                     many, 600, threads, "--nodes-per-worker=1")[1]
                 for threads in (1, 2, 3)]
        checks.expect("room for nodes and lists of many", found == found[:1] * 3)
    program = compiled("late", LATE)
    if program:
        # The instances of three workers reach round k at different times.
        inputs = batchtest.write_lines(os.path.join(scratch, "late"), [
            json.dumps({"x": [value] * 16, "k": (5, 2, 9)[3 * i // len(values)]})
            for i, value in enumerate(values)])
        wanted = check("a constant is made once", program, inputs, len(values),
                       lambda outputs: list(outputs["steps"][2]), left=0)
        outputs = batchtest.read_safetensors(os.path.join(scratch, "out.safetensors"))
        steps, ks = outputs["steps"][2], [(5, 2, 9)[3 * i // 20] for i in range(20)]
        late = [k for k, n in zip(ks, steps) if k < n]
        checks.equal("a constant is made once: parts", set(late), {5, 2, 9})
        checks.equal("a constant is made once: tasks", wanted[len(values)][3],
                     sum(steps) + len(late) + 1)
        for threads in (1, 2, 3):
            report, found = run("late, greedy", program, inputs, len(values), threads,
                                "--nodes-per-worker=1", "--policy=greedy")
            if report:
                checks.equal("late, greedy, %d threads: batches" % threads, [
                    report["batches"], report["tasks"]], wanted.setdefault(
                        "greedy", [report["batches"], report["tasks"]]))
    program = PROGRAMS.get("rounds")
    if program:
        # Instance 0 has one step in each round, and instance 3 has six.
        limit = "exceeded the limit of 9 steps"
        for what, ks, text in (("earliest", (0, 0, 0, 5), "instance 3: " + limit),
                               ("first", (0, 5, 5, 5), "instance 1: " + limit)):
            inputs = batchtest.write_lines(os.path.join(scratch, "ends"), [
                json.dumps({"x": [5] * 16, "k": k}) for k in ks])
            for threads in ("1", "2", "3"):
                fails("the %s error, %s threads" % (what, threads), text, "batch-run",
                      program, "--params=random:1", "--inputs=" + inputs,
                      "--max-steps=9", "--nodes-per-worker=1", "--threads=" + threads)


def check_steps():
    """Checks runs on one to three threads, and unbatched code. Each error names an instance
    that does not end, and its loop or recursive function. Instances that have already ended do not
    matter."""
    program = compiled("endless", ENDLESS)
    loop = ENDLESS[:ENDLESS.index("%h, %n = scf.while")].count("\n") + 1
    function = ENDLESS[:ENDLESS.index("func.func private @again")].count("\n") + 1
    first = batchtest.write_lines(os.path.join(scratch, "steps"), [
        json.dumps({"x": [value] * 16, "y": [start] * 16}) for value, start in
        ((0.5, 3), (0.5, 0.5), (2, 1), (3, 1))])
    second = batchtest.write_lines(os.path.join(scratch, "calls"), [
        json.dumps({"x": [0.5] * 16, "y": [start] * 16}) for start in
        (1.5, 0.5, 1e9, 1e8)])
    for inputs, where in ((first, "a loop at endless.mlir:%d:" % loop),
                          (second, "function 'again' at endless.mlir:%d:" % function)):
        for options in (["--threads=1"], ["--threads=2", "--nodes-per-worker=1"],
                        ["--threads=3", "--nodes-per-worker=1"], ["--unbatched"]):
            done = subprocess.run(
                [batchtest.tool("batch-run"), program, "--params=random:1",
                 "--inputs=" + inputs, "--max-steps=50"] + options,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            text = done.stdout.decode()
            checks.expect(
                "an end after 50 steps %s %s" % (where, options), done.returncode == 1 and
                "instance 2: exceeded the limit of 50 steps, the last one in " + where
                in text and "; allow more with --max-steps=N" in text, text)
    # The same error for a loop that waits for nothing
    spinning = compiled("spin", SPIN)
    loop = SPIN[:SPIN.index("%i, %n = scf.while")].count("\n") + 1
    lines = batchtest.write_lines(os.path.join(scratch, "spin"), [
        json.dumps({"x": [0.5] * 16, "k": k}) for k in (4, 6, 7, 5)])
    for options in (["--threads=1"], ["--threads=3"], ["--unbatched"]):
        fails("a loop without a wait %s" % options, "instance 2: exceeded the limit of 50 "
              "steps, the last one in a loop at spin.mlir:%d:" % loop, "batch-run",
              spinning, "--inputs=" + lines, "--max-steps=50", *options)
    # The other instances have results if partial results are requested.
    for threads in ("1", "2", "3"):
        out = os.path.join(scratch, "partial.safetensors")
        done = subprocess.run(
            [batchtest.tool("batch-run"), program, "--params=random:1", "--inputs=" +
             first, "--max-steps=50", "--partial-results", "--outputs=" + out,
             "--threads=" + threads, "--nodes-per-worker=1"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        text = done.stdout.decode()
        checks.expect("partial results", done.returncode == 1 and all(
            "instance %d: exceeded the limit of 50 steps" % i in text for i in (2, 3)) and
            "instance 0" not in text and "instance 1" not in text, text)
        found = batchtest.read_safetensors(out)
        checks.equal("partial results: values", [
            list(found[name][2]) for name in ("steps", "calls")],
            [[0, 0, 0, 0], [4, 0, 0, 0]])
    # The number needs 73 rounds to fall from 1e9 to below 1. The first call also counts.
    for steps, ends in ((73, False), (74, True)):
        checks.expect("%d steps" % steps, ends == (subprocess.run(
            [batchtest.tool("batch-run"), program, "--params=random:1",
             "--inputs=" + second, "--check-unbatched", "--max-steps=%d" % steps],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode == 0))


def check_errors():
    """Checks the errors for a target that does not support waits, for an index out of range, and
    for recursion that is too deep."""
    fails("GPU", "control flow can wait for tensors only on CPUs",
          "batch-compile", os.path.join(scratch, "walk.mlir"), "--strategy=lazy",
          "--device=emulator", "-o", os.path.join(scratch, "gpu.so"))
    # In the round after the first wait, the second element of instance 3 is 2000.
    picking = compiled("pick", PICK)
    lanes = checks.run("compile pick in lock step", lambda: batchtest.compile_model(
        os.path.join(scratch, "pick.mlir"), os.path.join(scratch, "lanes.so"), None,
        "--strategy=lockstep"))
    # Instance 0 may or may not end. Instances that ran into a limit do not hide the error.
    endless = ["--max-steps=50", "--partial-results"]
    threads = [["--threads=%d" % n, "--nodes-per-worker=1"] for n in (1, 2, 3)]
    for first, program, options in (
            [(0.5, picking, more) for more in threads + [["--unbatched"]]] +
            [(1, picking, endless + more) for more in threads] + [(1, lanes, endless)]):
        lines = batchtest.write_lines(os.path.join(scratch, "pick"), [
            json.dumps({"x": [0.05, second] + [1] * 6,
                        "shrink": [first if second == 0 else 0.5, 10] + [0.5] * 6})
            for second in (0, 5, 7, 200, 300)])
        fails("an index out of range in a kernel %s" % options, "error: instance 3: index "
              "2000 is out of range for dimension 0 of parameter 'E' of type "
              "tensor<1000x8xf32>, read at pick.mlir:", "batch-run", program,
              "--params=random:1", "--inputs=" + lines, *options)
    chain = '["leaf", 0]'
    for _ in range(5000):
        chain = '["node", ["leaf", 1], %s]' % chain
    lines = batchtest.write_lines(os.path.join(scratch, "deep"),
                                  ['["leaf", 0]', chain, chain])
    for threads in ("1", "3"):
        fails("too deep", "instance 1: the recursion is deeper than the stack of",
              "batch-run", PROGRAMS["walk"], "--params=random:1",
              "--inputs=" + lines, "--stack-size=131072", "--threads=" + threads)


check_trees()
check_rounds()
check_rows()
check_many_loops()
check_steps_memory()
check_examples()
check_forks()
check_workers()
check_steps()
check_errors()
checks.exit()
