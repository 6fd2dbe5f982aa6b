#!/usr/bin/env python3
"""compare.py [--requests=N] [--width=N] [--layers=N] [--lanes=N] [--rounds=N] [--threads=N]:
compares decode.py under batch.vmap and batch.map with jax.vmap and transformers' `generate`.

The weights are random. For each program, the script prints CPU seconds, wall seconds, and the
number of requests whose tokens equal those of plain JAX, one request at a time. Programs take
turns. Times are medians over the rounds. A first round, which includes compilation, does not
count. The exit status is 1 if the tokens of any request differ.
"""

import argparse
import os
import sys
import time


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--lanes", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1,
                        help="run Batch, JAX and PyTorch on THREADS threads and cores")
    return parser.parse_args()


def draw(count, vocabulary, most):
    """Returns random prompts of 4 to 16 tokens, padded to `most` tokens, and their lengths."""
    import decode
    import numpy
    generator = numpy.random.default_rng(1)
    return decode.pad([generator.integers(vocabulary - 1, size=generator.integers(4, 17))
                       for _ in range(count)], most)


def in_chunks(run, size, given):
    """Returns the tokens of all requests. `run` takes at most `size` requests at a time."""
    return [tokens for begin in range(0, len(given[0]), size)
            for tokens in run(*(part[begin:begin + size] for part in given))]


class Programs:
    """The programs to compare, for one spelling of the caches. Each returns the tokens of all
    requests."""

    def __init__(self, arrays, spelling, threads):
        import batch
        import decode
        import jax
        w, generate = decode.load(arrays, spelling), decode.decoder(spelling)
        axes = None, 0, 0
        ours = batch.vmap(generate, axes, threads=threads)
        theirs = jax.jit(jax.vmap(generate, axes))
        self.ours = lambda *given: decode.texts(ours(w, *given))
        self.theirs = lambda *given: decode.texts(theirs(w, *given))
        self.compile_theirs = lambda *given: theirs.lower(w, *given).compile()
        single = jax.jit(generate)
        self.plain = lambda given: [decode.texts([part[None] for part in single(w, *request)])[0]
                                    for request in zip(*given)]

        def one(request):
            return generate(w, *request)

        self.refilled = lambda lanes, given: decode.texts(
            batch.map(one, given, lanes=lanes, threads=threads))


def main():
    options = parse_options()
    # Limit the cores before the imports, because the libraries count cores when they are imported.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    os.environ["JAX_PLATFORMS"] = "cpu"
    import decode
    import weights

    arrays = weights.random(options.width, options.layers)
    given = draw(options.requests, *(len(arrays[name]) for name in ("wte.weight", "wpe.weight")))
    programs = {spelling: Programs(arrays, spelling, options.threads)
                for spelling in decode.STEPS}
    first, lanes = programs["tuple"], options.lanes
    ways = {"plain JAX": lambda: first.plain(given),
            "Batch, one by one": lambda: in_chunks(first.ours, 1, given)}
    for spelling, program in programs.items():
        ways["batch.vmap, " + spelling] = lambda run=program.ours: run(*given)
        ways["jit(vmap), " + spelling] = lambda run=program.theirs: run(*given)
    ways["batch.map, %d lanes" % lanes] = lambda: first.refilled(lanes, given)
    ways["jit(vmap), chunks of %d" % lanes] = lambda: in_chunks(first.theirs, lanes, given)
    try:
        import torch
        import torch_peer
    except ImportError as error:
        print("%s: PyTorch is left out" % error)
    else:
        torch.set_num_threads(options.threads)
        peer = torch_peer.Decoder(arrays)
        ways["transformers"] = lambda: peer.generate(*given)
        ways["transformers, chunks of %d" % lanes] = \
            lambda: in_chunks(peer.generate, lanes, given)

    found, times = {}, {way: [] for way in ways}
    for _ in range(options.rounds + 1):
        for way, run in ways.items():
            start = time.process_time(), time.perf_counter()
            found[way] = run()
            times[way].append((time.process_time() - start[0],
                               time.perf_counter() - start[1]))

    wanted = found["plain JAX"]
    lengths = [len(tokens) for tokens in wanted]
    print("%d requests of %.1f tokens, the longest of %d" % (
        len(lengths), sum(lengths) / len(lengths), max(lengths)))
    differ = 0
    for way, taken in times.items():
        same = sum(map(lambda a, b: a == b, found[way], wanted))
        differ += len(wanted) - same
        cpu, wall = (sorted(values)[len(values) // 2] for values in zip(*taken[1:] or taken))
        print("%-26s %7.3f CPU s %7.3f s, %d of %d the same" % (
            way, cpu, wall, same, len(wanted)))
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
