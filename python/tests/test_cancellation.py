"""batch.Cancellation or Ctrl-C ends a run, and functions remain usable."""

import os
import textwrap
import threading
import time

import batchtest
import pytest
from support.comparison import raises
from support.oracle import assert_outputs
from support.package_models import ENDLESS, LIMIT, LOOP, W, X, loop_results
from support.processes import run_python

import batch


@pytest.fixture(scope="module")
def run():
    return batch.compile(LOOP).bind({"W": W})


def test_cancellation_by_another_thread(run, tmp_path):
    """A request remains in effect until it is reset."""
    cancellation = batch.Cancellation()
    threading.Timer(0.1, cancellation.request).start()
    with raises(batch.Cancelled, "the run was cancelled"):
        run(X, ENDLESS, cancellation=cancellation)
    with raises(batch.Cancelled, "the run was cancelled"):
        run(X, LIMIT, cancellation=cancellation)
    cancellation.reset()
    assert_outputs(run(X, LIMIT, cancellation=cancellation), loop_results(tmp_path))


def test_run_releases_interpreter_lock():
    """A run that held the lock would reach max_steps before the other thread could cancel it."""
    run = batch.compile(LOOP).bind({"W": W}, max_steps=10 ** 8)
    cancellation = batch.Cancellation()
    ticks = []

    def tick():
        for _ in range(20):
            time.sleep(0.005)
            ticks.append(1)
        cancellation.request()

    thread = threading.Thread(target=tick)
    thread.start()
    with raises(batch.Cancelled, "the run was cancelled"):
        run(X, ENDLESS, cancellation=cancellation)
    thread.join()
    assert len(ticks) == 20


# --- Ctrl-C -----------------------------------------------------------------------------

PRELUDE = """
import os, signal, sys, threading, time
sys.path[:0] = sys.argv[1:]
import batch, numpy
from support.package_models import ENDLESS, LIMIT, LOOP, W, X

run = batch.compile(LOOP).bind({"W": W}, threads=2)
wanted = run(X, LIMIT)

def interrupt_after(seconds):
    times = []
    def kill():
        time.sleep(seconds)
        times.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=kill).start()
    return times
"""


def run_with_loop(program):
    """Runs a program that calls the loop; returns its output."""
    folders = [os.path.dirname(os.path.abspath(file)) for file in (__file__, batchtest.__file__)]
    return run_python(PRELUDE + textwrap.dedent(program), *folders).stdout


def test_interrupt_ends_run_within_half_second():
    assert run_with_loop("""
        for _ in range(3):
            times = interrupt_after(0.1)
            try:
                run(X, ENDLESS)
            except KeyboardInterrupt:
                late = time.monotonic() - times[0]
                print("interrupted" if late < 0.5 else f"after {late:.2f} s")
            found = run(X, LIMIT)
            print(all(numpy.array_equal(found[name], wanted[name]) for name in wanted))
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    """) == "interrupted\nTrue\n" * 3 + "True\n"


def test_run_continues_after_handler_returns():
    assert run_with_loop("""
        seen = []
        signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        many = numpy.tile(X, (400, 1, 1)), numpy.full(400 * len(X), 2000, numpy.float32)
        first = run(*many)
        interrupt_after(0.02)
        second = run(*many)
        time.sleep(0.1)
        print(len(seen), numpy.array_equal(first["y"], second["y"]))
    """) == "1 True\n"


def test_ignored_signal_does_not_end_run():
    assert run_with_loop("""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        interrupt_after(0.1)
        cancellation = batch.Cancellation()
        threading.Timer(0.4, cancellation.request).start()
        start = time.monotonic()
        try:
            run(X, ENDLESS, cancellation=cancellation)
        except batch.Cancelled:
            print(time.monotonic() - start > 0.3)
    """) == "True\n"
