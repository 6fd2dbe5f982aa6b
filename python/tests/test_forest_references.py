"""Reading values of data types retains no reference and no object, even after errors."""

import gc
import sys

import pytest
from support.forests import (
    Changing,
    Graph,
    Leaf,
    Made,
    Node,
    Tree,
    Value,
    Viewed,
    merged,
    see_of,
    total_of,
    words,
)

import batch

CALLS, ROUNDS = 200, 4


class Things:
    """Objects that must not have more references after a call than before it."""

    def __init__(self):
        self.leaf = Leaf(1)
        self.invalid = Node(Leaf(2), "x")
        self.failing = Viewed(ZeroDivisionError("of a view"))
        self.made = Made(1)
        self.objects = [object() for _ in range(1000)]
        self.home = []
        self.cycle = Node(Leaf(1), Leaf(2))
        self.cycle.right = Node(Leaf(1), self.cycle)
        self.half = Leaf(1)
        del self.half.word
        self.number = 0.5

    def counts(self):
        """Returns the number of references to each object, and the number of memory blocks."""
        self.failing.error.__traceback__, self.failing.error.__notes__ = None, []
        gc.collect()
        return {name: sys.getrefcount(thing) for name, thing in vars(self).items()}, \
            sys.getallocatedblocks()


def arrays(left):
    """Returns a tree as arrays; `left` is the number of the root's left child."""
    return batch.Forest.of_arrays(Tree, [0, 1, 0], {
        "Leaf.word": [1, 2], "Node.left": [left], "Node.right": [2]}, [1])


def read_changing_list(things):
    # Only the list refers to its elements. Collecting all generations would take too long.
    things.home[:] = [Graph.Leaf(1), Changing(things.home, generation=0), Graph.Leaf(2)]
    words([Graph.Join(things.home, 1)])


READS = {
    "view": (None, lambda t: total_of([Node(t.leaf, t.made)])),
    "invalid_child": (TypeError, lambda t: total_of([t.invalid])),
    "error_of_view": (ZeroDivisionError, lambda t: total_of([Node(t.leaf, t.failing)])),
    "list_of_objects": (TypeError, lambda t: words([Graph.Join(t.objects, 1)])),
    "changing_list": (None, read_changing_list),
    "cycle": (ValueError, lambda t: total_of([t.cycle])),
    "deleted_field": (AttributeError, lambda t: total_of([Node(t.leaf, t.half)])),
    "merged": (None, lambda t: words(merged([Graph.Join([2 + 3j, t.number] * 2, 9)]))),
    "invalid_tensor": (TypeError, lambda t: see_of([
        Value.Lists([[Value.Number(1)], [Value.Vector([1, "x"])]], [])])),
    "arrays": (None, lambda t: total_of(arrays(left=0))),
    "cycle_in_arrays": (ValueError, lambda t: arrays(left=1)),
}


def call(read, error, things, times):
    """Calls a function several times. Each call must raise `error`; None means no error."""
    for _ in range(times):
        raised = None
        try:
            read(things)
        except Exception as found:
            raised = type(found)
        assert raised is error


@pytest.mark.parametrize("error, read", READS.values(), ids=READS)
def test_reading_keeps_nothing(error, read):
    """A leak grows in each round; JAX caches grow only in the first rounds."""
    things = Things()
    call(read, error, things, 20)
    counts, blocks = things.counts()
    grown = []
    while len(grown) < ROUNDS and (not grown or grown[-1] >= CALLS - 10):
        call(read, error, things, CALLS)
        counts_after, blocks_after = things.counts()
        assert counts_after == counts
        grown.append(blocks_after - blocks)
        blocks = blocks_after
    assert min(grown) < CALLS - 10, f"{grown} more blocks of memory after {CALLS} calls each"
