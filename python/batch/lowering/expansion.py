"""Expands a jaxpr to the primitives that are lowered.

Calls are inlined, and keys are replaced with their words. Rules express equations that the jaxlib
passes reject in terms of other primitives. A rule is a function of arrays that is traced in
place of the equation. The traced equations are expanded in turn.
"""

import functools

import jax
import jax.numpy as jnp
import numpy
from jax.extend import core

from batch.core.errors import LoweringError
from batch.lowering.refusals import REMEDY, refusal
from batch.lowering.types import element_type
from batch.runtime.binding import Bound
from batch.tracing.jaxprs import (
    CALLS,
    CONTROL,
    STRUCTURE,
    constant_type,
    evaluate,
    is_empty,
    is_key,
    open_jaxpr,
    scan_counts,
    variables,
    words_of,
)
from batch.tracing.liveness import live_equations
from batch.tracing.locations import Source, describe_place, unknown_extent

# Result of a rule that leaves the equation to jaxlib.
KEEP = object()

_rules = {}
_of_nothing = {}


def rule(*names, constant=None):
    """Registers a rule: a function that is traced in place of equations of these primitives.

    The function takes the arrays and parameters of an equation. It returns the results, or
    KEEP. Keys are passed as their words. The argument at position `constant` is a NumPy array
    if its value is known.
    """
    def register(function):
        _rules.update((name, (function, constant)) for name in names)
        return function
    return register


def of_nothing(name):
    """Registers a rule for equations that have an operand without elements."""
    def register(function):
        _of_nothing[name] = function
        return function
    return register


def _move_keys(primitive, params, inputs, outputs):
    """Returns a function that applies `primitive` to the words of keys.

    The primitive moves or compares keys. It is mapped over the words, the last axis of keys. Keys
    are equal if all of their words are equal.
    """
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
    """Expands one jaxpr."""

    def __init__(self, calls, is_rule, cache):
        self.equations = []
        self.constants = []  # (variable, array)
        self.calls = calls  # tracebacks of the calls that are being inlined
        self.is_rule = is_rule  # whether the equations come from a rule and lack locations
        self.cache = cache
        # Variables that depend only on constants, each with a function that returns its value.
        # The function is None until the value is needed.
        self.known = {}

    def constant(self, value):
        aval = constant_type(value)
        if is_key(aval):
            value = jax.random.key_data(value)
        for variable, known in self.constants:
            if known is value:
                return variable
        variable = core.Var(words_of(aval))
        self.constants.append((variable, value))
        if not isinstance(value, Bound):
            self.known[variable] = lambda: value
        return variable

    def is_known(self, atom):
        return isinstance(atom, core.Literal) or atom in self.known

    def value(self, atom):
        """Returns the value of an atom that depends only on constants."""
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
        """Appends the equations of a jaxpr; returns the atoms of its results.

        `needed` specifies which results are needed, by default all. The others are None. Only
        live equations are appended, so unsupported dead equations are not rejected.
        """
        jaxpr, constants = open_jaxpr(jaxpr)
        if needed is None:
            needed = [True] * len(jaxpr.outvars)
        known = dict(zip(jaxpr.invars, atoms))
        known.update(zip(jaxpr.constvars, map(self.constant, constants)))

        def read(atom):
            return atom if isinstance(atom, core.Literal) else known[atom]

        results = [atom for atom, is_needed in zip(jaxpr.outvars, needed) if is_needed]
        equations, live = live_equations(jaxpr.eqns, results)
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
        """Appends an equation or its replacement; returns at least the needed results.

        Raises LoweringError for effects, and for unsupported element types and primitives.
        """
        name, params = equation.primitive.name, equation.params
        if name in CALLS:
            return self.call(equation, params[CALLS[name]], atoms, needed)
        if name == "batch_bound":
            return [self.constant(params["bound"])]
        if name in CONTROL:
            if name == "cond" and self.is_known(atoms[0]):  # for example, the platform
                branches = params["branches"]
                chosen = min(max(int(self.value(atoms[0])), 0), len(branches) - 1)
                return self.call(equation, branches[chosen], atoms[1:], needed)
            if name == "cond":
                atoms = [self.decision(atoms[0]), *atoms[1:]]
            return self.control(equation, atoms)
        if equation.effects:
            raise LoweringError(f"{describe_place(equation)}{name} has effects, which are not "
                                f"supported{REMEDY}")
        if end := refusal(name):
            raise LoweringError(f"{describe_place(equation)}{name} is not supported{end}")
        for v in equation.outvars:
            if jax.dtypes.issubdtype(v.aval.dtype, numpy.complexfloating):
                raise LoweringError(f"{describe_place(equation)}{name} returns "
                                    f"{v.aval.dtype.name}, but complex numbers are not supported; "
                                    "compute with real and imaginary parts")
            try:
                if not is_key(v.aval):
                    element_type(v.aval.dtype)
            except LoweringError as error:
                raise LoweringError(describe_place(equation) + str(error)) from None
        if name == "custom_linear_solve":
            return self.solve(equation, atoms, needed)
        jaxpr = self.replacement(equation, atoms)
        if jaxpr is None:
            return self.bind(equation, atoms, params)
        return self.call(equation, jaxpr, atoms, needed, is_rule=True)

    def decision(self, atom):
        """Returns the truth value from which JAX computed the index of a `cond`, or the index.

        The truth value may be available long before the index.
        """
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
        """Appends a control-flow equation with expanded jaxprs. Empty arrays are not carried."""
        params, name = equation.params, equation.primitive.name
        if name == "scan" and params["length"] == 0:
            first, carry = scan_counts(params)
            carried = atoms[first:first + carry]
            return carried + [self.zeros(v.aval) for v in equation.outvars[len(carried):]]

        def expand(jaxpr, fixed):
            """Expands a jaxpr. Its first variables always have the values of the atoms `fixed`."""
            known = [functools.partial(self.value, atom) if self.is_known(atom) else None
                     for atom in fixed]
            return _expand(jaxpr, equation.source_info.tracebacks, self.is_rule, self.cache,
                           known)

        def count(first, number):
            return len(_full(atoms[first:first + number]))

        if name in STRUCTURE:
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
            words_of(aval).shape, words_of(aval).dtype))()
        return self.inline(jaxpr, [])[0]

    def bind(self, equation, atoms, params):
        results = [core.Var(words_of(v.aval)) for v in equation.outvars]
        if equation.primitive.name not in CONTROL and all(map(self.is_known, atoms)):
            self.known.update((v, None) for v in results)
        self.equations.append(equation.replace(invars=atoms, outvars=results,
                                               params=params))
        return results

    def solve(self, equation, atoms, needed):
        """Inlines the `solve` function of a linear solve."""
        lengths, jaxprs = equation.params["const_lengths"], equation.params["jaxprs"]
        first = lengths.matvec + lengths.vecmat
        last = first + lengths.solve + lengths.transpose_solve
        return self.call(equation, jaxprs.solve,
                         atoms[first:first + lengths.solve] + atoms[last:], needed)

    def replacement(self, equation, atoms):
        """Returns the jaxpr that replaces an equation, or None if the equation remains."""
        primitive, params = equation.primitive, equation.params
        inputs = [atom.aval for atom in equation.invars]
        outputs = [v.aval for v in equation.outvars]
        known = None
        if all(is_empty(aval) for aval in outputs):
            if primitive.name == "broadcast_in_dim":  # zeros() itself uses this primitive
                return None
            function = functools.partial(_zeros, list(map(words_of, outputs)))
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
            except TypeError:  # a parameter is not hashable
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
                raise LoweringError(describe_place(equation) + str(error)) from None
            except (TypeError, core.InconclusiveDimensionOperation):
                if all(isinstance(n, int) for shape in shapes for n in shape.shape):
                    raise
                raise unknown_extent(equation) from None
        if jaxpr is not None:
            found = [(v.aval.shape, v.aval.dtype) for v in jaxpr.jaxpr.outvars]
            wanted = [(words_of(aval).shape, words_of(aval).dtype) for aval in outputs]
            assert found == wanted, (primitive.name, found, wanted)
        if key is not None:
            self.cache[key] = jaxpr
        return jaxpr


def _zeros(avals, *_):
    return [jnp.zeros(aval.shape, aval.dtype) for aval in avals]


def _full(atoms):
    return [atom for atom in atoms if not is_empty(atom.aval)]


class _Keep(Exception):
    """Raised if a rule leaves an equation unchanged."""


def _results(value):
    if value is KEEP:
        raise _Keep()
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _expand(closed, calls, is_rule, cache, known):
    jaxpr, _ = open_jaxpr(closed)
    expansion = _Expansion(calls, is_rule, cache)
    inputs = [core.Var(words_of(v.aval)) for v in jaxpr.invars]
    expansion.known.update((v, thunk) for v, thunk in zip(inputs, known) if thunk)
    results = _full(expansion.inline(closed, [
        expansion.zeros(v.aval) if is_empty(v.aval) else v for v in inputs]))
    equations, used = live_equations(expansion.equations, results)
    constants = [pair for pair in expansion.constants if pair[0] in used]
    return core.ClosedJaxpr(
        jaxpr.replace(constvars=[v for v, _ in constants], invars=_full(inputs),
                      outvars=results, eqns=equations),
        [value for _, value in constants])


def expand(closed):
    """Expands a closed jaxpr to control flow and primitives that jaxlib lowers.

    Arguments and results are the same, except that arrays without elements are omitted. Keys are
    replaced with their words.
    """
    return _expand(closed, (), False, {}, [])
