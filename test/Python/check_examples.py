#!/usr/bin/env python3
"""check_examples.py [--list | NAME...]: examples of JAX's own documentation give under
batch.vmap what they give under jax.vmap.

The examples are those of the docstrings of the installed JAX, for the functions of
FUNCTIONS. They were chosen before any was run with Batch, by this rule, which --list
applies to the JAX that is installed:

  - the public functions of jax.lax, jax.nn, jax.numpy, jax.random, jax.scipy.linalg and
    jax.scipy.special that have examples, by module and name, each object once;
  - of these the ones whose adapted examples (see adapt()) run under jax.vmap;
  - of these n the numbers 0, n/40, 2n/40, …, rounded down.

What has to be an error by decision (FFT, complex numbers, …) has to be one.
"""

import ast
import doctest
import importlib
import os
import re
import sys
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import batchtest  # noqa: E402
import workers  # noqa: E402

MODULES = ["jax.lax", "jax.nn", "jax.numpy", "jax.random", "jax.scipy.linalg",
           "jax.scipy.special"]
FUNCTIONS = {
    "jax.lax":
        "associative_scan scatter_add",
    "jax.nn":
        "identity",
    "jax.numpy":
        "angle arcsin argsort atleast_2d bitwise_xor column_stack correlate "
        "cumulative_sum diff empty_like fill_diagonal fmax geomspace histogramdd "
        "insert isnan ldexp log1p logical_xor mean nanargmax nanpercentile "
        "ones_like place polymul put_along_axis resize select sort_complex "
        "subtract trapezoid union1d vecdot",
    "jax.scipy.linalg":
        "cho_factor eigh inv rsf2csf",
}
FUNCTIONS = [module + "." + name for module, names in FUNCTIONS.items()
             for name in names.split()]
SECONDS = 60  # for one function's examples
INSTANCES = 3
# Whose results Batch does not compute, by decision.
REFUSED = {"fft", "eig", "eigh", "svd", "qr", "geqrf", "geqp3", "householder_product",
           "schur", "hessenberg", "tridiagonal", "pure_callback", "io_callback"}


def _words(node):
    return {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node)
            if isinstance(n, (ast.Name, ast.Attribute))}


def _defined(node):
    return {n.name if isinstance(n, ast.FunctionDef) else n.id for n in ast.walk(node)
            if isinstance(n, ast.FunctionDef) or
            isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


class _Lift(ast.NodeTransformer):
    """Calls that depend on nothing that an example has computed, and give an array,
    become inputs; those of the function that is shown do not."""

    def __init__(self, shown, names):
        self.shown, self.names, self.inputs = shown, names, []

    def visit_Call(self, call):
        free = {n.id for n in ast.walk(call) if isinstance(n, ast.Name)} - set(self.names)
        if not free and self.shown not in _words(call):
            try:
                value = eval(compile(ast.Expression(call), "example", "eval"),
                             dict(self.names))
                self.inputs.append(several(value))
            except Exception:  # no array, as a rule
                return call
            return ast.Name("input%d" % (len(self.inputs) - 1), ast.Load())
        return self.generic_visit(call)


def _flat(statements):
    """Without `with`, and with what is printed as expressions."""
    for statement in statements:
        if isinstance(statement, ast.With):
            yield from _flat(statement.body)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and \
                isinstance(statement.value.func, ast.Name) and \
                statement.value.func.id == "print":
            yield from (ast.Expr(value) for value in statement.value.args
                        if not isinstance(value, ast.Starred))
        else:
            yield statement


def adapt(name, plain=False):
    """(a function that computes what the examples of one of JAX's show, its inputs for
    several instances), or None.

    Arrays that the examples make from nothing are the inputs, a dictionary. The function
    runs the examples' statements but those that jax.vmap refuses while it is traced
    (because they read an array's elements, say), and returns the values of all that are
    expressions. None where none of these comes from the function. `plain`: also without
    what has to be an error.
    """
    import jax
    import jax.numpy
    import numpy
    names = {"jax": jax, "jnp": jax.numpy, "np": numpy, "lax": jax.lax, "numpy": numpy,
             "partial": __import__("functools").partial}
    module, _, shown = name.rpartition(".")
    function = getattr(importlib.import_module(module), shown)
    statements = []
    showing = {shown}  # the function, and names of what is computed with it
    lift = _Lift(shown, names)
    for example in doctest.DocTestParser().get_examples(function.__doc__ or ""):
        try:
            body = ast.parse(example.source).body
        except SyntaxError:
            continue
        for statement in _flat(body):
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                exec(compile(ast.Module([statement], []), "example", "exec"), names)
                continue
            statement = ast.fix_missing_locations(lift.visit(statement))
            shows = bool(_words(statement) & showing)
            if shows:
                showing |= _defined(statement)
            is_result = isinstance(statement, ast.Expr)
            node = ast.Expression(statement.value) if is_result else \
                ast.Module([statement], [])
            statements.append((is_result, shows, compile(node, name, "eval" if is_result
                                                         else "exec")))
    kept = set()

    def run(inputs):
        known = dict(names, **inputs)
        results = []
        for number, (is_result, _, code) in enumerate(statements):
            if number in kept:
                value = eval(code, known)
                if is_result:
                    results += [leaf for leaf in jax.tree.leaves(value)
                                if isinstance(leaf, jax.Array)]
        return results

    inputs = {"input%d" % i: value for i, value in enumerate(lift.inputs)
              if not (plain and jax.numpy.iscomplexobj(value))}
    shows_any = False
    for number, (is_result, shows, _) in enumerate(statements):
        kept.add(number)
        try:
            jaxpr = jax.make_jaxpr(jax.vmap(run))(inputs).jaxpr
        except Exception:
            kept.remove(number)
            continue
        if plain and is_refused(jaxpr):
            kept.remove(number)
        elif is_result and shows and jaxpr.outvars:
            shows_any = True
    return (run, inputs) if inputs and shows_any else None


def several(value):
    """Instances of an input, the first of which is the example's own. Floats are scaled
    and integers moved, which keeps arrays sorted and matrices definite."""
    import jax
    import jax.numpy as jnp
    import numpy
    if not isinstance(value, (jax.Array, numpy.ndarray)):
        raise TypeError
    value = jnp.asarray(value)
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return jnp.stack([value] + [jax.random.fold_in(value, i)
                                    for i in range(1, INSTANCES)])
    if value.dtype == bool:
        return jnp.stack([jnp.roll(value, i) for i in range(INSTANCES)])
    if jnp.issubdtype(value.dtype, jnp.integer):
        return jnp.stack([value + jnp.asarray(i, value.dtype) for i in range(INSTANCES)])
    return jnp.stack([value * jnp.asarray(1 - i / 4, value.dtype)
                      for i in range(INSTANCES)])


def candidates():
    """All functions that the rule chooses from, in order."""
    seen = set()
    for module in MODULES:
        for name, value in sorted(vars(importlib.import_module(module)).items()):
            text = getattr(value, "__doc__", None) or ""
            if ">>>" in text and callable(value) and not isinstance(value, type) \
                    and not name.startswith("_") and id(value) not in seen:
                seen.add(id(value))
                yield module + "." + name


def is_refused(jaxpr):
    import jax
    from jax.extend import core
    for equation in jaxpr.eqns:
        if equation.primitive.name in REFUSED:
            return True
        if any(jax.numpy.issubdtype(v.aval.dtype, jax.numpy.complexfloating)
               for v in [*equation.invars, *equation.outvars] if hasattr(v.aval, "dtype")):
            return True
        if any(is_refused(getattr(sub, "jaxpr", sub))
               for sub in core.jaxprs_in_params(equation.params)):
            return True
    return False


def compare(name):
    """[what is wrong, or None; what was looked at], or None where JAX has no such
    examples."""
    import jax
    import batch
    import comparison
    seen = []
    adapted = adapt(name)
    if not adapted:
        return None
    function, inputs = adapted
    if is_refused(jax.make_jaxpr(jax.vmap(function))(inputs).jaxpr):
        seen.append("is refused")
        try:
            batch.vmap(function)(inputs)
            return "was accepted", seen
        except batch.LoweringError as error:
            if not re.match(r"\S+:\d+ \(in ", str(error)):
                return "%s does not say where" % error, seen
        adapted = adapt(name, plain=True)
    if adapted:
        seen.append("is the same")
        function, inputs = adapted
        return comparison.difference(batch.vmap(function)(inputs),
                                     jax.vmap(function)(inputs)), seen
    return None, seen


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    os.environ["JAX_PLATFORMS"] = "cpu"
    if sys.argv[1:] == ["--worker"]:
        workers.serve(compare)
        sys.exit()
    if sys.argv[1:] == ["--list"]:
        possible = [name for name in candidates() if adapt(name)]
        print("\n".join(possible[i * len(possible) // 40] for i in range(40)))
        sys.exit()
    path = batchtest.temporary_paths()
    environment = dict(os.environ, XDG_CACHE_HOME=path("cache"),
                       BATCH_COMPILE=batchtest.tool("batch-compile"))
    checks = batchtest.Checks("examples of JAX")
    command = [sys.executable, os.path.abspath(__file__), "--worker"]
    there = 0
    for name, outcome, error, seconds in workers.run_all(
            command, sys.argv[1:] or FUNCTIONS, SECONDS, environment):
        if outcome is None and not error:
            print("%s has no examples in this JAX" % name)
            continue
        there += 1
        if isinstance(outcome, str):  # a traceback
            error, outcome = outcome, None
        problem, seen = outcome or (None, [])
        problem = (problem or error or "").strip()
        checks.expect(" ".join([name, " and ".join(seen)]), not problem,
                      "(%.1f s): %s\n%s" % (seconds, problem.splitlines()[-1:], problem))
    checks.expect("most examples are there", there >= 0.9 * len(sys.argv[1:] or FUNCTIONS))
    checks.exit()
