#!/usr/bin/env python3
"""torch_peer.py THREADS SECONDS: times kernels in PyTorch, see peer.py.

Settings: eager; images with channels last; compiled by Inductor, where freezing packs the
parameters once.
"""

import copy
import sys

import torch
import torch._inductor.config

import peer


def settings(kernel, batch):
    module, x = kernel.torch(torch, batch)
    module.eval()
    runs = {"eager": lambda: module(x)}
    if x.dim() == 4:
        last = {"memory_format": torch.channels_last}
        other, y = copy.deepcopy(module).to(**last), x.to(**last)
        runs["channels last"] = lambda: other(y)
    torch.compiler.reset()
    compiled = torch.compile(copy.deepcopy(module))
    runs["compiled"] = lambda: compiled(x)
    return runs


torch.set_num_threads(int(sys.argv[1]))
torch.set_num_interop_threads(1)
torch._inductor.config.freezing = True
with torch.no_grad():
    peer.answer(float(sys.argv[2]), settings)
