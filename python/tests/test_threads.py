"""The default number of threads: cores, quotas of control groups, and environment variables."""

import os

import pytest
from support.comparison import raises
from support.package_models import LOOP, W
from support.processes import run_python

import batch
from batch.runtime.threads import _quotas

CORES = len(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def without_variables(monkeypatch):
    for name in "BATCH_NUM_THREADS", "OMP_NUM_THREADS":
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def model():
    return batch.compile(LOOP)


def threads(model, **options):
    return model.bind({"W": W}, **options)._options["threads"]


@pytest.mark.parametrize("text, expected", [
    ("1", 1),
    (" 1 ", 1),
    ("1,8", 1),  # nested levels
    (str(CORES + 5), CORES),
    ("0", CORES),
    ("-1", CORES),
    ("many", CORES),
    ("", CORES),
])
def test_omp_num_threads(model, monkeypatch, text, expected):
    monkeypatch.setattr("batch.runtime.threads._quotas", lambda *paths: [])
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert threads(model) == expected


@pytest.mark.parametrize("quotas, expected", [
    ([], CORES), ([0.5], 1), ([1.9], 1), ([CORES + 3.5, 1.0], 1), ([CORES + 3.5], CORES),
])
def test_quota(model, monkeypatch, quotas, expected):
    monkeypatch.setattr("batch.runtime.threads._quotas", lambda *paths: quotas)
    assert threads(model) == expected


def test_variable_overrides_all(model, monkeypatch):
    monkeypatch.setattr("batch.runtime.threads._quotas", lambda *paths: [1.0])
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("BATCH_NUM_THREADS", str(CORES + 1))
    assert threads(model) == CORES + 1
    assert threads(model, threads=2) == 2


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_invalid_variable(model, monkeypatch, text):
    monkeypatch.setenv("BATCH_NUM_THREADS", text)
    with raises(ValueError, f"invalid value {text!r} for $BATCH_NUM_THREADS; expected a number of "
                            "threads"):
        model.bind({"W": W})


def test_affinity():
    done = run_python("""
        import os
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
        from batch.runtime.threads import default_threads
        print(default_threads())
    """)
    assert done.stdout == "1\n"


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


@pytest.mark.parametrize("groups, files, expected", [
    pytest.param("0::/a/b", {"a/b/cpu.max": "150000 100000", "a/cpu.max": "max 100000"}, [1.5],
                 id="version_2"),
    pytest.param("0::/a/b", {"a/b/cpu.max": "400000 100000", "a/cpu.max": "200000 100000"},
                 [2, 4], id="ancestor"),
    pytest.param("0::/", {"cpu.max": "300000 100000"}, [3], id="container"),
    pytest.param("0::/host/path", {"cpu.max": "300000 100000"}, [3],
                 id="container_with_path_of_host"),
    pytest.param("0::/a", {"a/cpu.max": "max 100000"}, [], id="unlimited"),
    pytest.param("0::/a", {}, [], id="no_controller"),
    pytest.param("5:memory:/m\n3:cpuacct,cpu:/a\n0::/",
                 {"cpu/a/cpu.cfs_quota_us": "250000", "cpu/a/cpu.cfs_period_us": "100000"}, [2.5],
                 id="version_1"),
    pytest.param("3:cpu:/a",
                 {"cpu/a/cpu.cfs_quota_us": "-1", "cpu/a/cpu.cfs_period_us": "100000"}, [],
                 id="version_1_unlimited"),
    pytest.param("3:cpuset:/a",
                 {"cpu/a/cpu.cfs_quota_us": "250000", "cpu/a/cpu.cfs_period_us": "100000"}, [],
                 id="other_controller"),
])
def test_control_groups(tmp_path, groups, files, expected):
    write(tmp_path, {"groups": groups})
    write(tmp_path / "root", files)
    assert list(_quotas(str(tmp_path / "groups"), str(tmp_path / "root"))) == expected


def test_no_control_groups(tmp_path):
    assert list(_quotas(str(tmp_path / "none"), str(tmp_path))) == []
