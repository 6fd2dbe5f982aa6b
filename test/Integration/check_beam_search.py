#!/usr/bin/env python3
"""check_beam_search.py: compares lstm_nmt_beam with a separate beam search in Python.

The reference computes in double precision. Sentences with a close choice are omitted, so
that single precision makes the same choices. Exact ties are not close choices: of
words with equal parameters, the first one is chosen, in the first of equal beams.
"""

import math
import os
import random

import batchtest
import waits

HIDDEN, WORDS, WIDTH = 16, 40, 4
MARGIN = 2e-3

checks = batchtest.Checks("beam search")
scratch = batchtest.temporary()


def parameters(generator, tied):
    """Returns shapes and values in single precision, by name."""
    result = {}

    def add(name, shape, scale):
        result[name] = (shape, [
            batchtest.narrow(generator.uniform(-scale, scale))
            for _ in range(math.prod(shape))])

    for name in ("E_src", "E_tgt"):
        add(name, (WORDS, HIDDEN), 2)
    for cell in ("enc", "dec"):
        add(cell + ".in.W", (HIDDEN, HIDDEN), 0.5)
        add(cell + ".in.b", (HIDDEN,), 0.5)
        for gate in "ifgo":
            add("%s.W_%s" % (cell, gate), (HIDDEN, HIDDEN), 0.6)
            add("%s.U_%s" % (cell, gate), (HIDDEN, HIDDEN), 0.6)
            add("%s.b_%s" % (cell, gate), (HIDDEN,), 0.5)
    add("h0", (HIDDEN,), 0.5)
    add("c0", (HIDDEN,), 0.5)
    add("W_out", (WORDS, HIDDEN), 2)
    add("b_out", (WORDS,), 0.5)
    result["b_out"][1][0] += 1.5  # makes sentences end
    # Words 2 and 3, 4 and 5, and so on, have equal parameters.
    for name in ("E_tgt", "W_out", "b_out") if tied else ():
        shape, values = result[name]
        row = len(values) // WORDS
        for word in range(2, WORDS, 2):
            values[(word + 1) * row:(word + 2) * row] = values[word * row:(word + 1) * row]
    return result


class Reference:
    def __init__(self, tensors):
        self.tensors = {name: values if len(shape) == 1 else [
            values[i:i + shape[1]] for i in range(0, len(values), shape[1])]
            for name, (shape, values) in tensors.items()}

    def linear(self, W, x, b):
        return [sum(map(lambda w, v: w * v, row, x), start)
                for row, start in zip(self.tensors[W], b)]

    def step(self, cell, table, word, state):
        h, c = state
        x = [math.tanh(a) for a in self.linear(
            cell + ".in.W", self.tensors[table][word], self.tensors[cell + ".in.b"])]

        def gate(name):
            return self.linear("%s.U_%s" % (cell, name), h, self.linear(
                "%s.W_%s" % (cell, name), x, self.tensors["%s.b_%s" % (cell, name)]))

        i, f, o = [[1 / (1 + math.exp(-a)) for a in gate(name)] for name in "ifo"]
        g = [math.tanh(a) for a in gate("g")]
        c = [fv * cv + iv * gv for fv, cv, iv, gv in zip(f, c, i, g)]
        return [ov * math.tanh(cv) for ov, cv in zip(o, c)], c

    def log_probabilities(self, h):
        logits = self.linear("W_out", h, self.tensors["b_out"])
        most = max(logits)
        log = math.log(sum(math.exp(v - most) for v in logits))
        return [v - most - log for v in logits]

    def translate(self, source, limit):
        """Returns the score of the best translation, its words, the number of steps, and the
        smallest difference that decides a choice."""
        state, margin, steps = (self.tensors["h0"], self.tensors["c0"]), math.inf, 0
        for word in source:
            state = self.step("enc", "E_src", word, state)
        beams = [(0.0, [], state, False)]
        while True:
            # (-score, beam, word) of all possible continuations
            nexts, states = [], []
            for beam, (score, words, state, over) in enumerate(beams):
                if over:
                    states.append(state)
                    nexts.append((-score, beam, 0))
                    continue
                states.append(self.step("dec", "E_tgt", words[-1] if words else 1, state))
                nexts += [(-score - p, beam, word) for word, p in enumerate(
                    self.log_probabilities(states[-1][0]))]
            nexts.sort()
            margin = min([margin] + [b[0] - a[0] for a, b in zip(
                nexts[:WIDTH], nexts[1:]) if b[0] != a[0]])
            beams = [(-cost, beams[beam][1] if beams[beam][3] else
                      beams[beam][1] + [word], states[beam], word == 0)
                     for cost, beam, word in nexts[:WIDTH]]
            steps += 1
            if steps == limit or all(over for _, _, _, over in beams):
                break
        ended = [beam for beam in beams if beam[3]] or beams
        return max(ended, key=lambda beam: beam[0])[:2] + (steps, margin)


def check(name, tied, seed, count):
    generator = random.Random(seed)
    tensors = parameters(generator, tied)
    params = os.path.join(scratch, name + ".params")
    batchtest.write_safetensors(params, {key: ("F32", shape, values) for key, (
        shape, values) in tensors.items()})
    reference, lines, expected, lengths, close = Reference(tensors), [], {}, [], 0
    while len(lines) < count:
        source = [generator.randrange(WORDS) for _ in range(generator.randint(1, 9))]
        limit = generator.choice((2, 3, 12, 12))
        score, words, steps, margin = reference.translate(source, limit)
        if margin < MARGIN:
            close += 1
            continue
        number = len(lines)
        lines.append({"src": source, "limit": limit})
        expected["%d.out" % number] = ("I32", [len(words)], words)
        expected["%d.score" % number] = ("F32", [], [score])
        expected["%d.steps" % number] = ("I32", [], [steps])
        lengths.append((steps, len(words), words[-1]))
    print("%s: %d sentences left out, of steps, words: %s" % (name, close, lengths))
    checks.expect(name + ": sentences end early, late and not at all",
                  len(set(lengths)) > 4 and any(last for _, _, last in lengths) and
                  any(steps > words for steps, words, _ in lengths))
    inputs = batchtest.write_lines(os.path.join(scratch, name + ".jsonl"), lines)
    wanted = os.path.join(scratch, name + ".expected")
    batchtest.write_safetensors(wanted, expected)
    program = checks.run("compile", lambda: batchtest.compile_model(
        batchtest.model("lstm_nmt_beam"),
        os.path.join(scratch, "beam.so"), HIDDEN, "--size=V=%d" % WORDS,
        "--strategy=lazy"))
    for batch in (1, 5, count) if program else ():
        for threads in (1, 2):
            report = checks.run(
                "%s, batch %d on %d threads" % (name, batch, threads),
                lambda: batchtest.run_model(
                    program, inputs, "--expect=%s,1e-4,1e-5" % wanted, params=params,
                    batch=batch, threads=threads))
            if report and batch == count:
                checks.equal(name + ": flushes", report["flushes"],
                             waits.flushes("lstm_nmt_beam", expected, range(count)))


check("random", False, 5, 24)
check("ties", True, 6, 24)
checks.exit()
