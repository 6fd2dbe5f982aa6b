#!/usr/bin/env python3
"""Compares single kernels with the peak of the machine, and with PyTorch and JAX.

  run.py [--build=build] [--kernels=TEXT] [--batches=1,8,64] [--threads=1,2]
         [--rounds=5] [--torch=PYTHON] [--jax=PYTHON] [--output=FILE]

Runs the kernels of kernels.py with TEXT in their names by batch-run --bench, on random inputs.
PyTorch and JAX, if found, run the same, each with its best settings (torch_peer.py,
jax_peer.py). All take turns in rounds, so that a disturbance affects all. PYTHON is an
interpreter that can import torch or jax (default: this one, if it can). The peak is that of
fused multiply-adds with the same number of threads (batch-peak), the larger of before and after.

For each kernel, batch and number of threads: microseconds of a mini-batch including scheduling,
the median of the rounds; GFLOP/s; percent of the peak; and the speed relative to each peer, the
median of the ratios per round. Below 1 is a loss. Prints a table and stores JSON.
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
import batchtest  # noqa: E402, calls tools, stores records
import kernels  # noqa: E402, in this folder

HERE = os.path.dirname(os.path.abspath(__file__))
# Duration of one measurement of a peer, in seconds.
PEER_SECONDS = 0.3
# Names of the peers in tables, by Python package.
PEERS = {"torch": "PyTorch", "jax": "JAX"}


class Peer:
    """A peer in a separate process. It answers each line that it reads with one line."""

    def __init__(self, name, python, threads):
        self.name = name
        self.process = subprocess.Popen(
            [python, os.path.join(HERE, name + "_peer.py"), str(threads),
             str(PEER_SECONDS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # Waits until the peer has imported its library.
        self.process.stdout.readline()

    def measure(self, kernel, batch):
        """Returns the microseconds of the fastest setting, and the setting."""
        self.process.stdin.write("%s\t%d\n" % (kernel, batch))
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("%s ended while it ran '%s' with batch size %d" % (
                PEERS[self.name], kernel, batch))
        time, setting = answer.rstrip("\n").split("\t")
        return float(time), setting

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def find_peers(options):
    """Returns {name: interpreter} of the available peers."""
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
    """Returns the microseconds of a mini-batch."""
    report = batchtest.run_model(program, "random:1,%d" % batch, "--bench=5",
                                 batch=batch, threads=threads, check=False)
    return report["time_us"]["total"]


def larger(a, b):
    return {threads: max(a[threads], b[threads]) for threads in a}


def measure_peaks(threads):
    found = json.loads(batchtest.call("batch-peak", *threads))["threads"]
    return {count: found[str(count)]["fma_gflops"] for count in threads}


def evaluate(kernel, batch, threads, times, peers, peak):
    """Returns the result of a kernel and a batch size. `peers` is
    {name: [(time, setting) of each round]}."""
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
