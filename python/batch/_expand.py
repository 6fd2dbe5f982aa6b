"""From a jaxpr to one of the primitives that are lowered.

Calls are inlined, keys become the words that they are, and what jaxlib's passes refuse is
put in other primitives' terms by a rule: a function of arrays that is traced in the
equation's place, and expanded in turn.
"""

import collections
import functools
import os
import re
import sys
from traceback import walk_stack, walk_tb

import jax
import jax.numpy as jnp
import jaxlib
import numpy
from jax.extend import core

from batch._bound import Bound

# Of functions, data types and lists (batch._functions).
_STRUCTURE = ("batch_call", "batch_open", "batch_construct", "batch_list", "batch_map",
              "batch_fold", "batch_length", "batch_paths")
CONTROL = ("while", "scan", "cond", *_STRUCTURE)
# Of primitives that only call, the parameter that has what is called.
_CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "call": "call_jaxpr",
          "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
          "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr",
          "custom_vmap_call": "call", "custom_partitioning": "call",
          "linear_call": "callee", "composite": "jaxpr", "remat2": "jaxpr",
          "checkpoint": "jaxpr", "remat_opt": "fwd_jaxpr"}
# Unsupported primitives, and the advice in messages. jaxlib's passes would reject some of
# them without a reason, or compute other numbers than JAX.
_REFUSED = dict.fromkeys((
    "fft", "eig", "eigh", "svd", "qr", "geqrf", "geqp3", "householder_product", "ormqr",
    "schur", "hessenberg", "tridiagonal",
    "pure_callback", "io_callback", "debug_callback", "debug_print", "ffi_call", "dce_sink",
    "after_all", "create_token", "inspect_sharding", "pmap", "shard_map", "reshard",
    "pallas_call", "run_state", "create_linear", "pin", "unpin", "to_edtype",
    "from_edtype", "unreachable", "select_and_scatter", "scaled_dot", "check", "core_map",
    "with_memory_space_constraint"), "") | {
        "rng_uniform": ": it has no seed; use jax.random.uniform",
        "rng_bit_generator": ": its bits depend on the device; use jax.random.bits"}
# Prefixes of more unsupported primitives: for several devices, and kernels of a library.
_REFUSED_PREFIXES = (
    "all_gather", "all_to_all", "axis_index", "pbroadcast", "pmax", "pmin", "ppermute",
    "precv", "preduced", "psend", "psum", "pvary", "ragged_all_to_all", "reduce_scatter",
    "reduced_vary_cast", "unreduced_", "vary_unreduced_cast",
    "cudnn_", "dot_product_attention_", "scaled_matmul")
# Where frames are not the user's.
_OWN = tuple(os.path.join(os.path.dirname(os.path.abspath(file)), "")
             for file in (__file__, jax.__file__, jaxlib.__file__))
_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")
# Says what a rule leaves to jaxlib.
KEEP = object()

_rules = {}
_of_nothing = {}


class LoweringError(NotImplementedError):
    """Something in a function that Batch does not compile; the message says where."""


def rule(*names, constant=None):
    """Registers what is traced in place of the equations of primitives: a function of
    their arrays and parameters that gives their results, or KEEP. Keys are words. The
    argument at position `constant` is an array of NumPy's if it is known."""
    def register(function):
        _rules.update((name, (function, constant)) for name in names)
        return function
    return register


def of_nothing(name):
    """Registers a rule for when some of the arrays have no element."""
    def register(function):
        _of_nothing[name] = function
        return function
    return register


# What an equation of an expanded jaxpr has as its `source_info`. JAX's traceback ends at
# the function that is traced; those of its calls follow.
Source = collections.namedtuple("Source", ["traceback", "name_stack", "tracebacks"])


def _frame(equation):
    """Of the innermost frame outside of jax, batch and Python's library, in which the user
    wrote an equation of an expanded jaxpr: the file, the line, the function."""
    for line in "\n".join(map(str, equation.source_info.tracebacks)).splitlines():
        found = re.match(r"(.*):(\d+) \((.*)\)$", line.strip())
        if found and not found[1].startswith(_OWN) and not (
                found[1].startswith(_LIBRARY) and "-packages" not in found[1]):
            return found.groups()
    return None


def place(equation):
    """Where the user wrote an equation, for a message."""
    frame = _frame(equation)
    return "%s:%s (in %s): " % frame if frame else ""


def line(equation):
    """The file and the line in which the user wrote an equation, or None."""
    frame = _frame(equation)
    return (frame[0], int(frame[1])) if frame else None


def here(traceback=None):
    """Where the user's code is, for a message: of the innermost frame outside of jax and
    batch, in a traceback if there is one."""
    frames = [frame for frame, _ in walk_tb(traceback)][::-1] if traceback else \
        (frame for frame, _ in walk_stack(sys._getframe(1)))
    lines = dict((id(frame), line) for frame, line in walk_tb(traceback))
    for frame in frames:
        code = frame.f_code
        if not code.co_filename.startswith(_OWN):
            return "%s:%d (in %s): " % (code.co_filename, lines.get(id(frame), frame.f_lineno),
                                        code.co_name)
    return ""


def unknown_extent(equation):
    """The error where an extent that differs from instance to instance has to be known."""
    return LoweringError("%s%s of %s is not supported where extents differ from instance to "
                         "instance: go over the rows, by lax.scan" % (
                             place(equation), equation.primitive.name, ", ".join(
                                 atom.aval.str_short() for atom in equation.invars)))


def open_jaxpr(jaxpr):
    """The jaxpr and the constants of a closed jaxpr, or of one without any."""
    if isinstance(jaxpr, core.ClosedJaxpr):
        return jaxpr.jaxpr, jaxpr.consts
    return jaxpr, []


def scan_counts(params):
    """How many constants and carried values a scan has."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    constants, carry, _ = params["ft_in"].unpack()  # JAX 0.12
    return len(constants), len(carry)


def is_refused(name):
    """Whether primitives of this name are deliberately unsupported."""
    return name in _REFUSED or name.startswith(_REFUSED_PREFIXES)


def is_empty(aval):
    """Whether arrays of this type have no element. The compiler has none such: their
    values are left out everywhere."""
    return any(isinstance(n, int) and n == 0 for n in aval.shape)


def variables(atoms):
    return (atom for atom in atoms if not isinstance(atom, core.Literal))


def evaluate(equations, known, results):
    """What atoms are, computed by equations without control from what is known."""
    known = dict(known)

    def read(atom):
        return atom.val if isinstance(atom, core.Literal) else known[atom]

    for equation in equations:
        bound = equation.primitive.get_bind_params(equation.params)
        functions, params = bound if isinstance(bound, tuple) else ((), bound)
        values = list(map(read, equation.invars))
        if _folds_wrongly(equation):
            values = [jax.lax.optimization_barrier(values[0])]
        result = equation.primitive.bind(*functions, *values, **params)
        known.update(zip(equation.outvars,
                         result if equation.primitive.multiple_results else [result]))
    return [read(atom) for atom in results]


def _folds_wrongly(equation):
    """Whether NumPy would compute a conversion while it is traced, and wrap a number around
    that is out of range. JAX folds those of literals, which arguments of an inner jit
    become."""
    return equation.primitive.name == "convert_element_type" and \
        isinstance(equation.invars[0], core.Literal) and \
        jnp.issubdtype(equation.invars[0].aval.dtype, jnp.floating) and \
        jnp.issubdtype(equation.params["new_dtype"], jnp.integer)


def type_of(value):
    """The type of a constant, which may be an array of batch.bind."""
    return jax.typeof(value.value if isinstance(value, Bound) else value)


# --- extents that differ from instance to instance ------------------------------------------

def symbols_of(n):
    """The names of the symbols in an extent, such as `floordiv(n0, 2) + 1`."""
    return set(re.findall(r"\b[A-Za-z_]\w*\b(?!\()", str(n)))


def extents_of(avals, equations=()):
    """The names of the symbols in these types and in what equations read."""
    extents = [n for aval in avals for n in aval.shape] + _extents_in(equations)
    return {name for n in extents if jax.export.is_symbolic_dim(n) for name in symbols_of(n)}


def _extents_in(equations):
    found = []
    for equation in equations:
        is_map = equation.primitive.name == "batch_map"  # whose results have its own
        for atom in (*equation.invars, *(() if is_map else equation.outvars)):
            found += atom.aval.shape
        for name, value in equation.params.items():
            if name != "spec" and not (is_map and name == "dim"):
                found += _parts(value)
    return found


def _parts(value):
    """The parts of an equation's parameter; for jaxprs, their extents."""
    if isinstance(value, (core.ClosedJaxpr, core.Jaxpr)):
        return _extents_in(open_jaxpr(value)[0].eqns)
    if isinstance(value, (tuple, list)):
        return [part for one in value for part in _parts(one)]
    if hasattr(value, "arms"):  # the body of a walk
        return _parts([arm.closed for arm in value.arms])
    return _parts(value.closed) if hasattr(value, "closed") else (value,)


# --- keys -------------------------------------------------------------------------------

def is_key(aval):
    return jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)


def words(aval):
    """What a key is: two words of Threefry's."""
    if not is_key(aval):
        return aval
    if aval.dtype.name != "key<fry>":
        raise LoweringError("keys of type %s are not supported, only threefry2x32's" %
                            aval.dtype.name)
    return jax.core.ShapedArray(aval.shape + (2,), jnp.uint32)


def _move_keys(primitive, params, inputs, outputs):
    """A primitive that moves keys moves their words: it is mapped over them."""
    in_axes = [-1 if is_key(aval) else None for aval in inputs]
    if primitive.name in ("eq", "ne"):
        return lambda a, b: ((a == b).all(-1) if primitive.name == "eq" else
                             (a != b).any(-1))
    many = primitive.multiple_results

    def move(*values):
        result = jax.vmap(lambda *one: primitive.bind(*one, **params), in_axes,
                          [-1] * len(outputs) if many else -1)(*values)
        return result
    return move


# --- jaxprs -----------------------------------------------------------------------------

class _Expansion:
    """Writes one jaxpr."""

    def __init__(self, calls, is_rule, cache):
        self.equations = []
        self.constants = []  # (variable, array)
        self.calls = calls  # tracebacks of the calls that are being inlined
        self.is_rule = is_rule  # equations are a rule's, which have no place
        self.cache = cache
        self.known = {}  # of variables that depend on constants alone, what gives them

    def constant(self, value):
        aval = type_of(value)
        if is_key(aval):
            value = jax.random.key_data(value)
        for variable, known in self.constants:
            if known is value:
                return variable
        variable = core.Var(words(aval))
        self.constants.append((variable, value))
        if not isinstance(value, Bound):
            self.known[variable] = lambda: value
        return variable

    def is_known(self, atom):
        return isinstance(atom, core.Literal) or atom in self.known

    def value(self, atom):
        """What an atom is that depends on constants alone."""
        if isinstance(atom, core.Literal):
            return atom.val
        if self.known[atom] is None:
            needed, equations = {atom}, []
            for equation in reversed(self.equations):
                if needed.intersection(equation.outvars):
                    equations.append(equation)
                    needed.update(variables(equation.invars))
            given = {v: self.known[v]() for v in needed if self.known[v]}
            result = jax.jit(lambda: evaluate(equations[::-1], given, [atom]))()[0]
            self.known[atom] = lambda: result
        return self.known[atom]()

    def inline(self, jaxpr, atoms, needed=None):
        """Appends a jaxpr's equations; returns what its results are, of those that are
        needed. What is not needed is not refused either."""
        jaxpr, constants = open_jaxpr(jaxpr)
        if needed is None:
            needed = [True] * len(jaxpr.outvars)
        known = dict(zip(jaxpr.invars, atoms))
        known.update(zip(jaxpr.constvars, map(self.constant, constants)))

        def read(atom):
            return atom if isinstance(atom, core.Literal) else known[atom]

        results = [atom for atom, is_needed in zip(jaxpr.outvars, needed) if is_needed]
        equations, live = _live(jaxpr.eqns, results)
        for equation in equations:
            source = equation.source_info
            own = () if self.is_rule else (source.traceback,)
            equation = equation.replace(source_info=Source(
                source.traceback, source.name_stack, own + self.calls))
            results = self.append(equation, [read(atom) for atom in equation.invars],
                                  [v in live for v in equation.outvars])
            known.update(zip(equation.outvars, results))
        return [read(atom) if is_needed else None
                for atom, is_needed in zip(jaxpr.outvars, needed)]

    def append(self, equation, atoms, needed):
        """Appends an equation, or what is in its place; returns its results, at least
        those that are needed."""
        name, params = equation.primitive.name, equation.params
        if name in _CALLS:
            return self.call(equation, params[_CALLS[name]], atoms, needed)
        if name == "batch_bound":
            return [self.constant(params["bound"])]
        if name in CONTROL:
            if name == "cond" and self.is_known(atoms[0]):  # of a platform, for example
                branches = params["branches"]
                chosen = min(max(int(self.value(atoms[0])), 0), len(branches) - 1)
                return self.call(equation, branches[chosen], atoms[1:], needed)
            if name == "cond":
                atoms = [self.decision(atoms[0]), *atoms[1:]]
            return self.control(equation, atoms)
        if equation.effects:
            raise LoweringError("%s%s has effects, which are not supported" % (
                place(equation), name))
        if is_refused(name):
            raise LoweringError("%s%s is not supported%s" % (
                place(equation), name, _REFUSED.get(name, "")))
        for v in equation.outvars:
            if jax.dtypes.issubdtype(v.aval.dtype, numpy.complexfloating):
                raise LoweringError("%s%s gives %s: complex numbers are not supported" % (
                    place(equation), name, v.aval.dtype.name))
        if name == "custom_linear_solve":
            return self.solve(equation, atoms, needed)
        jaxpr = self.replacement(equation, atoms)
        if jaxpr is None:
            return self.bind(equation, atoms, params)
        return self.call(equation, jaxpr, atoms, needed, is_rule=True)

    def decision(self, atom):
        """What decides between two branches: the truth value that JAX makes a number of,
        which may have been computed long before the number would be."""
        for equation in self.equations:
            if equation.outvars == [atom] and \
                    equation.primitive.name == "convert_element_type" and \
                    equation.invars[0].aval.dtype == bool:
                return equation.invars[0]
        return atom

    def call(self, equation, jaxpr, atoms, needed, is_rule=False):
        before = self.calls, self.is_rule
        self.calls, self.is_rule = equation.source_info.tracebacks, is_rule or self.is_rule
        results = self.inline(jaxpr, atoms, needed)
        self.calls, self.is_rule = before
        return results

    def control(self, equation, atoms):
        """Control of expanded jaxprs; empty arrays are not carried."""
        params, name = equation.params, equation.primitive.name
        if name == "scan" and params["length"] == 0:
            first, carry = scan_counts(params)
            carried = atoms[first:first + carry]
            return carried + [self.zeros(v.aval) for v in equation.outvars[len(carried):]]

        def expand(jaxpr, fixed):
            """fixed: what the first variables of the jaxpr always are."""
            known = [functools.partial(self.value, atom) if self.is_known(atom) else None
                     for atom in fixed]
            return _expand(jaxpr, equation.source_info.tracebacks, self.is_rule, self.cache,
                           known)

        def count(first, number):
            return len(_full(atoms[first:first + number]))

        if name in _STRUCTURE:
            changed = {}
            if "body" in params:
                closure = atoms[:params["closure"]]
                changed = {"closure": len(_full(closure)), "body": params["body"].expanded(
                    lambda closed: expand(closed, closure))}
            elif name == "batch_paths":
                changed = {"arms": tuple(arm.expanded(lambda closed: expand(closed, atoms))
                                         for arm in params["arms"])}
        elif name == "cond":
            changed = {"branches": tuple(expand(branch, atoms[1:])
                                         for branch in params["branches"])}
        elif name == "scan":
            fixed, carry = scan_counts(params)
            changed = {"jaxpr": expand(params["jaxpr"], atoms[:fixed]),
                       "num_consts": count(0, fixed), "num_carry": count(fixed, carry)}
        else:
            test, body = params["cond_nconsts"], params["body_nconsts"]
            changed = {"cond_jaxpr": expand(params["cond_jaxpr"], atoms[:test]),
                       "body_jaxpr": expand(params["body_jaxpr"], atoms[test:test + body]),
                       "cond_nconsts": count(0, test), "body_nconsts": count(test, body)}
        full = _full(equation.outvars)
        known = dict(zip(full, self.bind(equation.replace(outvars=full), _full(atoms),
                                         {**params, **changed})))
        return [known[v] if v in known else self.zeros(v.aval) for v in equation.outvars]

    def zeros(self, aval):
        jaxpr = jax.make_jaxpr(lambda: jnp.zeros(
            words(aval).shape, words(aval).dtype))()
        return self.inline(jaxpr, [])[0]

    def bind(self, equation, atoms, params):
        results = [core.Var(words(v.aval)) for v in equation.outvars]
        if equation.primitive.name not in CONTROL and all(map(self.is_known, atoms)):
            self.known.update((v, None) for v in results)
        self.equations.append(equation.replace(invars=atoms, outvars=results,
                                               params=params))
        return results

    def solve(self, equation, atoms, needed):
        """Of the functions of a linear solve, the one that solves."""
        lengths, jaxprs = equation.params["const_lengths"], equation.params["jaxprs"]
        first = lengths.matvec + lengths.vecmat
        last = first + lengths.solve + lengths.transpose_solve
        return self.call(equation, jaxprs.solve,
                         atoms[first:first + lengths.solve] + atoms[last:], needed)

    def replacement(self, equation, atoms):
        """What is traced in the place of an equation, if anything is."""
        primitive, params = equation.primitive, equation.params
        inputs = [atom.aval for atom in equation.invars]
        outputs = [v.aval for v in equation.outvars]
        known = None
        if all(is_empty(aval) for aval in outputs):
            if primitive.name == "broadcast_in_dim":  # what zeros are made of
                return None
            function = functools.partial(_zeros, list(map(words, outputs)))
        elif any(is_empty(aval) for aval in inputs) and primitive.name in _of_nothing:
            function = functools.partial(_of_nothing[primitive.name], **params)
        elif primitive.name in _rules:
            function, constant = _rules[primitive.name]
            function = functools.partial(function, **params)
            if constant is not None and self.is_known(atoms[constant]):
                known = numpy.asarray(self.value(atoms[constant]))
        elif any(map(is_key, inputs + outputs)):
            function = _move_keys(primitive, params, inputs, outputs)
        else:
            return None
        shapes = [jax.ShapeDtypeStruct(
            atom.aval.shape, atom.aval.dtype) for atom in atoms]
        key = None
        if known is None:
            key = (primitive, tuple(sorted(params.items(), key=lambda item: item[0])),
                   equation.ctx, tuple((shape.shape, shape.dtype) for shape in shapes))
            try:
                if key in self.cache:
                    return self.cache[key]
            except TypeError:  # a parameter has no hash
                key = None

        def traced(*values):
            if known is not None:
                values = values[:constant] + (known,) + values[constant + 1:]
            return _results(function(*values))

        jaxpr = None
        with equation.ctx.manager:
            try:
                jaxpr = jax.make_jaxpr(traced)(*shapes)
            except _Keep:
                pass
            except LoweringError as error:
                raise LoweringError(place(equation) + str(error)) from None
            except (TypeError, core.InconclusiveDimensionOperation):
                if all(isinstance(n, int) for shape in shapes for n in shape.shape):
                    raise
                raise unknown_extent(equation) from None
        if jaxpr is not None:
            found = [(v.aval.shape, v.aval.dtype) for v in jaxpr.jaxpr.outvars]
            wanted = [(words(aval).shape, words(aval).dtype) for aval in outputs]
            assert found == wanted, (primitive.name, found, wanted)
        if key is not None:
            self.cache[key] = jaxpr
        return jaxpr


def _zeros(avals, *_):
    return [jnp.zeros(aval.shape, aval.dtype) for aval in avals]


def _full(atoms):
    return [atom for atom in atoms if not is_empty(atom.aval)]


class _Keep(Exception):
    """A rule leaves an equation as it is."""


def _results(value):
    if value is KEEP:
        raise _Keep()
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _live(equations, results):
    """The equations that have effects or that results depend on, and the variables that
    are read. Results depend on a map over a list whose length is an extent of theirs."""
    live = set(variables(results))
    kept, extents = [], set()
    dims = {str(equation.params["dim"]) for equation in equations
            if equation.primitive.name == "batch_map"}
    for equation in reversed(equations):
        is_extent = equation.primitive.name == "batch_map" and \
            str(equation.params["dim"]) in extents and \
            any(v.aval.shape for v in equation.outvars)
        if equation.effects or is_extent or live.intersection(equation.outvars):
            live.update(variables(equation.invars))
            kept.append(equation)
            if equation.primitive.name == "batch_map":
                extents.discard(str(equation.params["dim"]))
            if dims:
                extents.update(dims.intersection(extents_of((), [equation])))
    return kept[::-1], live


def _expand(closed, calls, is_rule, cache, known):
    jaxpr, _ = open_jaxpr(closed)
    expansion = _Expansion(calls, is_rule, cache)
    inputs = [core.Var(words(v.aval)) for v in jaxpr.invars]
    expansion.known.update((v, thunk) for v, thunk in zip(inputs, known) if thunk)
    results = _full(expansion.inline(closed, [
        expansion.zeros(v.aval) if is_empty(v.aval) else v for v in inputs]))
    equations, used = _live(expansion.equations, results)
    constants = [pair for pair in expansion.constants if pair[0] in used]
    return core.ClosedJaxpr(
        jaxpr.replace(constvars=[v for v, _ in constants], invars=_full(inputs),
                      outvars=results, eqns=equations),
        [value for _, value in constants])


def expand(closed):
    """A closed jaxpr of control and of what jaxlib lowers, for the same arrays but those
    without elements; keys are their words."""
    return _expand(closed, (), False, {}, [])
