"""Inputs of the two-type TreeLSTM, and of the models that read sentences or lattices. They come
from shared/data if it is available. Otherwise, sentences and lattices are random and have about the
same lengths, and trees come from examples/data."""

import json
import os
import random

import batchtest


def named_sizes(model, hidden=16):
    """Returns the sizes of a model whose rows are `hidden` wide. The small `lstm_nmt` has a small
    vocabulary."""
    if model == "bilstm_tagger_char":
        return {"L": hidden // 2}
    if model == "lstm_nmt" and hidden == 16:
        return {"H": hidden, "V": 97}
    return {"H": hidden}


def sizes(model):
    """Returns the options of batch-compile that select the small sizes."""
    return ["--size=%s=%d" % size for size in named_sizes(model).items()]


def lines_of(data, name, count):
    path = data and os.path.join(data, name)
    if not path or not os.path.exists(path):
        return None
    with open(path) as file:
        return [json.loads(line) for _, line in zip(range(count), file)]


def sentences(count, data, generator):
    return lines_of(data, "wikigold/all.ids.jsonl", count) or [
        [generator.randrange(1000) for _ in range(generator.randint(1, 30))]
        for _ in range(count)]


def spelled(words, generator):
    """Returns the words, with rare words spelled in letters. Words with large numbers are rare.
    No letter is 0, because 0 is padding."""
    letters = {}

    def spell(word):
        if word not in letters:
            letters[word] = [generator.randint(1, 59)
                             for _ in range(generator.randint(1, 9))]
        return ["rare", letters[word]]

    return [["known", word] if word < 500 else spell(word) for word in words]


def pairs(count, data, generator, words=97):
    lengths = lines_of(data, "iwslt15_lengths/tst2012.lengths.jsonl", count) or [
        [generator.randint(1, 40), generator.randint(1, 40)]
        for _ in range(count)]
    return [{"src": [generator.randrange(words) for _ in range(source)],
             "tgt": [generator.randrange(words) for _ in range(target)]}
            for source, target in lengths]


def lattices(count, data, generator):
    """Returns pairs (characters, words). A word is (first, last, number), where `last` is the
    position of its last character."""
    known = lines_of(data, "gsdsimp_lattice/dev.lattice.jsonl", count)
    if known:
        return [(line["chars"], line["words"]) for line in known]
    values = []
    for _ in range(count):
        chars = [generator.randrange(200) for _ in range(generator.randint(1, 40))]
        words = [[first, first + length, generator.randrange(300)]
                 for first in range(len(chars)) for length in (1, 2, 3)
                 if first + length < len(chars) and generator.random() < 0.13]
        values.append((chars, words))
    return values


def position_graph(chars, words):
    """Returns the input of the `lattice_*` models: a graph of the positions between characters."""
    nodes = [["start"]]
    for number, char in enumerate(chars):
        nodes.append(["after", char, {"ref": number},
                      [["word", word, {"ref": first}]
                       for first, last, word in words if last == number]])
    return {"nodes": nodes, "root": len(chars)}


def character_graph(chars, words):
    """Returns the input of `lattice_lstm`: a graph of characters, each with the words that end at
    it."""
    nodes = [["none"]]
    for number, char in enumerate(chars):
        arcs = [["word", word, {"ref": first + 1}]
                for first, last, word in words if last == number]
        nodes.append(["joined", char, {"ref": number}, arcs] if arcs else
                     ["plain", char, {"ref": number}])
    return {"nodes": nodes, "root": len(chars)}


def lattice(model, chars, words):
    return (character_graph if model == "lattice_lstm" else position_graph)(
        chars, words)


def typed_tree(tree, generator):
    """Returns a parsed tree with random words, and a random bit at each inner node."""
    if isinstance(tree[1], str):
        return ["leaf", generator.randrange(1000)]
    kids = [typed_tree(kid, generator) for kid in tree[1:]]
    return ["node"] + kids + [generator.randrange(2)]


def instances(model, count, data=None, seed=3):
    generator = random.Random(seed)
    if model in batchtest.LATTICES:
        return [{"end": lattice(model, *value)}
                for value in lattices(count, data, generator)]
    if model == "lstm_nmt":
        return pairs(count, data, generator)
    if model in batchtest.CHAINS:
        values = sentences(count, data, generator)
        if model == "bilstm_tagger_char":
            values = [spelled(value, generator) for value in values]
        return [{"tokens": value} for value in values]
    path = os.path.join(data or "", "gum_trees", "binary.txt")
    if not data or not os.path.exists(path):
        path = os.path.join(batchtest.INPUTS, "trees.txt")
    with open(path) as file:
        lines = [line for _, line in zip(range(count), file)]
    return [{"tree": typed_tree(batchtest.parse_brackets(line), generator)}
            for line in lines]
