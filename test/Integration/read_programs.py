"""Random programs, as text and as Python functions. They read tensors at indices that are data.
random_reads.py runs them. Indices are elements (unchanged, clamped or masked), sums of
integer tensors, counters, or results of reads at other indices.
"""

import batchtest

INTEGERS = ("i32", "i64")
RANGES = {"i32": 32, "i64": 64}


class OutOfRange(Exception):
    """An index is out of range, which ends the program with an error."""


# --- numbers, and tensors as nested lists ----------------------------------------


def fix(kind, value):
    """Returns a number rounded or wrapped to an element type."""
    if kind == "f32":
        return batchtest.narrow(value)
    if kind in RANGES:
        half = 1 << (RANGES[kind] - 1)
        return (value + half) % (2 * half) - half
    return value


def element(tensor, *indices):
    for index in indices:
        if not 0 <= index < len(tensor):
            raise OutOfRange
        tensor = tensor[index]
    return tensor


def pick(tensor, offsets, sizes, strides):
    """Returns a slice of `tensor`, including its unit dimensions."""
    if not offsets:
        return tensor
    return [pick(element(tensor, offsets[0] + i * strides[0]), offsets[1:], sizes[1:],
                 strides[1:]) for i in range(sizes[0])]


def flat(tensor):
    if not isinstance(tensor, list):
        return [tensor]
    return [value for part in tensor for value in flat(part)]


def elementwise(function, *tensors):
    if not isinstance(tensors[0], list):
        return function(*tensors)
    return [elementwise(function, *parts) for parts in zip(*tensors)]


def shaped(shape, draw):
    if not shape:
        return draw()
    return [shaped(shape[1:], draw) for _ in range(shape[0])]


def tensor_type(shape, kind):
    return "tensor<%s%s>" % ("".join("%sx" % ("?" if extent is None else extent)
                                     for extent in shape), kind)


# --- programs ---------------------------------------------------------------------


class Block:
    """Code as text and as functions of an environment {name: value}, and the values that the code
    can use: vectors, and indices below the program's `most`"""

    def __init__(self, outer=None, depth=0):
        self.lines, self.steps, self.depth = [], [], depth
        self.vectors = list(outer.vectors) if outer else []
        self.indices = list(outer.indices) if outer else []
        self.counters = list(outer.counters) if outer else []
        self.sources = list(outer.sources) if outer else []

    def run(self, env):
        for step in self.steps:
            step(env)


class Source:
    """A tensor that is read. `least` is its minimum number of rows."""

    def __init__(self, name, shape, kind, least, place):
        self.name, self.shape, self.least, self.place = name, shape, least, place
        self.type = tensor_type(shape, kind)
        self.columns = shape[-1]
        self.ragged = shape[0] is None and place != "shared"


class Program:
    def __init__(self, generator):
        g = self.g = generator
        self.number = 0
        self.kind = g.choice(("f32", "f32", "f64", "i32", "i64"))
        self.width = g.choice((1, 3, 4, 8, 16, 19))
        self.most = g.choice((3, 4, 5))
        self.largest = 2**40  # largest out-of-range index; smaller if indices bound loops
        self.vector = tensor_type((self.width,), self.kind)
        self.letter = "f" if self.kind[0] == "f" else "i"
        self.arguments = []  # (name, type, place, shape, element type, function that draws)
        self.top = Block()
        self.make_arguments()
        self.results = []
        for _ in range(g.randint(2, 5)):
            self.results.append(self.statement(self.top))
        self.strategy = "lockstep" if g.random() < 0.2 and not any(
            source.ragged for source in self.top.sources) else "auto"

    # --- arguments and sources

    def argument(self, name, shape, kind, place, draw):
        typename = tensor_type(shape, kind) if shape is not None else kind
        self.arguments.append((name, typename, place, shape, kind, draw))
        return "%" + name

    def draw_element(self, generator):
        if self.letter == "i":
            return generator.randint(-20, 20)
        return generator.randint(-32, 32) / 4

    def source_shape(self, first):
        g = self.g
        rows = self.most + g.randrange(5)
        columns = self.width + g.choice((0, self.most - 1,
                                         self.width + self.most + g.randrange(3)))
        middle = (self.most + g.randrange(2),) if g.random() < 0.25 else ()
        return rows, (rows if first else None,) + middle + (columns,)

    def make_arguments(self):
        g = self.g
        length = self.length = self.most + 1
        below = lambda generator: generator.randrange(self.most)
        wide = lambda generator: generator.randint(-100, 100)
        self.plain = [(self.argument("a", (length,), "i32", "input", below), "i32"),
                      (self.argument("b", (length,), "i64", "input", below), "i64"),
                      (self.argument("T", (length,), "i64", "shared", below), "i64")]
        self.wide = [(self.argument("w", (length,), kind, "input", wide), kind)
                     for kind in (g.choice(INTEGERS),)]
        self.bound = self.argument("k", (), "i32", "input", below)
        self.limit = self.argument("n", None, "index", "input", below)
        self.flags = self.argument("f", (length,), "i1", "input",
                                   lambda generator: generator.random() < 0.5)
        for name, first, place in (("P", True, "shared"), ("E", False, "shared"),
                                   ("x", True, "input"), ("s", False, "input")):
            if g.random() < 0.25 and (name != "s" or self.top.sources):
                continue
            least, shape = self.source_shape(first)
            if name == "s" and len(shape) > 2:
                shape = shape[:1] + shape[-1:]
            self.argument(name, shape, self.kind, place, self.draw_element)
            self.top.sources.append(Source("%" + name, shape, self.kind, least, place))
        zero = self.op(self.top, "arith.constant dense<%s> : %s" % (
            self.literal(0), self.vector), lambda: [self.value(0)] * self.width)
        self.top.vectors.append(zero)
        self.zero = zero
        self.structural = any(source.ragged for source in self.top.sources)
        for source in list(self.top.sources):
            if source.place == "input" and not source.ragged and g.random() < 0.5:
                self.top.sources.append(self.compute_source(self.top, source))

    def compute_source(self, block, source):
        """Returns a source that a kernel computes: twice the source `source`."""
        def function(tensor, *_):
            return elementwise(lambda value: fix(self.kind, value + value), tensor)
        if source.ragged:
            zero = self.constant(block, 0)
            count = self.op(block, "tensor.dim {}, {} : %s" % source.type,
                            lambda t, _: len(t), source.name, zero)
            empty = self.op(block, "tensor.empty({}) : %s" % source.type,
                           lambda _: None, count)
            name = self.op(
                block, "linalg.add ins({0}, {0} : %s, %s) outs({1} : %s) -> %s" % (
                    (source.type,) * 4), function, source.name, empty)
        else:
            name = self.op(block, "arith.add%s {0}, {0} : %s" % (
                self.letter, source.type), function, source.name)
        return Source(name, source.shape, self.kind, source.least,
                      "ragged" if source.ragged else "computed")

    # --- operations

    def new(self):
        self.number += 1
        return "%%v%d" % self.number

    def op(self, block, text, function, *operands):
        """Adds one operation with one result."""
        name = self.new()
        block.lines.append("%s = %s" % (name, text.format(*operands)))

        def step(env):
            env[name] = function(*[env[operand] for operand in operands])
        block.steps.append(step)
        return name

    def literal(self, value):
        return str(float(value)) if self.letter == "f" else str(int(value))

    def value(self, value):
        return float(value) if self.letter == "f" else int(value)

    def constant(self, block, value, kind="index"):
        return self.op(block, "arith.constant %d : %s" % (value, kind), lambda: value)

    def binary(self, block, x, y):
        """Combines two vectors."""
        name = self.g.choice(("add", "add", "sub", "max", "min"))
        function = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b,
                    "max": max, "min": min}[name]
        code = name + self.letter
        if name in ("max", "min"):
            code = name + ("imumf" if self.letter == "f" else "si")
        return self.op(block, "arith.%s {}, {} : %s" % (code, self.vector),
                       lambda s, t: elementwise(
                           lambda a, b: fix(self.kind, function(a, b)), s, t), x, y)

    # --- indices

    def place(self, block):
        """Returns the position of a read in a tensor of `length` elements."""
        names = block.counters + block.indices
        if names and self.g.random() < 0.5:
            return self.g.choice(names)
        return self.constant(block, self.g.randrange(self.length))

    def integer(self, block, tensors):
        """Returns an element of an integer tensor, and its type."""
        name, kind = self.g.choice(tensors)
        at = self.place(block)
        return self.op(block, "tensor.extract {}[{}] : %s" % tensor_type(
            (self.length,), kind), element, name, at), kind

    def cast(self, block, number, kind):
        return self.op(block, "arith.index_cast {} : %s to index" % kind,
                       lambda value: value, number)

    def clamp(self, block, name, kind, limit, shape=None):
        """Returns an integer or a tensor of integers, clamped to the range 0 to limit - 1."""
        typename = kind if shape is None else tensor_type(shape, kind)
        written = "%d" if shape is None else "dense<%d>"
        low = self.op(block, "arith.constant %s : %s" % (written % 0, typename),
                      lambda: 0)
        high = self.op(block, "arith.constant %s : %s" % (
            written % (limit - 1), typename), lambda: 0)
        name = self.op(block, "arith.maxsi {}, {} : %s" % typename,
                       lambda t, _: elementwise(lambda v: max(v, 0), t), name, low)
        return self.op(block, "arith.minsi {}, {} : %s" % typename,
                       lambda t, _: elementwise(lambda v: min(v, limit - 1), t), name,
                       high)

    def index(self, block, limit, decides=False):
        """Returns an index below `limit`, unless elements of inputs are out of range.
        If there are ragged tensors, indices that determine control flow are not computed
        elements, because only strategies for structural control flow support ragged tensors."""
        kind = self.g.choice(("constant", "counter", "plain", "plain", "plain",
                              "clamped", "masked", "carried") +
                             (() if decides and self.structural else
                              ("tensor", "sum")))
        if kind == "counter" and block.counters:
            return self.g.choice(block.counters)
        if kind == "carried" and block.indices:
            return self.g.choice(block.indices)
        if kind == "constant":
            return self.constant(block, self.g.randrange(limit))
        if kind == "clamped":
            name, of = self.integer(block, self.wide)
            return self.cast(block, self.clamp(block, name, of, limit), of)
        if kind == "masked":
            name, of = self.integer(block, self.wide)
            mask = 3 if limit > 3 else 1
            bits = self.constant(block, mask, of)
            return self.cast(block, self.op(
                block, "arith.andi {}, {} : %s" % of, lambda a, b: a & b, name, bits), of)
        if kind == "tensor":
            name, of = self.g.choice(self.wide)
            others = [other for other, its in self.plain if its == of]
            if others:
                name = self.op(block, "arith.addi {}, {} : %s" % tensor_type(
                    (self.length,), of), lambda s, t: elementwise(
                        lambda a, b: fix(of, a + b), s, t), name,
                    self.g.choice(others))
            name = self.clamp(block, name, of, limit, (self.length,))
            return self.cast(block, *self.integer(block, [(name, of)]))
        if kind == "sum":
            name, of = self.g.choice(self.plain)
            start = self.op(block, "arith.constant dense<0> : tensor<%s>" % of,
                            lambda: 0)
            total = self.op(
                block, "linalg.reduce {{ arith.addi }} ins({} : %s) outs({} : "
                "tensor<%s>) dimensions = [0]" % (tensor_type((self.length,), of), of),
                lambda t, _: fix(of, sum(t)), name, start)
            number = self.op(block, "tensor.extract {}[] : tensor<%s>" % of,
                             lambda value: value, total)
            return self.cast(block, self.clamp(block, number, of, limit), of)
        return self.cast(block, *self.integer(block, self.plain))

    # --- reads: each returns a vector

    def read(self, block):
        source = self.g.choice(block.sources)
        # Compute a ragged tensor next to its read: it cannot leave the code that computes it.
        if source.ragged and self.g.random() < 0.3:
            source = self.compute_source(block, source)
        forms = [self.read_slice, self.read_slice, self.read_slice, self.read_element,
                 self.read_body, self.read_body]
        if not source.ragged and source.place != "ragged" and len(source.shape) == 2:
            forms += [self.read_gather, self.read_generated]
        if source.shape[0] is not None:
            forms += [self.read_prefix]
        return self.g.choice(forms)(block, source)

    def step_that_fits(self, extent, count):
        """Returns a stride with which `count` positions fit into the extent, for any first index
        below `most`."""
        steps = [step for step in (1, 2, 3)
                 if (count - 1) * step + self.most <= extent]
        return self.g.choice(steps) if steps else None

    def slice(self, block, source, offsets, sizes, strides, shape):
        """Adds a slice. Drops the unit dimensions that `shape` lacks."""
        names = [offset for offset in offsets if isinstance(offset, str)]

        def function(tensor, *values):
            values = list(values)
            at = [values.pop(0) if isinstance(offset, str) else offset
                  for offset in offsets]
            parts = iter(flat(pick(tensor, at, sizes, strides)))
            return shaped(shape, lambda: next(parts))
        text = "tensor.extract_slice {}[%s] [%s] [%s] : %s to %s" % (
            ", ".join("{}" if isinstance(offset, str) else str(offset)
                      for offset in offsets),
            ", ".join(map(str, sizes)), ", ".join(map(str, strides)), source.type,
            tensor_type(shape, self.kind))
        return self.op(block, text, function, source.name, *names)

    def column_offset(self, block, source, count):
        """Returns the offset and the stride of a slice of `count` columns."""
        step = self.step_that_fits(source.columns, count)
        if step is None:
            return 0, 1
        return self.index(block, source.columns - (count - 1) * step), step

    def read_slice(self, block, source):
        g, width = self.g, self.width
        padded = width > 2 and g.random() < 0.2
        count = width - 2 if padded else width
        rows = g.choice((1, 1, 2)) if not padded else 1
        step = self.step_that_fits(source.least, rows)
        if step is None:
            rows, step = 1, 1
        offsets = [self.index(block, source.least - (rows - 1) * step)]
        sizes, strides = [rows], [step]
        if len(source.shape) == 3:
            offsets.append(self.index(block, source.shape[1]))
            sizes.append(1)
            strides.append(1)
        at, step = self.column_offset(block, source, count)
        offsets.append(at)
        sizes.append(count)
        strides.append(step)
        if rows > 1:
            whole = self.slice(block, source, offsets, sizes, strides, (rows, count))
            return self.sum_rows(block, whole, rows)
        shape = (count,)
        if g.random() < 0.5:
            units = len(sizes) - 1
            shape = (1,) * units + shape
            kept = self.slice(block, source, offsets, sizes, strides, shape)
            name = self.op(block, "tensor.collapse_shape {} [[%s]] : %s into %s" % (
                ", ".join(map(str, range(units + 1))), tensor_type(shape, self.kind),
                tensor_type((count,), self.kind)), flat, kept)
        else:
            name = self.slice(block, source, offsets, sizes, strides, shape)
        return self.pad(block, name, count) if padded else name

    def pad(self, block, name, count):
        before = self.g.randrange(3)
        filler = self.op(block, "arith.constant %s : %s" % (self.literal(1), self.kind),
                         lambda: self.value(1))
        return self.op(
            block, "tensor.pad {} low[%d] high[%d] {{\n^bb0(%%i: index):\ntensor.yield "
            "{} : %s\n}} : %s to %s" % (before, 2 - before, self.kind, tensor_type(
                (count,), self.kind), self.vector),
            lambda t, v: [v] * before + t + [v] * (2 - before), name, filler)

    def sum_rows(self, block, name, rows):
        """Returns the sum or the maximum of rows."""
        sums = self.g.random() < 0.6
        code = "add" + self.letter if sums else (
            "maximumf" if self.letter == "f" else "maxsi")

        def function(tensor, start):
            for row in tensor:
                start = [fix(self.kind, a + b) if sums else max(a, b)
                         for a, b in zip(start, row)]
            return start
        return self.op(
            block, "linalg.reduce {{ arith.%s }} ins({} : %s) outs({} : %s) "
            "dimensions = [0]" % (code, tensor_type((rows, self.width), self.kind),
                                  self.vector), function, name, self.zero)

    def read_prefix(self, block, source):
        """Reads n + 1 rows, where n is an index."""
        g, rows, first = self.g, source.shape[0], self.g.randrange(2)
        one = self.constant(block, 1)
        count = self.op(block, "arith.addi {}, {} : index", lambda a, b: a + b,
                        self.index(block, rows - first), one)
        middle = [self.index(block, source.shape[1])] if len(source.shape) == 3 else []
        at, step = self.column_offset(block, source, self.width)
        names = middle + [at] if isinstance(at, str) else middle
        typename = tensor_type((None, self.width), self.kind)

        def take(tensor, number, *more):
            more = list(more)
            second = [more.pop(0)] if middle else []
            column = more.pop(0) if isinstance(at, str) else at
            if not 0 <= number <= rows - first:
                raise OutOfRange
            units = [1] * len(second)
            whole = pick(tensor, [first] + second + [column], [number] + units +
                         [self.width], [1] + units + [step])
            return [row[0] for row in whole] if middle else whole
        unit = "1, " if middle else ""
        name = self.op(
            block, "tensor.extract_slice {}[%d, %s%s] [{1}, %s%d] [1, %s%d] : %s to %s"
            .replace("{}", "{0}") % (
                first, "{2}, " if middle else "", "{%d}" % (2 + len(middle))
                if isinstance(at, str) else at, unit, self.width, unit, step, source.type,
                typename), take, source.name, count, *names)
        if g.random() < 0.5:
            name = self.op(block, "arith.add%s {0}, {0} : %s" % (self.letter, typename),
                           lambda t: elementwise(lambda v: fix(self.kind, v + v), t),
                           name)
        if g.random() < 0.6:
            return self.sum_rows(block, name, None)
        last = self.op(block, "arith.subi {}, {} : index", lambda a, b: a - b, count, one)
        return self.op(block, "tensor.extract_slice {}[{}, 0] [1, %d] [1, 1] : %s to %s" % (
            self.width, typename, self.vector), element, name, last)

    def read_element(self, block, source):
        indices = [self.index(block, extent or source.least) for extent in source.shape]
        value = self.op(block, "tensor.extract {}[%s] : %s" % (
            ", ".join(["{}"] * len(indices)), source.type), element, source.name,
            *indices)
        return self.op(block, "tensor.splat {} : %s" % self.vector,
                       lambda v: [v] * self.width, value)

    def read_body(self, block, source):
        """Generates a linalg.generic whose body reads the rows that a tensor of indices selects."""
        g, width, rows = self.g, self.width, self.length
        clamped = g.random() < 0.5
        name, kind = g.choice(self.wide if clamped else self.plain)
        limit = source.least
        middle = [self.index(block, source.shape[1])] if len(source.shape) == 3 else []
        shift = [self.index(block, source.columns - width + 1)] \
            if source.columns >= width + self.most - 1 else []
        sums = g.random() < 0.5
        value = self.new()[1:]
        code = ["^bb0(%%id: %s, %%o: %s):" % (kind, self.kind)]
        index = "%id"
        if clamped:
            code += ["%%z%s = arith.constant 0 : %s" % (value, kind),
                     "%%m%s = arith.constant %d : %s" % (value, limit - 1, kind),
                     "%%l%s = arith.maxsi %%id, %%z%s : %s" % (value, value, kind),
                     "%%h%s = arith.minsi %%l%s, %%m%s : %s" % (
                         value, value, value, kind)]
            index = "%h" + value
        code += ["%%i%s = arith.index_cast %s : %s to index" % (value, index, kind),
                 "%%j%s = linalg.index 1 : index" % value]
        column = "%j" + value
        if shift:
            code.append("%%c%s = arith.addi %s, %s : index" % (value, column, shift[0]))
            column = "%c" + value
        code.append("%%e%s = tensor.extract %s[%s] : %s" % (
            value, source.name, ", ".join(["%i" + value] + middle + [column]),
            source.type))
        result = "%e" + value
        if sums:
            code.append("%%s%s = arith.add%s %s, %%o : %s" % (
                value, self.letter, result, self.kind))
            result = "%s" + value
        code.append("linalg.yield %s : %s" % (result, self.kind))
        shape = (width,) if sums else (rows, width)
        out = self.zero if sums else self.op(
            block, "tensor.empty() : %s" % tensor_type(shape, self.kind), lambda: None)

        def function(tensor, ids, start, *more):
            more = list(more)
            second = [more.pop(0)] if middle else []
            first = more.pop(0) if shift else 0
            found = []
            for i in ids:
                i = max(0, min(i, limit - 1)) if clamped else i
                found.append([element(tensor, i, *second, first + j)
                              for j in range(width)])
            if not sums:
                return found
            for row in found:
                start = [fix(self.kind, a + b) for a, b in zip(start, row)]
            return start
        maps = "affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (%s)>" % (
            "j" if sums else "i, j")
        text = ("linalg.generic {{indexing_maps = [%s], iterator_types = [\"%s\", "
                "\"parallel\"]}} ins({1} : %s) outs({2} : %s) {{\n%s\n}} -> %s" % (
                    maps, "reduction" if sums else "parallel", tensor_type(
                        (rows,), kind), tensor_type(shape, self.kind), "\n".join(code),
                    tensor_type(shape, self.kind)))
        name = self.op(block, text, function, source.name, name, out,
                       *(middle + shift))
        return name if sums else self.sum_rows(block, name, rows)

    def read_gather(self, block, source):
        if source.columns != self.width:
            return self.read_slice(block, source)
        g, rows, width = self.g, self.length, self.width
        clamped = g.random() < 0.5
        name, kind = g.choice(self.wide if clamped else self.plain)
        if clamped:
            name = self.clamp(block, name, kind, source.least, (rows,))
        ids = self.op(block, "arith.index_cast {} : %s to %s" % (
            tensor_type((rows,), kind), tensor_type((rows,), "index")), list, name)
        places = tensor_type((rows, 1), "index")
        ids = self.op(block, "tensor.expand_shape {} [[0, 1]] output_shape [%d, 1] : "
                      "%s into %s" % (rows, tensor_type((rows,), "index"), places),
                      list, ids)
        units = g.random() < 0.5
        shape = (rows, 1, width) if units else (rows, width)
        name = self.op(
            block, "tensor.gather {}[{}] gather_dims([0]) : (%s, %s) -> %s" % (
                source.type, places, tensor_type(shape, self.kind)),
            lambda t, at: [element(t, i) for i in at], source.name, ids)
        if units:
            name = self.op(block, "tensor.collapse_shape {} [[0, 1], [2]] : %s into %s" %
                           (tensor_type(shape, self.kind), tensor_type(
                               (rows, width), self.kind)), list, name)
        return self.sum_rows(block, name, rows)

    def read_generated(self, block, source):
        row = self.index(block, source.least)
        width, column, code, more = self.width, "%j", "", []
        if source.columns >= width + self.most - 1:
            more = [self.index(block, source.columns - width + 1)]
            column, code = "%c", "%%c = arith.addi %%j, %s : index\n" % more[0]
        text = ("tensor.generate {{\n^bb0(%%j: index):\n%s%%v = tensor.extract {}[{}, "
                "%s] : %s\ntensor.yield %%v : %s\n}} : %s" % (
                    code, column, source.type, self.kind, self.vector))
        return self.op(block, text, lambda t, i, first=0: [
            element(t, i, first + j) for j in range(width)], source.name, row, *more)

    # --- control

    def statement(self, block):
        """Adds code; returns a vector that depends on it."""
        g = self.g
        kind = g.choice(("read", "read", "for", "while", "if")) \
            if block.depth < 2 else "read"
        if kind == "read":
            name = self.read(block)
            if g.random() < 0.5:
                name = self.binary(block, g.choice(block.vectors), name)
        else:
            name = {"for": self.loop, "while": self.while_loop,
                    "if": self.branch}[kind](block)
        block.vectors.append(name)
        return name

    def body(self, block):
        """Adds statements. Returns a vector that depends on all of them."""
        total = block.vectors[-1]
        for _ in range(self.g.randint(1, 2)):
            total = self.binary(block, total, self.statement(block))
        return total

    def loop(self, block):
        """Adds an scf.for whose bound is an element of an input or an index."""
        g, first = self.g, block.vectors[-1]
        bound = self.limit
        if g.random() >= 0.3:
            bound = self.index(block, self.most + 1, True)
            self.largest = 200
        zero, one = self.constant(block, 0), self.constant(block, 1)
        carries = g.random() < 0.5  # whether the loop also carries an index
        start = self.index(block, self.most, True) if carries else None
        name = self.new()
        inner = Block(block, block.depth + 1)
        counter, total, at = (name + letter for letter in "tak")
        inner.counters.append(counter)
        inner.vectors.append(total)
        if carries:
            inner.indices.append(at)
        next_total = self.body(inner)
        next_at = self.index(inner, self.most, True) if carries else None
        block.lines.append("%s%s = scf.for %s = %s to %s step %s iter_args(%s = %s%s) "
                           "-> (%s%s) {" % (
                               name, ":2" if carries else "", counter, zero, bound, one,
                               total, first, ", %s = %s" % (at, start)
                               if carries else "", self.vector,
                               ", index" if carries else ""))
        block.lines += inner.lines
        block.lines.append("scf.yield %s%s : %s%s\n}" % (
            next_total, ", " + next_at if carries else "", self.vector,
            ", index" if carries else ""))
        result = name + "#0" if carries else name

        def step(env):
            env[total] = env[first]
            env[at] = env.get(start)
            for i in range(env[bound]):
                env[counter] = i
                inner.run(env)
                env[total], env[at] = env[next_total], env.get(next_at)
            env[result], env[name + "#1"] = env[total], env[at]
        block.steps.append(step)
        if carries and g.random() < 0.5:
            block.indices.append(name + "#1")
        return result

    def while_loop(self, block):
        """Adds an scf.while as front ends write it: the counter is a rank-0 tensor. The loop
        may carry a tensor that it only reads."""
        g, first = self.g, block.vectors[-1]
        zero, one = (self.op(block, "arith.constant dense<%d> : tensor<i32>" % number,
                             lambda number=number: number) for number in (0, 1))
        carried = g.choice([None] + [source for source in block.sources
                                     if not source.ragged and source.place != "ragged"])
        name = self.new()
        inner = Block(block, block.depth + 1)
        i, total, weights, j, counter = (name + letter for letter in "iawjt")
        if carried:
            inner.sources.append(Source(weights, carried.shape, self.kind,
                                        carried.least, carried.place))
        inner.vectors.append(total)
        inner.counters.append(counter)
        next_total = self.body(inner)
        more = (", " + carried.type) if carried else ""
        types = "tensor<i32>, %s%s" % (self.vector, more)
        block.lines += [
            "%s:%d = scf.while (%s = %s, %sb = %s%s) : (%s) -> (%s) {" % (
                name, 3 if carried else 2, i, zero, name, first,
                ", %su = %s" % (name, carried.name) if carried else "", types, types),
            "%sl = arith.cmpi slt, %s, %s : tensor<i32>" % (name, i, self.bound),
            "%sg = tensor.extract %sl[] : tensor<i1>" % (name, name),
            "scf.condition(%sg) %s, %sb%s : %s\n} do {" % (
                name, i, name, ", %su" % name if carried else "", types),
            "^bb0(%s: tensor<i32>, %s: %s%s):" % (
                j, total, self.vector, ", %s: %s" % (weights, carried.type)
                if carried else ""),
            "%se = tensor.extract %s[] : tensor<i32>" % (name, j),
            "%s = arith.index_cast %se : i32 to index" % (counter, name)]
        block.lines += inner.lines
        block.lines += [
            "%sn = arith.addi %s, %s : tensor<i32>" % (name, j, one),
            "scf.yield %sn, %s%s : %s\n}" % (
                name, next_total, ", " + weights if carried else "", types)]

        def step(env):
            env[total] = env[first]
            if carried:
                env[weights] = env[carried.name]
            for number in range(env[self.bound]):
                env[counter] = number
                inner.run(env)
                env[total] = env[next_total]
            env[name + "#1"] = env[total]
        block.steps.append(step)
        return name + "#1"

    def condition(self, block):
        kind = self.g.choice(("flag", "integer", "element"))
        if kind == "flag":
            return self.op(block, "tensor.extract {}[{}] : %s" % tensor_type(
                (self.length,), "i1"), element, self.flags, self.place(block))
        if kind == "integer":
            number, of = self.integer(block, self.plain + self.wide)
            other = self.constant(block, 1, of)
            return self.op(block, "arith.cmpi sgt, {}, {} : %s" % of,
                           lambda a, b: a > b, number, other)
        sources = [source for source in block.sources
                   if source.place in ("input", "shared") and len(source.shape) == 2]
        if not sources:
            return self.op(block, "arith.constant true", lambda: True)
        source = self.g.choice(sources)
        indices = [self.index(block, extent or source.least, True)
                   for extent in source.shape]
        value = self.op(block, "tensor.extract {}[%s] : %s" % (
            ", ".join(["{}"] * len(indices)), source.type), element, source.name,
            *indices)
        zero = self.op(block, "arith.constant %s : %s" % (self.literal(0), self.kind),
                       lambda: self.value(0))
        return self.op(block, "arith.cmp%s %s, {}, {} : %s" % (
            self.letter, "ogt" if self.letter == "f" else "sgt", self.kind),
            lambda a, b: a > b, value, zero)

    def branch(self, block):
        condition = self.condition(block)
        name = self.new()
        block.lines.append("%s = scf.if %s -> (%s) {" % (name, condition, self.vector))
        sides = []
        for end in ("} else {", "}"):
            inner = Block(block, block.depth + 1)
            result = self.body(inner) if end == "} else {" or self.g.random() < 0.6 \
                else self.g.choice(block.vectors)
            block.lines += inner.lines
            block.lines.append("scf.yield %s : %s\n%s" % (result, self.vector, end))
            sides.append((inner, result))

        def step(env):
            inner, result = sides[0 if env[condition] else 1]
            inner.run(env)
            env[name] = env[result]
        block.steps.append(step)
        return name

    # --- the whole program

    def text(self):
        arguments = ", ".join("%%%s: %s {batch.%s = \"%s\"}" % (
            name, typename, "shared" if place == "shared" else "name", name)
            for name, typename, place, _, _, _ in self.arguments)
        results = ", ".join("%s {batch.name = \"r%d\"}" % (self.vector, i)
                            for i in range(len(self.results)))
        return "func.func @main(%s) -> (%s) attributes {batch.entry} {\n%s\n" \
            "return %s : %s\n}\n" % (
                arguments, results, "\n".join(self.top.lines), ", ".join(self.results),
                ", ".join([self.vector] * len(self.results)))

    def draw(self, generator, place):
        """Returns {argument: value} of an instance, or of the parameters."""
        values = {}
        for name, _, its, shape, _, element_of in self.arguments:
            if its != place:
                continue
            shape = shape or ()
            if None in shape:
                least = next(s.least for s in self.top.sources if s.name == "%" + name)
                shape = (least + generator.choice((0, 0, 1, 5)),) + shape[1:]
            values[name] = shaped(shape, lambda: element_of(generator))
        return values

    def evaluate(self, shared, instance):
        """Returns the results, or None if the instance fails."""
        env = {"%" + name: value
               for values in (shared, instance) for name, value in values.items()}
        try:
            self.top.run(env)
        except OutOfRange:
            return None
        return [env[result] for result in self.results]
