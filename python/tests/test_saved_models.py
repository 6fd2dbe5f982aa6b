"""Models as files and as pickles: Model.save(), Function.save(), batch.load()."""

import json
import os
import pickle
import shutil
import subprocess
import zipfile

import batchtest
import jax.numpy as jnp
import numpy
import pytest
from support.comparison import raises
from support.processes import run_python
from support.travelling import LOOP, ROWS, W

import batch
from batch.transforms import compiled

# A program that loads a file without JAX and without a compiler.
RUN = """
    import sys
    sys.modules["jax"] = None
    import batch, numpy
    f = batch.load(sys.argv[1])
    if isinstance(f, batch.Model):
        f = f.bind({"W": numpy.load(sys.argv[3])})
    numpy.save(sys.argv[2], f(numpy.load(sys.argv[2]))["y"])
"""


@pytest.fixture(scope="module")
def model():
    return batch.compile(LOOP)


@pytest.fixture
def in_fresh_process(tmp_path):
    """A function of a file that returns the results for ROWS, without JAX and a compiler."""
    def run(path):
        numpy.save(tmp_path / "x.npy", ROWS)
        numpy.save(tmp_path / "w.npy", W)
        done = run_python(RUN, path, str(tmp_path / "x.npy"), str(tmp_path / "w.npy"), env={
            **os.environ, "BATCH_COMPILE": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"})
        assert done.returncode == 0, done.stdout
        return numpy.load(tmp_path / "x.npy")
    return run


def test_file_of_model(model, tmp_path, in_fresh_process):
    wanted = model.bind({"W": W})(ROWS)["y"]
    path = tmp_path / "model.batch"
    model.save(path)
    assert numpy.array_equal(in_fresh_process(path), wanted)
    loaded = batch.load(str(path))
    assert repr(loaded) == repr(model)
    assert loaded.bind({"W": W}).explain(ROWS).strategy == model.bind({"W": W}).explain(
        ROWS).strategy
    assert loaded.decisions()[0] == model.decisions()[0]
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["again", "model.batch", "w.npy", "x.npy"]


def test_file_of_function(model, tmp_path, in_fresh_process):
    f = model.bind({"W": W.tolist()}, threads=1, lanes=2, max_steps=numpy.int64(100))
    path = tmp_path / "function.batch"
    path.write_text("earlier contents")
    f.save(path)
    assert numpy.array_equal(in_fresh_process(path), f(ROWS)["y"])
    assert batch.load(path).given.options == f.given.options


def test_parameters_from_file(model, tmp_path, in_fresh_process):
    weights = tmp_path / "W.safetensors"
    batchtest.write_safetensors(weights, {"W": ("F32", [3, 3], W.ravel().tolist())})
    f = model.bind(weights)
    f.save(tmp_path / "f")
    data = pickle.dumps(f)
    weights.unlink()
    wanted = f(ROWS)["y"]
    assert numpy.array_equal(in_fresh_process(tmp_path / "f"), wanted)
    again = pickle.loads(data)
    assert numpy.array_equal(pickle.loads(pickle.dumps(again))(ROWS)["y"], wanted)


def test_refuses_changed_parameter_file(model, tmp_path):
    weights = tmp_path / "W.safetensors"
    batchtest.write_safetensors(weights, {"W": ("F32", [3, 3], W.ravel().tolist())})
    f = model.bind(str(weights))
    os.utime(weights, (1, 1))
    for use in pickle.dumps, lambda f: f.save(tmp_path / "f"):
        with raises(ValueError, f"{weights} has changed since the model was bound to its "
                                "parameters; bind the model again"):
            use(f)
    assert not (tmp_path / "f").exists()


def test_bfloat16(tmp_path):
    model = batch.compile(LOOP.replace(b"f32", b"bf16"))
    f = model.bind({"W": jnp.asarray(W, jnp.bfloat16)})
    x = jnp.asarray(ROWS, jnp.bfloat16)
    f.save(tmp_path / "f")
    for other in batch.load(tmp_path / "f"), pickle.loads(pickle.dumps(f)):
        assert jnp.array_equal(jnp.from_dlpack(other(x)["y"]), jnp.from_dlpack(f(x)["y"]))


def test_parameters_are_those_at_bind(model):
    """A change of the array after bind() affects neither the function nor its pickle."""
    w, read_only = W.copy(), W.copy()
    view = read_only[:]
    view.flags.writeable = False
    functions = [model.bind({"W": w}), model.bind({"W": view})]
    w[:] = read_only[:] = 7
    wanted = model.bind({"W": W})(ROWS)["y"]
    for f in functions:
        assert numpy.array_equal(pickle.loads(pickle.dumps(f))(ROWS)["y"], wanted)


def test_constant_arrays_are_not_copied(model):
    w = jnp.asarray(W)
    kept = model.bind({"W": w}).given.parameters.value()["W"]
    assert kept.ctypes.data == numpy.asarray(w).ctypes.data


def test_out_of_band_buffers(model):
    """Protocol 5 passes parameters without a copy."""
    buffers = []
    data = pickle.dumps(model.bind({"W": W}), protocol=5, buffer_callback=buffers.append)
    assert [buffer.raw().nbytes for buffer in buffers] == [W.nbytes]
    f = pickle.loads(data, buffers=[bytes(buffer.raw()) for buffer in buffers])
    assert numpy.array_equal(f(ROWS)["y"], model.bind({"W": W})(ROWS)["y"])


class OnlyDLPack:
    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def test_refuses_parameter_that_numpy_cannot_read(model):
    f = model.bind({"W": OnlyDLPack(W)})
    assert numpy.array_equal(f(ROWS)["y"], model.bind({"W": W})(ROWS)["y"])
    with raises(TypeError, "parameter 'W' cannot be pickled or saved because NumPy cannot read "
                           "it; bind a NumPy, JAX or PyTorch array"):
        pickle.dumps(f)


def test_arrivals_are_one_object(model):
    f = model.bind({"W": W})
    assert pickle.loads(pickle.dumps(model)) is pickle.loads(pickle.dumps(model))
    assert pickle.loads(pickle.dumps(f)) is pickle.loads(pickle.dumps(f))
    assert pickle.loads(pickle.dumps(f)) is not pickle.loads(pickle.dumps(model.bind({"W": W})))


def test_threads_are_those_of_the_process(model):
    assert pickle.loads(pickle.dumps(model.bind({"W": W}))).given.options["threads"] is None
    assert pickle.loads(pickle.dumps(model.bind({"W": W}, threads=3))).given.options == {
        "threads": 3, "lanes": 0, "max_steps": None, "stack_depth": 64, "partial_results": False}


# --- objects that this machine cannot run ------------------------------------------------

def for_other_cpu(path, folder):
    """Changes the object in a file so that it needs a feature that no CPU has."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    seal = 24  # length, checksum and magic (ObjectSeal.h)
    changed = contents["object.so"][:-seal].replace(b'"f16c"', b'"amx9"').replace(
        b'"neon"', b'"sve9"')
    (folder / "object.so").write_bytes(changed)
    tool = shutil.which("seal-object") or pytest.skip("seal-object is not built")
    subprocess.run([tool, folder / "object.so"], check=True)
    contents["object.so"] = (folder / "object.so").read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents.items():
            archive.writestr(name, data)


def test_compiles_for_this_cpu(model, tmp_path, monkeypatch):
    wanted = model.bind({"W": W})(ROWS)["y"]
    model.save(tmp_path / "model")
    for_other_cpu(tmp_path / "model", tmp_path)
    loaded = batch.load(tmp_path / "model")
    assert numpy.array_equal(loaded.bind({"W": W})(ROWS)["y"], wanted)
    assert loaded.source == model.source

    monkeypatch.setenv("BATCH_COMPILE", "/nonexistent")
    with pytest.raises(batch.Error) as raised:
        batch.load(tmp_path / "model")
    text = str(raised.value)
    assert "the model was compiled for the CPU" in text and ("amx9" in text or "sve9" in text)
    assert "(--cpu=x86-64-v3); the model cannot be compiled here either: $BATCH_COMPILE is " \
        "'/nonexistent', which is not an executable file" in text


def test_object_without_source(model, tmp_path):
    """Model(path) knows no text. Such a model crosses to machines that can run its object."""
    (tmp_path / "model.so").write_bytes(model.object)
    bare = batch.Model(tmp_path / "model.so")
    bare.save(tmp_path / "bare")
    assert zipfile.ZipFile(tmp_path / "bare").namelist() == ["batch.json", "object.so"]
    wanted = model.bind({"W": W})(ROWS)["y"]
    for loaded in batch.load(tmp_path / "bare"), pickle.loads(pickle.dumps(bare)):
        assert numpy.array_equal(loaded.bind({"W": W})(ROWS)["y"], wanted)
    for_other_cpu(tmp_path / "bare", tmp_path)
    with raises(batch.Error, "the model was compiled for the CPU"):
        batch.load(tmp_path / "bare")


def test_damaged_object(model, tmp_path):
    (tmp_path / "model.so").write_bytes(model.object)
    batch.Model(tmp_path / "model.so").save(tmp_path / "bare")
    with zipfile.ZipFile(tmp_path / "bare", "w") as archive:
        archive.writestr("batch.json", json.dumps({"format": 1, "options": None, "source": None}))
        archive.writestr("object.so", model.object[:-1])
    with raises(batch.Error, "the object of the model is damaged"):
        batch.load(tmp_path / "bare")


@pytest.mark.parametrize("contents", [b"", b"text", b"PK\x05\x06" + bytes(18)],
                         ids=["empty", "text", "empty-archive"])
def test_refuses_other_file(contents, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(contents)
    with raises(ValueError, f"'{path}' is not a saved model ("):
        batch.load(path)
    with raises(ValueError, "); expected a file of Model.save() or Function.save()"):
        batch.load(path)


def test_refuses_newer_file(model, tmp_path):
    with zipfile.ZipFile(tmp_path / "f", "w") as archive:
        archive.writestr("batch.json", '{"format": 2}')
    with raises(ValueError, "has format 2, but this version of Batch reads format 1; save the "
                            "model again with this version"):
        batch.load(tmp_path / "f")


def test_missing_file(tmp_path):
    with raises(FileNotFoundError, "missing"):
        batch.load(tmp_path / "missing")


@pytest.mark.parametrize("device", ["emulator", "cuda:1"])
def test_device_of_a_pickled_model(device):
    model = batch.compile(LOOP, device=device)
    assert pickle.loads(pickle.dumps(model)).device == device


def test_device_of_a_pickled_function(monkeypatch):
    def compile(*_, **__):
        raise AssertionError("the function is compiled again")

    mapped = batch.vmap(jnp.tanh, device="emulator")
    values = numpy.asarray([0.5, 2], numpy.float32)
    results = mapped(values)
    pickled = pickle.dumps(mapped)
    monkeypatch.setattr(compiled, "compile", compile)
    arrived = pickle.loads(pickled)
    assert arrived.options["device"] == "emulator"
    assert numpy.array_equal(arrived(values), results)
