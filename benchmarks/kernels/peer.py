"""What the peers of the benchmark share: they answer the lines of standard input.

A line is the name of a kernel, a tab and a batch; the answer is the median time of its
runs in microseconds, a tab and the setting. That is the fastest one when the kernel and
batch come first.
"""

import statistics
import sys
import time

import kernels


def median(run, seconds):
    for _ in range(3):
        run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(times)


def answer(seconds, settings):
    """`settings(kernel, batch)`: {name: function without arguments}. Prints a line when
    it is ready."""
    known = {kernel.name: kernel for kernel in kernels.KERNELS}
    best = {}
    print("ready", flush=True)
    for line in sys.stdin:
        name, batch = line.rstrip("\n").split("\t")
        if (name, batch) not in best:
            runs = settings(known[name], int(batch))
            fastest = min(runs, key=lambda run: median(runs[run], seconds))
            best[name, batch] = fastest, runs[fastest]
        setting, run = best[name, batch]
        print("%f\t%s" % (median(run, seconds), setting), flush=True)
