"""Creates the weights and requests for all libraries, and times runs."""

import sys
import time

import compare
import weights

# On one thread, the clock measures CPU time, because other work on the machine disturbs it less
# than wall time.
CLOCK = time.process_time if int(sys.argv[2]) == 1 else time.perf_counter


class Worker:
    """Base class of the workers of all libraries. A subclass has `start(arrays)` and
    `program(form, lanes, given)`, which returns a function."""

    def load(self, width, layers, requests):
        arrays = weights.random(width, layers)
        self.given = compare.draw(requests, *(len(arrays[name]) for name in (
            "wte.weight", "wpe.weight")))
        self.known = {}
        self.start(arrays)
        matrices = [array for name, array in arrays.items()
                    if array.ndim == 2 and name != "wpe.weight"]
        return {"products": 2 * sum(matrix.size for matrix in matrices)}

    def prepare(self, form, lanes, count):
        self.known[form, lanes, count] = self.program(
            form, lanes, tuple(part[:count] for part in self.given))
        return {}

    def run(self, form, lanes, count):
        program = self.known[form, lanes, count]
        start = CLOCK()
        tokens = program()
        return {"seconds": CLOCK() - start, "tokens": tokens}
