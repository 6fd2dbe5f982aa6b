#!/usr/bin/env python3
"""check_gpu_code.py [--ptxas] [--seed=N]: checks the output of --gpu-persistent for the models.

Each model becomes one kernel and one launch, even without options. The kernel becomes PTX that
needs no library, and some kernels become code for AMD. With --ptxas, the script instead checks
that CUDA's assembler accepts the code. The registers, spills and shared memory that the
assembler reports must be within limits. --seed selects one model in four, or one kernel in
eight.
"""

import argparse
import os
import re
import subprocess

import batchtest
import sequences

# Shared memory of a block, in bytes
SHARED = {"sm_80": 163 * 1024, "sm_90": 227 * 1024, "sm_90a": 227 * 1024}

# Instructions of tensor cores, and instructions that round the factors of products
MMA = {"tf32": ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
                "cvt.rna.tf32.f32"),
       "bf16": ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
                "cvt.rn.bf16x2.f32")}


# Path of a program in lock step, without the suffix
WALK = os.path.join(batchtest.ROOT, "test", "Integration", "GPU", "Inputs", "walk")

# Programs of single instances
INSTANCES = ("attention", "seq2seq", "nasrnn", "nasrnn_add", "lstm10")

# Ways to run instances: each block runs its own instance, the blocks of a cluster run one
# together, all blocks run one together, or all blocks run a set. By default, an estimate
# determines the way.
BLOCK, CLUSTER, ONE, SET, AUTO = ("level=block", "level=cluster",
                                  "level=device instances=1", "level=device",
                                  "level=auto")
# The maximum numbers of bytes of spilled registers that a thread stores and loads, in all
# of its code. The twenty rows that the loop of lstm10 carries take forty registers.
SPILLS = {("seq2seq", ONE): (16, 16), ("seq2seq", SET): (16, 16),
          ("seq2seq", AUTO): (16, 16),
          ("lstm10", CLUSTER): (16, 16), ("lstm10", ONE): (64, 96),
          ("lstm10", SET): (160, 640)}
NONE = (0, 0)

# Samplers and other models that run in lock step
LANES = ("arK", "blr", "eight_schools_noncentered", "german_credit", "kidscore_interaction",
         "nuts_gauss", "nuts_logreg", WALK)


def sizes_option(model, size):
    named = sequences.named_sizes(model, size)
    return "sizes=" + ",".join("%s=%d" % item for item in named.items())


def persistent(model, size, options, level=""):
    """Returns the output of batch-opt for a model. Without a size, the model is compiled for a
    strategy: in lock step, or as single instances."""
    strategy = "replicate gpu" if model in INSTANCES else "lockstep"
    return batchtest.call(
        "batch-opt", batchtest.model(model),
        "--autobatch=" + (sizes_option(model, size) if size
                          else "strategy=%s %s" % (strategy, level)),
        "--gpu-persistent=" + options)


def assembly(module):
    """Returns the text of the only object of a gpu.binary."""
    (text,) = re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', module)
    return re.sub(r"\\([0-9A-F]{2}|[\\\"])",
                  lambda m: m[1] if len(m[1]) == 1 else chr(int(m[1], 16)),
                  text)


def check_model(checks, model):
    plain = checks.run(model + " becomes a kernel", lambda: batchtest.call(
        "batch-opt", "--autobatch", "--gpu-persistent", batchtest.model(model)))
    module = checks.run(model + " becomes PTX", lambda: persistent(
        model, 16, "chip=sm_90a format=isa executor=device"))
    if not plain or not module:
        return

    def count(what, pattern, text, wanted):
        checks.equal("%s: %s" % (model, what),
                     len(re.findall(pattern, text, re.M)), wanted)

    count("one gpu.module", r"^ *gpu\.module @", plain, 1)
    count("one kernel", r"^ *gpu\.func .*\) kernel ", plain, 1)
    count("one launch", r"gpu\.launch_func ", plain, 1)
    count("one launch of the binary", r"gpu\.launch_func ", module, 1)
    ptx = assembly(module)
    # Later versions of PTX have other fences.
    count("the version of PTX", r"^\.version 8\.0$", ptx, 1)
    count("one entry", r"^\.visible \.entry main_execute\(", ptx, 1)
    wanted = [("acquire loads", r"ld\.acquire\.gpu\.global"),
              ("fences", r"fence\.acq_rel\.gpu")]
    if model != "treernn":  # treernn has no product with weights
        wanted += [("loads of 16 bytes", r"ld\.global\.v4\."),
                   ("copies of weights", r"cp\.async\.cg\.shared\.global"),
                   ("weights in shared memory", r"ld\.shared\.v4\.")]
    for what, pattern in wanted:
        checks.expect("%s: has %s" % (model, what), re.search(pattern, ptx))
    for what, pattern in (("volatile accesses", r"\.volatile"),
                          ("library calls", r"__nv_|\.extern (?!\.shared)"),
                          ("local memory", r"\.local\b")):
        count("no " + what, pattern, ptx, 0)


def check_barriers(checks, model):
    """Checks barriers. Blocks of a cluster wait at the barrier of the cluster, and blocks that
    run separate plans do not wait at all. There is a barrier for each of three stages. All
    programs store the beginning of a step, in at most three places."""
    for executor, counts in (("device", (0, 0, 0, 3)), ("cluster", (1, 3, 3, 0)),
                             ("block", (0, 0, 0, 0))):
        name = "%s, %s" % (model, executor)
        module = checks.run(name + " becomes PTX", lambda: persistent(
            model, 16, "chip=sm_90a format=isa executor=" + executor))
        if not module:
            continue
        for what, wanted in zip((".reqnctapercluster 8, 1, 1",
                                 "barrier.cluster.arrive.aligned;",
                                 "barrier.cluster.wait.aligned;",
                                 "ld.acquire.gpu.global."), counts):
            checks.equal("%s: %s" % (name, what), assembly(module).count(what),
                         wanted)
        # A step stores the progress of its block once. There are two kernels, and LLVM may
        # duplicate that store before or after each kernel.
        count = assembly(module).count("st.relaxed.gpu.global.b64")
        checks.expect("%s: steps are told, in %d places" % (name, count), 1 <= count <= 3)


def check_instances(checks, model):
    """Checks the code for single instances. It has a barrier of all blocks, and loads each i64 with
    one instruction. It contains no non-coherent loads, local memory, volatile accesses or library
    calls."""
    module = checks.run("%s, single instances, becomes PTX" % model,
                        lambda: persistent(model, None, "chip=sm_90a format=isa"))
    if not module:
        return
    ptx = assembly(module)
    for what in "ld.global.nc", ".local", ".volatile", "__nv_":
        checks.equal("%s, single instances: no %s" % (model, what),
                     ptx.count(what), 0)
    checks.expect("%s, single instances: has a barrier of all blocks" % model,
                  "ld.acquire.gpu.global" in ptx)
    checks.equal("%s, single instances: no i64 is loaded in halves" % model,
                 len(re.findall(r"shl\.b64 \t%rd\d+, %rd\d+, 32;\n"
                                r"\tor\.b64", ptx)), 0)


def check_clusters(checks, model):
    """Checks that the blocks of a cluster that run an instance wait only for each other.
    All blocks wait once, after clearing their memory."""
    name = "%s, instances on clusters" % model
    module = checks.run(name + ", becomes PTX", lambda: persistent(
        model, None, "chip=sm_90a format=isa", CLUSTER))
    if not module:
        return
    ptx = assembly(module)
    checks.equal(name + ": a launch in clusters", ptx.count(".reqnctapercluster 8, 1, 1"), 1)
    arrivals = ptx.count("barrier.cluster.arrive.aligned;")
    checks.expect(name + ": cluster barriers", arrivals > 1)
    checks.equal(name + ": waits", ptx.count("barrier.cluster.wait.aligned;"), arrivals)
    checks.equal(name + ": one barrier of all blocks",
                 ptx.count("call.uni \n\tdevice_barrier") or
                 ptx.count("ld.acquire.gpu.global."), 1)
    for what in "ld.global.nc", ".local", ".volatile", "__nv_":
        checks.equal("%s: no %s" % (name, what), ptx.count(what), 0)


def check_tensor_cores(checks, model, precision):
    """Checks the k loops of a model at hidden size 64. A leaf has three products that read the
    same row. A node has three products with [left, right], and two products with one child
    each."""
    module = checks.run("%s in %s becomes PTX" % (model, precision),
                        lambda: persistent(model, 64, "chip=sm_80 format=isa "
                                           "shared-memory=0 precision=" +
                                           precision))
    if not module:
        return
    ptx = assembly(module)
    name = "%s in %s: " % (model, precision)
    product, rounding = MMA[precision]
    # Each of three stages has one loop for all products, with two steps of two instructions.
    # Instructions round the rows, and the parameters that are not resident.
    checks.equal(name + "products", ptx.count(product), 3 * 2 * 2)
    checks.expect(name + "roundings", ptx.count(rounding) >= 3 * 2 * 4)
    checks.expect(name + "loads of 16 bytes",
                  len(re.findall(r"ld\.global\.v4\.", ptx)) >= 3)
    checks.equal(name + "no shuffles", ptx.count("shfl."), 0)
    checks.equal(name + "no local memory",
                 len(re.findall(r"\.local\b", ptx)), 0)


def check_amd(checks, model, chip):
    module = checks.run("%s becomes code for %s" % (model, chip),
                        lambda: persistent(model, 16,
                                           "chip=%s format=isa" % chip))
    if not module:
        return
    code = assembly(module)
    checks.expect("%s: for %s" % (model, chip), re.search(
        r'\.amdgcn_target "amdgcn-amd-amdhsa-+%s' % chip, code))
    checks.expect("%s: one kernel" % model,
                  code.count(".amdhsa_kernel ") == 1)
    checks.expect("%s: no library calls" % model,
                  not re.search(r"__oc[km]l_", code))


def check_ptxas(checks, model, size, chip, options="", level="", spills=NONE):
    where = ("at %d" % size if size else "as single instances, " + level
             if model in INSTANCES else "in lock step")
    name = "%s %s on %s%s" % (os.path.basename(model), where, chip, options)
    folder = batchtest.temporary()
    ptx, cubin = (os.path.join(folder, "k." + e) for e in ("ptx", "cubin"))

    kept = []

    def assemble():
        module = persistent(model, size, "chip=%s format=isa%s" % (chip, options), level)
        kept.append(int(re.search(r"shared_bytes = (\d+)", module)[1]))
        with open(ptx, "w") as file:
            file.write(assembly(module))
        done = subprocess.run(["ptxas", "-v", "-arch=" + chip, ptx, "-o", cubin],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise batchtest.ToolError("ptxas: " + done.stdout.decode()[-4000:])
        return done.stdout.decode()

    log = checks.run(name + " assembles", assemble)
    if not log:
        return

    def number(pattern):
        return sum(int(n) for n in re.findall(pattern, log))

    registers = number(r"Used (\d+) registers")
    checks.expect("%s: %d registers" % (name, registers), 0 < registers <= 255)
    for most, what in zip(spills, ("stores", "loads")):
        spilled = number(r"(\d+) bytes spill " + what)
        checks.expect("%s: %d bytes of spill %s" % (name, spilled, what), spilled <= most)
    if spills == NONE:
        checks.equal(name + ": no stack", number(r"(\d+) bytes stack frame"), 0)
    shared = number(r"(\d+) bytes smem") + kept[0]
    checks.expect("%s: %d bytes of shared memory" % (name, shared),
                  shared <= SHARED[chip])


def assembled():
    """Yields the kernels for CUDA's assembler, as arguments of check_ptxas."""
    for model in ("treelstm_nary", "treegru_nary", "treefc", "mvrnn"):
        for chip in ("sm_80", "sm_90a"):
            yield model, 256, chip, " executor=device"
        for precision in MMA:
            yield model, 256, "sm_80", " executor=device precision=" + precision
    for precision in MMA:
        yield "treelstm_nary", 256, "sm_90a", " executor=device precision=" + precision
        yield "lstm_nmt", 256, "sm_90", " executor=cluster precision=" + precision
    for model in batchtest.EVERY:
        yield model, 256, "sm_90", " executor=device"
    yield "dagrnn", 256, "sm_80", " executor=block"
    yield "treelstm_nary", 256, "sm_90", " executor=cluster"
    for model in LANES:
        yield model, None, "sm_90"
    for model in INSTANCES:
        for level in (BLOCK, CLUSTER, ONE, SET, AUTO):
            yield model, None, "sm_90", "", level, SPILLS.get((model, level), NONE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--ptxas", action="store_true", help="assemble kernels with CUDA's ptxas")
    parser.add_argument("--seed", help="check one model in four, or assemble one kernel in eight, drawn by "
                        "this seed")
    options = parser.parse_args()
    checks = batchtest.Checks("GPU code")
    if options.ptxas:
        for arguments in batchtest.sample(assembled(), options.seed, 8):
            check_ptxas(checks, *arguments)
        checks.exit()
    for model in batchtest.sample(batchtest.EVERY, options.seed):
        check_model(checks, model)
    check_barriers(checks, "treelstm_nary")
    for precision in MMA:
        check_tensor_cores(checks, "treelstm_nary", precision)
    for model in batchtest.sample(INSTANCES, options.seed):
        check_instances(checks, model)
        check_clusters(checks, model)
    check_amd(checks, "treelstm_nary", "gfx90a")
    check_amd(checks, "mvrnn", "gfx942")
    checks.exit()


main()
