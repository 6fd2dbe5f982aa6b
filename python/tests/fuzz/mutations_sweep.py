"""Calls functions of the package with wrong arguments.

The sweep changes valid calls at one to three places (mutations.py). It runs them plainly, in
several threads, in forked processes, and next to runs that are interrupted or cancelled. A call
must return or raise an ordinary exception. It may not end the process, run forever, or raise
SystemError or an exception that callers cannot catch. Afterwards, valid calls must return the same
bits.

The same seed and number produce the same call: --first=NUMBER --calls=1 repeats it. --calls=10000
is the whole sweep.
"""

import contextlib
import faulthandler
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../test/Integration"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import jax
import jax.numpy as jnp
import numpy
from jax import lax

import batch
from batch.tracing.trees import flatten_tree
from fuzz import mutations, trials

WORDS = """
!vec = tensor<4xf32>
!words = !rec.list<index>
func.func @main(%words: !words {batch.name = "words"}, %limit: f32 {batch.name = "limit"},
                %E: tensor<?x4xf32> {batch.shared = "E"})
    -> (!vec {batch.name = "sum"}, i32 {batch.name = "rounds"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : !vec
  %step = rec.fold %word in %words init(%sum = %none) : !words -> !vec {
    %row = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : tensor<?x4xf32> to !vec
    %next = arith.addf %sum, %row : !vec
    rec.yield %next : !vec
  }
  %sum, %rounds = scf.while (%now = %step, %count = %one) : (!vec, i32) -> (!vec, i32) {
    %first = tensor.extract %now[%c0] : !vec
    %less = arith.cmpf olt, %first, %limit : f32
    scf.condition(%less) %now, %count : !vec, i32
  } do {
  ^bb0(%now: !vec, %count: i32):
    %next = arith.addf %now, %step : !vec
    %more = arith.addi %count, %one : i32
    scf.yield %next, %more : !vec, i32
  }
  return %sum, %rounds : !vec, i32
}
"""

# Model with a data type that has shared nodes and lists.
BUSHES = """
!bush = !rec.adt<@Bush>
module {
  rec.adt @Bush arity 3 {
    rec.variant @leaf(value: tensor<2xf32>)
    rec.variant @fork(kids: !rec.list<!bush>, word: index)
  }
  func.func @add(%b: !bush, %E: tensor<?x2xf32>) -> tensor<2xf32> {
    %sum = rec.match %b : !bush -> tensor<2xf32> {
    case @leaf(%value: tensor<2xf32>) {
      rec.yield %value : tensor<2xf32>
    }
    case @fork(%kids: !rec.list<!bush>, %word: index) {
      %row = tensor.extract_slice %E[%word, 0] [1, 2] [1, 1]
          : tensor<?x2xf32> to tensor<2xf32>
      %s = rec.fold %kid in %kids init(%sum = %row)
          : !rec.list<!bush> -> tensor<2xf32> {
        %k = func.call @add(%kid, %E) : (!bush, tensor<?x2xf32>) -> tensor<2xf32>
        %next = arith.addf %sum, %k : tensor<2xf32>
        rec.yield %next : tensor<2xf32>
      }
      rec.yield %s : tensor<2xf32>
    } }
    return %sum : tensor<2xf32>
  }
  func.func @main(%b: !bush {batch.name = "bush"}, %x: tensor<3xf64> {batch.name = "x"},
                  %E: tensor<?x2xf32> {batch.shared = "E"})
      -> (tensor<2xf32> {batch.name = "sum"}, tensor<3xf64> {batch.name = "same"})
      attributes {batch.entry} {
    %sum = call @add(%b, %E) : (!bush, tensor<?x2xf32>) -> tensor<2xf32>
    return %sum, %x : tensor<2xf32>, tensor<3xf64>
  }
}
"""


class Programs:
    """Models and functions, and valid calls of all functions of the package."""

    def __init__(self):
        generator = numpy.random.default_rng(2)
        self.words, self.bushes = batch.compile(WORDS), batch.compile(BUSHES)
        self.E = generator.normal(size=(5, 4)).astype(numpy.float32)
        self.E[:, 0] = numpy.abs(self.E[:, 0]) + 1
        self.f = self.words.bind({"E": self.E}, threads=2, max_steps=300)
        self.endless = self.words.bind({"E": self.E}, threads=1)
        self.g = self.bushes.bind({"E": self.E[:, :2].copy()}, threads=2)
        leaf = "leaf", numpy.arange(2, dtype=numpy.float32)
        fork = "fork", [leaf, leaf, ("fork", [], 2)], 1
        self.list = [[0, 1], [], [3, 4, 0], [2]]
        self.limit = [1.0, -2.0, 9.5, 0.0]
        self.ragged = batch.Ragged(numpy.array([0, 1, 3, 4, 0, 2]), [0, 2, 2, 5, 6])
        self.bush = [fork, leaf, ("fork", [fork, fork], 0)]
        self.x = generator.normal(size=(3, 3))

        def steps(v, n, w):
            return lax.while_loop(lambda s: (s[1] < n) & (s[1] < 40), lambda s: (
                jnp.tanh(s[0] @ w), s[1] + 1), (v, jnp.int32(0)))

        def tree(t):
            return {"sum": t["a"].sum() + t["b"][0], "pair": (t["b"][1] * 2, None)}

        self.v = generator.normal(size=(4, 3)).astype(numpy.float32)
        self.n = numpy.array([1, 0, 50, 7], numpy.int32)
        self.w = generator.normal(size=(3, 3)).astype(numpy.float32)
        self.steps, self.tree = steps, tree
        self.mapped = batch.vmap(steps, in_axes=(0, 0, None), threads=2)
        self.mapped_tree = batch.vmap(tree)
        self.in_jit = jax.jit(batch.vmap(lambda v: lax.cond(
            v.sum() > 0, jnp.sin, jnp.cos, v)))
        self.lost = []  # exceptions that callers cannot catch
        self.wanted = None

    def valid(self):
        """Returns [(weight, name, function, arguments, named arguments)]."""
        how = {"threads": 1, "lanes": 0, "max_steps": 300, "stack_depth": 64,
               "partial_results": False}
        pairs = {"a": self.v, "b": [self.v[:, 0], self.n]}
        return [
            (30, "f", self.f, [], {"words": self.list, "limit": self.limit}),
            (15, "f", self.f, [self.ragged, numpy.array(self.limit, numpy.float32)], {}),
            (5, "f", self.f, [self.list, self.limit],
             {"cancellation": batch.Cancellation()}),
            (30, "g", self.g, [self.bush, self.x], {}),
            (8, "f.run", self.f.run, [4, *self.f._values(
                {"words": self.ragged, "limit": numpy.float32(self.limit)}, 4)], {}),
            (12, "g.run", self.g.run, [3, *self.g._values(
                {"bush": self.bush, "x": self.x}, 3)], {}),
            (10, "bind", lambda p, **k: self.words.bind(p, **k)(self.list, self.limit),
             [{"E": self.E}], how),
            (5, "bind", self.bushes.bind, [{"E": self.E[:, :2]}], how),
            (10, "Ragged", lambda *a: (lambda r: (
                len(r), [r[i] for i in range(len(r))], repr(r)))(batch.Ragged(*a)),
             [numpy.arange(6), [0, 2, 2, 6]], {}),
            (3, "compile", batch.compile, [WORDS], {
                "sizes": None, "strategy": "auto", "instances": None, "options": [],
                "progress": False}),
            (10, "mapped", self.mapped, [self.v, self.n, self.w], {}),
            (5, "mapped_tree", self.mapped_tree, [pairs], {}),
            (4, "in_jit", self.in_jit, [self.v], {}),
            (6, "vmap", lambda f, args, **k: batch.vmap(f, **k)(*args),
             [self.steps, [self.v, self.n, self.w]],
             {"in_axes": (0, 0, None), "out_axes": 0, "axis_size": None, "lanes": 0,
              "threads": 1, "strategy": "auto"}),
            (3, "vmap", lambda f, args, **k: batch.vmap(f, **k)(*args),
             [self.tree, [pairs]], {"in_axes": ({"a": 0, "b": [0, 0]},), "out_axes": {
                 "sum": 0, "pair": (0, None)}}),
            (6, "map", lambda f, xs, **k: list(batch.map(f, xs, **k))
             if k.get("ordered") is False else batch.map(f, xs, **k),
             [self.tree, pairs], {"lanes": 2}),
            (4, "batch.bind", lambda w: self.mapped(self.v, self.n, batch.bind(w)),
             [self.w], {}),
            (4, "mapped.explain", lambda *a: str(self.mapped.explain(*a)),
             [self.v, self.n, self.w], {}),
            (4, "f.explain", lambda *a: str(self.f.explain(*a)), [self.list, self.limit], {}),
            (1, "sample", lambda d, **k: batch.sample(d, **k), [
                lambda v: -0.5 * (v ** 2).sum()],
             {"chains": 2, "warmup": 3, "draws": 3, "lanes": 2})]

    def check(self):
        """Returns true if valid calls return the same bits as the first time."""
        outputs = [self.f(self.ragged, self.limit), self.g(self.bush, self.x),
                   self.mapped(self.v, self.n, self.w)]
        bits = [numpy.asarray(leaf).tobytes() for leaf in jax.tree.leaves(outputs)]
        if self.wanted is None:
            self.wanted = bits
        return bits == self.wanted

    def make(self, seed, number):
        """Returns a changed call, its description, the mode in which it runs, and a generator."""
        rng = random.Random(f"{seed} {number}")
        valid = self.valid()
        (_, name, function, arguments, named), = rng.choices(
            valid, [weight for weight, *_ in valid])
        texts = []
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            for _ in range(20):  # not every change fits every array
                with contextlib.suppress(Exception):
                    (arguments, named), text = mutations.change(rng, [arguments, named])
                    texts.append(text)
                    break
            if not (isinstance(arguments, (list, tuple)) and isinstance(named, dict) and
                    all(isinstance(key, str) for key in named)) or \
                    name == "in_jit" and "in itself" in texts[-1]:  # jax.jit: SystemError
                return self.make(seed, number + 10 ** 9)
        # JAX does not work in forked processes.
        of_jax = "map" in name or "jit" in name or "sample" in name or \
            any("JAX" in text or "key" in text for text in texts)
        mode = rng.choices(
            ["plain", "threads", "fork", "fork in a run", "interrupt", "concurrent"],
            [70, 6, 6 * (not of_jax), 3 * (not of_jax), 8, 4])[0]
        return (lambda: function(*arguments, **named)), \
            f"{name}, {mode}: {'; '.join(texts)}", mode, rng


def _is_ordinary(error):
    # These types indicate defects of the package. Undecodable text comes from freed memory.
    return isinstance(error, Exception) and not isinstance(
        error, (SystemError, AssertionError, NameError, UnicodeDecodeError)) and \
        "PLEASE submit a bug report" not in str(error)


def _touch(value):
    """Reads results, which may be in invalid memory."""
    try:
        leaves = flatten_tree(value, "results")[0]
    except ValueError:  # the result is an argument, such as a list that contains itself
        return
    for leaf in leaves:
        if isinstance(leaf, (numpy.ndarray, jax.Array)) and leaf.dtype.kind in "fiub":
            numpy.asarray(leaf).sum()


def _run_forked(call):
    """Runs a call in a forked process."""
    faulthandler.cancel_dump_traceback_later()  # the child would wait for a missing thread
    child = os.fork()
    if child == 0:
        code = 9
        try:
            outcome = _run_plainly(call)
            code = 0 if outcome[0] else 5
            if code:
                sys.stderr.write(outcome[1])
                sys.stderr.flush()
        finally:
            os._exit(code)
    end = time.monotonic() + trials.SECONDS / 2
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return code == 0, f"a forked process: {code}"
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False, "a forked process does not end"


def _run_plainly(call, interrupts=False):
    """Returns whether a call ended well, and its outcome."""
    try:
        _touch(call())
        return True, "a result"
    except KeyboardInterrupt:
        return interrupts, "KeyboardInterrupt"
    except BaseException as error:
        if _is_ordinary(error):
            return True, type(error).__name__
        return False, traceback.format_exc()


def _run_in_threads(call):
    outcomes = []
    threads = [threading.Thread(target=lambda: outcomes.append(_run_plainly(call)))
               for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return min(outcomes) if len(outcomes) == 3 else (False, "a thread has no outcome")


def _run_interrupted(call, rng):
    """Runs the given call or an endless call, and interrupts it.

    The interrupt arrives during or after the call. It must end an endless call.
    """
    ends_by_it = rng.random() < 0.3
    seconds = rng.random() * 0.03
    came = []

    def handler(number, frame):
        came.append(1)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)

    def interrupt():
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    outcome = True, "KeyboardInterrupt"
    try:
        thread.start()
        if ends_by_it:
            programs.endless([[0]], [1e30])
            return False, "an endless run has ended"
        outcome = _run_plainly(call, True)
        while not came:
            time.sleep(0.001)
    except KeyboardInterrupt:
        pass
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    return outcome


def _run_concurrently(call, forks):
    """Runs a call while another thread runs an endless call."""
    cancellation = batch.Cancellation()
    ends = []

    def run():
        try:
            programs.endless([[0]], [1e30], cancellation=cancellation)
        except batch.Cancelled:
            ends.append(1)

    thread = threading.Thread(target=run)
    thread.start()
    outcome = _run_forked(call) if forks else _run_plainly(call)
    cancellation.request()
    thread.join()
    return outcome if ends else (False, "a run was not cancelled")


def _make(seed, number):
    """Returns the description of a call, and a function that runs it."""
    call, text, mode, rng = programs.make(seed, number)
    run = {"plain": _run_plainly, "threads": _run_in_threads, "fork": _run_forked,
           "fork in a run": lambda call: _run_concurrently(call, True),
           "concurrent": lambda call: _run_concurrently(call, False),
           "interrupt": lambda call: _run_interrupted(call, rng)}[mode]

    def run_call():
        well, outcome = run(call)
        if programs.lost:
            well, outcome = False, f"not raised: {programs.lost.pop()}"
        return well, outcome

    return text, run_call


def _after(number):
    if number % 25 == 0 and not programs.check():
        return "valid calls return other results after it"
    return None


def _keep(report):
    """Stores an exception that callers cannot catch. Interrupts are ignored."""
    kind, value, trace = report.exc_type, report.exc_value, report.exc_traceback
    if kind is not KeyboardInterrupt:
        programs.lost.append("".join(traceback.format_exception(kind, value, trace)))


def _start():
    global programs
    warnings.filterwarnings("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    programs = Programs()
    try:
        programs.words.bind({"E": programs.E}, threads=0)
    except ValueError as error:  # first error of this thread, before memory is limited
        assert "at least 1 thread" in str(error), error
    programs.check()
    sys.unraisablehook = threading.excepthook = _keep


CALLS = trials.Trials(__file__, "calls", few=500, memory=8 << 30, start=_start, make=_make,
                      after=_after, repeated=100, repeated_of_many=500, passes=14)

if __name__ == "__main__":
    CALLS.main()
