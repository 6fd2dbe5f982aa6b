#!/usr/bin/env python3
"""Tests random recursive programs over random data types, on random forests.

  random_programs.py [--programs=N | --minutes=N] [--forests=M] [--seed=S] [--first=K] [--keep]
                     [--waits]

Makes N programs and runs each on M mini-batches, batched and unbatched, on one to three threads,
each of which inspects if it can. All bits and all counts must be equal. A program has one to
three ADTs that refer to each other, with scalar, ADT and list fields, with lists and list-shaped
ADTs, and one or two functions per ADT that call each other. Its cases mix embedding rows,
products with parameters, elementwise code, conditionals on scalar fields, maps and folds over
lists, and lists that grow. Forests have single leaves, empty lists, lists of up to 64 elements,
shared nodes and rests of lists, and chains of up to 10,000 nodes. With --waits, conditionals,
loops and the choice of a child also depend on computed tensors (strategy `lazy`). Then, neither
the number of threads nor calls that wait at the same time may change any bit. The seed
determines everything: --first=K --programs=1 runs only program K, and --keep keeps its files.
"""

import argparse
import os
import random
import shutil
import sys
import time

import batchtest

VOCABULARY = 24
DEEPEST = 10000
LISTS = ("list", "links")  # lists are declared as lists or as list-shaped ADTs


# --- data types -------------------------------------------------------------

class Variant:
    def __init__(self, name, fields):
        self.name, self.fields = name, fields  # fields: (name, kind, ADT number)

    def recursive(self):
        return [field for field in self.fields if field[1] == "adt"]


def random_adts(generator):
    """Returns lists of variants; the first variant of each ADT has no ADT field."""
    count = generator.choice((1, 1, 2, 3))
    adts = []
    for number in range(count):
        variants = []
        least = 1 if number else 2  # the type of the forest, which is type 0, is recursive
        for v in range(generator.randint(least, 4)):
            fields = []
            for f in range(generator.randint(0 if v else 1, 2)):
                kind = generator.choice(("index", "index", "i1", "f32", "i64"))
                fields.append(("s%d" % f, kind, None))
            recursive = 0 if v == 0 else generator.randint(1, 3)
            for f in range(recursive):
                kind = generator.choice(("adt", "adt") + LISTS)
                kid = generator.choice((number, generator.randrange(count)))
                fields.append(("k%d" % f, kind, kid))
            if v == 0 and generator.random() < 0.25:
                fields.append(("k0", generator.choice(LISTS),
                               generator.randrange(count)))
            generator.shuffle(fields)
            variants.append(Variant("v%d_%d" % (number, v), fields))
        adts.append(variants)
    return adts


# --- programs ---------------------------------------------------------------

PARAMETERS = (("E", "!emb"), ("W", "!mat"), ("V", "!mat"), ("U", "!wide"),
              ("b", "!vec"))
NAMES = ", ".join("%" + name for name, _ in PARAMETERS)
TYPES = ", ".join(kind for _, kind in PARAMETERS)

HELPERS = """
  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }
  func.func private @rows(%xs: !rows, %W: !mat, %a: !vec) -> !rows {
    %zero = arith.constant 0 : index
    %n = tensor.dim %xs, %zero : !rows
    %empty = tensor.empty(%n) : !rows
    %init = linalg.broadcast ins(%a : !vec) outs(%empty : !rows) dimensions = [0]
    %ys = linalg.matmul indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>]
        ins(%xs, %W : !rows, !mat) outs(%init : !rows) -> !rows
    %zs = math.tanh %ys : !rows
    return %zs : !rows
  }
"""


class Program:
    """Text of a random program over ADTs"""

    def __init__(self, generator, adts, waits):
        self.g, self.adts, self.number, self.waits = generator, adts, 0, waits
        self.width = generator.choice((1, 3, 8, 16, 20))
        self.functions = [generator.choice((1, 1, 2)) for _ in adts]
        self.lines = []

    def new(self):
        self.number += 1
        return "%%t%d" % self.number

    def emit(self, text):
        self.lines.append(text)

    def field_type(self, kind, number, result=False):
        adt = "!rec.adt<@%s%s>" % ("R" if result else "A", number)
        links = "!rec.adt<@L%s>" % number
        # A map returns a list of its results, whichever kind of list it walks.
        return {"adt": adt, "list": "!rec.list<%s>" % adt,
                "links": "!rec.list<%s>" % adt if result else links}.get(kind, kind)

    def op(self, code, *operands):
        name = self.new()
        self.emit("%s = %s" % (name, code.format(*operands)))
        return name

    def call(self, adt, value):
        """Adds a call to a function of an ADT. Returns its results: a vector and a value."""
        h, r = self.new(), self.new()
        self.emit("%s, %s = func.call @f%d_%d(%s, %s) : (!rec.adt<@A%d>, %s) "
                  "-> (!vec, !rec.adt<@R%d>)" %
                  (h, r, adt, self.g.randrange(self.functions[adt]), value, NAMES,
                   adt, TYPES, adt))
        return h, r

    def unary(self, x):
        kind = self.g.randrange(6)
        if kind == 0:
            return self.op("math.tanh {} : !vec", x)
        if kind == 1:
            return self.op("func.call @sigmoid({}) : (!vec) -> !vec", x)
        if kind == 2:
            zero = self.op("arith.constant dense<0.0> : !vec")
            return self.op("arith.maximumf {}, {} : !vec", x, zero)
        init = "%b"
        if kind == 3:
            init = self.op("arith.constant dense<0.0> : !vec")
        return self.op("linalg.matvec ins({}, {} : !mat, !vec) outs({} : !vec) "
                       "-> !vec", self.g.choice(("%W", "%V")), x, init)

    def binary(self, x, y):
        kind = self.g.randrange(5)
        if kind == 4:
            pair = self.op("tensor.concat dim(0) {}, {} : (!vec, !vec) -> !pair",
                           x, y)
            return self.op("linalg.matvec ins(%U, {} : !wide, !pair) "
                           "outs(%b : !vec) -> !vec", pair)
        return self.op("arith.%s {}, {} : !vec" %
                       ("addf", "mulf", "subf", "maximumf")[kind], x, y)

    def is_positive(self, x):
        """Adds a condition that control flow waits for: an element of a vector is positive."""
        place = self.op("arith.constant %d : index" % self.g.randrange(self.width))
        element = self.op("tensor.extract {}[{}] : !vec", x, place)
        zero = self.op("arith.constant 0.0 : f32")
        return self.op("arith.cmpf ogt, {}, {} : f32", element, zero)

    def append(self, rows, *values):
        """Appends values to rows. Sometimes appends twice to the same rows and drops a result."""
        for value in values:
            longer = self.op("rec.append {}, {} : !rows", rows, value)
            if self.g.random() < 0.3:
                longer = self.op("rec.append {}, {} : !rows", rows, self.unary(value))
            rows = longer
        return rows

    def loop(self, x):
        """Adds a loop of up to three rounds, which ends when an element is not positive. Rounds
        may read the results of all earlier rounds."""
        h, n, a, i, rows, r = (self.new() for _ in range(6))
        zero, one, most = (self.op("arith.constant %d : i64" % k) for k in (0, 1, 3))
        none = self.op("rec.empty : !rows")
        types = "!vec, i64, !rows"
        self.emit("%s, %s, %s = scf.while (%s = %s, %s = %s, %s = %s) : (%s) -> (%s) {"
                  % (h, n, rows, a, x, i, zero, r, none, types, types))
        goes_on = self.op("arith.andi {}, {} : i1", self.is_positive(a),
                          self.op("arith.cmpi slt, {}, {} : i64", i, most))
        self.emit("scf.condition(%s) %s, %s, %s : %s\n} do {\n"
                  "^bb0(%s: !vec, %s: i64, %s: !rows):"
                  % (goes_on, a, i, r, types, a, i, r))
        if self.g.random() < 0.3:
            a = self.op("arith.addf {}, {} : !vec", a, self.reduced(r))
        values = [a] * self.g.randrange(3)
        self.emit("scf.yield %s, %s, %s : %s\n}" % (
            self.unary(a), self.op("arith.addi {}, {} : i64", i, one),
            self.append(r, *values), types))
        return self.op("arith.addf {}, {} : !vec", h, self.reduced(rows))

    def conditional(self, condition, x, y):
        """Adds a conditional with tensor code in its branches."""
        name = self.new()
        self.emit("%s = scf.if %s -> (!vec) {" % (name, condition))
        self.emit("scf.yield %s : !vec" % self.unary(x))
        self.emit("} else {")
        self.emit("scf.yield %s : !vec" % self.g.choice(
            (lambda: self.binary(x, y), lambda: y))())
        self.emit("}")
        return name

    def over_list(self, kind, adt, value):
        """Adds a map over a list, and code that combines the results of the map into one
        vector."""
        hs, rs = self.new(), self.new()
        self.emit("%s, %s = rec.map %%k: !rec.adt<@A%d> in %s : %s -> "
                  "!rows, !rec.list<!rec.adt<@R%d>> {" %
                  (hs, rs, adt, value, self.field_type(kind, adt), adt))
        h, r = self.call(adt, "%k")
        if self.g.random() < 0.3:
            h = self.unary(h)
        self.emit("rec.yield %s, %s : !vec, !rec.adt<@R%d>" % (h, r, adt))
        self.emit("}")
        if self.g.random() < 0.25:
            hs = self.history(hs)
        kind = self.g.randrange(4)
        if kind == 0:
            name = self.new()
            self.emit("%s = rec.fold %%e in %s init(%%acc = %%b) : !rows -> !vec {"
                      % (name, hs))
            self.emit("rec.yield %s : !vec" %
                      self.op("math.tanh {} : !vec", self.binary("%acc", "%e")))
            self.emit("}")
            return name, rs
        if kind == 1:
            hs = self.op("func.call @rows({}, %V, %b) : (!rows, !mat, !vec) -> "
                         "!rows", hs)
        return self.reduced(hs), rs

    def reduced(self, rows):
        combiner = self.g.choice(("addf", "addf", "maximumf"))
        init = self.g.choice(("%b", self.op("arith.constant dense<0.5> : !vec")))
        return self.op("linalg.reduce {{ arith.%s }} ins({} : !rows) "
                       "outs({} : !vec) dimensions = [0]" % combiner, rows, init)

    def history(self, hs):
        """Appends each row of a list, sometimes with a value computed from it, to the list itself
        or to an empty list."""
        name, before = self.new(), self.new()
        start = self.g.choice((hs, self.op("rec.empty : !rows")))
        self.emit("%s = rec.fold %%e in %s init(%s = %s) : !rows -> !rows {" %
                  (name, hs, before, start))
        after = self.append(before, *["%e", self.unary("%e")][:self.g.randint(1, 2)])
        self.emit("rec.yield %s : !rows\n}" % after)
        return name

    def case(self, adt, variant):
        vectors, conditions, results, nodes = [], [], [], []
        for name, kind, number in variant.fields:
            value = "%" + name
            if kind == "index" and self.g.random() < 0.75:
                vectors.append(self.op(
                    "tensor.extract_slice %%E[{}, 0] [1, %d] [1, 1] : !emb to !vec"
                    % self.width, value))
            elif kind in ("index", "i64"):
                bound = self.op("arith.constant %d : %s" %
                                (self.g.randrange(VOCABULARY), kind))
                conditions.append(self.op("arith.cmpi sle, {}, {} : %s" % kind,
                                          value, bound))
            elif kind == "i1":
                conditions.append(value)
            elif kind == "f32":
                vectors.append(self.op("tensor.splat {} : !vec", value))
            elif kind == "adt":
                h, r = self.call(number, value)
                vectors.append(h)
                results.append((r, kind, number))
                nodes.append((value, number))
            else:
                h, r = self.over_list(kind, number, value)
                vectors.append(h)
                results.append((r, kind, number))
        if self.waits and vectors and self.g.random() < 0.7:
            conditions.append(self.is_positive(self.g.choice(vectors)))
        pairs = [(x, y) for x, i in nodes for y, j in nodes if x < y and i == j]
        if pairs and conditions and self.g.random() < 0.3:
            # A condition selects one of two children, and the selected child is read again.
            (x, y), chosen = self.g.choice(pairs), self.new()
            number = dict(nodes)[x]
            kind = "!rec.adt<@A%d>" % number
            self.emit("%s = scf.if %s -> (%s) {\nscf.yield %s : %s\n} else {\n"
                      "scf.yield %s : %s\n}" % (chosen, conditions[0], kind, x,
                                                kind, y, kind))
            vectors.append(self.call(number, chosen)[0])
        if not vectors:
            vectors.append("%b")  # equal for all nodes, so the kernel is constant
        for condition in conditions:
            vectors.append(self.conditional(condition, self.g.choice(vectors),
                                            self.g.choice(vectors)))
        for _ in range(self.g.randint(0, 3)):
            vectors.append(self.g.choice((
                lambda: self.unary(self.g.choice(vectors)),
                lambda: self.binary(self.g.choice(vectors),
                                    self.g.choice(vectors))))())
        if self.waits and self.g.random() < 0.4:
            vectors.append(self.loop(self.g.choice(vectors)))
        total = vectors[0]
        for vector in vectors[1:]:
            total = self.op("arith.addf {}, {} : !vec", total, vector)
        h = self.op("math.tanh {} : !vec", total)
        operands = ", ".join([r for r, _, _ in results] + [h])
        types = ", ".join([self.field_type(kind, number, True)
                           for _, kind, number in results] + ["!vec"])
        out = self.op("rec.construct @R%d::@%s({}) : (%s) -> !rec.adt<@R%d>" %
                      (adt, variant.name, types, adt), operands)
        self.emit("rec.yield %s, %s : !vec, !rec.adt<@R%d>" % (h, out, adt))

    def text(self):
        d, emit = self.width, self.emit
        emit("!vec = tensor<%dxf32>\n!pair = tensor<%dxf32>\n!mat = tensor<%dx%dxf32>"
             "\n!wide = tensor<%dx%dxf32>\n!emb = tensor<?x%dxf32>\n"
             "!rows = tensor<?x%dxf32>\nmodule {" %
             (d, 2 * d, d, d, d, 2 * d, d, d))
        for result in (False, True):
            for number, variants in enumerate(self.adts):
                emit("rec.adt @%s%d {" % ("R" if result else "A", number))
                for variant in variants:
                    fields = ["%s: %s" % (name, self.field_type(kind, adt, result))
                              for name, kind, adt in variant.fields
                              if not result or adt is not None]
                    emit("rec.variant @%s(%s)" % (
                        variant.name,
                        ", ".join(fields + ["h: !vec"] * result)))
                emit("}")
        for number in range(len(self.adts)):
            emit("rec.adt @L%d {\nrec.variant @end%d()\nrec.variant @link%d("
                 "first: !rec.adt<@A%d>, rest: !rec.adt<@L%d>)\n}" % ((number,) * 5))
        emit(HELPERS)
        arguments = ", ".join("%%%s: %s" % p for p in PARAMETERS)
        for adt, variants in enumerate(self.adts):
            for function in range(self.functions[adt]):
                emit("func.func private @f%d_%d(%%v: !rec.adt<@A%d>, %s) -> (!vec, "
                     "!rec.adt<@R%d>) {" % (adt, function, adt, arguments, adt))
                emit("%%h, %%r = rec.match %%v : !rec.adt<@A%d> -> !vec, "
                     "!rec.adt<@R%d> {" % (adt, adt))
                for variant in variants:
                    emit("case @%s(%s) {" % (variant.name, ", ".join(
                        "%%%s: %s" % (name, self.field_type(kind, number))
                        for name, kind, number in variant.fields)))
                    self.case(adt, variant)
                    emit("}")
                emit("}\nreturn %%h, %%r : !vec, !rec.adt<@R%d>\n}" % adt)
        shared = ", ".join('%%%s: %s {batch.shared = "%s"}' % (name, kind, name)
                           for name, kind in PARAMETERS)
        emit('func.func @main(%%v: !rec.adt<@A0> {batch.name = "value"}, %s) -> '
             '(!rec.adt<@R0> {batch.name = "states"}, !vec {batch.name = "root"}) '
             "attributes {batch.entry} {" % shared)
        h, r = self.call(0, "%v")
        if self.waits:  # ensures that there is at least one wait
            h = self.loop(h)
        emit("return %s, %s : !rec.adt<@R0>, !vec\n}\n}" % (r, h))
        return "\n".join(self.lines) + "\n"


# --- forests ----------------------------------------------------------------

class Forest:
    """Random values of ADT 0. Each is a flat list of its nodes, so it may have any depth."""

    def __init__(self, generator, adts):
        self.g, self.adts = generator, adts

    def scalar(self, kind):
        if kind == "f32":
            return round(self.g.uniform(-1, 1), 3)
        return self.g.randrange(2 if kind == "i1" else VOCABULARY)

    def value(self, size, sharing, chain, widest):
        """Returns a value of about `size` nodes. A node refers only to earlier nodes."""
        nodes, made = [], [[] for _ in self.adts]
        links = [[] for _ in self.adts]

        def make_list(kind, adt, elements):
            """Returns the value of a list field."""
            refs = [{"ref": element} for element in elements]
            if kind == "list":
                return refs
            pool = links[adt]
            if pool and self.g.random() < sharing:
                rest = self.g.choice(pool[-40:])
            else:
                nodes.append(["end%d" % adt])
                rest = len(nodes) - 1
            for ref in reversed(refs):
                nodes.append(["link%d" % adt, ref, {"ref": rest}])
                rest = len(nodes) - 1
            pool.append(rest)
            return {"ref": rest}

        def add(adt, variant):
            fields = []
            for name, kind, number in variant.fields:
                if kind == "adt":
                    fields.append({"ref": pick(number)})
                elif kind in LISTS:
                    count = self.g.choice((0, 1, 2, 3, self.g.randint(0, widest)))
                    if not made[number] and self.g.random() < 0.5:
                        count = 0
                    fields.append(make_list(kind, number,
                                            [pick(number) for _ in range(count)]))
                else:
                    fields.append(self.scalar(kind))
            made[adt].append(len(nodes))
            nodes.append([variant.name] + fields)

        used = set()

        def pick(adt):
            pool = made[adt]
            if not pool:
                # Use the first variant: it has no ADT fields, and its lists may remain empty.
                variant = self.adts[adt][0]
                fields = [make_list(kind, number, []) if kind in LISTS
                          else self.scalar(kind)
                          for _, kind, number in variant.fields]
                made[adt].append(len(nodes))
                nodes.append([variant.name] + fields)
                pool = made[adt]
            if chain:
                choice = pool[-1]
            else:
                fresh = [n for n in pool[-40:] if n not in used]
                choice = self.g.choice(pool[-40:] if not fresh or
                                       self.g.random() < sharing else fresh)
            used.add(choice)
            return choice

        while len(nodes) < size:
            adt = self.g.randrange(len(self.adts))
            variants = self.adts[adt]
            add(adt, self.g.choice(variants[1:] if chain and variants[1:] and
                                   nodes else variants))
        if not made[0]:
            pick(0)
        return self.reachable(nodes, made[0][-1])

    def reachable(self, nodes, root):
        """Returns the nodes that are reachable from the root, renumbered."""
        def refs(node):
            for field in node[1:]:
                for item in field if isinstance(field, list) else [field]:
                    if isinstance(item, dict):
                        yield item["ref"]

        seen, work = {root}, [root]
        while work:
            for kid in refs(nodes[work.pop()]):
                if kid not in seen:
                    seen.add(kid)
                    work.append(kid)
        numbers = {old: new for new, old in enumerate(sorted(seen))}

        def renumber(field):
            if isinstance(field, list):
                return [renumber(item) for item in field]
            return {"ref": numbers[field["ref"]]} if isinstance(field, dict) \
                else field

        return {"nodes": [[nodes[old][0]] + [renumber(f) for f in nodes[old][1:]]
                          for old in sorted(seen)], "root": numbers[root]}

    def batch(self, number, count):
        """Returns a mini-batch: values of each kind if `number` is 0, otherwise of random kinds."""
        values = []
        for i in range(count):
            kind = self.g.randrange(6) if number else i
            if kind == 0:
                values.append(self.value(1, 0, False, 3))
            elif kind == 1:
                values.append(self.value(self.g.randint(2, 60), 0.9, False, 4))
            elif kind == 2:
                values.append(self.value(self.g.randint(2, 80), 0.1, False, 64))
            else:
                values.append(self.value(self.g.randint(2, 40), 0.2, False, 5))
        if number == 0:
            values[-1] = self.value(DEEPEST, 0, True, 2)
        elif number % 10 == 1:
            values[-1] = self.value(self.g.randint(100, 1500), 0, True, 2)
        return values


# --- running ----------------------------------------------------------------

def run_one(number, options, scratch):
    generator = random.Random("%d/%d" % (options.seed, number))
    adts = random_adts(generator)
    source = os.path.join(scratch, "program%d.mlir" % number)
    with open(source, "w") as file:
        file.write(Program(generator, adts, options.waits).text())
    forest, batch = Forest(generator, adts), generator.choice((4, 6, 9))
    inputs = batchtest.write_lines(
        os.path.join(scratch, "forests%d.jsonl" % number),
        [value for f in range(options.forests)
         for value in forest.batch(f, batch)])
    if options.waits:
        return run_waiting(source, inputs, batch, generator, number)
    program = batchtest.compile_model(source, source[:-5] + ".so")
    counts = []
    for threads, *more in ((1,), (2,), (3,), (1, "--reuse-rows=1"),
                           (3, "--reuse-rows=1")):
        found = batchtest.run_model(program, inputs, "--nodes-per-worker=1",
                                    "--share-tasks=%d" % threads, *more, batch=batch, threads=threads,
                                    params="random:%d" % number)
        slots = found["slots"]
        if more: # The number of reused rows depends on which worker inspects which instance.
            slots = max(slots, counts[0][2])
        counts.append([found["tasks"], found["batches"], slots])
        if found["max_relative_error"] != 0:
            raise batchtest.ToolError("relative error %g" % found["max_relative_error"])
        if counts[-1] != counts[0]:
            raise batchtest.ToolError("counts are %s on %d threads, but %s on one" %
                                      (counts[-1], threads, counts[0]))
    return counts[0][0]


def run_waiting(source, inputs, batch, generator, number):
    """Runs a program whose control flow waits; returns the number of its tasks."""
    option = generator.choice(("fork=false", "defer=false", "policy=greedy"))
    batchtest.call("batch-opt", source, "-o", source + ".opt",
                   "--autobatch=strategy=lazy " + option)
    programs = [batchtest.compile_model(source, source + ".so", None, "--strategy=lazy"),
                batchtest.compile_model(source + ".opt", source + ".opt.so")]
    counts = []
    for program, threads, *more in (
            (0, 1), (0, 2), (0, 3), (0, 1, "--max-fibers=0"), (0, 2, "--max-fibers=2"),
            (1, 1), (1, 3)):
        found = batchtest.run_model(programs[program], inputs, "--fiber-stack=16M",
                                    "--share-tasks=%d" % threads, *more, batch=batch,
                                    threads=threads, params="random:%d" % number)
        if found["max_relative_error"] != 0:
            raise batchtest.ToolError("relative error %g, threads %d, %s %s" % (
                found["max_relative_error"], threads, option * program, more))
        counts.append([found[key] for key in ("tasks", "flushes", "waits", "batches")])
    # The number of threads changes no count, and the other options preserve the number of tasks.
    if counts[:3] != [counts[0]] * 3 or counts[5] != counts[6] or \
            any(count[0] != counts[0][0] for count in counts):
        raise batchtest.ToolError("numbers of tasks, flushes, waits or batches differ, %s: %s" % (
            option, counts))
    if any(count[1] < counts[0][1] for count in counts[3:5]):
        raise batchtest.ToolError("runs with fewer fibers have fewer flushes: %s" % counts)
    return counts[0][0]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    batchtest.add_soak_options(parser, 10)
    parser.add_argument("--forests", type=int, default=10)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--waits", action="store_true")
    parser.add_argument("--generate", metavar="FOLDER",
                        help="only write the programs and the forests to FOLDER")
    options = parser.parse_args()
    numbers = batchtest.soak_numbers(options)
    if options.generate:
        os.makedirs(options.generate, exist_ok=True)
        batchtest.compile_model = lambda *_: None
        batchtest.run_model = lambda *_, **__: {"tasks": 0,
                                                "max_relative_error": 0}
        for number in numbers:
            run_one(number, options, options.generate)
        return
    scratch = batchtest.temporary()
    done, failed = 0, []
    for number in numbers:
        done += 1
        start = time.time()
        try:
            tasks = run_one(number, options, scratch)
            print("ok: program %d, %d forests, %d tasks, %.1f s" %
                  (number, options.forests, tasks, time.time() - start))
        except batchtest.ToolError as error:
            failed.append(number)
            print("FAILED: program %d (random_programs.py --seed=%d --first=%d "
                  "--programs=1 --forests=%d%s)\n%s" % (
                      number, options.seed, number, options.forests,
                      " --waits" * options.waits, error))
            if options.keep:
                kept = "program%d.failed" % number
                shutil.copytree(scratch, kept, dirs_exist_ok=True)
                print("kept in " + kept)
        sys.stdout.flush()
    print("random programs: %d passed, %d failed" %
          (done - len(failed), len(failed)))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
