"""Examples from the docstrings of JAX, adapted to run for several instances.

Run as a program, this module prints the functions that the rule of test_examples.py chooses for
the installed JAX.
"""

import ast
import doctest
import functools
import importlib
import warnings

import jax
import jax.numpy as jnp
import numpy
from jax.extend import core

INSTANCES = 3
_MODULES = ["jax.lax", "jax.nn", "jax.numpy", "jax.random", "jax.scipy.linalg",
            "jax.scipy.special"]
# Primitives that Batch deliberately rejects.
_REFUSED = {"fft", "eig", "eigh", "svd", "qr", "geqrf", "geqp3", "householder_product",
            "schur", "hessenberg", "tridiagonal", "pure_callback", "io_callback"}


def _words(node):
    return {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node)
            if isinstance(n, (ast.Name, ast.Attribute))}


def _defined(node):
    return {n.name if isinstance(n, ast.FunctionDef) else n.id for n in ast.walk(node)
            if isinstance(n, ast.FunctionDef) or
            isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


class _Lift(ast.NodeTransformer):
    """Replaces a call with an input if the call uses no computed value and returns an array.

    Keeps calls of the function that the example demonstrates.
    """

    def __init__(self, shown, names):
        self.shown, self.names, self.inputs = shown, names, []

    def visit_Call(self, call):
        free = {n.id for n in ast.walk(call) if isinstance(n, ast.Name)} - set(self.names)
        if free or self.shown in _words(call):
            return self.generic_visit(call)
        try:
            value = eval(compile(ast.Expression(call), "example", "eval"), dict(self.names))
            self.inputs.append(_several(value))
        except Exception:  # usually because the value is not an array
            return call
        return ast.Name(f"input{len(self.inputs) - 1}", ast.Load())


def _several(value):
    """Returns instances of an input. The first instance is the value in the example.

    Floating-point numbers are scaled and integers are shifted, so arrays remain sorted and matrices
    remain definite.
    """
    if not isinstance(value, (jax.Array, numpy.ndarray)):
        raise TypeError
    value = jnp.asarray(value)
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return jnp.stack([value] + [jax.random.fold_in(value, i) for i in range(1, INSTANCES)])
    if value.dtype == bool:
        return jnp.stack([jnp.roll(value, i) for i in range(INSTANCES)])
    if jnp.issubdtype(value.dtype, jnp.integer):
        return jnp.stack([value + jnp.asarray(i, value.dtype) for i in range(INSTANCES)])
    return jnp.stack([value * jnp.asarray(1 - i / 4, value.dtype) for i in range(INSTANCES)])


def _flat(statements):
    """Yields the statements, with `with` replaced by its body and `print` by its arguments."""
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


def is_refused(function, inputs):
    """Returns whether jax.vmap of a function contains an operation that Batch rejects."""
    return _is_refused(jax.make_jaxpr(jax.vmap(function))(inputs).jaxpr)


def _is_refused(jaxpr):
    for equation in jaxpr.eqns:
        if equation.primitive.name in _REFUSED:
            return True
        if any(jnp.issubdtype(v.aval.dtype, jnp.complexfloating)
               for v in [*equation.invars, *equation.outvars] if hasattr(v.aval, "dtype")):
            return True
        if any(_is_refused(getattr(sub, "jaxpr", sub))
               for sub in core.jaxprs_in_params(equation.params)):
            return True
    return False


@functools.cache
def adapt(name, plain=False):
    """Adapts the examples of a JAX function.

    Returns a function that computes the values that the examples show, and its inputs for
    several instances: a dictionary of the arrays that the examples create. Returns None if there
    are no such arrays, or if no value comes from the JAX function.

    The returned function omits statements that jax.vmap rejects, for instance because they
    read elements of an array. It returns the values of all expressions.

    plain: also omit operations that Batch rejects.
    """
    names = {"jax": jax, "jnp": jnp, "np": numpy, "lax": jax.lax, "numpy": numpy,
             "partial": functools.partial}
    module, _, shown = name.rpartition(".")
    function = getattr(importlib.import_module(module), shown)
    statements = []
    showing = {shown}  # the function, and names of values computed with it
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
            statements.append((is_result, shows,
                               compile(node, name, "eval" if is_result else "exec")))
    used = set()

    def run(inputs):
        known = dict(names, **inputs)
        results = []
        for number, (is_result, _, code) in enumerate(statements):
            if number in used:
                value = eval(code, known)
                if is_result:
                    results += [leaf for leaf in jax.tree.leaves(value)
                                if isinstance(leaf, jax.Array)]
        return results

    inputs = {f"input{i}": value for i, value in enumerate(lift.inputs)
              if not (plain and jnp.iscomplexobj(value))}
    shows_any = False
    for number, (is_result, shows, _) in enumerate(statements):
        used.add(number)
        try:
            jaxpr = jax.make_jaxpr(jax.vmap(run))(inputs).jaxpr
        except Exception:  # jax.vmap rejects the statement
            used.remove(number)
            continue
        if plain and _is_refused(jaxpr):
            used.remove(number)
        elif is_result and shows and jaxpr.outvars:
            shows_any = True
    return (run, inputs) if inputs and shows_any else None


def _candidates():
    """Yields the names of all functions from which choose() selects, in order."""
    seen = set()
    for module in _MODULES:
        for name, value in sorted(vars(importlib.import_module(module)).items()):
            text = getattr(value, "__doc__", None) or ""
            if ">>>" in text and callable(value) and not isinstance(value, type) \
                    and not name.startswith("_") and id(value) not in seen:
                seen.add(id(value))
                yield module + "." + name


def choose(count=40):
    """Returns the names of `count` functions, chosen by the rule of test_examples.py."""
    possible = [name for name in _candidates() if adapt(name)]
    return [possible[i * len(possible) // count] for i in range(count)]


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    print("\n".join(choose()))
