"""Calls by XLA end at an interrupt, and leave nothing to report at the end of the process."""

import textwrap

import pytest
from support.processes import run_python

PRELUDE = """
import os, signal, threading, time
import batch, jax, jax.numpy as jnp
from jax import lax

def count(v, limit):
    return lax.while_loop(lambda s: s[1] < limit, lambda s: (s[0] * 0.5, s[1] + 1), (v, 0))[1]

mapped = batch.vmap(count, in_axes=(0, None), threads=1)
X, ENDLESS = jnp.ones(2), jnp.int32(2 ** 31 - 1)
A = jnp.ones((300, 300))
jitted = jax.jit(mapped)
inside = jax.jit(lambda v, limit, a: (lax.fori_loop(0, 5, lambda _, s: mapped(v, limit) + s,
                                                    jnp.zeros(2, int)), a @ a))
for _ in range(4):
    mapped(X, 3), jitted(X, 3), inside(X, 3, A)
calls = {
    "direct": lambda n: mapped(X, n),
    "jit": lambda n: jitted(X, n),
    "waits": lambda n: jitted(X, n).block_until_ready(),
    "thread": lambda n: jax.block_until_ready(inside(X, n, A)),
}

def interrupt_after(seconds):
    times = []
    def kill():
        time.sleep(seconds)
        times.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=kill).start()
    return times
"""


def run(program):
    return run_python(PRELUDE + textwrap.dedent(program)).stdout


@pytest.mark.parametrize("name, found", [
    ("direct", "[3 3]"), ("jit", "[3 3]"), ("waits", "[3 3]"), ("thread", "[15 15]")])
def test_interrupt_ends_calls_within_a_fifth_of_a_second(name, found):
    """JAX reports the cancelled run, and Python raises KeyboardInterrupt as soon as it can."""
    assert run(f"""
        call = calls[{name!r}]
        for _ in range(3):
            times = interrupt_after(0.2)
            try:
                try:
                    call(ENDLESS)
                except Exception:
                    while time.monotonic() < times[0] + 9:
                        pass
            except KeyboardInterrupt:
                late = time.monotonic() - times[0]
                print("interrupted" if late < 0.2 else f"after {{late:.2f}} s")
            print(jax.tree.leaves(call(jnp.int32(3)))[0])
    """) == f"interrupted\n{found}\n" * 3


@pytest.mark.parametrize("name", ["direct", "jit", "waits", "thread"])
def test_call_continues_after_a_handler_returns(name):
    assert run(f"""
        seen = []
        signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        times = interrupt_after(0.02)
        found = jax.tree.leaves(calls[{name!r}](jnp.int32(100_000_000)))[0].tolist()
        print(found[0] % 100_000_000, time.monotonic() > times[0])
        print(seen)
    """) == "0 True\n[1]\n"


def test_exception_of_a_handler():
    assert run("""
        def handle(*_):
            raise ZeroDivisionError("by the handler")

        signal.signal(signal.SIGINT, handle)
        interrupt_after(0.2)
        try:
            mapped(X, ENDLESS)
        except ZeroDivisionError as error:
            print(error)
        print(mapped(X, jnp.int32(3)))
    """) == "by the handler\n[3 3]\n"


def test_ignored_signal():
    assert run("""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        interrupt_after(0.02)
        print(jitted(X, jnp.int32(100_000_000)))
    """) == "[100000000 100000000]\n"


@pytest.mark.parametrize("use", ["jitted(X, 3)", "mapped(X, jnp.int32(3))"])
def test_end_of_a_process_whose_functions_are_still_alive(use):
    """Nothing is printed, even if a reference is never released."""
    assert run_python(f"""
        import ctypes
        import batch, jax, jax.numpy as jnp
        X = jnp.ones(2)
        mapped = batch.vmap(lambda v, n: v * n, in_axes=(0, None))
        jitted = jax.jit(mapped)
        for _ in range(4):
            {use}
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(mapped))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(jitted))
        print("ended")
    """).stdout == "ended\n"
