#!/usr/bin/env python3
"""Compares effective samples per CPU second with NumPyro and BlackJAX.

  run.py [--models=a,b] [--chains=64,512] [--warmup=500] [--draws=500] [--runs=1]
         [--target=0.8] [--peers=batch,numpyro,blackjax] [--output=FILE] [--add]

Needs a Python with the package, NumPyro, ArviZ, and BlackJAX for its column (pip install
blackjax). The script reports missing packages and skips their peers.

All samplers get the same models (models.py) in double precision, the same number of warm-up
transitions with a diagonal mass matrix, the same number of draws, and the same target acceptance.
Each sampler runs all chains at once, on one thread: batch.sample, NumPyro's vectorized chains, and
BlackJAX's window adaptation under jit(vmap). The time is the CPU time of the process, for warm-up,
draws, and the values of the model's sites. Compilation happens in the first run, and is separate.
Effective samples are ArviZ's bulk effective samples, of the parameter that has the fewest.

Means and deviations must differ from those of NumPyro by at most 4.5 times the combined Monte-Carlo
error, and no sampler may fail, else the exit code is 1. If R-hat exceeds 1.01, the line has a star:
the posterior is hard, for us or for the peer. Ratios compare us with the better of the peers:
below 1 is a loss.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "benchmarks", "sample")
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
sys.dont_write_bytecode = True
import workers  # noqa: E402
import batchtest  # noqa: E402
import numpy  # noqa: E402

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import arviz  # noqa: E402

MODELS = ["schools", "logistic", "poisson", "hierarchical", "autoregressive", "mixture",
          "gaussian_process", "student", "correlation", "state_space"]
PEERS = ["batch", "numpyro", "blackjax"]


def estimates(values):
    """Returns statistics of every parameter that varies: mean and standard deviation, each with
    its error, effective samples, and R-hat."""
    result = {}
    for name, value in values.items():
        value = value.reshape(value.shape[:2] + (-1,))
        for i in range(value.shape[2]):
            draws = value[:, :, i]
            if numpy.ptp(draws) < 1e-9:
                continue
            result["%s[%d]" % (name, i)] = {
                "mean": (float(draws.mean()), float(arviz.mcse(draws))),
                "sd": (float(draws.std()), float(arviz.mcse(draws, method="sd"))),
                "ess": float(arviz.ess(draws)), "rhat": float(arviz.rhat(draws))}
    return result


def measure(peer, options, model, chains):
    """Returns the estimates and the times of a peer."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "draws.npz")
        found = peer.ask("measure", model=model, chains=chains, warmup=options.warmup,
                         draws=options.draws, runs=options.runs, target=options.target,
                         output=output)
        with numpy.load(output) as values:
            parameters = estimates(values)
    worst = min(parameters, key=lambda name: parameters[name]["ess"])
    seconds = statistics.median(found["seconds"])
    return dict(found, parameters=parameters, worst=worst,
                ess=parameters[worst]["ess"], per_second=parameters[worst]["ess"] / seconds,
                rhat=max(p["rhat"] for p in parameters.values()))


def distance(ours, theirs):
    """Returns the largest difference between means or between standard deviations, in units of the
    combined Monte Carlo error."""
    return max(abs(ours[name][what][0] - theirs[name][what][0]) /
               numpy.hypot(ours[name][what][1], theirs[name][what][1])
               for name in theirs for what in ("mean", "sd"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--chains", default="64,512")
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--target", type=float, default=0.8)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "sample.json"))
    parser.add_argument("--add", action="store_true")
    options = parser.parse_args()
    for given, known in ((options.models, MODELS), (options.peers, PEERS)):
        batchtest.check_names("name", given.split(","), known)
    record = {**batchtest.where_and_when("sample"), "warmup": options.warmup,
              "draws": options.draws, "runs": options.runs, "target": options.target,
              "results": []}
    if options.add and os.path.exists(options.output):
        with open(options.output) as file:
            record["results"] = json.load(file)["results"]
    failed = False
    print("%-17s %6s  %-9s %8s %9s %9s %7s %9s %6s %7s" % (
        "model", "chains", "sampler", "seconds", "ESS", "ESS/s", "steps", "diverging",
        "first", "ratio"))
    for model in options.models.split(","):
        for chains in map(int, options.chains.split(",")):
            found = {}
            for name in options.peers.split(","):
                peer = workers.Peer(os.path.join(HERE, "worker.py"), name, 1)
                try:
                    if "missing" in peer.about:
                        print("%s is missing: %s" % (name, peer.about["missing"]),
                              file=sys.stderr)
                        continue
                    found[name] = measure(peer, options, model, chains)
                except batchtest.ToolError as error:
                    failed = True
                    print("FAILED: %s, %s: %s" % (model, name, error), file=sys.stderr)
                    continue
                finally:
                    peer.close()
                found[name]["version"] = peer.about["version"]
            peers = [found[name]["per_second"] for name in found if name != "batch"]
            ratio = found["batch"]["per_second"] / max(peers) \
                if "batch" in found and peers else None
            for name, result in found.items():
                print("%-17s %6d  %-9s %8.2f %9.0f %9.0f %7.1f %9d %6.1f %7s%s" % (
                    model, chains, name, statistics.median(result["seconds"]),
                    result["ess"], result["per_second"], result["steps"],
                    result["diverging"], result["first"],
                    "%.2f" % ratio if name == "batch" and ratio else "",
                    "" if result["rhat"] <= 1.01 else " * R-hat %.3f" % result["rhat"]),
                    flush=True)
            off = distance(found["batch"]["parameters"], found["numpyro"]["parameters"]) \
                if "batch" in found and "numpyro" in found else None
            if off is not None and not off <= 4.5:
                failed = True
                print("FAILED: %s, %d chains: a mean or deviation is %.1f errors off" %
                      (model, chains, off))
            record["results"] = [r for r in record["results"]
                                 if (r["model"], r["chains"]) != (model, chains)]
            for result in found.values():
                del result["parameters"]
            record["results"].append({"model": model, "chains": chains, "ratio": ratio,
                                      "off": off, "samplers": found})
            batchtest.store_record(options.output, record)
    sys.exit(failed)


if __name__ == "__main__":
    main()
