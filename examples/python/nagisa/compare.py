#!/usr/bin/env python3
"""compare.py [--sentences=N] [--rounds=N] [--threads=N] [--batch=N] [FILE]: compares tagger.py with
nagisa itself, whose networks are implemented in C and process one sentence at a time.

Prints the number of sentences with equal words and kinds, and the CPU and wall seconds for all
sentences, from their letters to words with kinds. Times are medians over rounds in which the
programs take turns. A first round does not count. Compilation and reading weights are separate.
The sentences are drawn from FILE, one per line, or from Debian's manual pages in Japanese
(texts.py). The exit code is 1 if a sentence differs by more than rounding.
"""

import argparse
import importlib
import os
import pickle
import sys
import time
import types
from unittest import mock

CLOSE = 1e-4  # margin of scores below which rounding may change the result


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1,
                        help="run Batch on THREADS threads; nagisa uses one")
    parser.add_argument("--batch", type=int, default=250,
                        help="run mini-batches of BATCH sentences")
    parser.add_argument("file", nargs="?")
    return parser.parse_args()


def original(folder):
    """Imports nagisa's own tagger, without its code for training."""
    absent = dict.fromkeys(["nagisa.train"], mock.MagicMock())
    six = {"six": types.ModuleType("six"), "six.moves": types.ModuleType("six.moves")}
    six["six.moves"].cPickle = pickle
    with mock.patch.dict(sys.modules, {**absent, **six}), \
            mock.patch.object(sys, "path", [folder] + sys.path):
        return importlib.import_module("nagisa").tagger


def gap(peer, sentence, found):
    """Compares the score that nagisa assigns to its best words with its score of the words in
    `found`. Compares the kinds of each word in `found` in the same way. Returns the largest
    difference."""
    import numpy
    utils, model = peer.wakati.__globals__["utils"], peer._model
    text = utils.preprocess(sentence)
    scores = numpy.array(model.encode_ws(utils.feature_extraction(
        text=text.lower(), uni2id=peer._uni2id, bi2id=peer._bi2id,
        dictionary=peer._word2id, window_size=peer._hp["WINDOW_SIZE"])), float)
    trans = model.trans_array.astype(float)

    def path(tags):
        return sum(trans[tag, before] for before, tag in zip([4, *tags], [*tags, 5])) + \
            sum(scores[i, tag] for i, tag in enumerate(tags))

    best = path(utils.np_viterbi(trans, scores))
    tags = [tag for word, _ in found for tag in
            ([3] if len(word) == 1 else [0, *[1] * (len(word) - 2), 2])]
    logits = []

    def record(features):
        logits.append(model.encode_pt(features))
        return [0] * len(found)

    with mock.patch.object(model, "POStagging", record):
        peer._postagging([word for word, _ in found])
    kinds = [peer._pos2id[kind] for _, kind in found]
    return max(best - path(tags), *(row.max() - row[kind]
                                    for row, kind in zip(logits[0], kinds)))


def main():
    options = arguments()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    os.environ["JAX_PLATFORMS"] = "cpu"
    import batch
    import dictionary
    import jax
    import tagger
    import texts
    import weights

    folder = weights.fetch()
    sentences = texts.draw(options.sentences, options.file)
    words = dictionary.Dictionary(weights.dictionaries(folder))
    network = jax.tree.map(jax.numpy.asarray, words.tables(weights.load(folder)))
    peer = original(folder)
    analyse = batch.vmap(tagger.analyse, (0, None), threads=options.threads)

    def ours():
        results = []
        for i in range(0, len(sentences), options.batch):
            part = list(map(dictionary.normalize, sentences[i:i + options.batch]))
            found = analyse(words.sentences(tagger.Text, part), network)
            results += [words.named(text, found.length[j], found.kind[j])
                        for j, text in enumerate(part)]
        return results

    def theirs():
        found = [peer.tagging(sentence) for sentence in sentences]
        return [list(zip(each.words, each.postags)) for each in found]

    ways, results = {"Batch": ours, "nagisa": theirs}, {}
    times = {way: [] for way in ways}
    for turn in range(options.rounds + 1):
        for way, run in ways.items():
            start = time.process_time(), time.perf_counter()
            results[way] = run()
            times[way].append((time.process_time() - start[0],
                               time.perf_counter() - start[1]))
    print("%d sentences, %d letters, %d words" % (
        len(sentences), sum(map(len, sentences)), sum(map(len, results["nagisa"]))))
    differ = [(sentence, mine) for sentence, mine, own in zip(sentences, *results.values())
              if mine != own]
    wrong = [pair for pair in differ if gap(peer, *pair) > CLOSE]
    print("%d sentences have the same words of the same kinds, %d others by rounding" % (
        len(sentences) - len(differ), len(differ) - len(wrong)))
    for sentence, mine in wrong[:5]:
        print(sentence, mine)
    for way, taken in times.items():
        cpu, wall = (sorted(values)[len(values) // 2]
                     for values in zip(*taken[1:] or taken))
        print("%-10s %7.3f CPU s %7.3f s" % (way, cpu, wall))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
