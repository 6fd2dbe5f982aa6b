#!/usr/bin/env python3
"""worker.py PEER THREADS: the process of one sampler (batch, numpyro or blackjax), which
run.py starts.

  {"do": "measure", "model": …, "chains": …, "warmup": …, "draws": …, "runs": …,
   "target": …, "output": FILE}
      → {"first": CPU seconds of the first run, including compilation, "seconds": those of
         the runs after it, "steps": leapfrog steps of a draw, "diverging": number of
         diverging draws}; "output" has the draws of the last run, by site
"""

import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false " \
    "intra_op_parallelism_threads=1"
sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import workers  # noqa: E402
import numpy  # noqa: E402


class Worker:
    def __init__(self, peer):
        self.peer = peer

    def measure(self, model, chains, warmup, draws, runs, target, output):
        import models
        start = time.process_time()
        sampler = self.peer.Sampler(models.MODELS[model], chains, warmup, draws, target)
        found = sampler.run(1)
        first = time.process_time() - start
        seconds = []
        for seed in range(runs):
            start = time.process_time()
            found = sampler.run(2 + seed)
            seconds.append(time.process_time() - start)
        values, steps, diverging = found
        numpy.savez(output, **{name: numpy.asarray(value)
                               for name, value in values.items()})
        return {"first": first, "seconds": seconds, "steps": float(numpy.mean(steps)),
                "diverging": int(numpy.sum(diverging))}


workers.serve(Worker)
