#!/usr/bin/env python3
"""check_mutations.py [--long] [--calls=N] [--first=N] [--seed=N]: calls of the Python
package with wrong arguments end in a result or an ordinary exception.

Valid calls are changed at one to three places (mutations.py), and run plainly, by several
threads, in forked processes, beside runs that are interrupted or cancelled. A call may
neither end the process nor take for ever, nor raise SystemError, nor anything where nobody
can catch it; from time to time valid calls have to give the bits that they gave first. A
last part repeats some calls until the process must not grow any more.

The same seed and number make the same call: --first=NUMBER --calls=1 repeats one.
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

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import batchtest  # noqa: E402
import trials  # noqa: E402

trial = trials.Trials("calls", few=500, memory=8 << 30)

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

# A type whose nodes may be shared, with lists in its fields.
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
    """Models and functions, and valid calls of all that the package has."""

    def __init__(self):
        import batch
        import jax
        import jax.numpy as jnp
        import mutations
        import numpy
        from jax import lax
        self.batch, self.jax, self.jnp, self.numpy = batch, jax, jnp, numpy
        self.Call, self.change = mutations.Call, mutations.change
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
        self.wanted = None

    def valid(self):
        """[(how often, name, function, arguments, arguments by name)]; calls whose
        arguments are not changed are kept with the function."""
        batch, numpy = self.batch, self.numpy
        how = {"threads": 1, "lanes": 0, "max_steps": 300, "stack_depth": 64,
               "partial_results": False}
        pairs = {"a": self.v, "b": [self.v[:, 0], self.n]}
        calls = [
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
                 "sum": 0, "pair": (0, None)}})]
        if hasattr(batch, "map"):
            calls.append((6, "map", lambda f, xs, **k: list(batch.map(f, xs, **k))
                          if k.get("ordered") is False else batch.map(f, xs, **k),
                          [self.tree, pairs], {"lanes": 2}))
        if hasattr(batch, "bind"):
            calls.append((4, "batch.bind", lambda w: self.mapped(
                self.v, self.n, batch.bind(w)), [self.w], {}))
        if hasattr(self.mapped, "explain"):
            calls.append((4, "mapped.explain", lambda *a: str(self.mapped.explain(*a)),
                          [self.v, self.n, self.w], {}))
        if hasattr(self.f, "explain"):
            calls.append((4, "f.explain", lambda *a: str(self.f.explain(*a)),
                          [self.list, self.limit], {}))
        if hasattr(batch, "sample"):
            calls.append((1, "sample", lambda d, **k: batch.sample(d, **k), [
                lambda v: -0.5 * (v ** 2).sum()], {
                    "chains": 2, "warmup": 3, "draws": 3, "lanes": 2}))
        return calls

    def check(self):
        """Valid calls give the bits that they gave the first time."""
        outputs = [self.f(self.ragged, self.limit), self.g(self.bush, self.x),
                   self.mapped(self.v, self.n, self.w)]
        bits = [self.numpy.asarray(leaf).tobytes()
                for leaf in self.jax.tree.leaves(outputs)]
        if self.wanted is None:
            self.wanted = bits
        return bits == self.wanted

    def make(self, number):
        """(a changed call, in words, how it is run)."""
        rng = random.Random("%d %d" % (trial.seed, number))
        valid = self.valid()
        (_, name, function, arguments, named), = rng.choices(
            valid, [weight for weight, *_ in valid])
        texts = []
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            for _ in range(20):  # some changes fit some arrays only
                with contextlib.suppress(Exception):
                    (arguments, named), text = self.change(rng, [arguments, named])
                    texts.append(text)
                    break
            if not (isinstance(arguments, (list, tuple)) and isinstance(named, dict) and
                    all(isinstance(key, str) for key in named)) or \
                    name == "in_jit" and "in itself" in texts[-1]:  # jax.jit: SystemError
                return self.make(number + 10 ** 9)
        # JAX does not work in forked processes.
        of_jax = "map" in name or "jit" in name or "sample" in name or \
            any("JAX" in text or "key" in text for text in texts)
        mode = rng.choices(
            ["plain", "threads", "fork", "fork in a run", "interrupt", "beside"],
            [70, 6, 6 * (not of_jax), 3 * (not of_jax), 8, 4])[0]
        return (lambda: function(*arguments, **named)), "%s, %s: %s" % (
            name, mode, "; ".join(texts)), mode, rng


def is_ordinary(error):
    # The latter are mistakes of ours; a message that is no text lies in freed memory.
    return isinstance(error, Exception) and not isinstance(
        error, (SystemError, AssertionError, NameError, UnicodeDecodeError)) and \
        "PLEASE submit a bug report" not in str(error)


def touch(value, numpy, jax):
    """Reads results: memory that is not theirs would show."""
    from batch import _trees
    try:
        leaves = _trees.flatten(value, "results")[0]
    except ValueError:  # of what was given, such as a list in itself
        return
    for leaf in leaves:
        if isinstance(leaf, (numpy.ndarray, jax.Array)) and leaf.dtype.kind in "fiub":
            numpy.asarray(leaf).sum()


def run_forked(call):
    """Runs a call in a process of its own."""
    faulthandler.cancel_dump_traceback_later()  # would wait for a thread in the child
    child = os.fork()
    if child == 0:
        code = 9
        try:
            outcome = run_plainly(call)
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
            return code == 0, "a forked process: %d" % code
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False, "a forked process does not end"


def run_plainly(call, interrupts=False):
    """(whether it ended well, in words)."""
    try:
        programs.touch(call())
        return True, "a result"
    except KeyboardInterrupt:
        return interrupts, "KeyboardInterrupt"
    except BaseException as error:
        name = type(error).__name__
        return is_ordinary(error), name if is_ordinary(error) else traceback.format_exc()


def run_in_threads(call):
    outcomes = []
    threads = [threading.Thread(target=lambda: outcomes.append(run_plainly(call)))
               for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return min(outcomes) if len(outcomes) == 3 else (False, "a thread has no outcome")


def run_interrupted(call, rng):
    """An interrupt comes at some time of the call, or after it. A call of an endless run
    has to end by it."""
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
        outcome = run_plainly(call, True)
        while not came:
            time.sleep(0.001)
    except KeyboardInterrupt:
        pass
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    return outcome


def run_beside(call, forks):
    """While another thread has a run in progress."""
    cancellation = programs.batch.Cancellation()
    ends = []

    def run():
        try:
            programs.endless([[0]], [1e30], cancellation=cancellation)
        except programs.batch.Cancelled:
            ends.append(1)

    thread = threading.Thread(target=run)
    thread.start()
    outcome = run_forked(call) if forks else run_plainly(call)
    cancellation.request()
    thread.join()
    return outcome if ends else (False, "a run was not cancelled")


def make(number):
    """A call in words, and what runs it."""
    call, text, mode, rng = programs.make(number)
    run = {"plain": run_plainly, "threads": run_in_threads, "fork": run_forked,
           "fork in a run": lambda call: run_beside(call, True),
           "beside": lambda call: run_beside(call, False),
           "interrupt": lambda call: run_interrupted(call, rng)}[mode]

    def run_call():
        well, outcome = run(call)
        if programs.lost:
            well, outcome = False, "not raised: %s" % programs.lost.pop()
        return well, outcome

    return text, run_call


def after(number):
    if number % 25 == 0 and not programs.check():
        return "valid calls give other results after it"


def lost(report):
    """For what is raised where nobody can catch it. Interrupts are Python's."""
    kind, value, trace = report.exc_type, report.exc_value, report.exc_traceback
    if kind is not KeyboardInterrupt:
        programs.lost.append("".join(traceback.format_exception(kind, value, trace)))


def start():
    global programs
    warnings.filterwarnings("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    programs = Programs()
    programs.touch = lambda value: touch(value, programs.numpy, programs.jax)
    programs.lost = []
    try:
        programs.words.bind({"E": programs.E}, threads=0)
    except ValueError as error:  # the first one, whose message is the first of a thread
        assert "at least 1 thread" in str(error), error
    programs.check()
    sys.unraisablehook = threading.excepthook = lost


trial.run(start, make, after, (500, 14) if trial.count >= 5000 else (100, 14))
