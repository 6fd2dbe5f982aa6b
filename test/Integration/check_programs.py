#!/usr/bin/env python3
"""check_programs.py: checks that hand-written uPrograms run plans as the compiler's
programs do.

Each replaces a model's executor, on the CPU with one to three workers, and on the
emulator. The emulator reports races, and barriers that not all units reach. Results have
the same bytes as those of the compiler's program.

  - `delayed` passes the barrier of a step to the next iteration.
  - `epochs` finds the steps up to the next barrier with nested loops. Each unit runs some
    of them by itself, as tasks of a program of a lower level. `clusters` does the same with
    clusters as units.
  - `one unit` runs all steps on one unit, one after the other.
"""

import os
import re

import batchtest
import sequences

checks = batchtest.Checks("programs")
scratch = batchtest.temporary()

DELAYED = """
  uprog.program @main.execute(%plan: !batch.plan) level(device) attributes {batch.executor} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %steps = uprog.plan_size %plan
    %last = uprog.for %i = %zero to %steps step %one iter(%waits = %zero) : index {
      uprog.branch %waits
      case 1 {
        uprog.barrier device
      }
      %step = uprog.plan_step %plan[%i]
      %kernel = uprog.step_kernel %step
      %tasks = uprog.step_tasks %step
      %next = uprog.branch %kernel -> index
      CASES
      default {
        uprog.yield %one : index
      }
      uprog.yield %next : index
    }
    uprog.yield
  }
"""
DELAYED_CASE = """case %d {
        uprog.run @%s step(%%step) tasks(%%tasks)
        %%barrier = uprog.step_barrier %%step
        uprog.yield %%barrier : index
      }"""

EPOCHS = """
  uprog.program @main.step(%task: index, %plan: !batch.plan, %first: index) level(block) {
    %i = arith.addi %first, %task : index
    %step = uprog.plan_step %plan[%i]
    %kernel = uprog.step_kernel %step
    %tasks = uprog.step_tasks %step
    uprog.branch %kernel
    CASES
    uprog.yield
  }
  uprog.program @main.execute(%plan: !batch.plan) level(device) attributes {batch.executor} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %steps = uprog.plan_size %plan
    %last = uprog.while iter(%first = %zero) : index {
      %more = arith.cmpi slt, %first, %steps : index
      uprog.condition(%more) %first : index
    } do {
    ^bb0(%first: index):
      %end = uprog.while iter(%i = %first) : index {
        %step = uprog.plan_step %plan[%i]
        %barrier = uprog.step_barrier %step
        %none = arith.cmpi eq, %barrier, %zero : index
        %next = arith.addi %i, %one : index
        %more = arith.cmpi slt, %next, %steps : index
        %both = arith.andi %none, %more : i1
        uprog.condition(%both) %next : index
      } do {
      ^bb0(%next: index):
        uprog.yield %next : index
      }
      %count = arith.subi %end, %first : index
      uprog.run @main.step(%plan, %first) tasks(%count) : !batch.plan, index
      uprog.barrier device
      uprog.yield %end : index
    }
    uprog.yield
  }
"""
EPOCHS_CASE = """case %d {
      uprog.run @%s step(%%step) tasks(%%tasks)
    }"""

ONE_UNIT = """
  uprog.program @main.steps(%task: index, %plan: !batch.plan) level(LEVEL) {
    %zero = arith.constant 0 : index
    %steps = uprog.plan_size %plan
    uprog.for %i = %zero to %steps {
      %step = uprog.plan_step %plan[%i]
      %kernel = uprog.step_kernel %step
      %tasks = uprog.step_tasks %step
      uprog.barrier LEVEL
      uprog.branch %kernel
      CASES
      uprog.yield
    }
    uprog.yield
  }
  uprog.program @main.execute(%plan: !batch.plan) level(device) attributes {batch.executor} {
    %one = arith.constant 1 : index
    uprog.run @main.steps(%plan) tasks(%one) : !batch.plan
    uprog.yield
  }
"""

# The text, the cases and the executors of each program. A block has no smaller units.
PROGRAMS = {"delayed": (DELAYED, DELAYED_CASE, ("device", "cluster", "block")),
            "epochs": (EPOCHS, EPOCHS_CASE, ("device", "cluster")),
            "clusters": (EPOCHS.replace("(block)", "(cluster)"), EPOCHS_CASE, ("device",)),
            "one unit": (ONE_UNIT.replace("LEVEL", "block"), EPOCHS_CASE, ("device", "cluster")),
            "one unit in a cluster": (ONE_UNIT.replace("LEVEL", "cluster"), EPOCHS_CASE,
                                   ("device",))}


def count_blocks(name, executor):
    return 16 if "cluster" in name + executor else 3


def write(model, name, code, case):
    """Writes a batched model with `code` in place of its program, and returns the path."""
    module = batchtest.call(
        "batch-opt", "--autobatch=sizes=H=16", batchtest.model(model))
    old = re.search(r"\n  uprog\.program @.*?\n  }\n", module, re.S)[0]
    cases = re.findall(r"case (\d+) {\s+%\S+ = uprog.step_tasks %\S+\s+"
                       r"uprog.run @(\S+)", old)
    checks.expect(model + " runs kernels", cases)
    body = "\n".join(case % (int(number), operator) for number, operator in cases)
    path = os.path.join(scratch, "%s-%s.mlir" % (model, name.replace(" ", "-")))
    with open(path, "w") as file:
        file.write(module.replace(old, code.replace("CASES", body)))
    return path


def run(what, program, inputs, *options, **more):
    """Returns the bytes of the outputs, and the counts of the run."""
    out = os.path.join(scratch, "out.safetensors")
    found = program and checks.run(what, lambda: batchtest.run_model(
        program, inputs, "--outputs=" + out, *options, **more))
    return (batchtest.contents(out), found) if found else (None, None)


def check_cpu(model, name, source, inputs, wanted):
    program = checks.run("compile %s, %s" % (model, name),
                         lambda: batchtest.compile_model(source, source + ".so"))
    for threads in (1, 2, 3):
        what = "%s, %s, %d threads" % (model, name, threads)
        found, _ = run(what, program, inputs, "--share-tasks=1", threads=threads)
        checks.expect(what + ": same bytes", found == wanted)


def emulate(what, source, size, inputs, executor, name=""):
    program = checks.run("compile " + what, lambda: batchtest.compile_model(
        source, os.path.join(scratch, "emulated.so"), size, "--device=emulator",
        "--executor=" + executor))
    return run(what, program, inputs, "--blocks=%d" % count_blocks(name, executor),
               check=False)


def check_emulator(model, inputs, executor, sources, epochs):
    what = "%s, %s" % (model, executor)
    wanted, counts = emulate(what, batchtest.model(model), 16,
                             inputs, executor)
    for name, source in sources.items():
        if executor not in PROGRAMS[name][2]:
            continue
        what = "%s, %s, %s" % (model, name, executor)
        found, own = emulate(what, source, None, inputs, executor, name)
        checks.expect(what + ": same bytes", found and found == wanted)
        if not own or executor != "device":
            continue
        # If one block runs a step, the step contains no barrier of the device.
        checks.equal(what + ": barriers", own["barriers"],
                     counts["barriers"] if name == "delayed" else
                     0 if name.startswith("one unit") else epochs)


def check_fault(model, inputs, name, source):
    """Checks that the emulator reports a program without its barrier."""
    with open(source) as file:
        text = file.read()
    faulty = source.replace(".mlir", "-faulty.mlir")
    with open(faulty, "w") as file:
        file.write(re.sub(r"uprog\.barrier (device|cluster|block)\n", "\n", text))
    what = "%s, %s, without a barrier" % (model, name)
    program = checks.run("compile " + what, lambda: batchtest.compile_model(
        faulty, os.path.join(scratch, "faulty.so"), None, "--device=emulator",
        "--executor=device"))
    try:
        batchtest.run_model(program, inputs, "--blocks=%d" % count_blocks(name, "device"),
                            check=False)
        checks.expect(what + ": an error", False)
    except batchtest.ToolError as error:
        checks.expect(what + ": a race or too early a read", re.search(
            "race|never written|not written", str(error)), str(error))


for model, count in (("bilstm_tagger", 2), ("treegru_nary", 4)):
    if model in batchtest.CHAINS:
        inputs = batchtest.write_lines(os.path.join(scratch, model + ".in"),
                                       sequences.instances(model, count))
    else:
        inputs = "random:1,%d" % count
    program = checks.run("compile " + model, lambda: batchtest.compile_model(
        batchtest.model(model), os.path.join(scratch, model + ".so"), 16))
    wanted, counts = run(model, program, inputs)
    sources = {name: write(model, name, code, case)
               for name, (code, case, _) in PROGRAMS.items()}
    for name, source in sources.items():
        check_cpu(model, name, source, inputs, wanted)
        check_fault(model, inputs, name, source)
    for executor in ("device", "cluster", "block"):
        check_emulator(model, inputs, executor, sources, counts["barriers"] + 1)
checks.exit()
