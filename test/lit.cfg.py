# The lit suite. Tools and substitutions of its tests:
#
#   batch-opt, batch-compile, batch-run, …   the built tools
#   FileCheck, not, split-file, mlir-opt-22  tools of LLVM
#   %examples  %models  %inputs
#                         examples/mlir, test/models, examples/data
#   %cases %data %users   folders of ../shared, and features of these names; without a
#                         folder, the tests that need it are skipped
#   %src  %build  %lib  %python  %cmake  %c_compiler  %cxx  %ccache  %mlir_dir
#   %integration/NAME.py  runs test/Integration/NAME.py in Python, with the paths of the tools
#   %tree_folders         the existing folders of parse trees
#   %seeds                number of thread orders on the emulator, as --seeds=N
#   %soak                 "--minutes=N --seed=M" in a long run, else nothing
#   %quarter              %soak with a quarter of the minutes
#   %long                 "--long" and %quarter in a long run, else nothing
#   %random               number of random programs and forests
#   %recursions           number of random recursive programs
#   %instances            number of random programs of loops and branches
#   %reads                number of random programs that read at computed indices
#
#   %package_python       Python with the Python package and the packages of its tests
#   %torch_python         the same, with PyTorch
#   %junit                "--junitxml=PATH" if a path is given, else nothing
#   %sample               selects a sample of cases, as --seed=N
#   %jobs                 number of processes of pytest
#
# In some folders, one test in four runs, or one in N (share=N).
#
# Parameters (lit -D name=value):
#
#   package_python=PATH   Python with the package, for tests of the feature `package`
#   torch_python=PATH     Python with the package and PyTorch, for tests of the feature `torch`
#   long=1                also runs the tests of the feature `long`
#   soak=OPTIONS          '--minutes=N --seed=M' for the random programs of a long run
#   seeds=N               number of thread orders on the emulator
#   x64=1                 sets JAX_ENABLE_X64 and the feature `x64`
#   junit=PATH            file to which pytest writes its results
#   jobs=N                number of processes of pytest
#   seed=N                selects samples
#   share=N               see above

import os
import random
import re
import shutil
import subprocess

import lit.formats

config.name = "Batch"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "compiled", "models"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.batch_binary_dir, "test")

# The built tools and those of LLVM come before the tools in the user's PATH.
path = os.pathsep.join(
    [config.batch_tools_dir, config.llvm_tools_dir,
     config.environment.get("PATH", os.environ.get("PATH", ""))])
config.environment["PATH"] = path
for name in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "CCACHE_DIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if lit_config.params.get("x64", "0") not in ("", "0", "no"):
    config.available_features.add("x64")
    config.environment["JAX_ENABLE_X64"] = "1"
if "address" in config.batch_sanitizers:
    config.available_features.add("asan")
    config.environment.setdefault(
        "ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0")
    config.environment.setdefault(
        "UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")

for tool in ("batch-opt", "batch-compile", "batch-run", "batch-reduce",
             "batch-lsp-server"):
    if os.path.exists(os.path.join(config.batch_tools_dir, tool)):
        config.available_features.add(tool)

# A plugin uses the MLIR of the tool that loads it, and cannot have its own sanitizer.
if not config.batch_static_mlir and "address" not in config.batch_sanitizers:
    config.available_features.add("plugin")

source = config.batch_source_dir
long = lit_config.params.get("long", "0") not in ("", "0", "no")
if long:
    config.available_features.add("long")
soak = lit_config.params.get("soak", "") if long else ""
minutes = re.search(r"--minutes=(\d+)", soak)
quarter = soak.replace(minutes[0], "--minutes=%g" % (int(minutes[1]) / 4)) if minutes else ""
seed = lit_config.params.get("seed", "1")

# Tests that this run skips, by folder. Each folder's lit.local.cfg excludes them.
config.left_out = {}
share = int(lit_config.params.get("share", 4))
for folder in ("cases", "sequences", "stages", "trees"):
    folder = os.path.join(config.test_source_root, "Integration", "CPU", folder)
    tests = sorted(name for name in os.listdir(folder) if name.endswith(".test"))
    random.Random(seed + os.path.basename(folder)).shuffle(tests)
    config.left_out[folder] = tests[-(-len(tests) // share):]
package_python = lit_config.params.get("package_python", "")
if package_python:
    config.available_features.add("package")
    if subprocess.run([package_python, "-c", "import importlinter"],
                      stderr=subprocess.DEVNULL).returncode == 0:
        config.available_features.add("import-linter")
junit = lit_config.params.get("junit", "")
torch_python = lit_config.params.get("torch_python", "")
if torch_python:
    config.available_features.add("torch")

for name in ("cases", "data", "users"):
    folder = os.path.join(config.batch_shared_dir, name)
    if os.path.isdir(folder):
        config.available_features.add(name)
    config.substitutions.append(("%" + name, os.path.realpath(folder)))

for name, tools in (("mlir-opt", ("mlir-opt-22", "mlir-opt")),
                    ("ld.lld", ("ld.lld",)), ("cc", ("cc",)), ("git", ("git",)),
                    ("ninja", ("ninja",))):
    if any(shutil.which(tool, path=path) for tool in tools):
        config.available_features.add(name)

# LLVM's code generator, which reports spills.
if shutil.which("llc", path=path):
    config.available_features.add("llc")

# Vectors of 256 bits and fused multiply-adds: x86-64-v3.
if os.path.exists("/proc/cpuinfo"):
    with open("/proc/cpuinfo") as file:
        if {"avx2", "fma"} <= set(file.read().split()):
            config.available_features.add("avx2")

# The assembler of a CUDA toolkit.
if shutil.which("ptxas", path=path):
    config.available_features.add("ptxas")

# Cross compilation for 64-bit ARM: Debian's cross compiler and qemu-user.
if all(shutil.which(tool, path=path)
       for tool in ("aarch64-linux-gnu-g++", "qemu-aarch64")):
    config.available_features.add("aarch64")

tree_folders = [os.path.join(config.batch_shared_dir, "data", name)
                for name in ("gum_trees", "craft_trees")]
tree_folders = [os.path.realpath(f) for f in tree_folders if os.path.isdir(f)]

ccache = shutil.which("ccache")
ccache = ("-DCMAKE_CXX_COMPILER_LAUNCHER=" + ccache) if ccache else ""

helpers = os.path.join(config.test_source_root, "Integration")
config.substitutions += [
    ("%examples", os.path.join(source, "examples", "mlir")),
    ("%models", os.path.join(source, "test", "models")),
    ("%inputs", os.path.join(source, "examples", "data")),
    ("%integration",
     "env PYTHONDONTWRITEBYTECODE=1 BATCH_TOOLS=%s BATCH_TEST_CACHE=%s %s %s" %
     (config.batch_tools_dir, os.path.join(config.test_exec_root, "compiled"),
      config.python, helpers)),
    ("%package_python",
     "env PYTHONDONTWRITEBYTECODE=1 BATCH_TOOLS=%s %s" %
     (config.batch_tools_dir, package_python)),
    ("%torch_python",
     "env PYTHONDONTWRITEBYTECODE=1 BATCH_TOOLS=%s %s" %
     (config.batch_tools_dir, torch_python)),
    ("%junit", "--junitxml=" + junit if junit else ""),
    ("%sample", "--seed=" + seed),
    ("%jobs", str(lit_config.params.get("jobs", 1))),
    ("%long", "--long " + quarter if long else ""),
    ("%quarter", quarter),
    ("%soak", soak),
    ("%seeds", "--seeds=%s" % lit_config.params.get("seeds", 1)),
    ("%recursions", soak or "--programs=10"),
    ("%instances", soak or "--programs=4"),
    ("%reads", soak or "--programs=10"),
    ("%random", soak or "--programs=5 --forests=20"),
    ("%tree_folders", " ".join(tree_folders)),
    ("%python", config.python),
    ("%cmake", config.cmake),
    ("%c_compiler", config.c_compiler),
    ("%cxx", config.cxx),
    ("%ccache", ccache),
    ("%mlir_dir", config.mlir_dir),
    ("%src", source),
    ("%build", config.batch_binary_dir),
    ("%lib", config.batch_lib_dir),
]
