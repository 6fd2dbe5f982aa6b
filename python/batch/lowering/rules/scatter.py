"""Rules for scatter operations.

All of them are reduced to one case: B arrays of N rows of W elements, with K updates for each
array. An update changes one row. It has the number of this row, or -1 if that is out of range.
"""

import math

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax.extend import core

from batch.lowering.expansion import rule
from batch.lowering.rules.reduce import greatest, least

# Maximum number of elements of an array whose updated rows are found by comparison if the row
# numbers are unknown. A comparison selects N * K * W elements (see _Rows), each in about 0.3 ns
# (0.7 ns if instances run singly). In larger arrays, updates run one by one: K rounds of a loop,
# each in about 20 ns, or in 30–90 ns in lockstep.
_MOST_COMPARED = 128


def _signed(indices, module):
    """Converts indices to a signed type, and preserves their order."""
    dtype = indices.dtype
    wide = jax.dtypes.canonicalize_dtype(numpy.int64)
    if dtype.kind == "u" and dtype.itemsize >= wide.itemsize:
        indices = module.minimum(indices, dtype.type(numpy.iinfo(wide).max))
    return indices.astype(wide if dtype.itemsize > 4 or dtype.kind == "u" else numpy.int32)


class _Rows:
    """Operands of a scatter, as rows.

    operand: the arrays, [B, N, W].
    updates: the updates, [B, K, W].
    numbers: rows of the updates, [B, K], -1 for those out of range.
    """

    def __init__(self, operand, indices, updates, dnums, mode):
        # Known indices are NumPy arrays, and so are the values computed from them here.
        module = numpy if isinstance(indices, numpy.ndarray) else jnp
        self.shape = operand.shape
        rank = len(operand.shape)
        batching, places = dnums.operand_batching_dims, dnums.scatter_dims_to_operand_dims
        window = [axis for axis in range(rank)
                  if axis not in dnums.inserted_window_dims and axis not in batching]
        sizes = [1] * rank  # shape of an update
        for axis, position in zip(window, dnums.update_window_dims):
            sizes[axis] = updates.shape[position]
        # Axes of the indices: first those of the batch, then those that number the updates.
        of_batch = list(dnums.scatter_indices_batching_dims)
        of_update = [axis for axis in range(indices.ndim - 1) if axis not in of_batch]
        outer = [axis for axis in range(updates.ndim)
                 if axis not in dnums.update_window_dims]
        updates = updates.transpose([outer[axis] for axis in of_batch + of_update] +
                                    list(dnums.update_window_dims))
        count = math.prod(indices.shape[axis] for axis in of_update)
        batch = math.prod(operand.shape[axis] for axis in batching)
        updates = updates.reshape([batch, count] + sizes)
        indices = indices.transpose(of_batch + of_update + [indices.ndim - 1]).reshape(
            batch, count, len(places))
        # Indices at which updates begin, and whether they are in range.
        indices = _signed(indices, module)
        self.sizes, self.places, self.windows = sizes, places, updates
        self.begins, self.inside = [], module.full((batch, count), True)
        for position, axis in enumerate(places):
            begin = indices[:, :, position]
            last = indices.dtype.type(operand.shape[axis] - sizes[axis])
            if getattr(mode, "name", mode) == "CLIP":
                begin = module.clip(begin, indices.dtype.type(0), last)
            self.begins.append(begin)
            self.inside = self.inside & (begin >= 0) & (begin <= last)
        # A row spans the axes that no index selects, if updates have the operand's extent there.
        self.rows = [axis for axis in range(rank) if axis not in batching and (
            axis in places or sizes[axis] < operand.shape[axis])]
        self.columns = [axis for axis in range(rank)
                        if axis not in batching and axis not in self.rows]
        self.order = [*batching, *self.rows, *self.columns]
        self.count = math.prod(operand.shape[axis] for axis in self.rows)
        width = math.prod(operand.shape[axis] for axis in self.columns)
        number = module.zeros((batch, count), indices.dtype)
        stride = self.count
        for axis in self.rows:
            stride //= operand.shape[axis]
            place = module.arange(sizes[axis]).astype(indices.dtype)
            if axis in places:
                place = place + self.begins[places.index(axis)].reshape(
                    (batch, count) + (1,) * (number.ndim - 1))
            number = number[..., None] + place * indices.dtype.type(stride)
        inside = self.inside.reshape((batch, count) + (1,) * (number.ndim - 2))
        self.numbers = module.where(
            inside, number, indices.dtype.type(-1)).reshape(batch, -1)
        # With a single axis, an out-of-range number matches no row, so it need not become -1.
        is_one = self.rows == list(places) and len(places) == 1 and sizes[places[0]] == 1
        self.any_numbers = self.begins[0] if is_one else self.numbers
        self.updates = updates.transpose(
            [0, 1] + [2 + axis for axis in self.order]
        ).reshape(batch, -1, width)
        self.operand = operand.transpose(self.order).reshape(batch, self.count, width)

    def result(self, rows):
        """Returns `rows` as an array of the operand's shape."""
        shape = [self.shape[axis] for axis in self.order]
        return rows.reshape(shape).transpose(numpy.argsort(self.order))


# --- known rows -------------------------------------------------------------------------

def _table(numbers, count, most):
    """Returns (table, rows). Line i of the table lists positions of updates of row rows[i].

    Lines are padded with len(numbers). A row with more than `most` updates has several lines.
    """
    positions = numpy.argsort(numbers, kind="stable")
    positions = positions[numbers[positions] >= 0]
    owners, firsts, counts = numpy.unique(numbers[positions], return_index=True,
                                          return_counts=True)
    lines = [(owner, positions[first + i:first + min(i + most, n)])
             for owner, first, n in zip(owners, firsts, counts) for i in range(0, n, most)]
    table = numpy.full((len(lines), max((len(line) for _, line in lines), default=0)),
                       len(numbers), numpy.int32)
    for row, (_, line) in enumerate(lines):
        table[row, :len(line)] = line
    return table, numpy.array([owner for owner, _ in lines], numpy.int64)


def _known_reduce(numbers, updates, count, reduce, neutral):
    """Reduces updates [K, W] to one row [W] for each of `count` rows.

    Reads at most about three times as many rows as there are updates and rows, for any
    distribution of the updates.
    """
    while True:
        most = max(2, -(-2 * len(numbers) // count))
        table, owners = _table(numbers, count, most)
        padding = jnp.full((1,) + updates.shape[1:], neutral, updates.dtype)
        updates = reduce(jnp.concatenate([updates, padding])[table], axis=1).astype(
            updates.dtype)
        if len(numpy.unique(owners)) == len(owners):
            break
        numbers = owners
    line = numpy.full(count, len(owners), numpy.int32)
    line[owners] = numpy.arange(len(owners))
    return jnp.concatenate([updates, padding])[line]


def _known(rows, kind, function):
    batch, count = rows.numbers.shape[0], rows.count
    width = rows.operand.shape[-1]
    numbers = numpy.where(rows.numbers < 0, -1,
                          rows.numbers + count * numpy.arange(batch)[:, None]).reshape(-1)
    if numbers.max() < 0:
        return rows.result(rows.operand)
    updates = rows.updates.reshape(-1, width)
    operand = rows.operand.reshape(-1, width)
    if kind:
        operate, reduce, neutral = kind
        result = operate(operand, _known_reduce(numbers, updates, batch * count, reduce,
                                                neutral(updates.dtype)))
        return rows.result(result)
    last = numpy.full(batch * count, -1, numpy.int32)
    last[numbers[numbers >= 0]] = numpy.flatnonzero(numbers >= 0)  # later updates win
    new = function(operand, updates[numpy.maximum(last, 0)])
    return rows.result(jnp.where((last >= 0)[:, None], new, operand))


# --- unknown rows -----------------------------------------------------------------------

def _one(operand, rows, function):
    """Performs a single update. Reads and writes only the updated slice."""
    dtype = rows.begins[0].dtype if len(rows.begins) else jnp.int32
    begin = [jnp.zeros((), dtype)] * len(rows.shape)
    for position, axis in enumerate(rows.places):
        begin[axis] = jnp.clip(rows.begins[position][0, 0], 0,
                               rows.shape[axis] - rows.sizes[axis])
    old = lax.dynamic_slice(operand, begin, rows.sizes)
    new = function(old, rows.windows.reshape(rows.sizes))
    return lax.dynamic_update_slice(
        operand, jnp.where(rows.inside.reshape(()), new, old), begin)


def _compared(rows, kind):
    """Compares the number of each row with those of all updates, and updates the row."""
    # Represent rows of one element as scalars, so that code is vectorized over the updates.
    shape = rows.operand.shape[2:] if rows.operand.shape[2] > 1 else ()
    operands = rows.operand.reshape(rows.operand.shape[:2] + shape)
    updates = rows.updates.reshape(rows.updates.shape[:2] + shape)

    def one(operand, numbers, updates):
        def spread(array):
            return array.reshape(array.shape + (1,) * len(shape))

        hits = numbers == jnp.arange(rows.count, dtype=numbers.dtype)[:, None]  # [N, K]
        if kind:
            operate, reduce, neutral = kind
            updates = jnp.where(spread(hits), updates,
                                jnp.asarray(neutral(updates.dtype), updates.dtype))
            return operate(operand, reduce(updates, axis=1).astype(operand.dtype))
        position = jnp.arange(len(numbers), dtype=jnp.int32)
        last = jnp.where(hits, position, jnp.int32(-1)).max(axis=1)
        return jnp.where(spread(last >= 0), updates[jnp.maximum(last, 0)], operand)

    arrays = operands, rows.any_numbers, updates
    if len(operands) == 1:
        return rows.result(one(*(array[0] for array in arrays)))
    return rows.result(jax.vmap(one)(*arrays))


def _one_by_one(rows, function):
    """Runs a loop with one round for each update."""
    batch, count = rows.numbers.shape
    width = rows.operand.shape[-1]
    numbers = jnp.where(rows.numbers < 0, -1, rows.numbers + rows.count * jnp.arange(
        batch, dtype=rows.numbers.dtype)[:, None]).reshape(-1)

    def update(operand, pair):
        number, new = pair
        begin = jnp.maximum(number, 0), jnp.zeros((), number.dtype)
        old = lax.dynamic_slice(operand, begin, (1, width))
        new = jnp.where(number < 0, old, function(old, new[None]))
        return lax.dynamic_update_slice(operand, new, begin), None

    result, _ = lax.scan(update, rows.operand.reshape(-1, width),
                         (numbers, rows.updates.reshape(-1, width)))
    return rows.result(result)


# --- rules ------------------------------------------------------------------------------

def _scatter(operand, indices, updates, kind, function, params):
    if not (operand.size and updates.size):
        return operand
    rows = _Rows(operand, indices, updates, params["dimension_numbers"], params["mode"])
    if isinstance(indices, numpy.ndarray):
        numbers = rows.numbers.reshape(rows.numbers.shape[0], -1)
        different = all(len(numpy.unique(line)) == len(line) for line in
                        (line[line >= 0] for line in numbers))
        if kind or function is _take or different:
            return _known(rows, kind, function)
    if rows.inside.size == 1:
        return _one(operand, rows, function)
    if (kind or function is _take) and rows.count * rows.operand.shape[-1] <= _MOST_COMPARED:
        return _compared(rows, kind)
    return _one_by_one(rows, function)


def _take(old, new):
    return new


def _register(name, *kind):
    """Registers the rule for a scatter.

    kind: the operation, its reduction over an axis, and its neutral element by dtype. Empty
        for an operation in which the order of updates matters.
    """
    @rule(name, constant=1)
    def _(operand, indices, updates, *, update_jaxpr, update_consts, **params):
        function = kind[0] if kind else _take
        if not kind and update_jaxpr is not None:
            closed = core.ClosedJaxpr(update_jaxpr, update_consts)
            function = jnp.vectorize(
                lambda old, new: core.jaxpr_as_fun(closed)(old, new)[0])
        return _scatter(operand, indices, updates, kind, function, params)


_register("scatter")
_register("scatter-add", jnp.add, jnp.sum, lambda dtype: 0)
_register("scatter-sub", jnp.subtract, jnp.sum, lambda dtype: 0)
_register("scatter-mul", jnp.multiply, jnp.prod, lambda dtype: 1)
_register("scatter-max", jnp.maximum, jnp.max, least)
_register("scatter-min", jnp.minimum, jnp.min, greatest)
