"""The network of solver.py in PyTorch, batched by hand in three ways."""

import numpy
import torch

import sudoku
from solver import HEADS, MOST, SURE

RELATION = torch.tensor(sudoku.RELATION)


class Solver:
    def __init__(self, weights):
        self.w = {name: torch.from_numpy(numpy.array(array))
                  for name, array in weights.items()}
        self.bias = self.w["relation"][:, RELATION]

    def block(self, h, puzzles):
        def normalize(h):
            return h * torch.rsqrt((h * h).mean(-1, keepdim=True) + 1e-5)

        w, h = self.w, h + puzzles
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
                   for part in (h @ w["qkv"]).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        attended = torch.softmax(scores + self.bias, -1) @ v
        h = normalize(h + attended.transpose(1, 2).flatten(2) @ w["out"])
        return normalize(h + torch.nn.functional.silu(h @ w["up"]) @ w["down"])

    def ends(self, h):
        return h.mean(1) @ self.w["halt"] + self.w["doubt"] > SURE

    def digits(self, h):
        return (h @ self.w["answer"]).argmax(-1) + 1

    def compacted(self, grids):
        """Solves puzzles, and removes finished ones from all tensors."""
        puzzles = self.w["digits"][grids]
        h, last = torch.zeros_like(puzzles), torch.zeros_like(puzzles)
        loops = torch.zeros(len(grids), dtype=torch.int32)
        left = torch.arange(len(grids))
        for count in range(1, MOST + 1):
            h = self.block(h, puzzles)
            ended = self.ends(h) if count < MOST else torch.ones(len(h), dtype=torch.bool)
            last[left[ended]], loops[left[ended]] = h[ended], count
            left, h, puzzles = left[~ended], h[~ended], puzzles[~ended]
            if not len(left):
                break
        return self.digits(last), loops

    def masked(self, grids):
        """Solves puzzles. Also runs the block on finished ones, but drops these results."""
        puzzles = self.w["digits"][grids]
        h = torch.zeros_like(puzzles)
        loops = torch.zeros(len(grids), dtype=torch.int32)
        runs = torch.ones(len(grids), dtype=torch.bool)
        while runs.any():
            h = torch.where(runs[:, None, None], self.block(h, puzzles), h)
            loops += runs
            runs &= ~self.ends(h) & (loops < MOST)
        return self.digits(h), loops

    def in_groups(self, size, solve, grids):
        """Returns the results of `solve` for groups of `size` puzzles."""
        found = [solve(group) for group in grids.split(size)]
        return tuple(torch.cat(each) for each in zip(*found))
