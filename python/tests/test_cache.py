"""The cache of compiled models: keys, folders, damaged files, and the limit of its size."""

import errno
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings

import batchtest
import pytest
from support.comparison import raises
from support.counting_compiler import COMPILE_ENCODER, CountingCompiler
from support.package_models import ENCODER, LOOP

import batch


@pytest.fixture
def file(tmp_path):
    return batchtest.write_lines(tmp_path / "loop.mlir", [LOOP])


@pytest.mark.parametrize("again", [
    pytest.param(lambda file: batch.compile(file), id="file"),
    pytest.param(lambda file: batch.compile(LOOP + "\n"), id="text"),
    pytest.param(lambda file: batch.compile((LOOP + "\n").encode()), id="bytes"),
])
def test_same_model_compiles_once(compiler, file, again):
    batch.compile(file)
    assert compiler.calls() == 1
    again(file)
    assert compiler.calls() == 1


@pytest.mark.parametrize("other", [
    pytest.param(lambda file: batch.compile(file, options=["-O1"]), id="option"),
    pytest.param(lambda file: batch.compile(file, strategy="lockstep"), id="strategy"),
    pytest.param(lambda file: batch.compile(LOOP.replace("%one", "%uno")), id="text"),
    pytest.param(lambda file: (batch.clear_cache(), batch.compile(file)), id="cleared_cache"),
])
def test_other_model_compiles_again(compiler, file, other):
    batch.compile(file)
    assert compiler.calls() == 1
    other(file)
    assert compiler.calls() == 2


def test_key_contains_files_of_options(compiler, tmp_path):
    table = tmp_path / "tuning.json"
    for rows, calls in (5, 1), (3, 2), (3, 2):
        table.write_text(f'{{"version": 1, "kernels": {{"*": {{"stage_rows": {rows}}}}}}}\n')
        batch.compile(LOOP, options=[f"--tuning={table}"])
        assert compiler.calls() == calls


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A compiler, the file of a model in its cache, and the contents of this file."""
    compiler = CountingCompiler(tmp_path_factory.mktemp("stored"))
    done = compiler.run_python(COMPILE_ENCODER, ENCODER, "52")
    assert done.returncode == 0, done.stdout
    (file,) = compiler.files(".so")
    return compiler, file, file.read_bytes()


def flipped(data, place):
    """Returns the data with one bit of the byte at `place` changed."""
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1:]


@pytest.mark.parametrize("damage", [
    pytest.param(lambda data: data[:0], id="empty"),
    pytest.param(lambda data: data[:100], id="100_bytes"),
    pytest.param(lambda data: data[:5000], id="5000_bytes"),
    pytest.param(lambda data: data[:-1], id="without_last_byte"),
    pytest.param(lambda data: flipped(data, 4), id="changed_bit_in_header"),
    pytest.param(lambda data: flipped(data, len(data) // 2), id="changed_bit_in_middle"),
    pytest.param(lambda data: flipped(data, len(data) - 40), id="changed_bit_near_end"),
    pytest.param(lambda data: flipped(data, len(data) - 1), id="changed_bit_in_last_byte"),
])
def test_damaged_file_is_compiled_again(stored, damage):
    """Separate processes open the file, because a fault in its mapped pages raises a signal."""
    compiler, file, whole = stored
    file.write_bytes(damage(whole))
    before = compiler.calls()
    for _ in range(2):
        done = compiler.run_python(COMPILE_ENCODER, ENCODER, "52")
        assert done.returncode == 0, done.stdout
    assert compiler.calls() - before == 1
    assert file.read_bytes() == whole


def test_processes_compile_once(compiler):
    program = "import sys, batch; batch.compile(sys.argv[1], sizes={'H': 24})"
    processes = [subprocess.Popen([sys.executable, "-P", "-c", program, ENCODER],
                                  env=compiler.environment_of_process(slow=0.3))
                 for _ in range(5)]
    assert [process.wait(120) for process in processes] == [0] * 5
    assert compiler.calls() == 1
    assert compiler.files(".partial") == []


def test_cache_has_limit(compiler, monkeypatch):
    """The newest model remains, even if it is larger than the limit."""
    limit = 50000
    monkeypatch.setenv("BATCH_CACHE_BYTES", str(limit))
    for calls, extent in enumerate((8, 12, 20, 28), 1):
        batch.compile(ENCODER, sizes={"H": extent})
        assert compiler.calls() == calls
        states = [file.stat() for file in compiler.files(".so")]
        newest = max(states, key=lambda state: state.st_mtime)
        assert sum(state.st_size for state in states) <= limit + newest.st_size
    assert len(states) < 4
    batch.compile(ENCODER, sizes={"H": 28})
    assert compiler.calls() == 4


def test_wrong_limit_of_cache(compiler, monkeypatch):
    monkeypatch.setenv("BATCH_CACHE_BYTES", "much")
    with raises(ValueError, "invalid value 'much' for $BATCH_CACHE_BYTES"):
        batch.compile(ENCODER, sizes={"H": 36})


def test_cache_that_is_removed_repeatedly(compiler, monkeypatch):
    def compile_into(*arguments):
        raise FileNotFoundError

    monkeypatch.setattr("batch.runtime.cache._compile_into", compile_into)
    with raises(batch.CompileError, f"another process keeps removing {compiler.cache}; set "
                                    "$BATCH_CACHE to another folder"):
        batch.compile(LOOP)


# --- keys of builds ---------------------------------------------------------------------

def test_copies_of_a_compiler_have_one_key(compiler):
    """A package installed elsewhere has a compiler with the same bytes and another time."""
    batch.compile(LOOP)
    for seconds in 1, 2:
        os.utime(compiler.script, (seconds, seconds))
        batch.compile(LOOP)
    assert compiler.calls() == 1


@pytest.mark.parametrize("text", [
    "batch-compile 1.0\nbuild {}", "batch-compile 1.0 of {}",
], ids=["build_id", "version"])
def test_builds_have_different_keys(compiler, text):
    for calls, build in (1, "aa"), (2, "bb"), (2, "aa"):
        compiler.write_script(text.format(build))
        batch.compile(LOOP)
        assert compiler.calls() == calls


def test_compilers_without_a_build_id_have_their_own_keys(compiler):
    for calls, comment in (1, "first"), (2, "second"):
        compiler.write_script("batch-compile 1.0", comment)
        batch.compile(LOOP)
        assert compiler.calls() == calls


# --- folders ----------------------------------------------------------------------------

@pytest.fixture
def unwritable(tmp_path):
    """Path of a folder that cannot be made, even by root."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "folder"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The private folder in an empty $TMPDIR. Warnings about it are shown again."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("BATCH_CACHE", raising=False)
    batch.runtime.cache._warn.cache_clear()
    return folder / f"batch-{os.getuid()}"


def make_read_only(monkeypatch, *folders):
    """Makes calls that write to folders fail as on a read-only file system."""
    def failing(function, path_of):
        def call(*arguments, **named):
            path = os.fspath(path_of(arguments, named))
            if any(path.startswith(str(folder)) for folder in folders):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
            return function(*arguments, **named)
        return call
    for module, name, path_of in ((os, "utime", lambda given, named: given[0]),
                                  (os, "remove", lambda given, named: given[0]),
                                  (tempfile, "TemporaryFile", lambda given, named: named["dir"])):
        monkeypatch.setattr(module, name, failing(getattr(module, name), path_of))


def models(folder):
    return [file.name for file in folder.glob("*.so")]


def set_folders(monkeypatch, *folders):
    monkeypatch.setenv("BATCH_CACHE", os.pathsep.join(map(str, folders)))


def test_first_folder_that_can_be_written(compiler, monkeypatch, unwritable, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    set_folders(monkeypatch, unwritable, first, second)
    batch.compile(LOOP)
    assert (len(models(first)), second.exists(), compiler.files(".so")) == (1, False, [])


def test_all_folders_are_read(compiler, monkeypatch, tmp_path):
    """An image contains some models, and a folder of the user has others."""
    image, user = tmp_path / "image", tmp_path / "user"
    set_folders(monkeypatch, image)
    batch.compile(LOOP)
    make_read_only(monkeypatch, image)
    set_folders(monkeypatch, image, user)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            batch.compile(LOOP)
            batch.compile(LOOP.replace("%one", "%uno"))
    assert compiler.calls() == 2
    assert (len(models(image)), len(models(user))) == (1, 1)


def test_read_only_cache_with_the_model(compiler, monkeypatch, temporary):
    batch.compile(LOOP)
    make_read_only(monkeypatch, compiler.cache)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch.compile(LOOP)
    assert (compiler.calls(), temporary.exists()) == (1, False)


def test_damaged_file_in_a_read_only_cache(compiler, monkeypatch, temporary):
    batch.compile(LOOP)
    (file,) = compiler.files(".so")
    file.write_bytes(b"damaged")
    make_read_only(monkeypatch, compiler.cache)
    with pytest.warns(RuntimeWarning, match="Read-only file system"):
        batch.compile(LOOP)
    assert (compiler.calls(), len(models(temporary))) == (2, 1)


def test_read_only_cache_without_the_model(compiler, monkeypatch, temporary):
    compiler.cache.mkdir(parents=True)
    make_read_only(monkeypatch, compiler.cache)
    text = (f"cannot store compiled models in '{compiler.cache}' (Read-only file system), so they "
            f"are stored in '{temporary}'; set $BATCH_CACHE to a folder that can be written")
    with pytest.warns(RuntimeWarning, match=re.escape(text)) as warned:
        for calls, model in (1, LOOP), (1, LOOP), (2, LOOP.replace("%one", "%uno")):
            batch.compile(model)
            assert compiler.calls() == calls
    assert len(warned) == 1
    assert temporary.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("home, text", [
    ("~", "cannot store compiled models (the user has no home), so they are stored in"),
    ("/dev/null", "cannot store compiled models in '/dev/null/.cache/batch' (Not a directory), so"),
], ids=["no_home", "home_that_cannot_be_made"])
def test_user_without_a_home(compiler, monkeypatch, temporary, home, text):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path.replace("~", home, 1))
    with pytest.warns(RuntimeWarning, match=re.escape(text)):
        batch.compile(LOOP)
    assert len(models(temporary)) == 1


@pytest.mark.parametrize("make", [
    lambda folder: folder.mkdir(mode=0o755),
    lambda folder: folder.symlink_to(folder.parent),
    lambda folder: folder.touch(mode=0o600),
], ids=["mode", "link", "file"])
def test_private_folder_of_another_user(compiler, monkeypatch, temporary, unwritable, make):
    make(temporary)
    set_folders(monkeypatch, unwritable)
    with raises(batch.CompileError,
                f"cannot store compiled models in '{unwritable}' (Not a directory), nor in a "
                "folder in $TMPDIR (other users can access the folder); set $BATCH_CACHE to a "
                "folder that can be written"):
        batch.compile(LOOP)


# --- files of other programs and of killed processes ------------------------------------

def test_other_files_remain(compiler, monkeypatch, tmp_path):
    set_folders(monkeypatch, tmp_path / "folder")
    batch.compile(LOOP)
    others = [tmp_path / "folder" / name for name in ("data.partial", "libm.so", "x.lock", "notes")]
    for other in others:
        other.touch()
        os.utime(other, (0, 0))
    batch.compile(LOOP.replace("%one", "%uno"))
    batch.clear_cache()
    assert sorted((tmp_path / "folder").iterdir()) == sorted(others)


def test_partial_files_of_killed_processes(compiler):
    """Only files of running compilations remain."""
    command = [sys.executable, "-P", "-c", textwrap.dedent(COMPILE_ENCODER), ENCODER, "56"]
    running = subprocess.Popen(command, start_new_session=True,
                               env={**compiler.environment_of_process(), "WRITING": "1"})
    while not compiler.files(".partial"):
        assert running.poll() is None
        time.sleep(0.05)
    batch.compile(LOOP)
    assert len(compiler.files(".partial")) == 1
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert len(compiler.files(".partial")) == 1
    batch.compile(LOOP.replace("%one", "%uno"))
    assert compiler.files(".partial") == []


def test_file_system_without_locks(compiler, monkeypatch):
    def flock(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    batch.compile(LOOP)
    key = compiler.files(".so")[0].stem
    for name, seconds in ("old", 0), ("new", time.time()):
        partial = compiler.cache / f"{key}.{name}.partial"
        partial.touch()
        os.utime(partial, (seconds, seconds))
    batch.compile(LOOP.replace("%one", "%uno"))
    assert [file.name for file in compiler.files(".partial")] == [f"{key}.new.partial"]
