"""Folders of compiled models, which processes share."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import secrets
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator

from batch._native import Error
from batch.core.errors import CompileError
from batch.runtime.model import Model

try:
    import fcntl
except ImportError:  # not on Linux
    fcntl = None


_LEFTOVER = 3600  # seconds after which no compilation still uses a file
# Names of the cache's files. A folder of $BATCH_CACHE may contain other files.
_NAME = re.compile(r"([0-9a-f]{64})(\.so|\.lock|\..*partial)")


def _private_folder() -> str:
    return os.path.join(tempfile.gettempdir(), f"batch-{os.getuid()}")


def _folders() -> list[str]:
    """Returns the folders of $BATCH_CACHE, or the user's folder if it has a home."""
    given = [os.path.abspath(path) for path in
             os.environ.get("BATCH_CACHE", "").split(os.pathsep) if path]
    if given:
        return given
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [os.path.join(base, "batch")] if os.path.isabs(base) else []


def _most_bytes():
    text = os.environ.get("BATCH_CACHE_BYTES", str(1 << 30))
    if not text.isdigit():
        raise ValueError(
            f"invalid value {text!r} for $BATCH_CACHE_BYTES; expected a number of bytes")
    return int(text)


def clear_cache() -> None:
    """Removes all compiled models from the folders of the cache that can be written.

    Models that a process has already opened remain usable.
    """
    for folder in [*_folders(), _private_folder()]:
        for name, _, _ in _files(folder):
            with contextlib.suppress(OSError):
                os.remove(os.path.join(folder, name))


def _files(folder):
    """Returns (name, key, suffix) of each file of the cache in a folder."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [(name, *match.groups()) for name in names if (match := _NAME.fullmatch(name))]


def _make(folder):
    """Makes a folder. Raises an OSError if it cannot be made, or if no file can be made in it."""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def _make_private(folder):
    """Makes a folder that only this user can read or write."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    state = os.lstat(folder)
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise PermissionError(None, "other users can access the folder", folder)


@functools.cache
def _warn(folders, reason, private):
    """Warns once that models are stored in the private folder."""
    where = f" in {', '.join(map(repr, folders))}" if folders else ""
    warnings.warn(f"cannot store compiled models{where} ({reason}), so they are stored in "
                  f"{private!r}; set $BATCH_CACHE to a folder that can be written", RuntimeWarning,
                  stacklevel=5)


def _writable(folders):
    """Returns the first folder that can be written, or a private one in $TMPDIR."""
    reasons = []
    for folder in folders:
        try:
            _make(folder)
            return folder
        except OSError as error:
            reasons.append(error.strerror)
    reason = ", ".join(dict.fromkeys(reasons)) or "the user has no home"
    try:
        private = _private_folder()
        _make_private(private)
    except OSError as error:
        raise CompileError(
            f"cannot store compiled models in {', '.join(map(repr, folders))} ({reason}), nor in "
            f"a folder in $TMPDIR ({error.strerror}); set $BATCH_CACHE to a folder that can be "
            "written") from None
    _warn(tuple(folders), reason, private)
    return private


def _lock(file, wait):
    """Locks a file. Returns False if another process has the lock, or if there are no locks."""
    if not fcntl:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _locked(path: str, wait: bool = True) -> Iterator[bool]:
    """Locks a file so that processes compile the same model only once.

    The value is False if the file is not locked. Some file systems do not support locks.
    """
    with open(path, "w") as file:
        yield _lock(file, wait)


def _remove_leftovers(folder):
    """Removes files of processes that were killed while they compiled."""
    files = _files(folder)
    compiled = {key for _, key, suffix in files if suffix == ".so"}
    for name, key, suffix in files:
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):  # another process may have removed the file
            is_old = time.time() - os.stat(path).st_mtime > _LEFTOVER
            if suffix.endswith("partial"):
                with _locked(os.path.join(folder, key + ".lock"), wait=False) as locked:
                    if locked or is_old:
                        os.remove(path)
            elif suffix == ".lock" and key not in compiled and is_old:
                os.remove(path)


def _shrink(folder, cached):
    """Removes the least recently used models, except `cached`, while the cache is too large."""
    entries = []
    for name, key, suffix in _files(folder):
        with contextlib.suppress(OSError):  # another process may have removed the file
            state = os.stat(os.path.join(folder, name))
            if suffix == ".so":
                entries.append((state.st_mtime, state.st_size, key))
    free = _most_bytes() - sum(size for _, size, _ in entries)
    for _, size, key in sorted(entries):
        if free >= 0:
            break
        if key == cached:
            continue
        for suffix in ".so", ".lock":
            with contextlib.suppress(OSError):
                os.remove(os.path.join(folder, key + suffix))
        free += size


def _find(folder, key):
    """Returns a model of a folder, or None. Removes a damaged file."""
    path = os.path.join(folder, key + ".so")
    if not os.path.exists(path):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # marks the entry as recently used
    try:
        return Model(path)
    except Error:
        with contextlib.suppress(OSError):
            os.remove(path)
        return None


def _compile_into(folder, key, compile):
    """Compiles a model into a folder, unless another process does so meanwhile."""
    with _locked(os.path.join(folder, key + ".lock")):
        model = _find(folder, key)
        if model:
            return model
        # Without a lock, several processes may compile the model.
        partial = f"{key}.{secrets.token_hex(4)}.partial"
        try:
            compile(os.path.join(folder, partial))
            model = Model(os.path.join(folder, partial))
            os.replace(os.path.join(folder, partial), os.path.join(folder, key + ".so"))
        finally:
            # An interrupted compiler leaves a file whose name begins like that of its output.
            for name, _, _ in _files(folder):
                if name.startswith(partial):
                    with contextlib.suppress(OSError):
                        os.remove(os.path.join(folder, name))
    _remove_leftovers(folder)
    _shrink(folder, key)
    return model


def take(key: str, compile: Callable[[str], None]) -> Model:
    """Returns the model of a key from the first folder that has it.

    If no folder has it, `compile` writes the model to the path that it is given.
    """
    folders = _folders()
    for folder in folders:
        model = _find(folder, key)
        if model:
            return model
    for _ in range(10):
        folder = _writable(folders)
        with contextlib.suppress(FileNotFoundError):  # another process removed the folder
            return _compile_into(folder, key, compile)
    raise CompileError(f"another process keeps removing {folder}; set $BATCH_CACHE to another "
                       "folder")
