"""Functions work in forked processes and in several threads, and leak no memory."""

import gc
import multiprocessing
import os
import resource
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.oracle import assert_outputs
from support.package_models import (
    LIMIT,
    LOOP,
    SENTENCES,
    TREES,
    W,
    X,
    bind_encoder,
    bind_parser,
    loop_results,
    parser_results,
)

import batch


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """A function that runs the loop and the parser, and compares their results."""
    run, parse = batch.compile(LOOP).bind({"W": W}), bind_parser(threads=2)
    loop_wanted = loop_results(tmp_path_factory.mktemp("loop"))
    parser_wanted = parser_results(tmp_path_factory.mktemp("parser"))

    def check():
        assert_outputs(run(X, LIMIT), loop_wanted)
        assert_outputs(parse(SENTENCES), parser_wanted)

    # Start the worker threads of this process before it forks.
    check()
    return check


# JAX and Python warn that threads do not exist in the new process.
@pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning",
                            "ignore:.*fork:DeprecationWarning")
def test_forked_process(check):
    fork = multiprocessing.get_context("fork")
    for _ in range(3):
        process = fork.Process(target=check)
        process.start()
        process.join(60)
        code = process.exitcode
        process.kill()
        assert code == 0


def test_threads_call_one_function(check):
    def repeat():
        for _ in range(20):
            check()

    with ThreadPoolExecutor(5) as pool:
        for future in [pool.submit(repeat) for _ in range(5)]:
            future.result()


def memory():
    """Returns the resident memory of this process in bytes."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_memory_does_not_grow():
    loop, encode = batch.compile(LOOP), bind_encoder(threads=2)
    run = loop.bind({"W": W})

    def use(times):
        for _ in range(times):
            run(X, LIMIT)
            encode(TREES)
            with pytest.raises(ValueError):
                run(X[:, :, :4], LIMIT)
        for _ in range(times // 20):
            loop.bind({"W": W}, threads=2)(X, LIMIT)
            batch.compile(LOOP)

    use(100)
    before = memory()
    use(1000)
    assert memory() - before < 8 << 20
