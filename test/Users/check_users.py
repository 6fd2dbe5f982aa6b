#!/usr/bin/env python3
"""check_users.py USERS PREFIX LARGE: runs programs of outside users. Each has failed in the past.

USERS is shared/users, PREFIX an installed Batch that embedders' programs are built
against. LARGE is a model that takes seconds to compile. Each program prints its correct value
or the correct message. The programs of OPEN are known to fail.
"""

import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Programs that still fail.
OPEN = {"tree": ["attention", "dp_ints", "grad", "mlir_shared_forest",
                 "quick", "rows_ops", "shared_forest", "tree_result_shape"],
        "jax": ["1_", "2_", "3_", "4_", "5_", "6_", "7_", "8_", "11_", "13_", "17_", "18_"]}
WRONG = ("WRONG", "DIFFERS", "refused", "Error", "Traceback", "NO ")

users, prefix, large = sys.argv[1:]
scratch = tempfile.mkdtemp()
tools = os.environ["BATCH_TOOLS"]
failed = []


def expect(name, holds, output=""):
    print("%s %s" % ("ok    " if holds else "FAILED", name))
    if not holds:
        failed.append(name)
        print(str(output)[-2000:])


def run(*command, folder=scratch, timeout=600, **variables):
    environment = dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"],
                       PYTHONDONTWRITEBYTECODE="1", XDG_CACHE_HOME=scratch, **variables)
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout)
    return done.returncode, done.stdout.decode(errors="replace")


def program(folder, name, *parts, wrong=WRONG):
    """Runs a Python program. Checks that it prints all of `parts` and none of `wrong`."""
    code, output = run(sys.executable, "-W", "ignore", name + ".py",
                       folder=os.path.join(users, folder), PYTHONPATH=".")
    expect("%s/%s" % (folder, name), code == 0 and all(p in output for p in parts) and
           not any(w in output for w in wrong), output)


def refused(name, *parts):
    """Checks that batch-compile rejects a module of embed/, and that the error has a location."""
    code, output = run("batch-compile", os.path.join(users, "embed", name + ".mlir"),
                       "-o", "refused.so")
    expect("embed/" + name, code == 1 and ".mlir:" in output and
           all(p in output for p in parts) and not os.path.exists(
               os.path.join(scratch, "refused.so")), output)


def check_tree():
    program("tree", "fail_empty_guard", "same  mean6", "tree: [3.] expected [3.]")
    program("tree", "fail_kids_count", "[2. 4.] expected [2. 4.]\n[2. 4.] expected")
    program("tree", "fail_softmax_x64", "same")
    code, output = run(sys.executable, "fail_hint.py",
                       folder=os.path.join(users, "tree"), PYTHONPATH=".")
    expect("tree/fail_hint", code == 0 and "nothing to batch" not in output, output)
    # In this program, control flow reads only inputs, so it does not wait.
    code, output = run(sys.executable, "fail_control_reads.py",
                       folder=os.path.join(users, "tree"), PYTHONPATH=".")
    expect("tree/fail_control_reads", code == 0 and "waited" not in output and
           output.count("strategy 'linearize'") == 4, output)
    # List indexing is not supported yet. The message recommends fold.
    code, output = run(sys.executable, "fail_list_index.py",
                       folder=os.path.join(users, "tree"), PYTHONPATH=".")
    expect("tree/fail_list_index", code == 0 and "same  descend by fold" in output and
           "descend by index" in output and ".fold(" in output, output)


def check_jax():
    program("jax", "fail_14_rank0_slice", "[1 2 3 4]\n[7 7 7 7]")
    program("jax", "fail_15_config", *["%s %s same" % line for line in (
        ("jax_numpy_rank_promotion raise", "order"), ("jax_debug_nans True", "grows"),
        ("jax_transfer_guard disallow", "draws"), ("jax_default_prng_impl rbg", "draws"))])
    program("jax", "fail_19_large_arguments", *("%s %s same" % (dtype, name) for dtype in
            ("float32", "float64") for name in ("sin", "cos", "tan")))
    program("jax", "fail_20_float_to_int", "same")
    code, output = run(sys.executable, "-c", """
import batch, math, numpy, sys
f = batch.compile(sys.argv[1]).bind()
a2 = numpy.array([[[1.0, -2.0, 3.0, -4.0]]])
found = f(a0=[0.5], a1=[0.0], a2=a2, a3=numpy.array([2], "int32"))["r0"]
print("same" if numpy.allclose(found, abs(a2) + math.sin(math.sin(0.5))) else found)
""", os.path.join(users, "jax", "fail_16_scan_rows.mlir"))
    expect("jax/fail_16_scan_rows", code == 0 and output.endswith("same\n"), output)


def check_messages():
    refused("heir_affine", "memref", "before bufferization")
    refused("indirect", "call functions by name")
    refused("ml_program_global", "ml_program", "batch.shared")
    refused("mlir_unranked", "unranked type")
    refused("tosa", "tosa", "tosa-to-linalg")
    # Functions that the entry does not call may contain anything.
    code, output = run("batch-compile", os.path.join(users, "embed", "other_memref.mlir"),
                       "-o", "other.so")
    expect("embed/other_memref", code == 0, output)


def check_tools():
    embed = os.path.join(users, "embed")
    code, output = run("batch-compile", os.path.join(embed, "name_object.mlir"),
                       "-o", "name.so")
    expect("embed/name_object", code == 0 or "'batch_object'" in output, output)

    examples = os.path.join(prefix, "share/doc/batch-compiler/examples")
    run("batch-compile", examples + "/mlir/treelstm_nary.mlir", "--size=H=16", "-o", "m.so")
    with open(os.path.join(scratch, "m.so"), "rb") as file:
        whole = file.read()
    with open(os.path.join(scratch, "cut.so"), "wb") as file:
        file.write(whole[:5000])
    code, output = run("batch-run", "cut.so", "--params=random:1",
                       "--inputs=%s/data/trees.txt" % examples)
    expect("embed/truncated", code == 1 and "damaged" in output, output)

    lines = os.path.join(scratch, "requests.jsonl")
    with open(lines, "w") as file:
        file.write("4\n0\n5\n6\n")
    code, output = run("batch-run", os.path.join(embed, "nanctl.mlir"),
                       "--inputs=" + lines, "--max-steps=1000")
    expect("embed/nanctl", code == 1 and "instance 1" in output and "steps" in output,
           output)

    # If a signal ends a tool while it compiles, no file remains.
    for number in (signal.SIGINT, signal.SIGTERM):
        folder = tempfile.mkdtemp()
        process = subprocess.Popen(
            [os.path.join(tools, "batch-run"), large, "--params=random:1",
             "--inputs=random:1,8"], stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=folder),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(1)
        process.send_signal(number)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
        expect("embed/sig, signal %d" % number, process.returncode in (
            -number, 128 + number) and not os.listdir(folder),
               "%s %s" % (process.returncode, os.listdir(folder)))


def check_embedding():
    source = os.path.join(scratch, "own")
    shutil.copytree(os.path.join(users, "embed"), source)
    subprocess.run(["chmod", "-R", "u+w", source], check=True)
    with open(os.path.join(source, "CMakeLists.txt"), "a") as file:
        file.write("add_executable(poison poison.cpp)\n"
                   "target_link_libraries(poison PRIVATE Batch::Pipelines Batch::Compile)\n"
                   "target_compile_options(poison PRIVATE -fno-rtti)\n")
    build = os.path.join(scratch, "build")
    for command in (["cmake", "-S", source, "-B", build, "-G", "Ninja",
                     "-DCMAKE_PREFIX_PATH=" + prefix], ["cmake", "--build", build]):
        code, output = run(*command)
        if code:
            return expect("embed: build", False, output)
    code, output = run(build + "/own", "own.so")
    expect("embed/own", code == 0 and "made own.so" in output, output)
    code, output = run(build + "/poison", "/nonexistent/a.so", "good.so")
    expect("embed/poison", "/nonexistent/a.so FAILED" in output and
           "good.so ok" in output and "an earlier error" not in output, output)


def check_list():
    """Checks that each program is tested above or known to fail."""
    with open(__file__) as file:
        text = file.read()
    for folder, names in OPEN.items():
        for path in sorted(glob.glob(os.path.join(users, folder, "fail_*"))):
            name = os.path.splitext(os.path.basename(path))[0]
            isopen = any(name.startswith("fail_" + o) for o in names)
            if isopen:
                print("open   %s/%s" % (folder, name))
            expect("%s/%s is listed" % (folder, name), isopen != (name in text))


try:
    check_list()
    check_tree()
    check_jax()
    check_messages()
    check_tools()
    check_embedding()
finally:
    shutil.rmtree(scratch, ignore_errors=True)
print("%d failed" % len(failed))
sys.exit(1 if failed else 0)
