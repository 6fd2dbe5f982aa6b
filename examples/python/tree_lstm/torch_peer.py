"""The model of tree_lstm.py in PyTorch: with a call for each node, and batched by hand."""

import numpy
import torch

from tree_lstm import Tree


def stacked(*parts):
    return torch.cat([torch.from_numpy(part) for part in parts])


class TreeLSTM:
    """The weights of gates i, o and u are stacked for a single product."""

    def __init__(self, w):
        self.size = len(w["b_i"])
        self.E, self.W_out = stacked(w["E"]), stacked(w["W_out"])
        self.W = stacked(w["W_i"], w["W_o"], w["W_u"])
        self.U = stacked(w["U_i"], w["U_o"], w["U_u"])
        self.U_l, self.U_r = stacked(w["U_fl"]), stacked(w["U_fr"])
        self.b, self.b_f = stacked(w["b_i"], w["b_o"], w["b_u"]), stacked(w["b_f"])
        # Weights for by_level(), in the memory order of its products. The gates are f, i, o, u
        # for the left child, and i, o, u, f for the right child.
        left, right = self.U.split(self.size, 1)
        self.w = self.W.T.contiguous()
        self.w_l = torch.cat([self.U_l, left]).T.contiguous()
        self.w_r = torch.cat([right, self.U_r]).T.contiguous()
        self.b_l, self.w_out = torch.cat([self.b_f, self.b]), self.W_out.T.contiguous()

    def recursive(self, tree, found):
        """Returns h and c of a tree. Appends h, c and logits of all nodes to `found` in
        post-order."""
        size = self.size
        if isinstance(tree, Tree.Leaf):
            g = torch.addmv(self.b, self.W, self.E[tree.word])
            i, o = g[:2 * size].sigmoid_().view(2, size)
            c = i * g[2 * size:].tanh_()
        else:
            hl, cl = self.recursive(tree.left, found)
            hr, cr = self.recursive(tree.right, found)
            g = torch.addmv(self.b, self.U, torch.cat((hl, hr)))
            i, o = g[:2 * size].sigmoid_().view(2, size)
            fl = torch.addmv(self.b_f, self.U_l, hl).sigmoid_()
            fr = torch.addmv(self.b_f, self.U_r, hr).sigmoid_()
            c = (i * g[2 * size:].tanh_()).addcmul_(fl, cl).addcmul_(fr, cr)
        h = o * torch.tanh(c)
        found.append((h, c, torch.mv(self.W_out, h)))
        return h, c

    def one_by_one(self, trees):
        found = []
        for tree in trees:
            self.recursive(tree, found)
        return [torch.stack(each).numpy() for each in zip(*found)]

    def by_level(self, trees):
        """Computes all nodes of one height at once, leaves first."""
        size, plan = self.size, Plan(trees)
        hs, cs = torch.empty(plan.count, size), torch.empty(plan.count, size)
        g = torch.addmm(self.b, self.E[torch.tensor(plan.words)], self.w)
        i, o = g[:, :2 * size].sigmoid_().split(size, 1)
        h, c = hs[:plan.ends[0]], cs[:plan.ends[0]]
        torch.mul(i, g[:, 2 * size:].tanh_(), out=c)
        torch.mul(o, torch.tanh(c), out=h)
        for begin, end, left, right in zip(plan.ends, plan.ends[1:], plan.lefts,
                                           plan.rights):
            left, right = torch.tensor(left), torch.tensor(right)
            g = torch.empty(end - begin, 5 * size)
            g[:, 4 * size:] = self.b_f
            torch.addmm(self.b_l, hs[left], self.w_l, out=g[:, :4 * size])
            g[:, size:].addmm_(hs[right], self.w_r)
            fl, i, o, u, fr = g.split(size, 1)
            g[:, :3 * size].sigmoid_()
            h, c = hs[begin:end], cs[begin:end]
            torch.mul(i, u.tanh_(), out=c)
            c.addcmul_(fl, cs[left]).addcmul_(fr.sigmoid_(), cs[right])
            torch.mul(o, torch.tanh(c), out=h)
        order = torch.tensor(plan.order)
        return [each[order].numpy() for each in (hs, cs, hs @ self.w_out)]


class Plan:
    """The nodes of a mini-batch, sorted and numbered by height.

    ends: the end of the range of each height.   words: the words of the leaves.
    lefts, rights: the numbers of the children for each height except the first.
    order: the numbers of all nodes in post-order.
    """

    def __init__(self, trees):
        levels, self.words, nodes = [[]], [], []

        def visit(tree):
            """Returns the height of a tree, and the position of its root among the nodes of this
            height."""
            if isinstance(tree, Tree.Leaf):
                height, kids = 0, None
                self.words.append(tree.word)
            else:
                left, right = visit(tree.left), visit(tree.right)
                height, kids = 1 + max(left[0], right[0]), (left, right)
                if height == len(levels):
                    levels.append([])
            place = height, len(levels[height])
            levels[height].append(kids)
            nodes.append(place)
            return place

        for tree in trees:
            visit(tree)
        begins = [0, *numpy.cumsum([len(level) for level in levels]).tolist()]
        self.count, self.ends = begins[-1], begins[1:]
        self.lefts, self.rights = ([[begins[kids[side][0]] + kids[side][1]
                                     for kids in level] for level in levels[1:]]
                                   for side in (0, 1))
        self.order = [begins[height] + place for height, place in nodes]
