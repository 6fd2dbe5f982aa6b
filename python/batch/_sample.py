"""batch.sample: draws from NumPyro models and log densities of JAX, by the No-U-Turn
Sampler; each chain has control of its own."""

import sys
import time

import jax
import jax.numpy as jnp
import numpy
from jax.extend import core
from jax.flatten_util import ravel_pytree

from batch import _compiler, _expand, _lowering, _options
from batch._traces import Kept, Trace

_ROWS = 100  # the most transitions of a call
_SLICE = 0.25  # seconds that a call should take
_MOST = 2 ** 31 - 1  # chains, transitions, lanes: numbers of 32 bits
# A density that reads more bytes reads them for so many chains at once.
_LARGE, _LANES = 1 << 20, 16
_CHUNK = 1 << 22  # numbers of positions that are turned into draws at once
_KEPT = 8  # samplers that are kept between calls
_DEEPEST = 16  # rows of the stacks in lib/Library/Multinomial.mlir
_STATS = {"acceptance_rate": float, "n_steps": int, "tree_depth": int, "diverging": bool,
          "energy": float, "lp": float, "step_size": float}
# What a transition of warm-up fits.
_STEP, _SEES, _ENDS, _AVERAGES = 1, 2, 4, 8


def schedule(warmup):
    """What each transition of warm-up fits, by Stan's windows: the first 75 and the last
    50 fit the step size only; between them, windows of 25, 50, 100, … fit the mass
    matrix, the last of which takes what is left."""
    result = numpy.full(warmup, _STEP, numpy.int32)
    result[-1] |= _AVERAGES
    if warmup < 20:
        return result
    first, window, last = 75, 25, 50
    if first + window + last > warmup:
        first, last = int(0.15 * warmup), int(0.1 * warmup)
        window = warmup - first - last
    end, stop = first + window, warmup - last
    result[first:stop] |= _SEES
    while end < stop:
        result[end - 1] |= _ENDS
        window *= 2
        end += window
        if end + 2 * window > stop:  # the window after it would not fit
            end = stop
    result[stop - 1] |= _ENDS
    return result


# --- the program --------------------------------------------------------------

_PROGRAM = """\
module {{
{functions}
  func.func private @log_density({q}: !vec{data}) -> (f64, !vec) {{
{body}
    %logp = tensor.extract {value}[] : tensor<f64>
    return %logp, {gradient} : f64, !vec
  }}
  func.func private @{mass}.velocity(!factor, !vec) -> !vec
  func.func private @{mass}.force(!factor, !vec) -> !vec
  func.func private @{mass}.observe(!factor, !vec, !vec) -> !factor
  func.func private @{mass}.fit(!factor, f64) -> !factor
  func.func private @mass.velocity(%factor: !factor, %z: !vec) -> !vec {{
    %0 = call @{mass}.velocity(%factor, %z) : (!factor, !vec) -> !vec
    return %0 : !vec
  }}
  func.func private @mass.force(%factor: !factor, %gradient: !vec) -> !vec {{
    %0 = call @{mass}.force(%factor, %gradient) : (!factor, !vec) -> !vec
    return %0 : !vec
  }}
  func.func private @mass.observe(%squares: !factor, %a: !vec, %b: !vec) -> !factor {{
    %0 = call @{mass}.observe(%squares, %a, %b) : (!factor, !vec, !vec) -> !factor
    return %0 : !factor
  }}
  func.func private @mass.fit(%squares: !factor, %count: f64) -> !factor {{
    %0 = call @{mass}.fit(%squares, %count) : (!factor, f64) -> !factor
    return %0 : !factor
  }}
  func.func private @multinomial.advance(
      !vec, !factor, !vec, !factor, tensor<6xf64>, index, index, i32, i32, !schedule,
      tensor<f64>, tensor<i32>, tensor<i1>{types})
      -> (!vec, !factor, !vec, !factor, tensor<6xf64>, !positions, !stats)
  func.func @main(
      %q: !vec {{batch.name = "q"}}, %factor: !factor {{batch.name = "factor"}},
      %mean: !vec {{batch.name = "mean"}}, %squares: !factor {{batch.name = "squares"}},
      %fits: tensor<6xf64> {{batch.name = "fits"}},
      %first: index {{batch.name = "first"}}, %count: index {{batch.name = "count"}},
      %seed: i32 {{batch.name = "seed"}}, %chain: i32 {{batch.name = "chain"}},
      %schedule: !schedule {{batch.name = "schedule"}},
      %target: tensor<f64> {{batch.shared = "target"}},
      %depth: tensor<i32> {{batch.shared = "depth"}},
      %slice: tensor<i1> {{batch.shared = "slice"}}{parameters})
      -> (!vec {{batch.name = "q"}}, !factor {{batch.name = "factor"}},
          !vec {{batch.name = "mean"}}, !factor {{batch.name = "squares"}},
          tensor<6xf64> {{batch.name = "fits"}},
          !positions {{batch.name = "positions"}}, !stats {{batch.name = "stats"}})
      attributes {{batch.entry}} {{
    %r:7 = call @multinomial.advance(%q, %factor, %mean, %squares, %fits, %first, %count,
        %seed, %chain, %schedule, %target, %depth, %slice{names})
        : (!vec, !factor, !vec, !factor, tensor<6xf64>, index, index, i32, i32,
           !schedule, tensor<f64>, tensor<i32>, tensor<i1>{types})
        -> (!vec, !factor, !vec, !factor, tensor<6xf64>, !positions, !stats)
    return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6
        : !vec, !factor, !vec, !factor, tensor<6xf64>, !positions, !stats
  }}
}}
"""


def _folded(closed):
    """A closed jaxpr in which what its constants alone say is computed, once for all
    draws. What follows from no array, such as zeros, stays code."""
    jaxpr, constants = _expand.open_jaxpr(closed)
    known = dict(zip(jaxpr.constvars, constants))
    of_arrays = set(known)
    left = []
    for equation in jaxpr.eqns:
        inputs = set(_expand.variables(equation.invars))
        if equation.primitive.name in _expand.CONTROL or not known.keys() >= inputs:
            left.append(equation)
            continue
        known.update(zip(equation.outvars, _expand.evaluate(
            [equation], known, equation.outvars)))
        if of_arrays.intersection(inputs):
            of_arrays.update(equation.outvars)
        else:
            left.append(equation)
    used = set(_expand.variables(jaxpr.outvars))
    for equation in left:
        used.update(_expand.variables(equation.invars))
    kept = [v for v in known if v in used and v in of_arrays]
    return core.ClosedJaxpr(jaxpr.replace(constvars=kept, eqns=left),
                            [known[v] for v in kept])


def _program(closed, mass):
    """The module of a sampler for a function that gives log density and gradient, and the
    constants of the function, which are parameters."""
    lowering = _lowering.Lowering()
    jaxpr, constants = _expand.open_jaxpr(_folded(_expand.expand(closed)))
    environment = dict(zip(jaxpr.constvars, map(lowering.share, constants)))
    environment[jaxpr.invars[0]] = "%q"
    value, gradient = lowering.run(jaxpr, environment)
    count = jaxpr.invars[0].aval.shape[0]
    shared = [(name, _lowering.tensor_type(jax.typeof(constant)))
              for name, constant in lowering.shared]
    text = _PROGRAM.format(
        functions="\n".join(lowering.functions), body="\n".join(lowering.lines),
        q="%q", value=value, gradient=gradient, mass=mass,
        data="".join(", %s: %s" % pair for pair in shared),
        types="".join(", " + kind for _, kind in shared),
        names="".join(", " + name for name, _ in shared),
        parameters="".join(', %s: %s {batch.shared = "%s"}' % (name, kind, name[1:])
                           for name, kind in shared))
    aliases = {"vec": (count, "f64"), "stats": (_ROWS, len(_STATS), "f64"),
               "factor": (count if mass == "dense" else 1, count, "f64"),
               "positions": (_ROWS, count, "f64"), "schedule": (_ROWS, "i32")}
    return "".join("!%s = tensor<%s>\n" % (name, "x".join(map(str, shape)))
                   for name, shape in aliases.items()) + text, \
        {name[1:]: numpy.asarray(constant) for name, constant in lowering.shared}


# --- the target ---------------------------------------------------------------

# Programs of JAX, by what they compute of any data; samplers, by their data, too.
_programs, _samplers = Kept(3 * _KEPT), Kept(_KEPT)


def _run(trace, *arguments, mapped=False):
    """What a trace computes, by JAX."""
    program = _programs.get((trace.key, mapped), lambda: trace.jit(mapped))
    return program(list(map(jnp.asarray, trace.constants)), *arguments)


def _trace(function, *shapes):
    closed, results = jax.make_jaxpr(function, return_shape=True)(*shapes)
    return Trace(closed), jax.tree.structure(results)


class Density:
    """A log density of a tree of arrays, as a function of one vector. Has `starts`,
    vectors of all chains; traces of what a vector gives: `density`, log density and
    gradient, and `values`, the leaves of the target's `tree`."""

    def __init__(self, function, init, chains):
        leaves, tree = jax.tree.flatten(init)
        if not leaves:
            raise ValueError("init has no arrays")
        for leaf in leaves:
            shape = numpy.shape(leaf)
            if not shape or shape[0] != chains:
                raise ValueError("init has a position for each chain: its arrays begin "
                                 "with a dimension of %d; found shape %s" %
                                 (chains, shape))
            if not jnp.issubdtype(jnp.result_type(leaf), jnp.floating):
                raise TypeError("init has real numbers; found %s" % jnp.result_type(leaf))
        leaves = [numpy.asarray(leaf, numpy.float64) for leaf in leaves]
        _, unravel = ravel_pytree(jax.tree.unflatten(tree, [leaf[0] for leaf in leaves]))
        self.starts = numpy.concatenate([leaf.reshape(chains, -1) for leaf in leaves],
                                        axis=1)

        def log_density(q):
            value = function(unravel(q))
            if numpy.shape(value):
                raise TypeError("a log density is one number; found shape %s" %
                                (numpy.shape(value),))
            return jnp.asarray(value, jnp.float64)

        vector = jax.ShapeDtypeStruct(self.starts.shape[1:], jnp.float64)
        self.density, _ = _trace(jax.value_and_grad(log_density), vector)
        self.values, self.tree = _trace(unravel, vector)
        values = numpy.asarray(_run(self.density, self.starts, mapped=True)[0])
        if not numpy.isfinite(values).all():
            raise ValueError("the log density is not finite where chain %d starts" %
                             numpy.flatnonzero(~numpy.isfinite(values))[0])


class Model:
    """The same of a NumPyro model, in unconstrained variables."""

    def __init__(self, model, args, kwargs, init, chains, key):
        import numpyro
        from numpyro.infer import init_to_uniform
        from numpyro.infer.util import initialize_model
        # JAX keeps what it has made of an array of NumPy, 32 bits wide in other code.
        args, kwargs = jax.tree.map(
            lambda leaf: leaf.copy() if isinstance(leaf, numpy.ndarray) else leaf,
            (args, kwargs))

        def initialize(keys):
            return initialize_model(
                keys, model, model_args=args, model_kwargs=kwargs,
                init_strategy=init or init_to_uniform, dynamic_args=False)

        def begin(keys):
            _refuse_discrete(model, args, kwargs, keys[0])
            info = initialize(keys)
            positions, potentials, gradients = info.param_info
            if not positions:
                raise ValueError("the model has no latent sites")
            _, unravel = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], positions))
            starts, gradients = (jax.vmap(lambda tree: ravel_pytree(tree)[0])(trees)
                                 for trees in (positions, gradients))

            def log_density(q):
                with numpyro.validation_enabled(False):  # the starts are valid
                    return -jnp.asarray(info.potential_fn(unravel(q)), jnp.float64)

            vector = jax.ShapeDtypeStruct(starts.shape[1:], jnp.float64)
            self.density, _ = _trace(jax.value_and_grad(log_density), vector)
            self.values, self.tree = _trace(
                lambda q: info.postprocess_fn(unravel(q)), vector)
            # What NumPyro draws once, such as starts of parameters.
            drawn = [[value for value in trace.constants
                      if isinstance(value, jax.core.Tracer)]
                     for trace in (self.density, self.values)]
            return starts, jnp.isfinite(potentials) & jnp.isfinite(gradients).all(1), drawn

        keys = jax.random.split(key, chains)
        start, tree = _trace(begin, keys)
        self.starts, valid, drawn = jax.tree.unflatten(tree, _run(start, keys))
        if not valid.all():
            initialize(keys)  # says why
        for trace, values in zip((self.density, self.values), drawn):
            values = iter(values)
            trace.constants = [next(values) if isinstance(value, jax.core.Tracer) else value
                               for value in trace.constants]


def _refuse_discrete(model, args, kwargs, key):
    from numpyro import handlers
    trace = handlers.trace(handlers.seed(model, key)).get_trace(*args, **kwargs)
    sites = [name for name, site in trace.items()
             if site["type"] == "sample" and not site["is_observed"]
             and site["fn"].support is not None and site["fn"].support.is_discrete]
    if sites:
        raise ValueError(
            "site%s %s %s discrete, without a gradient: marginalize what is discrete, for "
            "example with numpyro.distributions.MixtureSameFamily" % (
                "s" if len(sites) > 1 else "", ", ".join(map(repr, sites)),
                "are" if len(sites) > 1 else "is"))


# --- running ------------------------------------------------------------------

class _Bar:
    """A line on a terminal that says how far the chains are."""

    def __init__(self, shown, chains, warmup, total):
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.chains, self.warmup, self.total = chains, warmup, total
        self.diverging, self.accepted, self.draws = 0, 0.0, 0
        self.start = time.monotonic()

    def update(self, done, stats):
        if not self.shown:
            return
        if done > self.warmup:
            new = stats[:, max(self.warmup - done, -stats.shape[1]):]
            self.diverging += int(new[:, :, 3].sum())
            self.accepted += new[:, :, 0].sum()
            self.draws += new.shape[0] * new.shape[1]
        rate = self.accepted / self.draws if self.draws else stats[:, :, 0].mean()
        width = 24
        full = width * done // self.total
        sys.stderr.write(
            "\r%s |%s%s| %d/%d, %d chains, %d diverging, acceptance %.2f, %.1f s" % (
                "sample " if done > self.warmup else "warm-up", "█" * full,
                " " * (width - full), done, self.total, self.chains, self.diverging, rate,
                time.monotonic() - self.start))
        sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write("\n")


class Sampler:
    """A target that is compiled, and bound to what it reads."""

    def __init__(self, target, *, algorithm="multinomial", mass="diagonal",
                 target_accept=0.8, max_depth=10, lanes=None, threads=None, progress=False):
        self.target, self.mass = target, mass
        self.starts = numpy.asarray(target.starts)
        density = target.density
        key = density.key, density.values, mass
        with _options.ours():
            text, parameters = _samplers.get(key, lambda: _program(density.closed, mass))
        if lanes is None and sum(a.nbytes for a in parameters.values()) > _LARGE:
            lanes = _LANES
        strategy, options = ("replicate", ["--level=block"]) if lanes is None else \
            ("lockstep", [])
        model = _compiler.compile(text, strategy=strategy, options=options,
                                  progress=progress)
        self.function = model.bind(
            dict(parameters, target=numpy.float64(target_accept),
                 depth=numpy.int32(max_depth), slice=numpy.bool_(algorithm == "slice")),
            threads=threads, lanes=lanes or 0)

    def run(self, seed, warmup, draws, progress=False):
        """Positions and statistics of all draws, chain by chain."""
        chains, count = self.starts.shape
        factor = numpy.eye(count) if self.mass == "dense" else numpy.ones((1, count))
        state = {"q": self.starts, "factor": numpy.tile(factor, (chains, 1, 1)),
                 "mean": numpy.zeros((chains, count)),
                 "squares": numpy.zeros((chains,) + factor.shape),
                 "fits": numpy.zeros((chains, 6))}
        numbers = numpy.arange(chains, dtype=numpy.int32)
        seeds = numpy.full(chains, seed, numpy.int32)
        fits = numpy.zeros(warmup + draws + _ROWS, numpy.int32)
        fits[:warmup] = schedule(warmup)
        positions = numpy.empty((chains, draws, count))
        stats = numpy.empty((chains, draws, len(_STATS)))
        bar = _Bar(progress, chains, warmup, warmup + draws)
        # How transitions are cut into calls changes no bit.
        first, rows = 0, 10
        while first < warmup + draws:
            rows = min(rows, (warmup if first < warmup else warmup + draws) - first)
            start = time.monotonic()
            outputs = self.function(
                first=numpy.full(chains, first), count=numpy.full(chains, rows), seed=seeds,
                chain=numbers, **state,
                schedule=numpy.tile(fits[first:first + _ROWS], (chains, 1)))
            elapsed = time.monotonic() - start
            state = {name: outputs[name] for name in state}
            if first >= warmup:
                here = slice(first - warmup, first - warmup + rows)
                positions[:, here] = outputs["positions"][:, :rows]
                stats[:, here] = outputs["stats"][:, :rows]
            first += rows
            bar.update(first, outputs["stats"][:, :rows])
            rows = max(1, min(_ROWS, 2 * rows, int(rows * _SLICE / max(elapsed, 1e-9))))
        bar.end()
        return positions, {name: stats[:, :, i].astype(kind)
                           for i, (name, kind) in enumerate(_STATS.items())}

    def values(self, positions):
        """What positions are in the target's terms."""
        chains, draws, count = positions.shape
        flat = positions.reshape(chains * draws, count)
        size = -(-len(flat) // -(-flat.size // _CHUNK))  # equal chunks: one compilation
        parts = []
        for i in range(0, len(flat), size):
            rows = flat[i:i + size]
            padded = rows if len(rows) == size else numpy.resize(rows, (size, count))
            parts.append([numpy.asarray(leaf)[:len(rows)] for leaf in
                          _run(self.target.values, padded, mapped=True)])
        return jax.tree.unflatten(self.target.tree, [
            numpy.concatenate(leaves).reshape((chains, draws) + leaves[0].shape[1:])
            for leaves in zip(*parts)])


class Samples:
    """Draws and what is known of them.

    draws: by site of the model, deterministic ones too, or as the tree that the log
        density takes: arrays of (chains, draws, …).
    stats: arrays of (chains, draws): acceptance_rate, n_steps (leapfrog steps),
        tree_depth, diverging, energy, lp (log density of the unconstrained variables),
        step_size.
    """

    def __init__(self, draws, stats):
        self.draws, self.stats = draws, stats

    def __repr__(self):
        chains, draws = self.stats["lp"].shape
        return "Samples(%d chains of %d draws, %d diverging)" % (
            chains, draws, self.stats["diverging"].sum())

    def _named(self):
        if isinstance(self.draws, dict) and all(
                isinstance(value, numpy.ndarray) for value in self.draws.values()):
            return self.draws
        return {jax.tree_util.keystr(path, simple=True, separator=".") or "x": leaf
                for path, leaf in jax.tree_util.tree_flatten_with_path(self.draws)[0]}

    def to_arviz(self):
        """ArviZ's InferenceData, or a DataTree from version 1 on."""
        import arviz
        groups = {"posterior": self._named(), "sample_stats": self.stats}
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups)
        return arviz.from_dict(**groups)

    def summary(self):
        """ArviZ's table of means, quantiles, effective sample sizes and R-hat."""
        import arviz
        return arviz.summary(self.to_arviz())


def sample(target, *, chains=4, lanes=None, warmup=1000, draws=1000, seed=0,
           model_args=(), model_kwargs=None, init=None, algorithm="multinomial",
           mass="diagonal", target_accept=0.8, max_depth=10, threads=None, progress=None):
    """Draws by the No-U-Turn Sampler, as Samples.

    target: a NumPyro model; or, where `init` is a tree of arrays, a function of JAX that
        gives the log density of such a tree.
    chains, warmup, draws: how many chains, transitions that fit the step size and the
        mass matrix in Stan's windows, and draws of each chain after that.
    lanes: chains that are in progress at once, in lock step; None: 16 where the density
        reads more than a megabyte of data, else a worker runs one chain after the other.
    seed: a number, or a key of JAX. A draw depends on the seed, the chain and its
        number only, whatever lanes, threads and other chains are.
    model_args, model_kwargs: of a NumPyro model.
    init: for a log density, where chains start: arrays of (chains, …). For a model, one
        of NumPyro's strategies; None: init_to_uniform.
    algorithm: how a draw is taken from a trajectory: "multinomial", by the odds of its
        points; "slice", from those of them that lie in a slice.
    mass: "diagonal" or "dense".
    target_accept: the mean acceptance probability that the step size is fitted to.
    max_depth: doublings of a trajectory at most.
    threads: workers; None: one for each core.
    progress: whether a line on stderr says how far it is; None: on terminals.

    All is computed in double precision. Ctrl-C ends it. Whatever the target reads is read
    again by the next call; what was compiled for one that computes the same is kept.
    """
    for name, value, least in (("chains", chains, 1), ("warmup", warmup, 1),
                               ("draws", draws, 1), ("max_depth", max_depth, 1),
                               ("lanes", 1 if lanes is None else lanes, 1)):
        if not isinstance(value, int) or value < least:
            raise ValueError("%s is a number from %d on; found %r" % (name, least, value))
        if value > _MOST:
            raise ValueError("%s is %d at most; found %d" % (name, _MOST, value))
    if max_depth > _DEEPEST:
        raise ValueError("max_depth is %d at most; found %d" % (_DEEPEST, max_depth))
    if not 0 < target_accept < 1:
        raise ValueError("target_accept lies between 0 and 1; found %r" % target_accept)
    for name, value, known in (("algorithm", algorithm, ("multinomial", "slice")),
                               ("mass", mass, ("diagonal", "dense"))):
        if value not in known:
            raise ValueError("%s is %r or %r; found %r" % (name, *known, value))
    if not callable(target):
        raise TypeError("batch.sample expects a NumPyro model or a log density; found %r" %
                        (target,))
    with jax.enable_x64(True), jax.transfer_guard("allow"):
        key = jax.random.key(seed) if isinstance(seed, int) else seed
        key, own = jax.random.split(key)
        number = numpy.asarray(jax.random.bits(own, dtype=jnp.uint32)).astype(numpy.int32)
        if init is None or callable(init):
            target = Model(target, tuple(model_args), dict(model_kwargs or {}), init,
                           chains, key)
        else:
            target = Density(target, init, chains)
        sampler = Sampler(target, algorithm=algorithm, mass=mass,
                          target_accept=target_accept, max_depth=max_depth, lanes=lanes,
                          threads=threads, progress=progress)
        positions, stats = sampler.run(number, warmup, draws, progress)
        return Samples(sampler.values(positions), stats)
