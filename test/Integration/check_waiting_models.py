#!/usr/bin/env python3
"""check_waiting_models.py [--long [--minutes=N --seed=N]] [MODEL ...]: tests every model
whose control flow waits.

On random inputs, batched results equal unbatched ones bit for bit. An instance has the same results
for each mini-batch, number of threads and order of instances, and for any other instances
in the mini-batch. An oracle, which replays the waits from the results (waits.py), determines
the expected number of flushes. With --long, models have their default sizes, and larger ones.
"""

import argparse
import itertools
import json
import math
import os
import random

import batchtest
import speculative_models
import waits

checks = batchtest.Checks("models that wait")
scratch = batchtest.temporary()


class Size:
    """Provides options of batch-compile, and the sizes on which inputs and parameters depend."""

    def __init__(self, hidden, small):
        self.hidden, self.small = hidden, small
        self.words = 40 if small else 4000

    def options(self, model):
        sizes = {"H": self.hidden}
        if model.startswith("lstm_nmt"):
            sizes["V"] = self.words
        elif model == "stackrnn":
            sizes["ACTIONS"] = 5 if self.small else 41
        elif model == "berxit":
            # BERT base and large, with at most 12 layers
            heads, width = {16: (3, 16), 256: (12, 64), 512: (16, 64)}[self.hidden]
            sizes = {"H": heads * width, "HEADS": heads, "D": width,
                     "TOKENS": self.tokens(), "V": self.words}
        elif model in batchtest.SPECULATIVE:
            sizes = {"D": self.head(), "F": 4 * self.hidden, "V": self.words}
        return ["--size=%s=%d" % pair for pair in sizes.items()]

    def tokens(self):
        return 16 if self.small else 128

    def head(self):
        return self.hidden // speculative_models.HEADS

    def layers(self):
        return 2 if self.small else speculative_models.LAYERS

    def source(self, model):
        if model in batchtest.SPECULATIVE and self.small:
            return batchtest.write_lines(os.path.join(scratch, model + ".mlir"), [
                speculative_models.write(model, self.layers())])
        return batchtest.model(model)

    def params(self, model):
        path = os.path.join(scratch, model + ".params")
        if model == "drnn":
            return self.tree_params(path)
        if model == "berxit":
            return "random:2"  # with this seed, small instances exit after different layers
        if model not in batchtest.SPECULATIVE:
            return "random:1"
        speculative_models.write_params(model, path, self.layers(), self.head(),
                                        4 * self.hidden, self.words)
        return path

    def tree_params(self, path):
        """Writes large parameters, because otherwise all trees of drnn are alike."""
        h, generator, tensors = self.hidden, random.Random(3), {}
        for name, shape in (("W_a", (h, 2 * h)), ("W_f", (h, 2 * h)), ("W_pred", (h, 2 * h)),
                            ("W_out", (h, h)), ("U_af", (2, h)), ("b_a", (h,)),
                            ("b_f", (h,)), ("v_a", (h,)), ("v_f", (h,)), ("b_af", (2,))):
            bound = 12 / math.sqrt(shape[-1]) if len(shape) == 2 else 0.5
            tensors[name] = ("F32", shape, [generator.uniform(-bound, bound)
                                            for _ in range(math.prod(shape))])
        batchtest.write_safetensors(path, tensors)
        return path

    def instance(self, model, generator, number):
        def sentence(least, most):
            """Returns random words. The first one is the last word of the vocabulary, because
            random tables have only as many rows as inputs require."""
            rest = [generator.randrange(self.words)
                    for _ in range(generator.randint(least, most) - 1)]
            return [self.words - 1] + rest if rest or least else rest

        def vector(scale):
            return [batchtest.narrow(generator.uniform(-scale, scale))
                    for _ in range(self.hidden)]

        if model.startswith("lstm_nmt"):
            return {"src": sentence(1, 20), "limit": generator.randint(1, 20)}
        if model == "nestedrnn_td":
            return {"x": vector(1), "tokens": sentence(1, 3 if self.small else 8)}
        if model == "drnn":
            return {"x": vector(2), "h": vector(2)}
        if model == "berxit":
            return {"tokens": [generator.randrange(self.words)
                               for _ in range(self.tokens())]}
        if model == "specdec":
            return {"tokens": sentence(1, 20), "limit": generator.randint(1, 24)}
        if model == "specdec_sample":
            return {"tokens": sentence(1, 20), "limit": generator.randint(1, 24),
                    "seed": 1, "chain": number}
        if model.startswith("moe"):
            return {"tokens": sentence(0, 20) if self.small else sentence(16, 64)}
        return {"tokens": sentence(0, 20)}


def by_instance(path, count):
    """Returns outputs of a run as {"INSTANCE.NAME": (type, shape, values)}."""
    outputs, result = batchtest.read_safetensors(path), {}
    for name, (kind, shape, values) in outputs.items():
        if name.endswith(".offsets"):
            continue
        ends = list(range(count + 1))
        if name + ".offsets" in outputs:
            ends = list(outputs[name + ".offsets"][2])
        row = len(values) // max(ends[-1], 1)
        for number, (begin, end) in enumerate(zip(ends, ends[1:])):
            result["%d.%s" % (number, name)] = (kind, [end - begin] + shape[1:],
                                                values[begin * row:end * row])
    return result


class Model:
    def __init__(self, name, size):
        self.name = "%s, size %d" % (name, size.hidden)
        self.model, self.params = name, size.params(name)
        generator = random.Random(11)
        self.lines = [json.dumps(size.instance(name, generator, i)) for i in range(64)]
        self.program = checks.run("compile " + self.name, lambda: batchtest.compile_model(
            size.source(name), os.path.join(scratch, "model.so"), None,
            "--strategy=lazy", *size.options(name)))

    def run(self, what, numbers, batch, threads, check=False):
        """Returns the report, and the outputs by instance in the order of `numbers`."""
        inputs = batchtest.write_lines(os.path.join(scratch, "inputs.jsonl"),
                                       [self.lines[i] for i in numbers])
        out = os.path.join(scratch, "outputs")
        # With two threads, rows that are no longer needed are reused, including short
        # rows. The number of flushes is expected to be the least, so no branch may start late.
        report = checks.run("%s, %s" % (self.name, what), lambda: batchtest.run_model(
            self.program, inputs, "--outputs=" + out, "--share-tasks=1",
            "--max-fibers=256",
            "--reuse-rows=%d" % (1 if threads == 2 else 1024), params=self.params,
            batch=batch, threads=threads, check=check))
        return (report, by_instance(out, len(numbers))) if report else (None, None)

    def compare(self, what, numbers, found):
        """Compares results with those of a run with all instances in one mini-batch."""
        wanted = {"%d.%s" % (place, key.partition(".")[2]): value
                  for place, number in enumerate(numbers)
                  for key, value in self.wanted.items()
                  if int(key.partition(".")[0]) == number}
        checks.expect("%s, %s: same results" % (self.name, what), found == wanted)

    def check(self, small):
        if not self.program:
            return
        everything = list(range(len(self.lines)))
        report, self.wanted = self.run("batch 64", everything, 64, 1, check=True)
        if not report:
            return
        chain, _ = waits.MODELS[self.model]
        chains = [chain(self.wanted, i) for i in everything]
        checks.expect("%s: instances differ" % self.name, len(set(chains)) > 1 or not small,
                      chains)
        for batch in (64, 8, 1):
            numbers = everything if small or batch == 64 else everything[:2 * batch + 6]
            flushes = sum(waits.flushes(self.model, self.wanted, numbers[i:i + batch])
                          for i in range(0, len(numbers), batch))
            counts = None
            for threads in (1, 2, 3):
                what = "batch %d, %d threads" % (batch, threads)
                report, found = self.run(what, numbers, batch, threads)
                if not report:
                    continue
                self.compare(what, numbers, found)
                checks.equal("%s, %s: flushes" % (self.name, what), report["flushes"],
                             flushes)
                new = [report[key] for key in ("waits", "batches", "tasks")]
                counts = counts or new
                checks.equal("%s, %s: waits, batches, tasks" % (self.name, what), new,
                             counts)
        # The instances are in random order, so each mini-batch has a different set of instances.
        shuffled = list(everything)
        random.Random(7).shuffle(shuffled)
        for batch in (64, 7):
            what = "shuffled, batch %d" % batch
            numbers = shuffled if small else shuffled[:21]
            report, found = self.run(what, numbers, batch, 2)
            if report:
                self.compare(what, numbers, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--long", action="store_true",
                        help="run at the default sizes, and at larger ones")
    batchtest.add_draw_options(parser, "models and sizes")
    parser.add_argument("models", nargs="*", default=batchtest.WAITING)
    options = parser.parse_args()
    cases = list(itertools.product(options.models, (256, 512) if options.long else (16,)))
    for name, hidden in batchtest.draw(options, cases):
        Model(name, Size(hidden, hidden == 16)).check(hidden == 16)
    checks.exit()


main()
