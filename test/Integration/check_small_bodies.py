#!/usr/bin/env python3
"""check_small_bodies.py: tests programs whose instances have few elements. Each worker runs its
own instances, one by one or several in a vector. The results are bit-identical to those of the
unbatched code and of lockstep, for any number of instances and workers. Limits apply to each
instance."""

import random

import batchtest

checks = batchtest.Checks("small bodies")
path = batchtest.temporary_paths()
generator = random.Random(11)
N = 37

# Nested loops with different lengths, over doubles, truth values and integers
NESTED = """
func.func @main(%x: tensor<2x2xf64> {batch.name = "x"}, %n: i64 {batch.name = "n"},
                %w: tensor<2xf64> {batch.shared = "w"})
    -> (tensor<2x2xf64> {batch.name = "y"}, tensor<i1> {batch.name = "odd"},
        i64 {batch.name = "rounds"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %w0 = tensor.extract %w[%c0] : tensor<2xf64>
  %y, %rest, %rounds = scf.while (%a = %x, %i = %n, %r = %zero)
      : (tensor<2x2xf64>, i64, i64) -> (tensor<2x2xf64>, i64, i64) {
    %go = arith.cmpi sgt, %i, %zero : i64
    scf.condition(%go) %a, %i, %r : tensor<2x2xf64>, i64, i64
  } do {
  ^bb0(%a: tensor<2x2xf64>, %i: i64, %r: i64):
    %b, %j, %s = scf.while (%c = %a, %k = %i, %t = %r)
        : (tensor<2x2xf64>, i64, i64) -> (tensor<2x2xf64>, i64, i64) {
      %e = tensor.extract %c[%c0, %c0] : tensor<2x2xf64>
      %less = arith.cmpf olt, %e, %w0 : f64
      %left = arith.cmpi sgt, %k, %zero : i64
      %go = arith.andi %less, %left : i1
      scf.condition(%go) %c, %k, %t : tensor<2x2xf64>, i64, i64
    } do {
    ^bb0(%c: tensor<2x2xf64>, %k: i64, %t: i64):
      %f = math.exp %c : tensor<2x2xf64>
      %k2 = arith.subi %k, %two : i64
      %t2 = arith.addi %t, %one : i64
      scf.yield %f, %k2, %t2 : tensor<2x2xf64>, i64, i64
    }
    %g = math.sin %b : tensor<2x2xf64>
    // Of instances that have ended %i is 0.
    %share = arith.divsi %n, %i : i64
    %more = arith.remsi %share, %two : i64
    %i2 = arith.subi %i, %one : i64
    %s1 = arith.addi %s, %more : i64
    %s2 = arith.addi %s1, %one : i64
    scf.yield %g, %i2, %s2 : tensor<2x2xf64>, i64, i64
  }
  %last = arith.remsi %rounds, %two : i64
  %is = arith.cmpi eq, %last, %one : i64
  %odd = tensor.from_elements %is : tensor<i1>
  return %y, %odd, %rounds : tensor<2x2xf64>, tensor<i1>, i64
}
"""

# Branches that contain loops, a switch, and a loop with a known number of rounds
BRANCHES = """
func.func @main(%x: tensor<3xf32> {batch.name = "x"}, %n: i64 {batch.name = "n"})
    -> (tensor<3xf32> {batch.name = "y"}, i64 {batch.name = "rounds"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %three = arith.constant 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bound = arith.constant 5.0 : f32
  %y, %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x, %r = %zero)
      -> (tensor<3xf32>, i64) {
    %e = tensor.extract %a[%c1] : tensor<3xf32>
    %small = arith.cmpf olt, %e, %bound : f32
    %b, %s = scf.if %small -> (tensor<3xf32>, i64) {
      %c, %t = scf.while (%d = %a, %k = %r) : (tensor<3xf32>, i64) -> (tensor<3xf32>, i64) {
        %f = tensor.extract %d[%c0] : tensor<3xf32>
        %less = arith.cmpf olt, %f, %bound : f32
        %few = arith.cmpi slt, %k, %n : i64
        %go = arith.andi %less, %few : i1
        scf.condition(%go) %d, %k : tensor<3xf32>, i64
      } do {
      ^bb0(%d: tensor<3xf32>, %k: i64):
        %g = arith.addf %d, %x : tensor<3xf32>
        %h = math.absf %g : tensor<3xf32>
        %l = arith.addi %k, %one : i64
        scf.yield %h, %l : tensor<3xf32>, i64
      }
      scf.yield %c, %t : tensor<3xf32>, i64
    } else {
      %d = math.tanh %a : tensor<3xf32>
      scf.yield %d, %n : tensor<3xf32>, i64
    }
    %kind = arith.remsi %n, %three : i64
    %which = arith.index_cast %kind : i64 to index
    %z = scf.index_switch %which -> tensor<3xf32>
    case 0 {
      %d = arith.mulf %b, %b : tensor<3xf32>
      scf.yield %d : tensor<3xf32>
    }
    case 2 {
      scf.yield %x : tensor<3xf32>
    }
    default {
      %d = math.sqrt %b : tensor<3xf32>
      scf.yield %d : tensor<3xf32>
    }
    scf.yield %z, %s : tensor<3xf32>, i64
  }
  return %y, %r : tensor<3xf32>, i64
}
"""

# Products and their sums, fused as in kernels, and an integer op with two results
PRODUCTS = """
func.func @main(%x: tensor<4x4xf32> {batch.name = "x"}, %n: i64 {batch.name = "n"})
    -> (tensor<4x4xf32> {batch.name = "y"}, tensor<2xi64> {batch.name = "z"},
        tensor<2xindex> {batch.name = "places"}) attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %start = arith.constant dense<[3, -5]> : tensor<2xi64>
  %none = arith.constant dense<0.0> : tensor<4x4xf32>
  %y, %z, %rest = scf.while (%a = %x, %b = %start, %i = %n)
      : (tensor<4x4xf32>, tensor<2xi64>, i64) -> (tensor<4x4xf32>, tensor<2xi64>, i64) {
    %go = arith.cmpi sgt, %i, %zero : i64
    scf.condition(%go) %a, %b, %i : tensor<4x4xf32>, tensor<2xi64>, i64
  } do {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<2xi64>, %i: i64):
    %c = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>)
        outs(%none : tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = math.tanh %c : tensor<4x4xf32>
    %low, %high = arith.mulsi_extended %b, %b : tensor<2xi64>
    %e = arith.xori %low, %high : tensor<2xi64>
    %f = arith.subi %e, %start : tensor<2xi64>
    %j = arith.subi %i, %one : i64
    scf.yield %d, %f, %j : tensor<4x4xf32>, tensor<2xi64>, i64
  }
  %place = arith.index_cast %n : i64 to index
  %places = tensor.from_elements %place, %place : tensor<2xindex>
  return %y, %z, %places : tensor<4x4xf32>, tensor<2xi64>, tensor<2xindex>
}
"""

# Loops with different bounds, so instances do not run in vectors
BOUNDS = """
func.func @main(%x: tensor<2xf32> {batch.name = "x"}, %n: i64 {batch.name = "n"})
    -> (tensor<2xf32> {batch.name = "y"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.index_cast %n : i64 to index
  %y = scf.for %i = %c0 to %m step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %b = scf.for %j = %c0 to %i step %c1 iter_args(%c = %a) -> (tensor<2xf32>) {
      %d = math.tanh %c : tensor<2xf32>
      scf.yield %d : tensor<2xf32>
    }
    %e = arith.addf %b, %x : tensor<2xf32>
    scf.yield %e : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}
"""

# The result of a loop is a divisor in a second loop, which ends independently of the first one.
DIVISORS = """
func.func @main(%n: i64 {batch.name = "n"}, %p: i64 {batch.name = "p"})
    -> (i64 {batch.name = "y"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i3 = arith.constant 3 : index
  %s:2 = scf.while (%i = %n, %y = %c0) : (i64, i64) -> (i64, i64) {
    %go = arith.cmpi eq, %y, %c0 : i64
    scf.condition(%go) %i, %y : i64, i64
  } do {
  ^bb0(%i: i64, %y: i64):
    %j = arith.subi %i, %c1 : i64
    %last = arith.cmpi sle, %j, %c0 : i64
    %z = arith.select %last, %p, %c0 : i64
    scf.yield %j, %z : i64, i64
  }
  %q = scf.for %k = %i0 to %i3 step %i1 iter_args(%a = %n) -> (i64) {
    %d = arith.divsi %a, %s#1 : i64
    %e = arith.addi %d, %n : i64
    scf.yield %e : i64
  }
  return %q : i64
}
"""


def real(low, high):
    """Returns a number that decimal text represents exactly, also as f32."""
    return batchtest.narrow(generator.uniform(low, high))


# Truth values for 64-bit numbers: whether a run of a single instance has tasks, and whether a run
# of many instances has tasks. Only instances that run one by one have tasks. Instances do so if
# they fill less than a quarter of a vector, or if a vector has fewer than four elements.
WIDTH = int(batchtest.vector_options().split()[0].partition("=")[2]) // 64
HAVE_TASKS = (WIDTH // 4 != 1, WIDTH < 4)

# For each program: its text, a function that makes an instance, and a pair of truth values
# (whether one instance has tasks, whether many have tasks)
PROGRAMS = {
    "nested": (NESTED,
               lambda: {"x": [[real(-2, 1), real(-1, 1)], [real(0, 1), real(0, 1)]],
                        "n": generator.choice([0, 1, 2, 3, 5, 9, 17])}, HAVE_TASKS),
    "branches": (BRANCHES,
                 lambda: {"x": [real(0.1, 7) for _ in range(3)],
                          "n": generator.randrange(0, 12)}, HAVE_TASKS),
    "products": (PRODUCTS,
                 lambda: {"x": [[real(-1, 1) for _ in range(4)] for _ in range(4)],
                          "n": generator.choice([0, 1, 2, 7, 12])}, HAVE_TASKS),
    "bounds": (BOUNDS, lambda: {"x": [real(-1, 1), real(-1, 1)],
                                "n": generator.randrange(0, 9)}, (True, True)),
    "divisors": (DIVISORS, lambda: {"n": generator.randrange(1, 9),
                                    "p": generator.choice([-3, 2, 5])}, (False, False)),
}

for name, (text, make, have_tasks) in PROGRAMS.items():
    source = batchtest.write_lines(path(name + ".mlir"), [text])
    instances = [make() for _ in range(N)]
    inputs = batchtest.write_lines(path(name + ".jsonl"), instances)
    explained = checks.run("explain " + name, lambda: batchtest.call(
        "batch-compile", source, "--explain", "-o", path("explained.so")))
    checks.expect(name + ": a worker runs an instance",
                  "one worker per instance" in (explained or ""), explained)
    per_unit = batchtest.compile_model(source, path(name + ".so"))
    lockstep = batchtest.compile_model(source, path(name + ".lockstep.so"), None,
                                       "--strategy=lockstep")

    def outputs(program, count, *options, threads=1, batch=None, check=True):
        """Returns the bytes of all outputs, and the counts."""
        file = path("outputs")
        found = batchtest.run_model(program, inputs, "--limit=%d" % count,
                                    "--outputs=" + file, *options, threads=threads,
                                    batch=batch, check=check)
        return batchtest.contents(file), found

    for count in (1, 2, 3, 4, 5, 8, 15, 16, 17, N):
        wanted, _ = outputs(lockstep, count)
        for threads in 1, 2, 3:
            found, _ = outputs(per_unit, count, threads=threads)
            checks.expect("%s: %d instances, %d threads: the same" % (name, count, threads),
                          found == wanted)
    found, _ = outputs(per_unit, N, threads=2, batch=10)
    checks.expect(name + ": mini-batches of ten: the same", found == wanted)
    # Only instances that run one by one have tasks. These tasks create tensors, so a program
    # without tensors has none.
    _, few = outputs(per_unit, 1)
    _, many = outputs(per_unit, N)
    checks.expect(name + ": many run side by side, one if it fills a quarter",
                  (few["tasks"] > 0, many["tasks"] > 0) == have_tasks,
                  "(%r, %r)" % (few["tasks"], many["tasks"]))

    # An instance that exceeds the limit of rounds has no results, whichever instances run in
    # the same vector.
    for most in (1, 3, 8, 20):
        ends = []
        for i, instance in enumerate(instances):
            single = batchtest.write_lines(path("single.jsonl"), [instance])
            try:
                batchtest.run_model(per_unit, single, "--max-steps=%d" % most, check=False)
                ends.append(True)
            except batchtest.ToolError as error:
                ends.append("exceeded the limit" not in str(error))
        for threads in 1, 2:
            try:
                batchtest.run_model(per_unit, inputs, "--max-steps=%d" % most,
                                    "--partial-results", threads=threads, check=False)
                text = ""
            except batchtest.ToolError as error:
                text = str(error)
            failed = [("instance %d:" % i) not in text for i in range(N)]
            checks.equal("%s: %d rounds, %d threads: the same instances end" % (
                name, most, threads), failed, ends)

checks.exit()
