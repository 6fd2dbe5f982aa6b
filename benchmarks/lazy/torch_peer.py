"""PyTorch: the models of torch_models.py and torch_decoders.py one instance at a time
(`eager`), batched by hand (`hand`), and that compiled (`compiled`): the steps by Inductor,
with parameters packed for good (freezing), in the faster of two settings, dynamic numbers
of rows, and rows padded to the mini-batch, one shape for all steps.
"""

import copy
import importlib.util
import os

import torch
import torch._dynamo
import torch._inductor.config
import torch.nn.functional as F

import torch_decoders
import torch_models

NETS = {**torch_models.NETS, **torch_decoders.NETS}

# How that of trees describes itself is the same.
_path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers",
                     "torch_peer.py")
_spec = importlib.util.spec_from_file_location("torch_peer_of_trees", _path)
_trees = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_trees)
describe = _trees.describe
inference = torch.no_grad


def start(threads):
    _trees.start(threads)
    torch._inductor.config.freezing = True
    torch._dynamo.config.cache_size_limit = 256


def padded(step, arguments, batch):
    """A step that always has the rows of a mini-batch, or a power of two times as many."""

    def run(*given):
        count, room = given[0].shape[0], batch
        while room < count:
            room *= 2
        if room == count:
            return step(*given)
        filled = [F.pad(t, (0, 0) * (t.dim() - 1) + (0, room - count))
                  for t in given[:arguments]]
        found = step(*filled, *given[arguments:])
        if isinstance(found, tuple):
            return tuple(t[:count] for t in found)
        return found[:count]

    return run


def compiled(net, batch=None):
    """A copy of the network whose steps are compiled, with rows padded to `batch` where
    given."""
    net = copy.deepcopy(net)
    net.fixed = batch is not None
    for name, arguments in net.STEPS.items():
        step = torch.compile(getattr(net, name), dynamic=batch is None)
        setattr(net, name, padded(step, arguments, batch) if batch else step)
    return net


class Model:
    """What the worker calls."""

    def __init__(self, name, tensors, sizes):
        torch.compiler.reset()
        self.net = NETS[name]({key: torch.as_tensor(value) for key, value in tensors.items()},
                              sizes)
        self.net.eval()
        self.dynamic = None

    def settings(self, form, batch):
        """{setting: (prepare, run, outputs)}, of which the fastest counts."""
        if form == "eager":
            net = self.net
            return {"": (lambda instances: ([net.ready(i) for i in instances],),
                         lambda instances: [net.eager(i) for i in instances],
                         lambda found, count: found)}
        nets = {"": self.net}
        if form == "compiled":
            self.dynamic = self.dynamic or compiled(self.net)
            nets = {"dynamic": self.dynamic}
            if batch > 1 and all(self.net.STEPS.values()):
                nets["padded"] = compiled(self.net, batch)
        return {setting: (net.prepare, net.hand, net.outputs)
                for setting, net in nets.items()}

    def margins(self, instances):
        """By how much the closest decision of each instance was decided."""
        found = []
        for instance in instances:
            self.net.watch = []
            self.net.eager(self.net.ready(instance))
            found.append(min(self.net.watch, default=1))
        self.net.watch = None
        return found
