"""Runs the compiler as a process, and stores compiled models in a cache."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping

from batch._native import Error
from batch.core.package import FOLDER
from batch.runtime.device import parse_device
from batch.runtime.model import Model

try:
    import fcntl
except ImportError:  # not on Linux
    fcntl = None


_LEFTOVER = 3600  # seconds after which no compilation still uses a temporary file


class CompileError(Exception):
    """Failure to compile a model; the message reports the location and the cause."""


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
    raise CompileError("cannot find batch-compile; build it with scripts/demo in the Batch "
                       "source tree, and put it on the PATH or set $BATCH_COMPILE")


@functools.cache
def _version(path, modified):
    """Returns the version text of a compiler. `modified` is used only in the cache key."""
    try:
        return subprocess.run([path, "--version"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=True).stdout
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


def _folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(
        os.path.expanduser("~"), ".cache")
    return os.path.join(base, "batch")


def _most_bytes():
    text = os.environ.get("BATCH_CACHE_BYTES", str(1 << 30))
    if not text.isdigit():
        raise ValueError(
            f"invalid value {text!r} for $BATCH_CACHE_BYTES; expected a number of bytes")
    return int(text)


def clear_cache() -> None:
    """Removes all compiled models from the cache.

    Models that a process has already opened remain usable.
    """
    shutil.rmtree(_folder(), ignore_errors=True)


@contextlib.contextmanager
def _locked(path):
    """Locks a file so that processes compile the same model only once."""
    with open(path, "w") as file:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _shrink(folder, cached):
    """Removes the least recently used models, except `cached`, while the cache is too large.

    Also removes files left by killed processes.
    """
    entries = []
    names = set(os.listdir(folder))
    for name in names:
        base, kind = os.path.splitext(name)
        with contextlib.suppress(OSError):  # another process may have removed the file
            state = os.stat(os.path.join(folder, name))
            if kind == ".so":
                entries.append((state.st_mtime, state.st_size, name))
            elif (kind != ".lock" or base + ".so" not in names) and \
                    time.time() - state.st_mtime > _LEFTOVER:
                os.remove(os.path.join(folder, name))
    free = _most_bytes() - sum(size for _, size, _ in entries)
    for _, size, name in sorted(entries):
        if free >= 0:
            break
        if name == os.path.basename(cached):
            continue
        with contextlib.suppress(OSError):
            os.remove(os.path.join(folder, name))
        with contextlib.suppress(OSError):
            os.remove(os.path.join(folder, name[:-3] + ".lock"))
        free += size


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

    One Model serves any number of instances. Compiled models are stored in
    $XDG_CACHE_HOME/batch. Their total size is limited to $BATCH_CACHE_BYTES (default: 1 GiB).

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
    for part in (_version(path, state.st_mtime_ns), b"%d" % state.st_size,
                 b"%d" % state.st_mtime_ns, _cpu(), repr(arguments).encode(), text):
        key.update(b"%d:" % len(part))
        key.update(part)
    for argument in arguments:  # hash the contents of tables and tuning files
        file = argument.partition("=")[2]
        if os.path.isfile(file):
            with open(file, "rb") as opened:
                key.update(opened.read())
    folder = _folder()
    cached = os.path.join(folder, key.hexdigest() + ".so")
    for _ in range(10):
        with contextlib.suppress(FileNotFoundError):  # another process cleared the cache
            model = _take(cached, path, arguments, text, what, progress)
            model.decisions = functools.lru_cache(functools.partial(
                _decisions, path, arguments, text, what, progress))
            if model.not_batched:
                reason = model.not_batched.replace("<stdin>", what)
                raise CompileError(f"{reason}; no strategy can batch this program on device "
                                   f"{device!r}" + "; use device='cpu'" * (kind != "cpu"))
            if number:
                model.device = device
            return model
    raise CompileError(f"another process keeps clearing {folder}; set $XDG_CACHE_HOME to another "
                       "directory")


def _take(cached, path, arguments, text, what, progress):
    """Returns a model from the cache. Compiles the model if its file is missing or damaged."""
    folder = os.path.dirname(cached)
    os.makedirs(folder, exist_ok=True)
    while True:
        if os.path.exists(cached):
            with contextlib.suppress(PermissionError):
                os.utime(cached)  # marks the entry as recently used
            try:
                return Model(cached)
            except Error:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(cached)
        with _locked(cached[:-3] + ".lock"):
            if os.path.exists(cached):
                continue
            partial = cached[:-3] + ".partial"  # the lock admits one writer
            try:
                _run([path, "-", "-o", partial, *arguments], text, what, progress)
                model = Model(partial)
                os.replace(partial, cached)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(partial)
        _shrink(folder, cached)
        return model
