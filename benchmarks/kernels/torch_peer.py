#!/usr/bin/env python3
"""torch_peer.py THREADS SECONDS: times kernels in PyTorch.

For each line of standard input, the name of a kernel, a tab and a batch, the median
time of its runs within SECONDS in microseconds.
"""

import statistics
import sys
import time

import torch

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


def main():
    torch.set_num_threads(int(sys.argv[1]))
    torch.set_num_interop_threads(1)
    known = {kernel.name: kernel for kernel in kernels.KERNELS}
    with torch.inference_mode():
        for line in sys.stdin:
            name, batch = line.rstrip("\n").split("\t")
            run = known[name].torch(torch, int(batch))
            print(median(run, float(sys.argv[2])), flush=True)


main()
