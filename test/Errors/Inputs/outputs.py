"""outputs.py FOLDER MODEL INPUTS LARGE: tests where the tools write, and their errors if they
cannot write. Prints failures."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

folder, model, inputs, large = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
COMPILE = ["batch-compile", model, "--size=H=16"]
RUN = ["batch-run", "model.so", "--params=random:1", "--inputs=" + inputs]
OPT = ["batch-opt", model, "--autobatch=sizes=H=16"]
bad = []


def expect(what, holds, *facts):
    if not holds:
        bad.append(what)
        print("wrong:", what, *facts)


def run(command, **options):
    done = subprocess.run(command, stderr=subprocess.PIPE, timeout=60, **options)
    return done.returncode, done.stderr.decode()


expect("compiles", run(COMPILE + ["-o", "model.so"])[0] == 0)
for writes in (COMPILE + ["-o", "%s"], OPT + ["-o", "%s"], RUN + ["--outputs=%s"],
               RUN + ["--trace=%s"], RUN + ["--dot=%s"], RUN + ["--learn-policy=%s"]):
    what = "%s %s" % (writes[0], writes[-1])

    def write(name):
        return run([word.replace("%s", name) for word in writes],
                   stdout=subprocess.DEVNULL)

    # A link remains. Its target, which is relative to the link, is replaced.
    os.makedirs("inner")
    open("inner/target", "w").close()
    os.symlink("inner/link", "first")
    os.symlink("target", "inner/link")
    code, text = write("first")
    expect(what + " follows links", code == 0 and os.path.islink("first") and
           os.path.islink("inner/link") and os.path.getsize("inner/target") > 0, text)
    # A pipe is written in place.
    os.mkfifo("pipe")
    got = []
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    holder = os.open("pipe", os.O_WRONLY)

    def read():
        while block := os.read(reader, 1 << 16):
            got.append(block)

    thread = threading.Thread(target=read)
    thread.start()
    code, text = write("pipe")
    os.close(holder)
    thread.join()
    os.close(reader)
    expect(what + " writes into a pipe", code == 0 and sum(map(len, got)) > 0, text)
    os.remove("pipe")
    shutil.rmtree("inner")
    os.remove("first")

for command, prefix in ((OPT + ["-o", "none/x"], "batch-opt"),
                        (COMPILE + ["--emit-llvm", "-o", "none/x"], "batch-compile"),
                        (COMPILE + ["--write-params=none/x", "-o", "x"], os.path.basename(model))):
    code, text = run(command)
    expect("%s, a missing directory" % command[-1], code == 1 and prefix in text and
           "error: cannot write 'none/x': No such file or directory" in text, code, text)

# The linker opens files in memory. The limit permits one of these at a time, so linking fails.
code, text = run(COMPILE + ["-o", "linked.so"], preexec_fn=lambda: resource.setrlimit(
    resource.RLIMIT_NOFILE, (4, 4)))
expect("too many open files", code == 1 and
       "error: cannot link the object: Too many open files" in text, code, text)

full = open("/dev/full", "w")
for command in (RUN, RUN + ["--json"], ["batch-run", "--help"], OPT, ["batch-opt", "--help"],
                COMPILE + ["-o", "explained.so", "--explain"], ["batch-compile", "--help"],
                ["batch-reduce", "--help"], ["batch-lsp-server", "--help"]):
    line = command[0] + ": error: cannot write to standard output"
    for what, options in (("full", {"stdout": full}),
                          ("closed", {"preexec_fn": lambda: os.close(1)})):
        code, text = run(command, **options)
        expect("%s, standard output %s" % (" ".join(command[::len(command) - 1]), what),
               code == 1 and line in text and "LLVM ERROR" not in text, code, text)

# Sends signals while batch-run compiles the model LARGE, which takes seconds.
os.makedirs("temporary")
slow = ["batch-run", large, "--params=random:1", "--inputs=random:1,8"]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
    process = subprocess.Popen(
        slow, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env=dict(os.environ, TMPDIR=os.path.abspath("temporary")),
        preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL)
                            for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)])
    time.sleep(0.5)
    process.send_signal(number)
    start = time.monotonic()
    # The compiler inherits this pipe, so the wait ends when both processes have ended.
    text = process.communicate()[1]
    took = time.monotonic() - start
    expect("signal %d while it compiles" % number,
           process.returncode == -number and not text and took < 2 and
           not os.listdir("temporary"), process.returncode, text, took)

left = [name for name in os.listdir() if "partial" in name or ".tmp" in name]
expect("nothing is left", not left, left)
print("%d wrong" % len(bad))
sys.exit(bool(bad))
