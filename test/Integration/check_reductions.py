#!/usr/bin/env python3
"""check_reductions.py: tests reductions of inputs, parameters and computed tensors.

The functions of reductions.mlir are called on an input, a parameter and a computed
tensor, and other operations use their results. The function with a loop also runs in lock
step. Results equal those of Python, within rounding if they depend on the order of sums,
otherwise to the bit: for any mini-batch, strategy and number of threads, unbatched, with
vectors of any width, and on the emulator.
"""

import math
import os
import platform
import random
import re

import batchtest
from batchtest import narrow

SOURCE = os.path.join(batchtest.ROOT, "test", "Integration", "CPU", "Inputs",
                      "reductions.mlir")
COUNT, ROWS, COLUMNS, WIDTH = 64, 5, 19, 8
NAN, INF = float("nan"), float("inf")

checks = batchtest.Checks("reductions")
scratch = batchtest.temporary()
draw = random.Random(8)


def path(name):
    return os.path.join(scratch, name)


def matrix(rows, columns):
    """Returns a matrix with few different values, so that some are equal and sums are exact."""
    return [[draw.randrange(-8, 9) / 4 for _ in range(columns)]
            for _ in range(rows)]


def flat(rows):
    return [value for row in rows for value in row]


# --- the program -------------------------------------------------------------

def functions():
    """Returns [(name, types of arguments, types of results)] of the source."""
    with open(SOURCE) as file:
        text = file.read()
    names = dict(re.findall(r"^(![a-z]+) = (\S+)$", text, re.M))

    def types(found):
        return [names.get(t, t) for t in re.findall(r"tensor<[^>]*>|![a-z]+|i64", found)]

    return [(name, types(taken), types(given)) for name, taken, given in
            re.findall(r"@(\w+)\(([^)]*)\)\s*->\s*\(?([^{]*?)\)? \{", text)]


def doubled(value, type):
    """Returns an op that uses `value` twice."""
    element = re.search(r"\w+(?=>)", type)[0].split("x")[-1]
    op = {"f32": "addf", "i1": "xori"}.get(element, "addi")
    return "arith.%s %s, %s : %s" % (op, value, value, type)


def write_program(name, strategy):
    """Writes a program whose entry calls the functions, and returns its path. Results are named
    FUNCTION.SOURCE.NUMBER."""
    body, results = ["%c = arith.constant dense<3.0> : !x", "%y = arith.divf %x, %c : !x"], []
    for function, taken, given in functions():
        sources = ["x", "P", "y"]
        if function in ("torch_argmax", "torch_argmin", "jax_argmax", "jax_argmin"):
            sources.append("odd")
        # Lanes cannot keep ragged tensors, and other strategies do not run the loop of @greedy.
        if function == "greedy":
            sources = ["x"] if strategy == "lockstep" else []
        if function == "ragged":
            sources = ["s"] if strategy == "linearize" else []
        for source in sources:
            call = "%s.%s" % (function, source)
            operands = ", ".join(["%" + source, "%P"][:len(taken)])
            body.append("%%%s:%d = func.call @%s(%s) : (%s) -> (%s)" % (
                call, len(given), function, operands, ", ".join(taken),
                ", ".join(given)))
            for number, type in enumerate(given):
                value = "%%%s#%d" % (call, number)
                if source == "y":
                    body.append("%%%s.%d = %s" % (call, number, doubled(value, type)))
                    value = "%%%s.%d" % (call, number)
                results.append((value, type, "%s.%d" % (call, number)))
    with open(SOURCE) as file:
        text = file.read()
    text += """
func.func @main(%%x: !x {batch.name = "x"}, %%odd: !x {batch.name = "odd"}%s,
                %%P: !x {batch.shared = "P"})
    -> (%s) attributes {batch.entry} {
  %s
  return %s : %s
}
""" % (', %s: !s {batch.name = "s"}' if strategy == "linearize" else "",
       ",\n".join('%s {batch.name = "%s"}' % r[1:] for r in results),
       "\n  ".join(body), ", ".join(r[0] for r in results),
       ", ".join(r[1] for r in results))
    if strategy == "linearize":
        begin = text.index("func.func private @greedy")
        end = text.index("func.func @main")
        text = text[:begin] + text[end:]
    with open(path(name), "w") as file:
        file.write(text)
    return path(name)


# --- the reference -----------------------------------------------------------

class Near:
    """A number that is compared with a tolerance, because it depends on the order of a sum or
    product"""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return "about %r" % self.value

    def matches(self, found):
        return abs(found - self.value) <= 1e-5 * (1 + abs(self.value))


def near(values):
    return [Near(value) for value in values]


def maximum(a, b):
    return NAN if a != a or b != b else max(a, b)


def fold(function, values, start):
    for value in values:
        start = function(value, start)
    return start


def torch_best(values, sign):
    """Returns the value with the largest sign * value, and the index that the body of PyTorch's op
    finds."""
    best, at = -INF, 0
    for k, value in enumerate(values):
        if sign * value > best:
            at = k
        best = maximum(sign * value, best)
    return sign * best, at


def jax_best(values, sign):
    best, at = -INF, 0
    for k, value in enumerate(values):
        value *= sign
        taken = value > best or value != value
        if taken or (value == best and k < at):
            at = k
        best = value if taken else best
    return at


def columns(x):
    return [list(column) for column in zip(*x)]


def torch_argmax(x):
    best = [torch_best(row, 1) for row in x]
    return [[b[0] for b in best], [b[1] for b in best]]


def torch_argmin(x):
    best = [torch_best(column, -1) for column in columns(x)]
    return [[b[0] for b in best], [b[1] for b in best]]


def jax_argmax(x):
    return [[jax_best(row, 1) for row in x]]


def jax_argmin(x):
    return [[jax_best(column, -1) for column in columns(x)]]


def plain(x):
    total = [sum(flat(x))]
    return [near(map(sum, x)), near(map(sum, columns(x))),
            near(math.prod(row) for row in x), [max(c) for c in columns(x)],
            [max(row) for row in x], [min(row) for row in x], near(total), near(total)]


def several(x):
    return [near(map(sum, x)), near(sum(v * v for v in row) for row in x),
            near(map(sum, x)), [max(-v for v in row) for row in x]]


def integers(x):
    n = [[int(8 * v) for v in row] for row in x]
    positive = [[v > 0 for v in row] for row in x]
    return [[sum(row) for row in n],
            [fold(lambda a, b: a ^ b, c, 0) for c in columns(n)],
            [max(row, key=lambda v: v & 2**64 - 1) for row in n],
            [any(c) for c in columns(positive)], [all(row) for row in positive]]


def deep(x):
    def at(a, b, c, d):
        return x[a][b % 2 * 6 + c * 3 + d]
    return [near(sum(at(a, b, c, d) for a in range(5) for d in range(3))
                 for c in range(2) for b in range(4)),
            [max(at(a, b, c, d) for b in range(4) for c in range(2))
             for d in range(3) for a in range(5)]]


def cumulative(x):
    sums = near(sum(row[:j + 1]) for row in x for j in range(COLUMNS))
    return [sums, sums,
            flat([row[0], narrow(row[0] + row[1]), row[2], narrow(row[2] + row[3]),
                  row[4]] for row in x)]


def windows(x):
    def window(i, j, rows, columns, step=1):
        return [(i + step * a, j + b) for a in range(rows) for b in range(columns)]

    def where(i, j):
        cells = window(i, j, 2, 2)
        best = max(x[a][b] for a, b in cells)
        return [a * COLUMNS + b for a, b in cells if x[a][b] == best][-1]

    return [[max(x[a][b] for a, b in window(i, j, 3, 3))
             for i in range(3) for j in range(17)],
            near(sum(x[a][b] for a, b in window(2 * i, 3 * j, 2, 3, 2))
                 for i in range(2) for j in range(6)),
            [where(2 * i, 2 * j) for i in range(2) for j in range(9)],
            near(sum(x[0][j + b] * x[1][b] for b in range(5)) for j in range(15)),
            [min(x[a][b] for a, b in window(3 * i, 3 * j, 2, 3))
             for i in range(2) for j in range(6)]]


def ragged(s):
    over = [[row[j] for row in s] for j in range(WIDTH)]
    total = near([sum(flat(s))])
    return [near(map(sum, over)), [max(c, default=-INF) for c in over],
            near(sum(v * v for v in c) for c in over), total,
            [max(flat(s), default=-INF)], [any(v > 0 for v in c) for c in over],
            [all(v > 0 for v in c) for c in over],
            [sum(torch_best(row, 1)[1] for row in s)],
            near([sum(map(max, s))])]


def greedy(x):
    v, n, total = x[0], 0, 0
    while True:
        k = torch_best(v, 1)[1]
        total += k
        if k == 7 or n >= 6:
            return [v, [total]]
        row = P[k % ROWS]
        v = [narrow(a + b if k < 9 else b - a) for a, b in zip(v, row)]
        n += 1


def twice(value):
    if isinstance(value, Near):
        return Near(2 * value.value)
    return False if isinstance(value, bool) else narrow(2 * value)


def expected(v, results):
    """Returns {result: values} of the results of a program."""
    tensors = {"x": v["x"], "P": P, "odd": v["odd"], "s": v["s"],
               "y": [[narrow(value / 3) for value in row] for row in v["x"]]}
    wanted = {}
    for call in sorted({name.rsplit(".", 1)[0] for name in results}):
        function, source = call.split(".")
        for number, values in enumerate(globals()[function](tensors[source])):
            wanted["%s.%d" % (call, number)] = (
                [twice(value) for value in values] if source == "y" else list(values))
    return wanted


def is_right(found, wanted):
    if isinstance(wanted, Near):
        return wanted.matches(found)
    return found == wanted or (found != found and wanted != wanted)


def compare():
    outputs = batchtest.read_safetensors(path("outputs"))
    wanted = [expected(instance, outputs) for instance in instances]
    checks.equal("results", sorted(outputs), sorted(wanted[0]))
    for name in wanted[0]:
        values = [value for one in wanted for value in one[name]]
        found = list(outputs[name][2])
        wrong = [(i, f, w) for i, (f, w) in enumerate(zip(found, values))
                 if not is_right(f, w)]
        checks.expect(name, len(found) == len(values) and not wrong,
                      "%d and %d values, wrong: %r" % (len(found), len(values), wrong[:3]))


# --- runs --------------------------------------------------------------------

P = matrix(ROWS, COLUMNS)
batchtest.write_safetensors(path("parameters"),
                            {"P": ("F32", [ROWS, COLUMNS], flat(P))})


def make_instance(number):
    odd = matrix(ROWS, COLUMNS)
    for value in [NAN, INF, -INF, NAN][:number % 5]:
        odd[draw.randrange(ROWS)][draw.randrange(COLUMNS)] = value
    odd[number % ROWS] = [[NAN, -INF, INF][number % 3]] * COLUMNS
    return {"x": matrix(ROWS, COLUMNS), "odd": odd,
            "s": matrix(draw.randrange(12), WIDTH)}


instances = [make_instance(number) for number in range(COUNT)]
batchtest.write_safetensors(path("odd"), {
    "%d" % i: ("F32", [ROWS, COLUMNS], flat(v["odd"])) for i, v in enumerate(instances)})
lines = [{"x": v["x"], "odd": {"tensor": "%d" % i}} for i, v in enumerate(instances)]
batchtest.write_lines(path("lanes"), lines)
batchtest.write_lines(path("inputs"), [
    dict(line, s=v["s"]) for line, v in zip(lines, instances)])


def run(program, batch, threads, *more):
    inputs = path("lanes" if "lockstep" in os.path.basename(program) else "inputs")
    batchtest.call("batch-run", program, "--params=" + path("parameters"),
                   "--inputs=" + inputs, "--input-tensors=" + path("odd"),
                   "--outputs=" + path("outputs"), "--batch=%d" % batch,
                   "--threads=%d" % threads, *more)
    with open(path("outputs"), "rb") as file:
        return file.read()


def compile_for(strategy, name, *options):
    return checks.run("compile for " + name, lambda: batchtest.compile_model(
        write_program(strategy + ".mlir", strategy), path(name + ".so"), None,
        "-O1", "--strategy=" + strategy, *options))


for strategy in ("linearize", "lockstep"):
    program = compile_for(strategy, strategy)
    if not program:
        continue
    first = checks.run("one by one", lambda: run(program, 1, 1))
    compare()
    for batch, threads in [(7, 1), (COUNT, 1), (1, 2), (7, 2), (COUNT, 2)]:
        checks.equal(
            "%s: same bits, batches of %d on %d threads" % (strategy, batch, threads),
            checks.run("run", lambda: run(program, batch, threads)) == first, True)
    checks.equal(strategy + ": same bits unbatched",
                 checks.run("run", lambda: run(program, 7, 1, "--unbatched")) == first,
                 True)
    emulated = compile_for(strategy, strategy + "-emulated", "--device=emulator")
    if emulated:
        one = checks.run("one by one", lambda: run(emulated, 1, 1, "--blocks=4"))
        compare()
        checks.equal(strategy + ", emulator: same bits together", checks.run(
            "run", lambda: run(emulated, COUNT, 1, "--blocks=4")) == one, True)
if platform.machine() == "x86_64":
    program = compile_for("linearize", "x86-64-v3", "--cpu=x86-64-v3")
    if program:
        checks.run("AVX2", lambda: run(program, COUNT, 1, "--check-unbatched"))
        compare()
checks.exit()
