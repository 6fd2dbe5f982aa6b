"""PyTorch: the models of torch_models.py and torch_decoders.py.

`eager` runs one instance at a time, and `hand` is batched by hand. `compiled` is `hand` with
steps compiled by Inductor, where freezing packs the parameters once. It uses the faster of
two settings: dynamic numbers of rows, or rows padded to the mini-batch, which gives all steps
one shape.
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

# describe() is the function of the peer for trees, and start() calls its counterpart there.
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
    """Returns a step that pads the first `arguments` arguments to `batch` rows. If the arguments
    have more rows, the step doubles the number of padded rows until it is large enough."""

    def run(*given):
        count, capacity = given[0].shape[0], batch
        while capacity < count:
            capacity *= 2
        if capacity == count:
            return step(*given)
        filled = [F.pad(t, (0, 0) * (t.dim() - 1) + (0, capacity - count))
                  for t in given[:arguments]]
        found = step(*filled, *given[arguments:])
        if isinstance(found, tuple):
            return tuple(t[:count] for t in found)
        return found[:count]

    return run


def compiled(net, batch=None):
    """Returns a copy of the network with compiled steps. Rows are padded to `batch` if it is
    given."""
    net = copy.deepcopy(net)
    net.fixed = batch is not None
    for name, arguments in net.STEPS.items():
        step = torch.compile(getattr(net, name), dynamic=batch is None)
        setattr(net, name, padded(step, arguments, batch) if batch else step)
    return net


class Model:
    """A model, with the methods that the worker calls."""

    def __init__(self, name, tensors, sizes):
        torch.compiler.reset()
        self.net = NETS[name]({key: torch.as_tensor(value) for key, value in tensors.items()},
                              sizes)
        self.net.eval()
        self.dynamic = None

    def settings(self, form, batch):
        """Returns {setting: (prepare, run, outputs)}. The benchmark reports only the fastest."""
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
        """Returns the margin of the closest decision of each instance."""
        found = []
        for instance in instances:
            self.net.watch = []
            self.net.eager(self.net.ready(instance))
            found.append(min(self.net.watch, default=1))
        self.net.watch = None
        return found
