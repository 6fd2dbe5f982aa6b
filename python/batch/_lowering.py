"""From a jaxpr to MLIR that the compiler reads.

Control (`while`, `scan`, `cond`) is written here; each run of equations without control
goes through jaxlib's own lowering, StableHLO to linalg. Only public names of JAX are
used.
"""

import collections
import contextlib
import itertools
import re

import jax
import numpy
from jax.extend import core
from jax.extend.mlir import ir, passmanager

from batch import _expand, _extents, _places, _stablehlo
from batch import _linear, _random, _rules, _scatter, _sort, _special  # noqa: F401
from batch._expand import (CONTROL, LoweringError, evaluate, open_jaxpr, place,
                           unknown_extent, variables)

_INLINE = "builtin.module(inline,symbol-dce,canonicalize,cse)"
_ELEMENTS = {"bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
             "uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64",
             "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


def element_type(dtype):
    name = getattr(dtype, "name", str(dtype))
    if name not in _ELEMENTS:
        raise LoweringError("elements of type %s are not supported" % name)
    return _ELEMENTS[name]


def _equal(a, b):
    """Whether two constants are the same: each path through a function makes its own of an
    array of NumPy's."""
    if not all(isinstance(value, (numpy.ndarray, jax.Array)) and not _expand.is_key(value)
               for value in (a, b)) or (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    return numpy.asarray(a).tobytes() == numpy.asarray(b).tobytes()


def tensor_type(aval):
    return "tensor<%s>" % "x".join([_extents.extent(n) for n in aval.shape] +
                                   [element_type(aval.dtype)])


def _select(lanes, new, old):
    """New values of the lanes that run."""
    shape = lanes.shape + (1,) * (new.ndim - lanes.ndim)
    return [jax.numpy.where(lanes.reshape(shape), new, old)]


_structure = {}


def lowers(name):
    """Registers what writes the equations of a primitive: a function of the lowering, the
    equation and the names of its operands that gives those of its results."""
    def register(function):
        _structure[name] = function
        return function
    return register


def _text(function):
    return function.get_asm(enable_debug_info=True, use_local_scope=True)


def _keep_concatenations(operation):
    """Concatenations of rows remain what they are: jaxlib's passes would choose an operand
    for each element."""
    for region in operation.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                inner = inner.operation
                _keep_concatenations(inner)
                types = [ir.RankedTensorType(value.type) for value in inner.operands] \
                    if inner.name == "stablehlo.concatenate" else []
                if not types or not all(
                        kind.has_static_shape and kind.shape[-1] >= _ROW and
                        isinstance(kind.element_type, ir.FloatType) for kind in types):
                    continue
                with ir.InsertionPoint(inner), inner.location:
                    made = ir.Operation.create(
                        "tensor.concat", results=[inner.results[0].type],
                        operands=list(inner.operands),
                        attributes={"dim": inner.attributes["dimension"]})
                inner.results[0].replace_all_uses_with(made.results[0])
                inner.erase()


_ROW = 16  # elements that are copied together


class Lowering:
    """Writes one module."""

    def __init__(self):
        self.functions = []
        self.numbers = itertools.count()
        self.lines = []
        self.depth = 2
        self.shared = []  # (name, value of a constant) that code refers to
        self.extents = {}  # by symbol, of ragged arguments
        self.places = _places.Places(_expand.line)
        self.place = 0  # of what is emitted
        self.types = {}  # of names that are no tensors
        self.opened = {}  # fields of values whose variant is known, by name
        self.data = None  # the declarations of data types
        self.symbols = {}  # names of functions, by what they are of (_functions.Spec)

    # Functions have all constants that are parameters, which are known at the end.
    PARAMETER_NAMES, PARAMETER_TYPES, PARAMETERS = "<values>", "<types>", "<arguments>"

    # Text.

    def emit(self, text, *arguments):
        text = text % arguments if arguments else text
        # An operation that goes on has its location at its end.
        where = ' loc("%s":%d:1)' % (_places.FILE, self.place) \
            if self.place and text[-1] not in "{:" else ""
        self.lines.append("  " * self.depth + text + where)

    def name(self, prefix="v"):
        return "%%%s%d" % (prefix, next(self.numbers))

    def fresh(self, types):
        """Names for values of these types."""
        names = [self.name() for _ in types]
        self.types.update((name, text) for name, text in zip(names, types)
                          if text[0] == "!")
        return names

    def type_of(self, name, aval):
        return self.types.get(name) or tensor_type(aval)

    @contextlib.contextmanager
    def region(self):
        """What is emitted in it is indented, and known in it only."""
        known = self.extents, self.opened
        self.extents, self.opened = map(dict, known)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            self.extents, self.opened = known

    @contextlib.contextmanager
    def aside(self):
        """What is emitted in it goes into the list that it gives."""
        before, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = before

    def symbol(self, spec):
        """The name of a function, which will be written."""
        if spec not in self.symbols:
            name = re.sub(r"[^A-Za-z0-9_]", "", spec.name) or "function"
            if re.match(r"main$|segment\d+$|\d", name):  # ours
                name = "function_" + name
            taken = set(self.symbols.values())
            names = itertools.chain(["@" + name], ("@%s.%d" % (name, i)
                                                   for i in itertools.count(1)))
            self.symbols[spec] = next(one for one in names if one not in taken)
        return self.symbols[spec]

    def constant(self, kind, value):
        name = self.name("c")
        self.emit("%s = arith.constant %s : %s", name, value, kind)
        return name

    # Values are names; an environment maps variables of a jaxpr to them.

    def read(self, environment, atom):
        if isinstance(atom, core.Literal):
            return self.literal(atom)
        return environment[atom]

    def literal(self, atom):
        value = numpy.asarray(atom.val, atom.aval.dtype)
        kind = element_type(atom.aval.dtype)
        if kind[0] == "i":
            number = "true" if kind == "i1" and value else "false" if kind == "i1" \
                else str(int(value.astype(numpy.int64)) if value.dtype.kind != "u" else
                         int(value.view(value.dtype.name[1:])))
        else:
            bits = {"f64": "Q", "f32": "I"}.get(kind, "H")
            size = {"Q": 8, "I": 4, "H": 2}[bits]
            raw = value.tobytes()[:size]
            number = "0x" + int.from_bytes(raw, "little").to_bytes(size, "big").hex().upper()
        return self.constant(tensor_type(atom.aval), "dense<%s>" % number)

    def run(self, jaxpr, environment):
        """Emits the equations of a jaxpr; returns the names of its results."""
        straight = []

        def flush(results=None):
            """Emits what these need, or all."""
            now = straight if results is None else _expand._live(straight, results)[0]
            if now:
                self.place = self.places.add(now)
                self.segment(now[:], jaxpr, environment)
                left = {id(equation) for equation in now}
                straight[:] = [e for e in straight if id(e) not in left]

        for equation in jaxpr.eqns:
            name = equation.primitive.name
            if name not in CONTROL:
                straight.append(equation)
                continue
            # Calls first: what does not need them comes together.
            flush(equation.invars if name in _structure else None)
            self.place = self.places.add([equation])
            values = [self.read(environment, atom) for atom in equation.invars]
            results = self.control(equation, values)
            environment.update(zip(equation.outvars, results))
        flush()
        return [self.read(environment, atom) for atom in jaxpr.outvars]

    def call(self, closed, values):
        """Emits what a closed jaxpr computes of these values."""
        jaxpr, constants = open_jaxpr(closed)
        environment = dict(zip(jaxpr.constvars, map(self.share, constants)))
        environment.update(zip(jaxpr.invars, values))
        place, known = self.place, (self.extents, self.opened)
        self.extents, self.opened = map(dict, known)
        results = self.run(jaxpr, environment)
        self.place, (self.extents, self.opened) = place, known
        return results

    def share(self, value):
        """The name of a parameter that has a constant array."""
        for name, known in self.shared:
            if known is value or self.symbols and _equal(known, value):
                return name
        name = "%%p%d" % len(self.shared)
        self.shared.append((name, value))
        return name

    # Straight lines.

    def segment(self, equations, jaxpr, environment):
        """A run of equations becomes a function of the module."""
        defined = {v for equation in equations for v in equation.outvars}
        inputs = list(dict.fromkeys(v for equation in equations
                                    for v in variables(equation.invars) if v not in defined))
        after = set()
        inside = {id(equation) for equation in equations}
        for equation in jaxpr.eqns:
            if id(equation) not in inside:
                after.update(variables(equation.invars))
        after.update(variables(jaxpr.outvars))
        outputs = [v for equation in equations for v in equation.outvars if v in after]
        if not outputs:
            return

        def compute(*values):
            return evaluate(equations, zip(inputs, values), outputs)

        shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in inputs]
        try:
            results = self.computed(compute, [environment[v] for v in inputs], shapes,
                                    [v.aval for v in outputs], equations)
        except LoweringError:
            # Which one is it?
            for equation in equations if len(equations) > 1 else ():
                self.segment([equation], jaxpr, collections.defaultdict(str, environment))
            raise
        environment.update(zip(outputs, results))

    def computed(self, compute, values, shapes, avals, equations):
        """Calls what JAX makes of a function of arrays of these shapes."""
        function = "@segment%d" % len(self.functions)
        # JAX wants arguments with these extents.
        used = _expand.extents_of([*shapes, *avals], equations)
        if used.difference(self.extents):
            raise LoweringError("%srows of a list that is first walked in a branch or a loop "
                                "are read outside of it: take the list's array before, or "
                                "reduce over the rows inside" % place(equations[0]))
        extents = {name: self.extents[name] for name in self.extents if name in used}
        values = [*values, *(extent.carrier for extent in extents.values())]
        shapes = [*shapes, *(extent.aval for extent in extents.values())]
        text, order = self.lower(compute, shapes, function, equations, list(extents))
        self.functions.append(text)
        numbers = [(self.extents[symbol].number, "tensor<%s>" % _extents.number_type())
                   for symbol in order]
        results = [self.name() for _ in avals]
        self.emit("%s = func.call %s(%s) : (%s) -> (%s)", ", ".join(results), function,
                  ", ".join([name for name, _ in numbers] + values),
                  ", ".join([kind for _, kind in numbers] + list(map(tensor_type, shapes))),
                  ", ".join(map(tensor_type, avals)))
        return results

    def lower(self, compute, shapes, function, equations, extents):
        """The text of a function that JAX has lowered, and the symbols whose numbers are
        its first arguments."""
        # A function of its own, or JAX would give the module of an earlier call.
        given = len(shapes) - len(extents)
        fresh = jax.jit(lambda *values: compute(*values[:given]), keep_unused=True)
        module = fresh.lower(*shapes).compiler_ir("stablehlo")
        with module.context:
            names = ", ".join(sorted({e.primitive.name for e in equations}))
            _keep_concatenations(module.operation)
            if extents:
                _extents.mark_broadcasts(module.operation)
            try:
                _stablehlo.run_passes(module.operation, inline=True)
                if extents:  # extents are found in one function
                    passmanager.PassManager.parse(_INLINE).run(module.operation)
            except ir.MLIRError as error:
                raise LoweringError("%s%s: %s" % (place(equations[0]), names,
                                                  str(error).splitlines()[0])) from None
            left = set()
            location = ir.Location.file(_places.FILE, self.place, 1)

            def visit(operation):
                operation.location = location
                if _stablehlo.is_left(operation):
                    left.add(operation.name)
                for region in operation.regions:
                    for block in region.blocks:
                        for argument in block.arguments:
                            argument.set_location(location)
                        for inner in block.operations:
                            visit(inner.operation)

            functions = list(module.body.operations)
            order, have_all = _extents.take_extents(functions[0], extents, given)
            if not have_all:
                raise unknown_extent(equations[0])
            for operation in functions:
                visit(operation.operation)
            if left:
                raise LoweringError("%snot supported in %s: %s" % (
                    place(equations[0]), names, ", ".join(sorted(left))))
            renamed = {}
            for entry in functions:
                for name in ("arg_attrs", "res_attrs"):
                    if name in entry.attributes:
                        del entry.attributes[name]
                entry.attributes["sym_visibility"] = ir.StringAttr.get("private")
                name = ir.StringAttr(entry.attributes["sym_name"]).value
                renamed[name] = function if name == "main" else \
                    "%s.%d" % (function, len(renamed))
            # The functions that the first one calls are its own.
            text = re.sub(r'@(?:"([^"]*)"|([\w$.-]+))',
                          lambda found: renamed[found[1] or found[2]],
                          "\n".join(map(_text, functions)))
            module = _stablehlo.signless(text)
            return "\n".join(map(_text, module.body.operations)) if module else text, order

    # Functions.

    def write(self):
        """The lines of all functions that are called."""
        from batch import _recursion
        lines, written = [], 0
        while written < len(self.symbols):
            spec = list(self.symbols)[written]
            written += 1
            self.extents, self.opened = {}, {}
            with self.aside() as body:
                head = _recursion.function(self, spec)
            lines += ["  " + head, *body, "  }"]
        return lines

    # Control.

    def control(self, equation, values):
        name = equation.primitive.name
        if name in _structure:
            return _structure[name](self, equation, values)
        return getattr(self, name + "_loop" if name != "cond" else "branch")(equation, values)

    def scalar(self, value, kind):
        result = self.name("s")
        self.emit("%s = tensor.extract %s[] : tensor<%s>", result, value, kind)
        return result

    def while_loop(self, equation, values):
        parameters = equation.params
        first, second = parameters["cond_nconsts"], parameters["body_nconsts"]
        test, body = values[:first], values[first:first + second]
        carried = values[first + second:]
        types = [self.type_of(name, v.aval) for name, v in zip(carried, equation.outvars)]
        results, before = self.fresh(types), self.fresh(types)
        self.emit("%s = scf.while (%s) : (%s) -> (%s) {",
                  ", ".join(results),
                  ", ".join("%s = %s" % pair for pair in zip(before, carried)),
                  ", ".join(types), ", ".join(types))
        self.depth += 1
        (goes_on,) = self.call(parameters["cond_jaxpr"], test + before)
        # A loop under jax.vmap goes on as long as any of its lanes does.
        (ends,) = open_jaxpr(parameters["cond_jaxpr"])[0].outvars
        lanes = jax.ShapeDtypeStruct(ends.aval.shape, bool)
        if lanes.shape:
            (goes_on,) = self.computed(lambda p: [p.any()], [goes_on], [lanes],
                                       [jax.ShapeDtypeStruct((), bool)], [equation])
        place = self.place
        condition = open_jaxpr(parameters["cond_jaxpr"])[0]
        ends = [e for e in condition.eqns if condition.outvars[0] in e.outvars]
        if ends:
            self.place = self.places.add(ends)
        self.emit("scf.condition(%s) %s : %s", self.scalar(goes_on, "i1"),
                  ", ".join(before), ", ".join(types))
        self.place = place
        self.depth -= 1
        self.emit("} do {")
        now = self.fresh(types)
        self.emit("^bb0(%s):", ", ".join("%s: %s" % pair for pair in zip(now, types)))
        self.depth += 1
        after = self.call(parameters["body_jaxpr"], body + now)
        if lanes.size > 1:
            (runs,) = self.call(parameters["cond_jaxpr"], test + now)
            avals = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype)
                     for v in equation.outvars]
            after = [self.computed(_select, [runs, new, old], [lanes, aval, aval], [aval],
                                   [equation])[0]
                     for new, old, aval in zip(after, now, avals)]
        self.emit("scf.yield %s : %s", ", ".join(after), ", ".join(types))
        self.depth -= 1
        self.emit("}")
        return results

    def scan_loop(self, equation, values):
        parameters = equation.params
        constants, carries = _expand.scan_counts(parameters)
        length = parameters["length"]
        fixed, first = values[:constants], values[constants:constants + carries]
        sequences = values[constants + carries:]
        sources = [atom.aval for atom in equation.invars[constants + carries:]]
        stacked = [v.aval for v in equation.outvars[carries:]]
        types = [self.type_of(name, v.aval) for name, v in zip(first, equation.outvars)]
        types += map(tensor_type, stacked)
        starts = list(first)
        for aval in stacked:
            zero = "false" if element_type(aval.dtype) == "i1" else \
                "0" if element_type(aval.dtype)[0] == "i" else "0.0"
            starts.append(self.constant(tensor_type(aval), "dense<%s>" % zero))
        if stacked and not isinstance(length, int):
            raise LoweringError("%sscan has results for each row of a ragged array, which is "
                                "not supported; carry what is needed" %
                                _expand.place(equation))
        bounds = [self.extent(n) for n in (0, length, 1)]
        index = self.name("i")
        results, now = self.fresh(types), self.fresh(types)
        self.emit("%sscf.for %s = %s to %s step %s%s {",
                  ", ".join(results) + " = " if results else "", index, *bounds,
                  " iter_args(%s) -> (%s)" % (
                      ", ".join("%s = %s" % pair for pair in zip(now, starts)),
                      ", ".join(types)) if results else "")
        self.depth += 1
        if parameters["reverse"]:
            one = self.constant("index", 1)
            last = self.name("i")
            self.emit("%s = arith.subi %s, %s : index", last, bounds[1], one)
            place = self.name("i")
            self.emit("%s = arith.subi %s, %s : index", place, last, index)
        else:
            place = index
        elements = [self.element(value, aval, place)
                    for value, aval in zip(sequences, sources)]
        after = self.call(parameters["jaxpr"], fixed + now[:carries] + elements)
        rows = [self.insert(value, into, aval, place) for value, into, aval in
                zip(after[carries:], now[carries:], stacked)]
        if results:
            self.emit("scf.yield %s : %s", ", ".join(after[:carries] + rows),
                      ", ".join(types))
        self.depth -= 1
        self.emit("}")
        return results

    def extent(self, n):
        """The name of an index."""
        if isinstance(n, int):
            return self.constant("index", n)
        if str(n) not in self.extents:
            raise LoweringError("a loop of %s rounds is not supported" % n)
        kind = _extents.number_type()
        number = self.scalar(self.extents[str(n)].number, kind)
        result = self.name("i")
        self.emit("%s = arith.index_cast %s : %s to index", result, number, kind)
        return result

    def _slice(self, aval, place):
        rest = ["0"] * (len(aval.shape) - 1)
        return "[%s] [%s] [%s]" % (", ".join([place] + rest),
                                   ", ".join(["1"] + [str(n) for n in aval.shape[1:]]),
                                   ", ".join(["1"] * len(aval.shape)))

    def _element_type(self, aval):
        return "tensor<%s>" % "x".join([str(n) for n in aval.shape[1:]] +
                                       [element_type(aval.dtype)])

    def element(self, value, aval, place):
        result = self.name()
        self.emit("%s = tensor.extract_slice %s%s : %s to %s", result, value,
                  self._slice(aval, place), tensor_type(aval), self._element_type(aval))
        return result

    def insert(self, value, into, aval, place):
        result = self.name()
        self.emit("%s = tensor.insert_slice %s into %s%s : %s into %s", result, value, into,
                  self._slice(aval, place), self._element_type(aval), tensor_type(aval))
        return result

    def branch(self, equation, values):
        branches = equation.params["branches"]
        kind = element_type(equation.invars[0].aval.dtype)
        which = self.scalar(values[0], kind)
        avals = [v.aval for v in equation.outvars]
        return self.choose(which, kind, branches, 0, values[1:], avals)

    def choose(self, which, kind, branches, first, values, avals):
        """The last branch takes all numbers above, the first one all below."""
        if first == len(branches) - 1:
            return self.call(branches[first], values)
        if kind == "i1":
            takes = which  # of two, the second
            order = [1, 0]
        else:
            bound = self.constant(kind, first)
            takes = self.name("s")
            self.emit("%s = arith.cmpi sle, %s, %s : %s", takes, which, bound, kind)
            order = [first, None]
        regions, ends = [], []
        for number in order:
            self.depth += 1
            with self.aside() as lines:
                ends.append(self.call(branches[number], values) if number is not None else
                            self.choose(which, kind, branches, first + 1, values, avals))
                types = list(map(self.type_of, ends[-1], avals))
                if types:
                    self.emit("scf.yield %s : %s", ", ".join(ends[-1]), ", ".join(types))
            self.depth -= 1
            regions.append(lines)
        results = self.fresh(types)
        self.emit("%sscf.if %s%s {", ", ".join(results) + " = " if results else "", takes,
                  " -> (%s)" % ", ".join(types) if results else "")
        self.lines += regions[0]
        self.emit("} else {")
        self.lines += regions[1]
        self.emit("}")
        return results


def lower(closed, shared, recursion=None):
    """The module of a closed jaxpr, whose arguments `shared` (a list of bools) are the
    same for all instances. Returns the text, the constants that are parameters, "p0",
    "p1", …, and the places that it names. Arguments are "a0", …, results "r0", …

    recursion: of what calls functions of batch.function, a _functions.Types of its arguments
        and results.
    """
    names, numbers = (
        [i for i, v in enumerate(values) if not _expand.is_empty(v.aval)]
        for values in (closed.jaxpr.invars, closed.jaxpr.outvars))
    shared = [shared[i] for i in names]
    kinds = [recursion.arguments[i] if recursion else None for i in names]
    names = ["%%a%d" % i for i in names]
    closed = _expand.expand(closed)
    lowering = Lowering()
    jaxpr, constants = open_jaxpr(closed)
    if recursion:
        from batch import _recursion
        lowering.data = _recursion.Types(recursion.constructed, recursion.results)
        lowering.types.update((name, lowering.data.text(kind)) for name, kind in
                              zip(names, kinds) if kind)
    for name, v in zip(names, jaxpr.invars):
        for symbol in _extents.of([v.aval.shape[:1]]):
            lowering.extents.setdefault(symbol, _extents.Extent(
                "%" + symbol, name, jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype)))
    environment = dict(zip(jaxpr.constvars, map(lowering.share, constants)))
    environment.update(zip(jaxpr.invars, names))
    for v in jaxpr.outvars:
        if _extents.of([v.aval.shape]):
            makers = [place(equation) for equation in jaxpr.eqns if v in equation.outvars]
            raise LoweringError("%sa result has as many rows as a ragged argument, which is "
                                "not supported: reduce over them" % "".join(makers[:1]))
    extents = list(lowering.extents.items())
    results = lowering.run(jaxpr, environment)
    types = [lowering.type_of(name, atom.aval) for name, atom in
             zip(results, jaxpr.outvars)]
    if not types:  # all results are empty, and an entry has some
        types, numbers = ["tensor<i1>"], [0]
        results = [lowering.constant(types[0], "dense<false>")]
    main, functions = lowering.lines, lowering.write() if recursion else []
    arguments = ["%s: %s {batch.%s = \"%s\"}" % (
        name, lowering.type_of(name, v.aval), "shared" if is_shared else "name", name[1:])
        for name, v, is_shared in zip(names, jaxpr.invars, shared)]
    arguments += ["%s: tensor<%s> {batch.name = \"%s\"}" % (
        extent.number, _extents.number_type(), symbol) for symbol, extent in extents]
    constants = [(name, tensor_type(_expand.type_of(value)))
                 for name, value in lowering.shared]
    arguments += ["%s: %s {batch.shared = \"%s\"}" % (name, kind, name[1:])
                  for name, kind in constants]
    lines = ["module {"]
    if recursion:
        lines += lowering.data.lines()
    lines += ["  " + line for function in lowering.functions
              for line in function.splitlines()]
    lines += functions
    lines.append("  func.func @main(%s) -> (%s) attributes {batch.entry} {" % (
        ", ".join(arguments), ", ".join("%s {batch.name = \"r%d\"}" % (kind, i)
                                        for i, kind in zip(numbers, types))))
    lines += main
    lines += ["    return %s : %s" % (", ".join(results), ", ".join(types)), "  }", "}", ""]
    text = "\n".join(lines)
    for mark, parts in ((lowering.PARAMETER_NAMES, (name for name, _ in constants)),
                        (lowering.PARAMETER_TYPES, (kind for _, kind in constants)),
                        (lowering.PARAMETERS, map("%s: %s".__mod__, constants))):
        text = _join(text, mark, list(parts))
    return text, [value for _, value in lowering.shared], lowering.places


def _join(text, mark, parts):
    """Puts parts in the place of a mark, at the end of a list."""
    text = text.replace("(" + mark, "(" + ", ".join(parts))
    return text.replace(mark, "".join(", " + part for part in parts))
