#!/usr/bin/env python3
"""compare.py [--words=N] [--rounds=N] [--threads=N] [FILE]: compares g2p.py with the code of
g2p_en, which uses NumPy on one word at a time, and with jax.vmap.

Prints the number of words with equal pronunciations, and the CPU and wall seconds for all words.
Times are medians over rounds in which the programs take turns. A first round does not count.
Compilation is separate. The words are drawn from FILE, or from the Python documentation
(pydoc_data.topics). The exit code is 1 if a word differs.
"""

import argparse
import importlib
import os
import random
import re
import sys
import tempfile
import time
import zipfile
from unittest import mock


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1,
                        help="run Batch, NumPy and JAX on THREADS threads and cores")
    parser.add_argument("file", nargs="?")
    return parser.parse_args()


def draw(file, count):
    """Draws up to `count` different words of three or more letters from a text."""
    if file:
        with open(file) as lines:
            text = lines.read()
    else:
        from pydoc_data import topics
        text = "\n".join(topics.topics.values())
    words = sorted(set(re.findall("[a-z]{3,}", text.lower())))
    return random.Random(0).sample(words, min(count, len(words)))


def original(wheel, folder):
    """Imports g2p_en's own code for its network. Mocks the modules that only whole sentences need,
    such as NLTK."""
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder)
    absent = "nltk", "nltk.corpus", "nltk.tokenize", "inflect"
    with mock.patch.dict(sys.modules, {name: mock.MagicMock() for name in absent}), \
            mock.patch.object(sys, "path", [folder] + sys.path):
        return importlib.import_module("g2p_en.g2p").G2p()


def main():
    options = arguments()
    # All libraries count the cores when they are imported.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    os.environ["JAX_PLATFORMS"] = "cpu"
    import batch
    import g2p
    import jax
    import numpy
    import weights

    words = draw(options.file, options.words)
    wheel = weights.fetch()
    network = jax.tree.map(jax.numpy.asarray, weights.load(wheel))
    axes = None, 0, 0
    ours = batch.vmap(g2p.pronounce, axes, threads=options.threads)
    theirs = jax.jit(jax.vmap(g2p.pronounce, axes))
    with tempfile.TemporaryDirectory() as folder:
        peer = original(wheel, folder)

        def named(function):
            found = function(network, *g2p.spell(words))
            return [g2p.name(numbers) for numbers in numpy.asarray(found)]

        ways = {"Batch": lambda: named(ours),
                "jit(vmap)": lambda: named(theirs),
                "g2p_en": lambda: [peer.predict(word) for word in words]}
        results, times = {}, {way: [] for way in ways}
        for turn in range(options.rounds + 1):
            for way, run in ways.items():
                start = time.process_time(), time.perf_counter()
                results[way] = run()
                times[way].append((time.process_time() - start[0],
                                   time.perf_counter() - start[1]))

    same = sum(map(lambda a, b: a == b, results["Batch"], results["g2p_en"]))
    print("%d of %d words sound the same" % (same, len(words)))
    for way, taken in times.items():
        cpu, wall = (sorted(values)[len(values) // 2]
                     for values in zip(*taken[1:] or taken))
        print("%-10s %7.3f CPU s %7.3f s" % (way, cpu, wall))
    return int(same != len(words))


if __name__ == "__main__":
    sys.exit(main())
