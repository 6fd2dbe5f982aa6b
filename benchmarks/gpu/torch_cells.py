"""The structural models that peers/torch_peer.py lacks, in PyTorch: TreeRNN, models with any
number of children per node, and a binary TreeLSTM for compilation.

A model has two functions of rows. `leaf` takes the products of the words. `node` takes these
products and the children's rows. By level, they get all nodes of a height; node by node, they get
one row. By level, the products of the words are one product for all nodes of a mini-batch.
"""

import torch
import torch_peer
from torch_peer import rows, stack, tensor


class OneNode:
    """The children of one node."""

    def total(self, values):
        return values.sum(0, keepdim=True)

    def spread(self, values):
        return values


class Level:
    """The children of a level's nodes, in adjacent rows. `parents` contains the parent of each
    child as a position in the level."""

    def __init__(self, count, parents):
        self.count, self.parents = count, parents

    def total(self, values):
        sums = values.new_zeros(self.count, values.shape[1])
        return sums.index_add_(0, self.parents, values)

    def spread(self, values):
        return values.index_select(0, self.parents)


class Model(torch_peer.Model):
    names = ("h",)
    everywhere = False  # true if inner nodes also have words

    def prepare(self, plan):
        state = {name: self.E.new_empty(plan.nodes, self.size)
                 for name in self.names}
        state["words"] = tensor(plan.all_words if self.everywhere else plan.words)
        state["leaves"], state["levels"] = plan.leaves, []
        for begin, end, kids in plan.levels:
            parents = [i for i, row in enumerate(range(begin, end))
                       for _ in range(plan.counts[row])]
            state["levels"].append((begin, end, tensor(kids),
                                    Level(end - begin, tensor(parents))))
        return state

    def run(self, state):
        tables = [state[name] for name in self.names]
        inputs = self.inputs(self.E.index_select(0, state["words"]))
        leaves = state["leaves"]
        for table, values in zip(tables, self.leaf(inputs[:leaves])):
            table[:leaves] = values
        for begin, end, kids, level in state["levels"]:
            own = inputs[begin:end] if self.everywhere else None
            found = self.node(own, level, *[table.index_select(0, kids)
                                            for table in tables])
            for table, values in zip(tables, found):
                table[begin:end] = values

    def recursive(self, graphs):
        found = []
        for kids, words, _ in graphs:
            nodes = []
            for own, word in zip(kids, words):
                inputs = None
                if word >= 0:
                    inputs = self.inputs(self.E[word:word + 1])
                if own:
                    children = [torch.cat(rows) for rows
                                in zip(*[nodes[kid] for kid in own])]
                    nodes.append(self.node(inputs, OneNode(), *children))
                else:
                    nodes.append(self.leaf(inputs))
            found += [[row[0] for row in node] for node in nodes]
        return found


class TreeRNN(Model):
    def load(self, p, size):
        self.E = tensor(p["E"])

    def inputs(self, x):
        return x

    def leaf(self, x):
        return (x,)

    def node(self, own, kids, h):
        return (kids.total(h).tanh_(),)


class TreeRNNW(Model):
    def load(self, p, size):
        self.E, self.b = tensor(p["E"]), tensor(p["b"])
        self.w, self.u = stack(p["W"]), stack(p["U"])

    def inputs(self, x):
        return torch.addmm(self.b, x, self.w)

    def leaf(self, a):
        return (a.tanh(),)

    def node(self, own, kids, h):
        return (torch.addmm(self.b, kids.total(h), self.u).tanh_(),)


class DAGRNN(TreeRNNW):
    everywhere = True

    def load(self, p, size):
        TreeRNNW.load(self, dict(p, W=p["U"], U=p["W"]), size)

    def node(self, own, kids, h):
        return (torch.addmm(own, kids.total(h), self.u).tanh_(),)


class TreeGRU(Model):
    """Words are multiplied by W_z and W_h, and by W_r if inner nodes have words."""

    direct = True

    def load(self, p, size):
        self.E, self.everywhere = tensor(p["E"]), "W_r" in p
        gates = "rzh" if self.everywhere else "zh"
        self.w = stack(*[p["W_" + gate] for gate in gates])
        self.b = rows(*[p["b_" + gate] for gate in gates])
        self.u, self.u_n = stack(p["U_r"], p["U_z"]), stack(p["U_h"])
        self.b_gates, self.b_n = rows(p["b_r"], p["b_z"]), tensor(p["b_h"])

    def inputs(self, x):
        return torch.addmm(self.b, x, self.w)

    def leaf(self, a):
        size = self.size
        z, n = a[:, -2 * size:-size].sigmoid(), a[:, -size:].tanh()
        return (n.addcmul(z, n, value=-1),)

    def node(self, own, kids, h):
        size, s = self.size, kids.total(h)
        gates = self.b_gates if own is None else own[:, :2 * size]
        g = torch.addmm(gates, s, self.u).sigmoid_()
        r, z = g[:, :size], g[:, size:]
        new = self.b_n if own is None else own[:, 2 * size:]
        n = torch.addmm(new, r * s, self.u_n).tanh_()
        return (torch.lerp(n, s, z) if self.direct
                else n.addcmul(z, n, value=-1),)


class SimpleTreeGRU(TreeGRU):
    direct = False


class TreeLSTM(Model):
    """Words are multiplied by W_i, W_o and W_u, and by W_f if inner nodes have words."""

    names = ("h", "c")

    def load(self, p, size):
        self.E, self.everywhere = tensor(p["E"]), "W_f" in p
        gates = "iouf" if self.everywhere else "iou"
        self.w = stack(*[p["W_" + gate] for gate in gates])
        self.b = rows(*[p["b_" + gate] for gate in gates])
        self.u = stack(*[p["U_" + gate] for gate in "iou"])
        self.b_gates = rows(*[p["b_" + gate] for gate in "iou"])
        self.u_f, self.b_f = stack(p["U_f"]), tensor(p["b_f"])

    def inputs(self, x):
        return torch.addmm(self.b, x, self.w)

    def gates(self, g):
        size = self.size
        first = g[:, :2 * size].sigmoid()
        return first[:, :size], first[:, size:], g[:, 2 * size:3 * size].tanh()

    def leaf(self, a):
        i, o, u = self.gates(a)
        c = i * u
        return o * c.tanh(), c

    def node(self, own, kids, h, c):
        size = self.size
        gates = self.b_gates if own is None else own[:, :3 * size]
        i, o, u = self.gates(torch.addmm(gates, kids.total(h), self.u))
        forget = self.b_f if own is None else kids.spread(own[:, 3 * size:])
        f = torch.addmm(forget, h, self.u_f).sigmoid_()
        c = kids.total(f * c).addcmul_(i, u)
        return o * c.tanh(), c


class BinaryTreeLSTM(Model):
    """A variant of the model of peers/torch_peer.py. Its results do not share memory, because
    compilers do not support that."""

    names = ("h", "c")

    def load(self, p, size):
        torch_peer.TreeLSTM.load(self, p, size)

    def inputs(self, x):
        return torch.addmm(self.b_leaf, x, self.w_leaf)

    def leaf(self, a):
        i, o, u = a.chunk(3, 1)
        c = i.sigmoid() * u.tanh()
        return o.sigmoid() * c.tanh(), c

    def node(self, own, kids, h, c):
        pair = h.view(-1, 2 * self.size)
        if self.own:
            i, o, u = torch.addmm(self.b_leaf, pair, self.W.T).chunk(3, 1)
            l, r = pair.chunk(2, 1)
            f_l = torch.addmm(self.b_f, l, self.W_fl.T)
            f_r = torch.addmm(self.b_f, r, self.W_fr.T)
        else:
            i, o, f_l, f_r, u = torch.addmm(self.b, pair, self.w).chunk(5, 1)
        c_l, c_r = c.view(-1, 2 * self.size).chunk(2, 1)
        c = i.sigmoid() * u.tanh() + f_l.sigmoid() * c_l + f_r.sigmoid() * c_r
        return o.sigmoid() * c.tanh(), c

    def run(self, state):
        Model.run(self, state)
        state["logits"] = torch.mm(state["h"], self.w_out)


MODELS = {"treernn": TreeRNN, "treernn_w": TreeRNNW, "dagrnn": DAGRNN,
          "treegru_cs": TreeGRU, "treegru_cs_dep": TreeGRU,
          "simpletreegru": SimpleTreeGRU, "treelstm_cs": TreeLSTM,
          "treelstm_cs_dep": TreeLSTM}
