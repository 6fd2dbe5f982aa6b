#!/usr/bin/env python3
"""Times calls of batch.vmap next to other programs that compute all the time.

  busy.py [--programs=a,b] [--lanes=64] [--threads=1,2,4] [--busy=0,1,2] [--calls=50] [--cores=2]

Needs a Python with the package (scripts/python-environment makes build/python). The functions are
those of programs.py. This process and the other programs run on the same --cores cores. A cell is
the median time of the first --calls calls of a new function in microseconds, and its ratio to the
fastest number of threads next to the same programs. The first call, which compiles, is left out.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True


def integers(text):
    return [int(number) for number in text.split(",")]


@contextlib.contextmanager
def busy_programs(count):
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    time.sleep(0.3)
    try:
        yield
    finally:
        for program in running:
            program.kill()
            program.wait()


def median_time(f, arguments, threads, calls):
    import batch
    import jax
    mapped = batch.vmap(f, threads=threads)
    jax.block_until_ready(mapped(*arguments))
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        jax.block_until_ready(mapped(*arguments))
        times.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default="newton,collatz,converge64,gru,mlp")
    parser.add_argument("--lanes", type=int, default=64)
    parser.add_argument("--threads", type=integers, default=[1, 2, 4])
    parser.add_argument("--busy", type=integers, default=[0, 1, 2])
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.cores])
    import numpy
    import programs

    print("| program | busy | %s |" % " | ".join("%d threads" % t for t in options.threads))
    print("|---|---|" + "---|" * len(options.threads))
    worst = 0
    for name in options.programs.split(","):
        f, arguments = programs.PROGRAMS[name](options.lanes, numpy.random.default_rng(1))
        for count in options.busy:
            with busy_programs(count):
                times = [median_time(f, arguments, threads, options.calls)
                         for threads in options.threads]
            ratios = [t / min(times) for t in times]
            worst = max(worst, *ratios)
            print("| %s | %d | %s |" % (name, count, " | ".join(
                "%.0f (%.2f)" % pair for pair in zip(times, ratios))), flush=True)
    print("largest ratio: %.2f" % worst)


if __name__ == "__main__":
    main()
