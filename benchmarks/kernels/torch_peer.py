#!/usr/bin/env python3
"""torch_peer.py THREADS SECONDS: times kernels in PyTorch, in its best setting.

Prints a line when it is ready. For each line of standard input, the name of a kernel, a
tab and a batch: the median time of its runs within SECONDS in microseconds, a tab and
the setting. That is the fastest one when the kernel and batch come first: eager; images
with channels last; compiled by Inductor, with parameters packed for good (freezing).
"""

import copy
import statistics
import sys
import time

import torch
import torch._inductor.config

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


def settings(module, x):
    """{name: function without arguments}."""
    runs = {"eager": lambda: module(x)}
    if x.dim() == 4:
        last = {"memory_format": torch.channels_last}
        other, y = copy.deepcopy(module).to(**last), x.to(**last)
        runs["channels last"] = lambda: other(y)
    torch.compiler.reset()
    compiled = torch.compile(copy.deepcopy(module))
    runs["compiled"] = lambda: compiled(x)
    return runs


def main():
    seconds = float(sys.argv[2])
    torch.set_num_threads(int(sys.argv[1]))
    torch.set_num_interop_threads(1)
    torch._inductor.config.freezing = True
    known = {kernel.name: kernel for kernel in kernels.KERNELS}
    best = {}
    print("ready", flush=True)
    with torch.no_grad():
        for line in sys.stdin:
            name, batch = line.rstrip("\n").split("\t")
            if (name, batch) not in best:
                module, x = known[name].torch(torch, int(batch))
                runs = settings(module.eval(), x)
                fastest = min(runs, key=lambda run: median(runs[run], seconds))
                best[name, batch] = fastest, runs[fastest]
            setting, run = best[name, batch]
            print("%f\t%s" % (median(run, seconds), setting), flush=True)


main()
