"""Converts trees and DAGs of batch-run's JSON lines to arrays, and finds their levels."""


def graph_of(value):
    """Returns (the children of each node, the word of each node or -1, the root) of a value of
    batch-run's JSON. Nodes are in post-order, as in outputs."""
    def parts(node):
        word, kids = -1, []
        for field in node[1:]:
            if isinstance(field, int):
                word = field
            elif field and isinstance(field[0], str):
                kids.append(field)
            else:
                kids += field
        return word, kids

    shared = value["nodes"] if isinstance(value, dict) else None
    number = {}  # index in `kids` of each visited shared node
    kids, words, done = [], [], []
    work = [(value["root"] if shared else value, False)]
    while work:
        item, seen = work.pop()
        key = item["ref"] if isinstance(item, dict) else item
        if shared and key in number:
            done.append(number[key])
            continue
        word, own = parts(shared[key] if shared else item)
        if not seen:
            work.append((item, True))
            work += [(kid, False) for kid in reversed(own)]
            continue
        count = len(own)
        kids.append(done[len(done) - count:])
        del done[len(done) - count:]
        words.append(word)
        done.append(len(words) - 1)
        if shared:
            number[key] = len(words) - 1
    return kids, words, done[0]


class Plan:
    """The levels of a mini-batch of graphs. Nodes are numbered by level, leaves first.
    `levels` contains the range of each level above the leaves, and the children of its nodes."""

    def __init__(self, graphs):
        heights, levels, all_kids, all_words, roots = [], [[]], [], [], []
        for kids, words, root in graphs:
            base = len(heights)
            for own in kids:
                own = [base + kid for kid in own]
                height = 1 + max((heights[kid] for kid in own), default=-1)
                if height == len(levels):
                    levels.append([])
                levels[height].append(len(heights))
                heights.append(height)
                all_kids.append(own)
            all_words += words
            roots.append(base + root)
        order = [node for level in levels for node in level]
        self.nodes, self.leaves = len(order), len(levels[0])
        self.row = [0] * self.nodes
        for row, node in enumerate(order):
            self.row[node] = row
        self.all_words = [all_words[node] for node in order]
        self.words = self.all_words[:self.leaves]
        self.counts = [len(all_kids[node]) for node in order]
        self.roots = [self.row[root] for root in roots]
        self.widest = max((len(level) for level in levels[1:]), default=0)
        self.levels, begin = [], self.leaves
        for level in levels[1:]:
            kids = [self.row[kid] for node in level for kid in all_kids[node]]
            self.levels.append((begin, begin + len(level), kids))
            begin += len(level)
