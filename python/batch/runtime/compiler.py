"""Runs the compiler as a process."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping

from batch.core.errors import CompileError
from batch.core.package import FOLDER
from batch.runtime import cache
from batch.runtime.device import parse_device
from batch.runtime.model import Model, Source


def compiler() -> str:
    """Returns the path of batch-compile.

    Tries, in this order, $BATCH_COMPILE, the directory of the package, the PATH, and build/bin of
    the source tree that contains the package. Raises a CompileError if none has the program, or if
    $BATCH_COMPILE is not a program.
    """
    root = os.path.dirname(os.path.dirname(FOLDER))
    wanted = os.environ.get("BATCH_COMPILE")
    if wanted:
        if os.access(wanted, os.X_OK):
            return wanted
        raise CompileError(f"$BATCH_COMPILE is {wanted!r}, which is not an executable file; set it "
                           "to the path of batch-compile")
    for path in (os.path.join(FOLDER, "bin", "batch-compile"),
                 shutil.which("batch-compile"),
                 os.path.join(root, "build", "bin", "batch-compile")):
        if path and os.access(path, os.X_OK):
            return path
    folder = _built(os.getcwd())
    raise CompileError("cannot find batch-compile; " + (
        f"run `export PATH={shlex.quote(folder)}:$PATH` in this shell" if folder else
        "build it with scripts/demo in the Batch source tree, and put it on the PATH or set "
        "$BATCH_COMPILE"))


def _built(folder):
    """Returns build/bin of the source tree that contains a folder, or None.

    Returns None if the tree contains no compiler.
    """
    while not os.path.exists(os.path.join(folder, "scripts", "demo")):
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    built = os.path.join(folder, "build", "bin")
    return built if os.access(os.path.join(built, "batch-compile"), os.X_OK) else None


@functools.cache
def _build(path, modified):
    """Returns bytes that differ between builds of a compiler: its version text with a build ID.

    They are the same for all copies of a build. `modified` is used only in the key of the
    memoization.
    """
    try:
        text = subprocess.run([path, "--version"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=True).stdout
        if b"\nbuild " in text:
            return text
        with open(path, "rb") as file:  # earlier compilers print no build ID
            return text + hashlib.sha256(file.read()).digest()
    except (OSError, subprocess.SubprocessError) as error:
        raise CompileError(f"cannot run {path}: {error}") from None


@functools.cache
def _cpu():
    """Returns the properties of this machine that compiled code depends on."""
    facts = [platform.machine()]
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        wanted = ("model name", "flags", "Features", "CPU part")
        facts += sorted({line for line in file if line.startswith(wanted)})
    return "".join(facts).encode()


class _Progress:
    """Progress line on a terminal for operations that take longer than 0.5 s."""

    def __init__(self, what, shown):
        self.what = what
        self.ends = threading.Event()
        if shown is None:
            shown = sys.stderr is not None and sys.stderr.isatty()
        self.thread = threading.Thread(target=self._show, daemon=True) if shown else None

    def _show(self):
        start = time.monotonic()
        shown = False
        while not self.ends.wait(0.1 if shown else 0.5):
            shown = True
            sys.stderr.write(f"\rbatch: compiling {self.what}, {time.monotonic() - start:.1f} s")
            sys.stderr.flush()
        if shown:
            sys.stderr.write(f"\rbatch: compiled {self.what} in {time.monotonic() - start:.1f} s\n")

    def __enter__(self):
        if self.thread:
            self.thread.start()

    def __exit__(self, *_):
        self.ends.set()
        if self.thread:
            self.thread.join()


def _run(command, text, what, progress):
    """Runs the compiler and returns its output.

    The compiler ends if an exception, such as an interrupt, occurs here, or if this process ends.
    Raises a CompileError if the compiler fails.
    """
    command = [*command, f"--parent={os.getpid()}"]
    with (_Progress(what, progress),
          subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE) as process):
        try:
            output, errors = process.communicate(text)
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        message = (output + errors).decode(errors="replace").strip()
        raise CompileError(message.replace("<stdin>", what) or
                           f"batch-compile exited with status {process.returncode}")
    return output


def _write(path, output, arguments, text, what, progress):
    _run([path, "-", "-o", output, *arguments], text, what, progress)


def _decisions(path, arguments, text, what, progress):
    """Runs the compiler again without generating code. Returns its remarks on its decisions, and
    `what`."""
    return json.loads(_run([path, "-", "--explain-json", *arguments], text, what,
                           progress)), what


def compile(source: str | bytes | os.PathLike[str], *, sizes: Mapping[str, int] | None = None,
            strategy: str = "auto", instances: int | None = None,
            device: str = "cpu", options: Collection[str] = (),
            progress: bool | None = None) -> Model:
    """Compiles a model, or reads it from the cache, and returns a Model.

    source: path of an MLIR file, or MLIR text (str or bytes that contain a newline).
    sizes: values of the sizes that the model names, such as {"H": 512}.
    strategy, instances: options of batch-compile: where control flow runs, and the number of
        instances in a mini-batch. The number affects the decisions for some models.
    device: where the model runs: "cpu", "cuda", "cuda:N" for the GPU with number N, or "emulator",
        which runs GPU code on the host.
    options: other options of batch-compile. Options that write files raise a ValueError.
    progress: whether stderr shows a progress line; None: only if it is a terminal.

    One Model serves any number of instances. Compiled models are stored in the first folder of
    $BATCH_CACHE that can be written, or in $XDG_CACHE_HOME/batch. Their total size is limited to
    $BATCH_CACHE_BYTES (default: 1 GiB).

    Raises a CompileError if there is no compiler, if it rejects the model, or if no strategy can
    batch the model on the device. Raises a ValueError if the device is unknown.
    """
    if isinstance(source, bytes) and b"\n" in source:
        text, what = source, "a module"
    elif isinstance(source, str) and "\n" in source:
        text, what = source.encode(), "a module"
    else:
        what = os.fsdecode(source)
        with open(source, "rb") as file:
            text = file.read()
    kind, number = parse_device(device)
    arguments = ["--strategy=" + strategy]
    if kind != "cpu":
        arguments.append("--device=" + kind)
    if instances is not None:
        arguments.append(f"--instances={int(instances)}")
    arguments += [f"--size={name}={int(size)}" for name, size in sorted((sizes or {}).items())]
    for option in options:
        if option.startswith(("-o", "--write-params")):
            raise ValueError(f"option {option!r} writes a file, but a cached model would not write "
                             "it; run batch-compile instead")
    arguments += list(options)

    path = compiler()
    state = os.stat(path)
    key = hashlib.sha256()
    for part in (_build(path, state.st_mtime_ns), _cpu(), repr(arguments).encode(), text):
        key.update(b"%d:" % len(part))
        key.update(part)
    for argument in arguments:  # hash the contents of tables and tuning files
        file = argument.partition("=")[2]
        if os.path.isfile(file):
            with open(file, "rb") as opened:
                key.update(opened.read())
    model = cache.take(key.hexdigest(), lambda output: _write(
        path, output, arguments, text, what, progress))
    model.source = Source(text, tuple(arguments), what)
    model.decisions = functools.lru_cache(functools.partial(
        _decisions, path, arguments, text, what, progress))
    if model.not_batched:
        reason = model.not_batched.replace("<stdin>", what)
        raise CompileError(f"{reason}; no strategy can batch this program on device {device!r}" +
                           "; use device='cpu'" * (kind != "cpu"))
    if number:
        model.device = device
    return model
