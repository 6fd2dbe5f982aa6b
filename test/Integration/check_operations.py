#!/usr/bin/env python3
"""check_operations.py: checks that each op of arith, math, tensor, linalg and scf is
batched.

One program per strategy contains the functions of test/Integration/Operations/Inputs.
Batched equals unbatched to the bit, on the CPU and on the emulator. The emulator equals
the CPU, except for rounding of floats. Each function has the ops in its comment. Each op
of MLIR is in a function, or in refused.mlir.
"""

import math
import os
import random
import re

import batchtest
import operations

COUNT = 9
# Error bound for functions, and for sums in a different order
BOUND = 1e-5

checks = batchtest.Checks("operations")
scratch = batchtest.temporary()
draw = random.Random(11)
functions = operations.functions()


def path(name):
    return os.path.join(scratch, name)


# --- the list ----------------------------------------------------------------

def check_list():
    covered = {op for function in functions for op in function.ops}
    covered |= {refusal.op for refusal in operations.refused()}
    for function in functions:
        missing = set(function.ops) - set(operations.ops_in(function.text))
        checks.expect("@%s has its ops" % function.name,
                      function.ops and function.how and not missing, sorted(missing))
    try:
        known = operations.registered()
    except batchtest.ToolError as error:
        return print("skipped: %s" % error)
    everything = {op for ops in known.values() for op in ops}
    checks.equal("ops without a test", sorted(everything - covered), [])
    checks.equal("tests of no op", sorted(covered - everything), [])


# --- the program -------------------------------------------------------------

def element(type):
    return re.fullmatch(r"(?:tensor<(?:[\d?]+x)*)?(\w+?)>?", type)[1]


def shape(type):
    return re.findall(r"(\d+|\?)x", type)


def number(type, argument):
    """Returns a float in the domain of all functions, or an integer that is also a valid
    index."""
    if element(type)[0] == "f" or element(type) == "bf16":
        return draw.randrange(1, 128) / 128
    return draw.randrange(1, 3) if argument in ("p", "at") else draw.randrange(1, 8)


def value(type, argument):
    dims = [draw.randrange(6) if dim == "?" else int(dim) for dim in shape(type)]

    def make(left):
        if not left:
            return number(type, argument)
        return [make(left[1:]) for _ in range(left[0])]

    return make(dims)


def flat(values):
    return [v for one in values for v in flat(one)] if isinstance(values, list) else [values]


def chosen(strategy):
    return [f for f in functions if strategy in f.strategies]


def arguments(strategy):
    """Returns {name: type}. Raises an error if functions use a name with different types."""
    found = {}
    for function in chosen(strategy):
        for name, type in function.arguments:
            if found.setdefault(name, type) != type:
                raise batchtest.ToolError("@%s: %%%s has type %s in another function; rename it" % (
                    function.name, name, found[name]))
    return found


def write_program(strategy):
    calls, results = [], []
    for function in chosen(strategy):
        call = "%call." + function.name
        calls.append("%s:%d = func.call @%s(%s) : (%s) -> (%s)" % (
            call, len(function.results), function.name,
            ", ".join("%" + name for name, _ in function.arguments),
            ", ".join(type for _, type in function.arguments),
            ", ".join(function.results)))
        results += [("%s#%d" % (call, i), type, "%s.%d" % (function.name, i))
                    for i, type in enumerate(function.results)]
    with open(path(strategy + ".mlir"), "w") as file:
        file.write("\n".join(function.text for function in chosen(strategy)))
        file.write("func.func @main(%s)\n    -> (%s) attributes {batch.entry} {\n  %s\n"
                   "  return %s : %s\n}\n" % (
                       ",\n    ".join('%%%s: %s {batch.%s = "%s"}' % (
                           name, type, "shared" if name[0].isupper() else "name", name)
                           for name, type in arguments(strategy).items()),
                       ",\n".join('%s {batch.name = "%s"}' % r[1:] for r in results),
                       "\n  ".join(calls), ", ".join(r[0] for r in results),
                       ", ".join(r[1] for r in results)))
    return path(strategy + ".mlir")


# --- runs --------------------------------------------------------------------

every = {name: type for strategy in operations.STRATEGIES
         for name, type in arguments(strategy).items()}
parameters = {name: value(type, name) for name, type in every.items()
              if name[0].isupper()}
TYPES = {"f32": "F32", "f64": "F64", "i8": "I8", "i32": "I32", "i64": "I64"}
batchtest.write_safetensors(path("parameters"), {
    name: (TYPES[element(every[name])], [int(d) for d in shape(every[name])], flat(v))
    for name, v in parameters.items()})
instances = [{name: value(type, name) for name, type in every.items()
              if name not in parameters} for _ in range(COUNT)]
for strategy in operations.STRATEGIES:
    batchtest.write_lines(path(strategy + ".inputs"), [
        {name: v for name, v in instance.items() if name in arguments(strategy)}
        for instance in instances])


def run(program, strategy, *options):
    batchtest.call("batch-run", program, "--params=" + path("parameters"),
                   "--inputs=" + path(strategy + ".inputs"),
                   "--outputs=" + path("outputs"), *options)
    return {name: (dtype, shape, values.tolist()) for name, (dtype, shape, values)
            in batchtest.read_safetensors(path("outputs")).items()}


def bits(outputs):
    """Returns outputs as text for comparison, because NaN equals itself only as text."""
    return {name: repr(output) for name, output in outputs.items()}


def differences(found, wanted):
    found = bits(found)
    return sorted(name for name, text in bits(wanted).items() if found.get(name) != text)


def is_near(a, b):
    return a == b or (a != a and b != b) or (
        math.isfinite(a) and math.isfinite(b) and abs(a - b) <= BOUND * (1 + abs(b)))


def far(found, wanted):
    return sorted(name for name, (dtype, _, values) in wanted.items() if not all(
        is_near(a, b) if dtype[0] == "F" else a == b
        for a, b in zip(found[name][2], values)))


def check(strategy):
    def compiled(target, *options):
        return checks.run("%s: compile for %s" % (strategy, target),
                          lambda: batchtest.compile_model(
                              source, path("%s.%s.so" % (strategy, target)), None,
                              "--strategy=" + strategy, *options))

    source = write_program(strategy)
    # LLVM's passes take most of the time, so only the program of linearize is compiled with them.
    program = compiled("cpu", "-O1" if strategy == "linearize" else "-O0")
    emulated = compiled("emulator", "-O0", "--device=emulator")
    wanted = None
    if program:
        wanted = checks.run("unbatched", lambda: run(program, strategy, "--unbatched"))
    if not wanted:
        return
    for options in (["--batch=1"], ["--batch=%d" % COUNT], ["--batch=4", "--threads=2"]):
        found = checks.run("run", lambda: run(program, strategy, *options))
        checks.equal("%s, %s: the bits of unbatched code" % (strategy, " ".join(options)),
                     found and differences(found, wanted), [])
    if not emulated:
        return
    single = checks.run("alone", lambda: run(emulated, strategy, "--batch=1", "--blocks=2"))
    found = checks.run("batched", lambda: run(emulated, strategy, "--blocks=2"))
    if single and found:
        checks.equal("%s, emulator: the bits of one instance" % strategy,
                     differences(found, single), [])
        checks.equal("%s, emulator: the CPU's results" % strategy, far(found, wanted), [])


check_list()
for strategy in operations.STRATEGIES:
    check(strategy)
if os.environ.get("KEEP"):
    import shutil
    shutil.copytree(scratch, os.environ["KEEP"], dirs_exist_ok=True)
checks.exit()
