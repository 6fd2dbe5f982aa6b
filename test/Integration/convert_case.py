#!/usr/bin/env python3
"""Converts a golden case of shared/cases to the formats of batch-run.

  convert_case.py CASE OUTPUT

CASE is the folder of the case. OUTPUT is the folder for inputs.jsonl and
expected.safetensors. Child-sum models get ["node", l, r] as ["node", [l, r]]. A DAG's
node list becomes a shared value, whose root is the only node that no other reads. Its
expected rows, which are in the order of the list, are sorted into the order of results (depth
first from the root). Lattices become shared values, too, and words of the character
tagger contain their kind. Rows of DRNN's nodes, from the root on, are written in the
opposite order. Seq2seq's results get zeros up to their bound, and their number of rows.
"""

import json
import os
import sys

import batchtest
import sequences

CHILD_SUM = ("treegru_cs", "simpletreegru", "treelstm_cs")


def kid_lists(tree):
    if tree[0] == "leaf":
        return tree
    return ["node", [kid_lists(kid) for kid in tree[1:]]]


def shared_value(nodes):
    """Returns a DAG as a value, and the numbers of its nodes in the order of their rows."""
    read = {kid for _, kids in nodes for kid in kids}
    sinks = [i for i in range(len(nodes)) if i not in read]
    if len(sinks) != 1:
        raise ValueError("the DAG has %d sinks; expected one" % len(sinks))
    value = {"nodes": [["node", word, [{"ref": kid} for kid in kids]]
                       for word, kids in nodes], "root": sinks[0]}
    order, seen, stack = [], {sinks[0]}, [(sinks[0], iter(nodes[sinks[0]][1]))]
    while stack:
        node, kids = stack[-1]
        for kid in kids:
            if kid not in seen:
                seen.add(kid)
                stack.append((kid, iter(nodes[kid][1])))
                break
        else:
            order.append(node)
            stack.pop()
    if len(order) != len(nodes):
        raise ValueError("some nodes cannot be reached from the root")
    return value, order


def permute(tensor, order):
    dtype, shape, values = tensor
    row = len(values) // shape[0]
    out = []
    for number in order:
        out.extend(values[number * row:(number + 1) * row])
    return dtype, shape, out


def bounded(tensor, bound):
    """Appends rows of zeros to a tensor, so that it has `bound` rows."""
    dtype, shape, values = tensor
    row = len(values) // shape[0]
    rest = [0] * (row * (bound - shape[0]))
    return dtype, [bound] + list(shape[1:]), list(values) + rest


def convert(case, output):
    """Writes inputs.jsonl and expected.safetensors to the folder `output`. Returns the settings of
    the case, and the paths of the two files."""
    with open(os.path.join(case, "meta.json")) as file:
        meta = json.load(file)
    with open(os.path.join(case, "inputs.jsonl")) as file:
        instances = [json.loads(line) for line in file if line.strip()]
    expected = batchtest.read_safetensors(
        os.path.join(case, "expected.safetensors"))
    lines = []
    for number, instance in enumerate(instances):
        if meta["model"] in CHILD_SUM:
            instance = {"tree": kid_lists(instance["tree"])}
        elif meta["model"] in batchtest.LATTICES:
            chars = [char for char, _ in instance["nodes"]]
            words = [(first, last, word)
                     for last, (_, ends) in enumerate(instance["nodes"])
                     for first, word in ends]
            instance = {"end": sequences.lattice(meta["model"], chars, words)}
        elif meta["model"] == "bilstm_tagger_char":
            instance = {"tokens": [["rare" if isinstance(token, list) else "known",
                                    token] for token in instance["tokens"]]}
        elif meta["model"] in ("seq2seq", "seq2seq_forced"):
            bound = meta["cfg"]["max_len"]
            rows = expected["%d.out" % number][1][0]
            expected["%d.count" % number] = ("I32", [], [rows])
            for name in ("%d.out" % number, "%d.h" % number):
                expected[name] = bounded(expected[name], bound)
            if "force" in instance:
                instance["force"] += [0] * (bound - len(instance["force"]))
        elif meta["model"] == "lstm_nmt_greedy":
            instance["limit"] = meta["cfg"]["max_len"]
        elif meta["model"] in batchtest.SPECULATIVE:
            instance["limit"] = meta["cfg"]["new"]
        elif meta["model"] == "drnn":
            for name in ("x", "h", "child_count"):
                tensor = expected["%d.%s" % (number, name)]
                expected["%d.%s" % (number, name)] = permute(
                    tensor, range(tensor[1][0])[::-1])
        elif "nodes" in instance:
            value, order = shared_value(instance["nodes"])
            instance = {"dag": value}
            name = "%d.h" % number
            expected[name] = permute(expected[name], order)
        lines.append(instance)
    os.makedirs(output, exist_ok=True)
    inputs = batchtest.write_lines(os.path.join(output, "inputs.jsonl"), lines)
    wanted = os.path.join(output, "expected.safetensors")
    batchtest.write_safetensors(wanted, expected)
    return meta, inputs, wanted


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    convert(sys.argv[1], sys.argv[2])
