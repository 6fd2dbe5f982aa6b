"""Process of a peer, for benchmarks that compare a peer's outputs with ours before they time
the peer. The script worker.py of a benchmark calls workers.serve(checked.Worker). models.py
and NAME_peer.py are in the folder of this script.

  {"do": "load", "model": …, "sizes": …, "params": FILE, "inputs": FILE.jsonl}
      → {"missing": true} if the peer does not have this model
  {"do": "margins", "count": …} → {"margins": margin of the closest decision of each
      instance}
  {"do": "check", "form": …, "batch": …, "count": …, "outputs": FILE, "margins": […]}
      → {"error": the largest |a-b| / max(|b|, rms of b) over all results, "close": number
         of instances that decided differently because two scores were nearly equal,
         "setting": …, "fell_back": steps that do not run as the form requires, if any}
  {"do": "time", "form": …, "batch": …, "count": …, "runs": …}
      → {"us": microseconds of all mini-batches, by run}
"""

import time

import numpy

import models
import tensors

# Decisions with smaller margins may differ.
CLOSE = 1e-4


def difference(found, wanted):
    """Returns the largest |a-b| / max(|b|, rms of b) of two arrays."""
    if found.shape != wanted.shape or not numpy.isfinite(found).all():
        return float("inf")
    if wanted.size == 0:
        return 0.0
    scale = numpy.sqrt(numpy.mean(numpy.square(wanted, dtype="f8")))
    return float((numpy.abs(found - wanted) /
                  numpy.maximum(numpy.maximum(numpy.abs(wanted), scale), 1e-30)).max())


def compare(found, wanted, decisions, margins=None):
    """Compares lists of {name: array}, one per instance. Returns the largest difference
    among instances with equal decisions, and the number of instances with different decisions.
    Raises an error if names differ, or if decisions differ with large or unknown margins."""
    error, close = 0.0, 0
    for i, (mine, ours) in enumerate(zip(found, wanted)):
        if set(mine) != set(ours):
            raise ValueError("found outputs %s; expected %s" % (sorted(mine), sorted(ours)))
        mine = {name: numpy.asarray(value) for name, value in mine.items()}
        if not all(numpy.array_equal(mine[name], ours[name]) for name in decisions):
            if not margins or margins[i] > CLOSE:
                raise ValueError("instance %d: decisions differ from those of Batch" % i)
            close += 1
            continue
        error = max([error] + [difference(mine[name], ours[name]) for name in ours
                               if ours[name].dtype.kind == "f"])
    return error, close


class Worker:
    def __init__(self, peer):
        self.peer = peer

    def load(self, model, sizes, params, inputs):
        self.instances = tensors.read_inputs(inputs)
        if model not in self.peer.NETS:
            return {"missing": True}
        self.described = models.MODELS[model]
        self.model = self.peer.Model(model, tensors.read_tensors(params), sizes)
        self.chosen = {}  # the fastest setting, by form and batch
        self.known = []   # margins of the first instances
        return {}

    def margins(self, count):
        self.known += self.model.margins(self.instances[len(self.known):count])
        return {"margins": self.known[:count]}

    def prepared(self, way, batch, count):
        return [way[0](self.instances[i:i + batch]) for i in range(0, count, batch)]

    def compare(self, way, batch, count, wanted, margins):
        found = []
        for given in self.prepared(way, batch, count):
            found += way[2](way[1](*given), batch)
        return compare(found, wanted, self.described.decisions, margins)

    def check(self, form, batch, count, outputs, margins):
        wanted = tensors.read_outputs(outputs, count)
        best = None
        ways = self.model.settings(form, batch)
        for setting, way in ways.items():
            error, close = self.compare(way, batch, count, wanted, margins)
            spent = min(self.run(way, batch, count)
                        for _ in range(2)) if len(ways) > 1 else 0
            if best is None or spent < best[0]:
                best = spent, setting, way, error, close
        _, setting, self.chosen[form, batch], error, close = best
        found = {"error": error, "close": close, "setting": setting}
        if getattr(self.model, "fell_back", None):
            found["fell_back"] = self.model.fell_back
        return found

    def run(self, way, batch, count):
        total = 0.0
        for given in self.prepared(way, batch, count):
            start = time.perf_counter()
            way[1](*given)
            total += time.perf_counter() - start
        return 1e6 * total

    def time(self, form, batch, count, runs):
        way = self.chosen[form, batch]
        return {"us": [self.run(way, batch, count) for _ in range(runs)]}
