"""Common code of the peers, which answer lines of standard input.

A line has the name of a kernel, a tab and a batch. The answer has the median time of the
runs in microseconds, a tab and the setting. The first request for a kernel and batch
selects the fastest setting.
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
    """Prints a line when the peer is ready, then answers requests. `settings(kernel, batch)`
    returns {name: function without arguments}."""
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
