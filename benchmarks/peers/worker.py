#!/usr/bin/env python3
"""worker.py PEER THREADS: runs one peer, torch or numpy, in a process that run.py starts.

  {"do": "load", "model": …, "size": …, "params": FILE, "inputs": FILE.jsonl}
  {"do": "check", "form": "levels"|"recursive", "batch": …, "instances": …,
   "outputs": FILE}
      → {"error": the largest |a-b| / max(|b|, rms of b) over all results}
  {"do": "time", "form": …, "batch": …, "instances": …, "runs": …}
      → {"lists": […], "execute": […]}: microseconds of all mini-batches, by run
"""

import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import workers  # noqa: E402
import batchtest  # noqa: E402, from there, too


class Plan:
    """The levels of a mini-batch. Nodes are numbered by level, leaves first. For each level above
    the leaves, `levels` contains the range of its nodes, and their children, left and right in
    turn. Trees are given as arrays in post-order, the form in which our program reads them."""

    def __init__(self, trees):
        heights, levels, words, lefts, rights, roots = [], [[]], [], [], [], []
        for left, right, word in trees:
            base = len(heights)
            for i, (l, r) in enumerate(zip(left, right)):
                height = 0
                if l < 0:
                    words.append(word[i])
                else:
                    l, r = l + base, r + base
                    height = 1 + max(heights[l], heights[r])
                    if height == len(levels):
                        levels.append([])
                lefts.append(l)
                rights.append(r)
                heights.append(height)
                levels[height].append(base + i)
            roots.append(len(heights) - 1)
        order = numpy.concatenate([numpy.array(level) for level in levels])
        self.nodes, self.leaves = len(order), len(levels[0])
        self.row = numpy.empty(self.nodes, "i8")
        self.row[order] = numpy.arange(self.nodes)
        self.words, self.roots = numpy.array(words), self.row[roots]
        kids = self.row[numpy.stack([numpy.array(lefts)[order],
                                     numpy.array(rights)[order]], 1)].ravel()
        self.levels, begin = [], self.leaves
        for level in levels[1:]:
            end = begin + len(level)
            self.levels.append((begin, end, kids[2 * begin:2 * end]))
            begin = end
        self.widest = max([len(level) for level in levels[1:]], default=0)


def post_order(tree):
    """Returns arrays of left children, right children and words. Missing entries are -1."""
    left, right, word, done = [], [], [], []
    work = [(tree, False)]
    while work:
        node, seen = work.pop()
        if isinstance(node[1], int):
            done.append(len(left))
            left.append(-1)
            right.append(-1)
            word.append(node[1])
        elif not seen:
            work += [(node, True), (node[2], False), (node[1], False)]
        else:
            r, l = done.pop(), done.pop()
            done.append(len(left))
            left.append(l)
            right.append(r)
            word.append(-1)
    return left, right, word


def difference(found, wanted):
    scale = numpy.sqrt(numpy.mean(numpy.square(wanted, dtype="f8")))
    # A NaN counts as infinity, because max() in the caller could ignore a NaN.
    relative = numpy.abs(found - wanted) / numpy.maximum(numpy.abs(wanted), scale)
    return float(relative.max()) if numpy.isfinite(found).all() else float("inf")


def lap(since):
    return (time.perf_counter() - since) * 1e6


class Worker:
    def __init__(self, peer):
        self.peer = peer

    def load(self, model, size, params, inputs):
        with open(inputs) as file:
            self.trees = [json.loads(line) for line in file]
        self.arrays = [post_order(tree) for tree in self.trees]
        tensors = {name: numpy.array(values, "f4").reshape(shape)
                   for name, (_, shape, values)
                   in batchtest.read_safetensors(params).items()}
        self.model = self.peer.MODELS[model](tensors, size)
        return {}

    def mini_batches(self, batch, instances):
        return [self.arrays[i:i + batch] for i in range(0, instances, batch)]

    def check(self, form, batch, instances, outputs):
        wanted = {name: numpy.array(values).reshape(shape)
                  for name, (_, shape, values)
                  in batchtest.read_safetensors(outputs).items()
                  if not name.endswith(".offsets")}
        if form == "recursive":
            found = self.model.collect(self.model.recursive(self.trees[:instances]))
        else:
            parts = []
            for trees in self.mini_batches(batch, instances):
                plan = Plan(trees)
                state = self.model.prepare(plan)
                self.model.run(state)
                # Puts rows of nodes in post-order. Results per instance keep their order.
                parts.append({
                    name: numpy.asarray(values)[
                        plan.row if name != "M_root" else slice(None)]
                    for name, values in self.model.outputs(state).items()})
            found = {name: numpy.concatenate([part[name] for part in parts])
                     for name in parts[0]}
        if set(found) != set(wanted):
            raise ValueError("found outputs %s; expected %s" %
                             (sorted(found), sorted(wanted)))
        return {"error": max(difference(numpy.asarray(found[name]), wanted[name])
                             for name in wanted)}

    def time(self, form, batch, instances, runs):
        lists, execute = [], []
        if form == "recursive":
            for run in range(runs + 1):
                start = time.perf_counter()
                self.model.recursive(self.trees[:instances])
                execute.append(lap(start))
            return {"lists": [0] * runs, "execute": execute[1:]}
        states = []
        for run in range(runs + 1):  # the first run creates the buffers
            start = time.perf_counter()
            states = [self.model.prepare(Plan(trees))
                      for trees in self.mini_batches(batch, instances)]
            lists.append(lap(start))
        for run in range(runs + 3):
            total = 0
            for state in states:
                start = time.perf_counter()
                self.model.run(state)
                total += lap(start)
            execute.append(total)
        return {"lists": lists[1:], "execute": execute[3:]}


def make(peer):
    global numpy
    import numpy
    return Worker(peer)


workers.serve(make)
