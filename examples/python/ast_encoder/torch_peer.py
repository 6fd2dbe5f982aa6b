"""The network of ast_encoder.py in PyTorch, with a call for each node."""

import torch

from ast_encoder import SIZE, node_of


class Encoder:
    def __init__(self, weights):
        self.w = {name: torch.from_numpy(array) for name, array in weights.items()}

    def read(self, tree):
        node, w = node_of(tree), self.w
        x = w["kind"][node.kind] + w["name"][node.name]
        gates = x[SIZE:]
        if node.children:
            hs, cs = map(torch.stack, zip(*map(self.read, node.children)))
            gates = torch.addmv(gates, w["U"], hs.sum(0))
        i, o = gates[:2 * SIZE].sigmoid().split(SIZE)
        c = i * torch.tanh(gates[2 * SIZE:])
        if node.children:
            forget = torch.addmm(x[:SIZE], hs, w["U_forget"]).sigmoid_()
            c = c + (forget * cs).sum(0)
        return o * torch.tanh(c), c

    def codes(self, trees):
        return torch.stack([self.read(tree)[0] for tree in trees]).numpy()
