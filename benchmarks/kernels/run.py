#!/usr/bin/env python3
"""How fast are single kernels, by what the machine can do and by PyTorch?

  run.py [--build=build] [--kernels=TEXT] [--batches=1,8,64] [--threads=1,2]
         [--rounds=5] [--torch=PYTHON] [--output=FILE]

Runs the kernels of kernels.py whose names have TEXT with batch-run --bench, on random
inputs, and where PyTorch is found the same in PyTorch, in its best setting
(torch_peer.py), in rounds: one after the other, so that what disturbs one disturbs both.
PYTHON is an interpreter that
can import torch (by default this one, if it can). The peak is that of fused
multiply-adds of the same run and number of threads (batch-peak), the larger of before
and after.

Per kernel, batch and number of threads: microseconds of a mini-batch, the median of
rounds, with scheduling; GFLOP/s; percent of the peak; times PyTorch's speed, the
median of the rounds' ratios: below 1 is a loss. Prints a table and stores JSON.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402: how tools are called and records stored
import kernels  # noqa: E402: beside this file

# Seconds that one measurement of PyTorch takes.
TORCH_SECONDS = 0.3


class Peer:
    """PyTorch in a process of its own, which answers one line per line."""

    def __init__(self, python, threads):
        self.process = subprocess.Popen(
            [python, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                  "torch_peer.py"), str(threads), str(TORCH_SECONDS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        # Nothing is measured while it is being imported.
        self.process.stdout.readline()

    def measure(self, name, batch):
        """Microseconds and the setting."""
        self.process.stdin.write("%s\t%d\n" % (name, batch))
        self.process.stdin.flush()
        time, setting = self.process.stdout.readline().rstrip("\n").split("\t")
        return float(time), setting

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def finds_torch(python):
    return subprocess.run([python, "-c", "import torch"],
                          stderr=subprocess.DEVNULL).returncode == 0


def measure(program, batch, threads):
    """Microseconds of a mini-batch."""
    report = batchtest.run_model(program, "random:1,%d" % batch, "--bench=5",
                                 batch=batch, threads=threads, check=False)
    return report["time_us"]["total"]


def larger(a, b):
    return {threads: max(a[threads], b[threads]) for threads in a}


def measure_peaks(threads):
    found = json.loads(batchtest.call("batch-peak", *threads))["threads"]
    return {count: found[str(count)]["fma_gflops"] for count in threads}


def evaluate(kernel, batch, threads, times, peer, peak):
    time = statistics.median(times)
    gflops = kernel.flops * batch / time / 1e3
    result = {"kernel": kernel.name, "batch": batch, "threads": threads, "us": time,
              "min_us": min(times), "gflops": gflops, "peak": peak,
              "peak_share": gflops / peak}
    if peer:
        peer_times, settings = zip(*peer)
        result["torch"] = settings[0]
        result["torch_us"] = statistics.median(peer_times)
        result["over_torch"] = statistics.median(
            other / own for own, other in zip(times, peer_times))
    return result


def print_result(result):
    torch = result.get("over_torch")
    print("%-27s %5d %7d %12.1f us %7.1f GFLOP/s %4.0f %% %s" % (
        result["kernel"], result["batch"], result["threads"], result["us"],
        result["gflops"], 100 * result["peak_share"],
        "%.2f x PyTorch, %s%s" % (torch, result["torch"],
                                  "" if torch >= 1 else ", a loss")
        if torch else ""), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--kernels", default="")
    parser.add_argument("--batches", default="1,8,64")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--torch", default=sys.executable)
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "kernels.json"))
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    threads = [int(count) for count in options.threads.split(",")]
    chosen = [k for k in kernels.KERNELS if options.kernels in k.name]
    torch = finds_torch(options.torch)
    if not torch:
        print("no PyTorch in %s: its column is left out" % options.torch)

    before, runs = measure_peaks(threads), []
    with tempfile.TemporaryDirectory() as folder:
        for kernel in chosen:
            source = os.path.join(folder, "kernel.mlir")
            with open(source, "w") as file:
                file.write(kernel.program)
            program = source[:-len(".mlir")] + ".so"
            batchtest.call("batch-compile", source, "-o", program)
            for count in threads:
                peer = Peer(options.torch, count) if torch else None
                for batch in map(int, options.batches.split(",")):
                    rounds = [(peer and peer.measure(kernel.name, batch),
                               measure(program, batch, count))
                              for _ in range(options.rounds)]
                    peers, times = zip(*rounds)
                    runs.append((kernel, batch, count, times, peer and peers))
                    print_result(evaluate(*runs[-1], before[count]))
                if peer:
                    peer.close()
    peaks = larger(before, measure_peaks(threads))
    results = [evaluate(*run, peaks[run[2]]) for run in runs]
    batchtest.store_record(options.output, {
        **batchtest.where_and_when("kernels"), "rounds": options.rounds,
        "results": results})


main()
