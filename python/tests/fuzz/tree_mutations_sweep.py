"""Calls functions of data types with changed values.

The sweep changes one node of a valid value that contains objects, tuples and views. A change is a
cycle, a wrong variant, a missing field, a wrong type, many children, a deep tree, or a shared list.
Views raise exceptions, or change the list that is being read. The call must return the right
result, or raise an exception that names the changed place. Processes have limits on time and
memory.

The same seed and number produce the same tree: --first=NUMBER --trees=1 repeats it. --trees=10000
is the whole sweep.
"""

import gc
import os
import random
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../test/Integration"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import jax.numpy as jnp
import numpy

import batch
from fuzz import trials


class Broken(Exception):
    """Exception that views raise."""


class Thing:
    """An object with a view: a function that returns a node."""

    def __init__(self, act):
        self.act = act


class Attributes:
    """An object whose attributes are the fields of a pair."""

    def __init__(self, left, right):
        self.left, self.right = left, right


class Programs:
    """Two data types, a function of each, and changes to their values."""

    def __init__(self):
        self.of_kind = {kind: self.declare(kind) for kind in ("tree", "dag")}

    def declare(self, kind):
        """Returns a data type, and a function of its values."""
        @batch.adt(kind=kind)
        class Item:
            class Leaf:
                word: int
                h: batch.tensor(2)

            class Pair:
                left: "Item"
                right: "Item"

            class Many:
                parts: "list[Item]"
                scale: jnp.float32

            class Grid:
                rows: "list[list[Item]]"
                marks: "list[bool]"

        @batch.function
        def total(item: Item):
            match item:
                case Item.Leaf(word, h):
                    return word.astype(jnp.float32) + h.sum()
                case Item.Pair(left, right):
                    return total(left) - total(right)
                case Item.Many(parts, scale):
                    return parts.sum(total) * scale
                case Item.Grid(rows, marks):
                    return rows.sum(lambda row: row.sum(total)) + marks.fold(
                        lambda count, mark: count + mark, jnp.float32(0))

        batch.view(Item, Thing)(lambda thing: thing.act())
        batch.view(Item, Attributes, Item.Pair)
        mapped = batch.vmap(total, threads=1)
        mapped([Item.Leaf(1, [1, 2])])
        return Item, mapped

    # A plan describes a node as [variant, fields...]; lists represent lists. objects() creates the
    # objects of a plan.

    def plan(self, rng, size):
        """Returns a random plan with about `size` leaves."""
        if size <= 1:
            return ["Leaf", rng.randrange(-9, 9), [rng.randrange(9), 0.5]]
        if rng.random() < 0.5:
            left = rng.randrange(1, size)
            return ["Pair", self.plan(rng, left), self.plan(rng, size - left)]
        parts = []
        while size > 1:
            part = rng.randrange(1, size)
            parts.append(self.plan(rng, part))
            size -= part
        if rng.random() < 0.5:
            return ["Many", parts, rng.choice([1, 0.5, -1])]
        cut = rng.randrange(len(parts) + 1)
        return ["Grid", [parts[:cut], [], parts[cut:]], [True] * rng.randrange(3)]

    def value(self, plan):
        """Returns the result of the function for a plan."""
        if plan[0] == "Leaf":
            return plan[1] + sum(plan[2])
        if plan[0] == "Pair":
            return self.value(plan[1]) - self.value(plan[2])
        if plan[0] == "Many":
            return sum(map(self.value, plan[1])) * plan[2]
        return sum(self.value(part) for row in plan[1] for part in row) + len(plan[2])

    def places(self, plan, path=""):
        """Yields (path, plan) of all nodes."""
        yield path, plan
        if plan[0] == "Pair":
            yield from self.places(plan[1], path + ".left")
            yield from self.places(plan[2], path + ".right")
        elif plan[0] == "Many":
            for i, part in enumerate(plan[1]):
                yield from self.places(part, f"{path}.parts[{i}]")
        elif plan[0] == "Grid":
            for i, row in enumerate(plan[1]):
                for j, part in enumerate(row):
                    yield from self.places(part, f"{path}.rows[{i}][{j}]")

    def objects(self, rng, plan, Item, changed, above=()):
        """Returns the objects of a plan. `changed` creates the object of one node."""
        change = changed.pop(id(plan), None)
        if change and change[0] == "instead":
            return change[1](above)
        form = rng.random()
        node = getattr(Item, plan[0]).__new__(getattr(Item, plan[0]))
        above = (*above, node)

        def make(part):
            return self.objects(rng, part, Item, changed, above)

        if plan[0] == "Leaf":
            number = rng.choice([int, numpy.int64, numpy.int8])(plan[1])
            fields = [number, rng.choice([list, tuple, numpy.float32,
                                          lambda h: numpy.array(h, "float32"),
                                          jnp.float32])(plan[2])]
        elif plan[0] == "Pair":
            fields = [make(plan[1]), make(plan[2])]
        elif plan[0] == "Many":
            fields = [rng.choice([list, tuple])(map(make, plan[1])), plan[2]]
        else:
            fields = [[list(map(make, row)) for row in plan[1]],
                      rng.choice([list, numpy.array, numpy.array])(plan[2])
                      if plan[2] else []]
        if change:
            fields = change[1](fields, above)
        cls = type(node)
        if len(fields) != len(cls._names):
            return (plan[0], *fields)
        for name, field in zip(cls._names, fields):
            setattr(node, name, field)
        if change and change[0] == "object" or form < 0.5:
            return node
        if form < 0.7:
            return (plan[0], *fields)
        if form < 0.8 and plan[0] == "Pair":
            return Attributes(*fields)
        return Thing(lambda: node) if form < 0.9 else Thing(lambda: (plan[0], *fields))

    def change(self, rng, Item, plan):
        """Draws a change of a node.

        Returns a description, whether the value stays valid, the change, and the changed
        place within the node: "cycle" for a cycle, and None if errors name only the value.
        """
        def raises(error):
            def act():
                raise error
            return act

        def endless():
            return Thing(endless)

        def cut(fields, above):
            return fields[:-1] if rng.random() < 0.5 else [*fields, 3]

        def deleted(name):
            def delete(fields, above):
                node = getattr(Item, plan[0])(*fields)
                delattr(node, name)
                return [node]
            return delete

        wrong = [
            ("an object", lambda _: rng.choice([
                None, 3, 2.5, "Leaf", b"x", [], {}, object(), Item, Item.Leaf, len,
                numpy.zeros(2), iter([]), float("nan"), ("Leaf",)[:0], [("Leaf", 1, [1, 2])],
                {1: 2}, (None,), (3, 4), ("leaf", 1, [1, 2]), (b"Leaf", 1, [1, 2])])),
            ("an unknown variant", lambda _: ("Twig", 1)),
            ("a view that raises", lambda _: Thing(raises(Broken("in a view")))),
            ("a view that gives itself", lambda _: (lambda t: setattr(
                t, "act", lambda: t) or t)(Thing(None))),
            ("a view without end", lambda _: Thing(endless)),
            ("a view of nothing", lambda _: Thing(lambda: None)),
            ("a view with an argument", lambda _: Thing(lambda x: x)),
            ("attributes that are not there", lambda _: Attributes.__new__(Attributes)),
        ]
        number = round(self.value(plan))  # valid changes keep this value
        choice = rng.random()
        if choice < 0.3:
            text, make = rng.choice(wrong)
            return text, False, ("instead", make), ""
        if choice < 0.4:
            return "too few or too many fields", False, ("fields", cut), None
        if choice < 0.6:
            place = rng.randrange(len(getattr(Item, plan[0])._names))
            name = getattr(Item, plan[0])._names[place]
            things = {
                "word": ["x", None, 1.5, True, 2 ** 63, -2 ** 70, [1], numpy.zeros(2), 1j],
                "h": ["ab", None, 3, [1], [1, 2, 3], [[1, 2]], ["a", "b"], numpy.zeros(3),
                      numpy.zeros(2, complex), [None, 1], {}, object()],
                "scale": ["x", None, [], [1.0], 1j, numpy.zeros(2), object()],
                "marks": [3, "ab", None, [2], ["x"], [None], numpy.zeros(2), [[True]]]}
            bad = rng.choice(things.get(name, [3, "ab", None, object(), len]))
            if name in ("parts", "rows"):
                bad = rng.choice([3, None, object(), 2.5, "ab", {1: 2}])

            def replace(fields, above):
                fields[place] = bad
                return fields
            return f"{repr(bad)[:30]} for {name}", False, ("object", replace), "." + name
        if choice < 0.7:
            def cycle(above):
                return rng.choice(above) if above else None
            return "a cycle", False, ("instead", cycle), "cycle"
        if choice < 0.75:
            count = rng.choice([1000, 10 ** 4])

            def deep(above):
                node = Item.Leaf(number, [0, 0])
                for _ in range(count):
                    node = Item.Many([node], 1)
                return node
            return "a deep tree", True, ("instead", deep), None
        if choice < 0.8:
            count = rng.choice([1000, 10 ** 4])
            return "many children", True, ("instead", lambda _: Item.Many(
                [Item.Leaf(0, [0, 0])] * count + [Item.Leaf(number, [0, 0])], 1)), None
        if choice < 0.9:
            def changing(above):
                home = []

                def act():
                    rng.choice([home.clear, home.reverse, lambda: home.extend(home),
                                gc.collect])()
                    if rng.random() < 0.1:
                        self.of_kind["tree"][1]([("Leaf", 1, [1, 2])])
                    return ("Leaf", number, [0, 0])
                home += [("Leaf", 0, [0, 0]), Thing(act), Item.Leaf(0, (0, 0))]
                return Item.Many(home, 1)
            return "a view that changes the list that is walked", True, (
                "instead", changing), None

        def shared(above):
            leaf = Item.Leaf(number, [0, 0])
            none = Item.Leaf(0, [0, 0])
            row = [none, none]
            return Item.Grid([row, row, [leaf], row], [])
        return "lists in two places", True, ("instead", shared), None

    def make(self, seed, number):
        """Returns (call, expected results, validity, changed place, description)."""
        rng = random.Random(f"{seed} {number}")
        kind = rng.choice(["tree", "dag"])
        Item, mapped = self.of_kind[kind]
        count = rng.randrange(1, 4)
        plans = [self.plan(rng, rng.choice([1, 3, 8, 30])) for _ in range(count)]
        which = rng.randrange(count)
        while True:
            path, node = rng.choice(list(self.places(plans[which])))
            text, is_valid, change, where = self.change(rng, Item, node)
            if where != "cycle" or path:  # a root has no parent
                break
        if where == "cycle":
            where = None
        elif where is not None:
            where = path + where
        values = []
        for i, plan in enumerate(plans):
            # Round the value, because words are integers.
            if change[0] == "instead" and is_valid and i == which:
                node[:] = ["Leaf", round(self.value(node)), [0, 0]]
            values.append(self.objects(rng, plan, Item, {id(node): change}
                                       if i == which else {}))
        share = "equal" if kind == "dag" and rng.random() < 0.3 else "identity"
        wanted = [self.value(plan) for plan in plans]
        return (lambda: mapped(batch.forest(Item, values, share))), wanted, is_valid, \
            f"values[{which}]{where or ''}", f"{kind} {share}: {text} at {path}"


def _names(words, where):
    """Returns whether a message contains a path. Messages omit the middle of long paths."""
    return where in words or " more ... " in words and where[:30] in words and \
        where[-15:] in words


def _make(seed, number):
    """Returns the description of a call, and a function that runs it."""
    call, wanted, is_valid, where, text = programs.make(seed, number)

    def run():
        try:
            found = call()
        except Exception as error:
            words = "\n".join([str(error), *getattr(error, "__notes__", ())])
            if is_valid:
                return False, traceback.format_exc()
            if isinstance(error, (SystemError, AssertionError, MemoryError)) or \
                    not _names(words, where):
                return False, f"it does not name {where}: {traceback.format_exc()}"
            return True, type(error).__name__
        if not is_valid:
            return False, "was accepted"
        close = numpy.allclose(found, wanted, rtol=1e-4, atol=1e-3)
        return bool(close), "a result" if close else f"{found}, not {wanted}"

    return text, run


def _start():
    global programs
    programs = Programs()


TREES = trials.Trials(__file__, "trees", few=1000, memory=4 << 30, start=_start, make=_make,
                      repeated=200, passes=8, most={"blocks": 100})

if __name__ == "__main__":
    TREES.main()
