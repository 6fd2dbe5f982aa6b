#!/usr/bin/env python3
"""How fast are single kernels, by what the machine can do and by others?

  run.py [--build=build] [--kernels=TEXT] [--batches=1,8,64] [--threads=1,2]
         [--rounds=5] [--torch=PYTHON] [--jax=PYTHON] [--output=FILE]

Runs the kernels of kernels.py whose names have TEXT with batch-run --bench, on random
inputs, and where they are found the same in PyTorch and JAX, each in its best setting
(torch_peer.py, jax_peer.py), in rounds: one after the other, so that what disturbs one
disturbs all. PYTHON is an interpreter that can import torch or jax (by default this
one, if it can). The peak is that of fused multiply-adds of the same run and number of
threads (batch-peak), the larger of before and after.

Per kernel, batch and number of threads: microseconds of a mini-batch, the median of
rounds, with scheduling; GFLOP/s; percent of the peak; times each peer's speed, the
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

HERE = os.path.dirname(os.path.abspath(__file__))
# Seconds that one measurement of a peer takes.
PEER_SECONDS = 0.3
# By the name of a peer's package: how tables call it.
PEERS = {"torch": "PyTorch", "jax": "JAX"}


class Peer:
    """A peer in a process of its own, which answers one line per line."""

    def __init__(self, name, python, threads):
        self.name = name
        self.process = subprocess.Popen(
            [python, os.path.join(HERE, name + "_peer.py"), str(threads),
             str(PEER_SECONDS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # Nothing is measured while it is being imported.
        self.process.stdout.readline()

    def measure(self, kernel, batch):
        """Microseconds and the setting."""
        self.process.stdin.write("%s\t%d\n" % (kernel, batch))
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("%s ended at '%s', batch %d" % (PEERS[self.name], kernel, batch))
        time, setting = answer.rstrip("\n").split("\t")
        return float(time), setting

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def find_peers(options):
    """{name: interpreter}, of those that are found."""
    found = {}
    for name, title in PEERS.items():
        python = getattr(options, name)
        if subprocess.run([python, "-c", "import " + name],
                          stderr=subprocess.DEVNULL).returncode == 0:
            found[name] = python
        else:
            print("no %s in %s: its column is left out" % (title, python))
    return found


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


def evaluate(kernel, batch, threads, times, peers, peak):
    """`peers`: {name: [(time, setting) of each round]}."""
    time = statistics.median(times)
    gflops = kernel.flops * batch / time / 1e3
    result = {"kernel": kernel.name, "batch": batch, "threads": threads, "us": time,
              "min_us": min(times), "gflops": gflops, "peak": peak,
              "peak_share": gflops / peak}
    for name, rounds in peers.items():
        peer_times, settings = zip(*rounds)
        result[name] = settings[0]
        result[name + "_us"] = statistics.median(peer_times)
        result["over_" + name] = statistics.median(
            other / own for own, other in zip(times, peer_times))
    return result


def print_result(result):
    peers = ["%.2f x %s, %s%s" % (result["over_" + name], title, result[name],
                                  "" if result["over_" + name] >= 1 else ", a loss")
             for name, title in PEERS.items() if name in result]
    print("%-27s %5d %7d %12.1f us %7.1f GFLOP/s %4.0f %% %s" % (
        result["kernel"], result["batch"], result["threads"], result["us"],
        result["gflops"], 100 * result["peak_share"], "; ".join(peers)), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--kernels", default="")
    parser.add_argument("--batches", default="1,8,64")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    for name in PEERS:
        parser.add_argument("--" + name, default=sys.executable)
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "kernels.json"))
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    threads = [int(count) for count in options.threads.split(",")]
    chosen = [k for k in kernels.KERNELS if options.kernels in k.name]
    found = find_peers(options)

    before, runs = measure_peaks(threads), []
    with tempfile.TemporaryDirectory() as folder:
        for kernel in chosen:
            source = os.path.join(folder, "kernel.mlir")
            with open(source, "w") as file:
                file.write(kernel.program)
            program = source[:-len(".mlir")] + ".so"
            batchtest.call("batch-compile", source, "-o", program)
            for count in threads:
                peers = [Peer(name, python, count)
                         for name, python in found.items()]
                for batch in map(int, options.batches.split(",")):
                    times, others = [], {peer.name: [] for peer in peers}
                    for _ in range(options.rounds):
                        for peer in peers:
                            others[peer.name].append(peer.measure(kernel.name, batch))
                        times.append(measure(program, batch, count))
                    runs.append((kernel, batch, count, times, others))
                    print_result(evaluate(*runs[-1], before[count]))
                for peer in peers:
                    peer.close()
    peaks = larger(before, measure_peaks(threads))
    results = [evaluate(*run, peaks[run[2]]) for run in runs]
    batchtest.store_record(options.output, {
        **batchtest.where_and_when("kernels"), "rounds": options.rounds,
        "results": results})


main()
