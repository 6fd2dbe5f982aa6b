"""PyTorch: the nets of torch_models.py, eager or with steps compiled by Inductor. Freezing
packs their parameters once. A step that does not compile runs eagerly, and the answers
report it."""

import copy
import importlib.util
import os

import torch
import torch._dynamo
import torch._inductor.config

from torch_models import NETS

# Imports describe() and start() of peers/torch_peer.py.
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


class Step:
    """A compiled function, or the original one if it does not compile."""

    def __init__(self, function, dynamic, fell_back):
        self.function, self.fell_back = function, fell_back
        self.compiled = torch.compile(function, fullgraph=True, dynamic=dynamic)

    def __call__(self, *arguments):
        if self.compiled:
            try:
                return self.compiled(*arguments)
            except Exception as error:
                self.compiled = None
                self.fell_back.append("%s runs eagerly: %s: %s" % (
                    self.function.__name__, type(error).__name__,
                    str(error).strip().splitlines()[0][:200]))
        return self.function(*arguments)


class Model:
    """A model, with the methods that the worker calls."""

    def __init__(self, name, tensors, sizes):
        torch.compiler.reset()
        self.net = NETS[name]({key: torch.as_tensor(value) for key, value in tensors.items()},
                              name, sizes)
        self.net.eval()
        self.fell_back = []

    def compiled(self, dynamic):
        net = copy.deepcopy(self.net)
        for name in net.STEPS:
            setattr(net, name, Step(getattr(net, name), dynamic, self.fell_back))
        return net

    def settings(self, form, batch):
        """Returns {setting: (prepare, run, outputs)}. Only the fastest setting counts."""
        self.fell_back = []
        found = {}
        for setting, method in {**self.net.RUNS, **(
                self.net.EAGER if form == "eager" else self.net.COMPILED)}.items():
            # The number of rows of a single instance is constant, except in trees. With None,
            # Inductor decides whether shapes are dynamic.
            dynamic = (batch > 1 or None) if setting in self.net.DYNAMIC else False
            net = self.net if form == "eager" else self.compiled(dynamic)
            found[setting] = net.prepare, getattr(net, method), net.outputs
        return found

    def margins(self, instances):
        """Returns the margin of the closest decision of each instance."""
        found = []
        for instance in instances:
            self.net.watch = []
            getattr(self.net, next(iter(self.net.RUNS.values())))(
                *self.net.prepare([instance]))
            found.append(min(self.net.watch, default=1))
        self.net.watch = None
        return found
