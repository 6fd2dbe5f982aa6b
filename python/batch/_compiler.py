"""The compiler is a process, and what it makes is kept in a cache."""

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

from batch._model import Model
from batch._runtime import Error

try:
    import fcntl
except ImportError:  # not on Linux
    fcntl = None


_LEFTOVER = 3600  # seconds after which nobody compiles any more


class CompileError(Exception):
    """The compiler refuses a model; the message says where and why."""


def compiler():
    """The path of batch-compile: $BATCH_COMPILE, one in the package, on the PATH, or in
    build/bin of the source tree that the package lies in."""
    package = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(package))
    wanted = os.environ.get("BATCH_COMPILE")
    if wanted:
        if os.access(wanted, os.X_OK):
            return wanted
        raise CompileError("$BATCH_COMPILE is %r, which is no program" % wanted)
    for path in (os.path.join(package, "bin", "batch-compile"),
                 shutil.which("batch-compile"),
                 os.path.join(root, "build", "bin", "batch-compile")):
        if path and os.access(path, os.X_OK):
            return path
    raise CompileError("there is no batch-compile: put it on the PATH, or set "
                       "$BATCH_COMPILE; scripts/demo of Batch's sources builds it")


@functools.lru_cache(maxsize=None)
def _version(path, modified):
    """What tells a compiler from others; `modified` is part of the key only."""
    try:
        return subprocess.run([path, "--version"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise CompileError("%s does not run: %s" % (path, error)) from None


@functools.lru_cache(maxsize=None)
def _cpu():
    """What the code for this machine depends on."""
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
        raise ValueError("$BATCH_CACHE_BYTES is %r, which is no number of bytes" % text)
    return int(text)


def clear_cache():
    """Removes all compiled models that no process has opened yet."""
    shutil.rmtree(_folder(), ignore_errors=True)


@contextlib.contextmanager
def _locked(path):
    """Processes that want the same model compile it once."""
    with open(path, "w") as file:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _shrink(folder, kept):
    """Removes what has not been used for longest, but not `kept`, and what processes
    that were killed have left."""
    entries = []
    names = set(os.listdir(folder))
    for name in names:
        base, kind = os.path.splitext(name)
        with contextlib.suppress(OSError):  # another process has removed it
            state = os.stat(os.path.join(folder, name))
            if kind == ".so":
                entries.append((state.st_mtime, state.st_size, name))
            elif (kind != ".lock" or base + ".so" not in names) and \
                    time.time() - state.st_mtime > _LEFTOVER:
                os.remove(os.path.join(folder, name))
    room = _most_bytes() - sum(size for _, size, _ in entries)
    for _, size, name in sorted(entries):
        if room >= 0:
            break
        if name == os.path.basename(kept):
            continue
        with contextlib.suppress(OSError):
            os.remove(os.path.join(folder, name))
        with contextlib.suppress(OSError):
            os.remove(os.path.join(folder, name[:-3] + ".lock"))
        room += size


class _Progress:
    """A line on a terminal once something takes half a second."""

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
            sys.stderr.write("\rbatch: compiling %s, %.1f s" %
                             (self.what, time.monotonic() - start))
            sys.stderr.flush()
        if shown:
            sys.stderr.write("\rbatch: compiled %s in %.1f s\n" %
                             (self.what, time.monotonic() - start))

    def __enter__(self):
        if self.thread:
            self.thread.start()

    def __exit__(self, *_):
        self.ends.set()
        if self.thread:
            self.thread.join()


def _run(command, text, what, progress):
    """Runs the compiler, and returns what it prints; an exception, an interrupt too, ends
    it, and so does the end of this process."""
    command = [*command, "--parent=%d" % os.getpid()]
    with _Progress(what, progress):
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            try:
                output, errors = process.communicate(text)
            except BaseException:
                process.kill()
                raise
    if process.returncode != 0:
        message = (output + errors).decode(errors="replace").strip()
        raise CompileError(message.replace("<stdin>", what) or
                           "batch-compile ended with %d" % process.returncode)
    return output


def _decisions(path, arguments, text, what, progress):
    """What the compiler decides, remark by remark: it runs again, without making code."""
    return json.loads(_run([path, "-", "--explain-json", *arguments], text, what,
                           progress)), what


def compile(source, *, sizes=None, strategy="auto", instances=None, options=(),
            progress=None):
    """Compiles a model, or takes it from the cache, and returns a Model.

    source: the path of an MLIR file, or MLIR as text (str or bytes with a newline).
    sizes: {"H": 512}, the sizes that the model names.
    strategy, instances: as of batch-compile: where control runs, and how many instances
        mini-batches will have, which decides for some models.
    options: more of batch-compile's.
    progress: whether a line on stderr shows that it takes time; None: on terminals.

    One object serves any number of instances. Compiled models are kept in
    $XDG_CACHE_HOME/batch, up to $BATCH_CACHE_BYTES (1 GiB) in all.
    """
    if isinstance(source, bytes) and b"\n" in source:
        text, what = source, "a module"
    elif isinstance(source, str) and "\n" in source:
        text, what = source.encode(), "a module"
    else:
        what = os.fsdecode(source)
        with open(source, "rb") as file:
            text = file.read()
    arguments = ["--strategy=" + strategy]
    if instances is not None:
        arguments.append("--instances=%d" % instances)
    arguments += ["--size=%s=%d" % size for size in sorted((sizes or {}).items())]
    for option in options:
        if option.startswith(("-o", "--write-params")):
            raise ValueError("option %r writes a file, which a compiled model from the cache "
                             "would not do: call batch-compile for that" % option)
    arguments += list(options)

    path = compiler()
    state = os.stat(path)
    key = hashlib.sha256()
    for part in (_version(path, state.st_mtime_ns), b"%d" % state.st_size,
                 b"%d" % state.st_mtime_ns, _cpu(), repr(arguments).encode(), text):
        key.update(b"%d:" % len(part))
        key.update(part)
    for argument in arguments:  # tables and tuning files
        file = argument.partition("=")[2]
        if os.path.isfile(file):
            with open(file, "rb") as opened:
                key.update(opened.read())
    folder = _folder()
    kept = os.path.join(folder, key.hexdigest() + ".so")
    for _ in range(10):
        with contextlib.suppress(FileNotFoundError):  # another process clears the cache
            model = _take(kept, path, arguments, text, what, progress)
            model.decisions = functools.lru_cache(functools.partial(
                _decisions, path, arguments, text, what, progress))
            return model
    raise CompileError("%s is removed again and again" % folder)


def _take(kept, path, arguments, text, what, progress):
    """A model from the cache; compiles it if it is not there, or damaged."""
    folder = os.path.dirname(kept)
    os.makedirs(folder, exist_ok=True)
    while True:
        if os.path.exists(kept):
            with contextlib.suppress(PermissionError):
                os.utime(kept)  # used just now
            try:
                return Model(kept)
            except Error:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(kept)
        with _locked(kept[:-3] + ".lock"):
            if os.path.exists(kept):
                continue
            partial = kept[:-3] + ".partial"  # the lock makes its writer the only one
            try:
                _run([path, "-", "-o", partial, *arguments], text, what, progress)
                model = Model(partial)
                os.replace(partial, kept)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(partial)
        _shrink(folder, kept)
        return model
