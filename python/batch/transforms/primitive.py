"""JAX primitive for calls of compiled functions."""

import jax
import jax.numpy as jnp
import numpy
from jax.extend import core
from jax.interpreters import ad, batching, mlir

import batch._native as _native
from batch.lowering.expansion import rule
from batch.tracing.jaxprs import is_key, words_of
from batch.transforms.arrays import UNMAPPED, key_of, to_jax
from batch.transforms.compiled import in_batch_trace
from batch.transforms.xla import words_of_key


def _result(aval, size):
    aval = words_of(aval)
    return jax.core.ShapedArray((size,) + aval.shape, aval.dtype,
                                weak_type=getattr(aval, "weak_type", False))


def vmap_by_jax(compiled, axes, size):
    """Returns a function that computes batch.vmap with jax.vmap and represents keys as words."""
    kinds = [v.aval for v in compiled.closed.jaxpr.invars]

    def one(*leaves):
        leaves = [key_of(leaf) if is_key(aval) else leaf
                  for leaf, aval in zip(leaves, kinds)]
        return [jax.random.key_data(result) if is_key(aval) else result
                for result, aval in zip(core.jaxpr_as_fun(compiled.closed)(*leaves),
                                        compiled.results)]

    return jax.vmap(one, tuple(None if axis is UNMAPPED else axis for axis in axes),
                    axis_size=size)


# Call of a compiled function on arrays, with keys as words. The first dimension of each result
# indexes the instances.
vmap_p = core.Primitive("batch_vmap")
vmap_p.multiple_results = True


@vmap_p.def_abstract_eval
def _(*_, compiled, axes, size, known):
    return [_result(aval, size) for aval in compiled.results]


@vmap_p.def_impl
def _(*others, compiled, axes, size, known):
    leaves = known.leaves(others)
    outputs = compiled.run(leaves, axes, size)
    compiled.check(outputs, leaves, axes)
    return [to_jax(array, getattr(aval, "weak_type", False))
            for array, aval in zip(outputs, compiled.results)]


def devices_of(module):
    """Returns the number of this process's devices that run a module together."""
    context = module.axis_context
    if hasattr(context, "mesh"):
        return context.mesh.local_mesh.size
    devices = getattr(context, "device_assignment", None) or [None]
    return max(1, len(devices) // jax.process_count())


def _lower(context, *values, compiled, axes, size, known):
    _ = compiled.model  # compiles here, so that errors are not raised in the callback
    _native.expect_leaks()  # JAX may keep the compiled program until the process ends
    module = context.module_context
    if module.lowering_parameters.for_export:
        raise NotImplementedError(
            "jax.export does not support batch.vmap, whose compiled code exists only in this "
            "process; export a function that calls jax.vmap")
    if tuple(module.platforms) == ("cpu",) and compiled.xla.are_possible():
        program = compiled.xla.program(known, devices_of(module))
        module.add_keepalive(program)
        return mlir.lower_fun(lambda *others: compiled.xla.call(
            words_of_key(program), known, others, axes, size),
            multiple_results=True)(context, *values)
    specs = [jax.ShapeDtypeStruct(out.shape, out.dtype) for out in context.avals_out]

    keep = UNMAPPED not in known.others(axes)

    def run(*others):
        return compiled.run(known.leaves(others), axes, size, keep)

    return mlir.lower_fun(lambda *others: jax.pure_callback(run, specs, *others),
                          multiple_results=True)(context, *values)


mlir.register_lowering(vmap_p, _lower)


@rule("batch_vmap")
def _(*others, compiled, axes, size, known):
    # A call inside a function that Batch compiles is compiled with that function.
    return vmap_by_jax(compiled, axes, size)(*known.leaves(others))


def _tangent(primal, tangent):
    if not isinstance(tangent, ad.Zero):
        return tangent
    dtype = jnp.result_type(primal)
    return numpy.zeros(jnp.shape(primal), dtype if jnp.issubdtype(dtype, jnp.inexact)
                       else jax.dtypes.float0)


def _jvp(primals, tangents, *, compiled, axes, size, known):
    if in_batch_trace():
        mapped = vmap_by_jax(compiled, axes, size)
        return jax.jvp(lambda *others: mapped(*known.leaves(others)), tuple(primals),
                       tuple(map(_tangent, primals, tangents)))
    raise NotImplementedError(
        "batch.vmap(f) does not support differentiation from outside; use "
        "batch.vmap(jax.grad(f)), which compiles the derivative")


ad.primitive_jvps[vmap_p] = _jvp


def _batch(others, dims, *, compiled, axes, size, known):
    """Batches calls as one call with count * size instances.

    An argument that differs between calls or between instances is not shared.
    """
    others, dims = iter(others), iter(dims)
    leaves, dims = zip(*[(known.values[i], None) if i in known.values
                         else (next(others), next(dims)) for i in range(len(axes))])
    (count,) = {leaf.shape[dim] for leaf, dim in zip(leaves, dims)
                if dim is not None}
    shared, flat = [], []
    for leaf, dim, axis in zip(leaves, dims, axes):
        is_same = dim is None
        shared.append(is_same and axis is UNMAPPED)
        if shared[-1]:
            flat.append(leaf)
            continue
        # The dimensions of the batch and of the instances precede the argument's own.
        if axis is not UNMAPPED and not is_same and dim <= axis:
            axis += 1  # axis in the array with the batch dimension
        if axis is UNMAPPED:
            leaf = jnp.moveaxis(leaf, dim, 0)[:, None]
        elif is_same:
            leaf = jnp.moveaxis(leaf, axis, 0)[None]
        else:
            leaf = jnp.moveaxis(leaf, (dim, axis), (0, 1))
        leaf = jnp.broadcast_to(leaf, (count, size) + leaf.shape[2:])
        flat.append(leaf.reshape((count * size,) + leaf.shape[2:]))
    results = vmap_p.bind(*known.others(flat), compiled=compiled.sharing(shared),
                          axes=tuple(UNMAPPED if same else 0 for same in shared),
                          size=count * size, known=known)
    return [result.reshape((count, size) + result.shape[1:]) for result in results], \
        [0] * len(results)


batching.primitive_batchers[vmap_p] = _batch
