"""Lowering of a jaxpr to the MLIR that the compiler reads.

Registered functions emit control flow (`while`, `scan`, `cond`). jaxlib lowers each sequence of
equations without control flow, from StableHLO to linalg. Only public names of JAX are used.
"""

import collections
import contextlib
import itertools
import re

import jax
import numpy
from jax.extend import core
from jax.extend.mlir import ir, passmanager

from batch.core.errors import LoweringError
from batch.core.source_map import FILE, SourceMap
from batch.lowering.ragged_extents import mark_broadcasts, take_extents
from batch.lowering.recursion import write_function
from batch.lowering.registry import writers
from batch.lowering.segments import INLINE, assembly_text, keep_concatenations
from batch.lowering.stablehlo import is_left, run_passes, signless
from batch.lowering.types import element_type, tensor_type
from batch.tracing.extents import extents_of, number_type
from batch.tracing.jaxprs import (
    CONTROL,
    STRUCTURE,
    evaluate,
    is_key,
    open_jaxpr,
    variables,
)
from batch.tracing.liveness import live_equations
from batch.tracing.locations import describe_place, source_line, unknown_extent


def _equal(a, b):
    """Returns whether two constants are equal arrays.

    Each path through a function creates its own constant for a NumPy array.
    """
    if not all(isinstance(value, (numpy.ndarray, jax.Array)) and not is_key(value)
               for value in (a, b)) or (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    return numpy.asarray(a).tobytes() == numpy.asarray(b).tobytes()


class ModuleWriter:
    """Writes one module."""

    def __init__(self):
        self.functions = []
        self.numbers = itertools.count()
        self.lines = []
        self.depth = 2
        self.shared = []  # (name, value) of the constants that code refers to
        self.extents = {}  # symbol → Extent, of ragged arguments
        self.source_map = SourceMap(source_line)
        self.place = 0  # location of emitted operations, 0 for none
        self.types = {}  # name → type, of values that are not tensors
        self.opened = {}  # name → fields, of values with a known variant
        self.data = None  # declarations of data types
        self.symbols = {}  # tracing.functions.Spec → name of its function

    # Every function receives all constants as parameters, which are known only at the end. Until
    # then, the text has these marks in place of the parameters.
    PARAMETER_NAMES, PARAMETER_TYPES, PARAMETERS = "<values>", "<types>", "<arguments>"

    # Text.

    def emit(self, text, *arguments):
        text = text % arguments if arguments else text
        # An operation with regions has its location on its last line.
        where = f' loc("{FILE}":{self.place}:1)' \
            if self.place and text[-1] not in "{:" else ""
        self.lines.append("  " * self.depth + text + where)

    def name(self, prefix="v"):
        return f"%{prefix}{next(self.numbers)}"

    def fresh(self, types):
        """Returns new names for values of these types."""
        names = [self.name() for _ in types]
        self.types.update((name, text) for name, text in zip(names, types)
                          if text[0] == "!")
        return names

    def type_of(self, name, aval):
        return self.types.get(name) or tensor_type(aval)

    @contextlib.contextmanager
    def region(self):
        """Context of a region: text is indented, and extents and known fields are local."""
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
        """Context that yields a list and collects the emitted lines in it."""
        before, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = before

    def emit_if(self, condition, types, regions):
        """Emits an `scf.if` with the lines of its two regions and returns the names of its
        results."""
        results = self.fresh(types)
        self.emit("%sscf.if %s%s {", ", ".join(results) + " = " if results else "", condition,
                  " -> ({})".format(", ".join(types)) if results else "")
        self.lines += regions[0]
        self.emit("} else {")
        self.lines += regions[1]
        self.emit("}")
        return results

    def symbol(self, spec):
        """Returns the name of a function, which write() emits later."""
        if spec not in self.symbols:
            name = re.sub(r"[^A-Za-z0-9_]", "", spec.name) or "function"
            if re.match(r"main$|segment\d+$|\d", name):  # reserved names
                name = "function_" + name
            taken = set(self.symbols.values())
            names = itertools.chain(["@" + name], (f"@{name}.{i}"
                                                   for i in itertools.count(1)))
            self.symbols[spec] = next(one for one in names if one not in taken)
        return self.symbols[spec]

    def constant(self, kind, value):
        name = self.name("c")
        self.emit("%s = arith.constant %s : %s", name, value, kind)
        return name

    # Names represent values. An environment maps the variables of a jaxpr to names.

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
        return self.constant(tensor_type(atom.aval), f"dense<{number}>")

    def run(self, jaxpr, environment):
        """Emits the equations of a jaxpr and returns the names of its results."""
        straight = []

        def flush(results=None):
            """Emits the pending equations that `results` depend on, by default all."""
            now = straight if results is None else live_equations(straight, results)[0]
            if now:
                self.place = self.source_map.add(now)
                self.segment(now[:], jaxpr, environment)
                left = {id(equation) for equation in now}
                straight[:] = [e for e in straight if id(e) not in left]

        for equation in jaxpr.eqns:
            name = equation.primitive.name
            if name not in CONTROL:
                straight.append(equation)
                continue
            # Before a call, emit only the equations that it needs. The others form one segment
            # after the call.
            flush(equation.invars if name in STRUCTURE else None)
            self.place = self.source_map.add([equation])
            values = [self.read(environment, atom) for atom in equation.invars]
            results = self.control(equation, values)
            environment.update(zip(equation.outvars, results))
        flush()
        return [self.read(environment, atom) for atom in jaxpr.outvars]

    def call(self, closed, values):
        """Emits a closed jaxpr for these values and returns the names of its results."""
        jaxpr, constants = open_jaxpr(closed)
        environment = dict(zip(jaxpr.constvars, map(self.share, constants)))
        environment.update(zip(jaxpr.invars, values))
        place, known = self.place, (self.extents, self.opened)
        self.extents, self.opened = map(dict, known)
        results = self.run(jaxpr, environment)
        self.place, (self.extents, self.opened) = place, known
        return results

    def share(self, value):
        """Returns the name of the parameter for a constant array; adds the parameter if it is
        new."""
        for name, known in self.shared:
            if known is value or self.symbols and _equal(known, value):
                return name
        name = f"%p{len(self.shared)}"
        self.shared.append((name, value))
        return name

    # Straight-line code.

    def segment(self, equations, jaxpr, environment):
        """Emits a sequence of equations as a function of the module, and a call of it."""
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
            # Find the equation that fails.
            for equation in equations if len(equations) > 1 else ():
                self.segment([equation], jaxpr, collections.defaultdict(str, environment))
            raise
        environment.update(zip(outputs, results))

    def computed(self, compute, values, shapes, avals, equations):
        """Lowers `compute` with JAX for these shapes, and emits a call of the resulting function.

        Returns the names of the results. Raises LoweringError for rows of a list that are read
        outside of the branch or loop that first uses the list.
        """
        function = f"@segment{len(self.functions)}"
        # JAX requires an argument for each extent that the code uses.
        used = extents_of([*shapes, *avals], equations)
        if used.difference(self.extents):
            raise LoweringError(
                f"{describe_place(equations[0])}rows of a list are read outside of the branch or "
                "loop that first uses the list; read list.array before the branch or loop, or "
                "reduce over the rows inside")
        extents = {name: self.extents[name] for name in self.extents if name in used}
        values = [*values, *(extent.carrier for extent in extents.values())]
        shapes = [*shapes, *(extent.aval for extent in extents.values())]
        text, order = self.lower(compute, shapes, function, equations, list(extents))
        self.functions.append(text)
        try:
            types = list(map(tensor_type, avals))
        except LoweringError as error:
            raise LoweringError(describe_place(equations[0]) + str(error)) from None
        numbers = [(self.extents[symbol].number, f"tensor<{number_type()}>")
                   for symbol in order]
        results = [self.name() for _ in avals]
        self.emit("%s = func.call %s(%s) : (%s) -> (%s)", ", ".join(results), function,
                  ", ".join([name for name, _ in numbers] + values),
                  ", ".join([kind for _, kind in numbers] + list(map(tensor_type, shapes))),
                  ", ".join(types))
        return results

    def lower(self, compute, shapes, function, equations, extents):
        """Returns the text of a function that JAX lowers, and a list of symbols.

        The numbers of these symbols are the first arguments of the function.
        """
        # Create a new function, because JAX would otherwise return the module of an earlier call.
        given = len(shapes) - len(extents)
        fresh = jax.jit(lambda *values: compute(*values[:given]), keep_unused=True)
        module = fresh.lower(*shapes).compiler_ir("stablehlo")
        with module.context:
            names = ", ".join(sorted({e.primitive.name for e in equations}))
            keep_concatenations(module.operation)
            if extents:
                mark_broadcasts(module.operation)
            try:
                run_passes(module.operation, inline=True)
                if extents:  # take_extents() searches a single function
                    passmanager.PassManager.parse(INLINE).run(module.operation)
            except ir.MLIRError as error:
                reason = re.search(r"error: .*?: ([^:\n]+)", str(error))  # without the location
                raise LoweringError(f"{describe_place(equations[0])}jaxlib cannot lower {names}: "
                                    f"{reason[1] if reason else error}") from None
            left = set()
            location = ir.Location.file(FILE, self.place, 1)

            def visit(operation):
                operation.location = location
                if is_left(operation):
                    left.add(operation.name)
                for region in operation.regions:
                    for block in region.blocks:
                        for argument in block.arguments:
                            argument.set_location(location)
                        for inner in block.operations:
                            visit(inner.operation)

            functions = list(module.body.operations)
            order, have_all = take_extents(functions[0], extents, given)
            if not have_all:
                raise unknown_extent(equations[0])
            for operation in functions:
                visit(operation.operation)
            if left:
                raise LoweringError(f"{describe_place(equations[0])}jaxlib cannot lower {names}; "
                                    f"unsupported operations: {', '.join(sorted(left))}")
            renamed = {}
            for entry in functions:
                for name in ("arg_attrs", "res_attrs"):
                    if name in entry.attributes:
                        del entry.attributes[name]
                entry.attributes["sym_visibility"] = ir.StringAttr.get("private")
                name = ir.StringAttr(entry.attributes["sym_name"]).value
                renamed[name] = function if name == "main" else \
                    f"{function}.{len(renamed)}"
            # Functions that the first function calls are named after the first function.
            text = re.sub(r'@(?:"([^"]*)"|([\w$.-]+))',
                          lambda found: renamed[found[1] or found[2]],
                          "\n".join(map(assembly_text, functions)))
            module = signless(text)
            return "\n".join(map(assembly_text, module.body.operations)) if module else text, order

    # Functions.

    def write(self):
        """Returns the lines of all functions that are called."""
        lines, written = [], 0
        while written < len(self.symbols):
            spec = list(self.symbols)[written]
            written += 1
            self.extents, self.opened = {}, {}
            with self.aside() as body:
                head = write_function(self, spec)
            lines += ["  " + head, *body, "  }"]
        return lines

    # Control.

    def control(self, equation, values):
        return writers[equation.primitive.name](self, equation, values)

    def scalar(self, value, kind):
        result = self.name("s")
        self.emit("%s = tensor.extract %s[] : tensor<%s>", result, value, kind)
        return result
