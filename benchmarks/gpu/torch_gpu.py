"""Measurements of run.py with PyTorch: peers of the models, and the GPU's ceilings.

A peer has our parameters, made by the same formula, and the same inputs:

  recursive  a Python call per node, eager
  levels     all nodes of one height of a mini-batch at once, eager
  graph      the same as a CUDA graph, captured for exactly these inputs
  compiled   by level, with the cell compiled by TorchInductor for any number of rows; only
             for binary TreeLSTMs
  cudnn      torch.nn.LSTM and GRU for the sequence models; graph: captured

Times are from the first call to the end of the GPU's work, and results stay on the GPU. For
graphs and cuDNN, the GPU's time is measured, too. Lists of levels are made in advance.
"""

import math
import time

import torch
import torch_cells
import torch_peer
from graphs import Plan

MODELS = dict(torch_peer.MODELS, **torch_cells.MODELS)
WRAP = 1 << 64
COMPILED = ("treelstm_nary", "treelstm_nary_tai")


# --- parameters --------------------------------------------------------------

def mix(x):
    """Applies the finalizer of SplitMix64 to a Python integer or a tensor."""
    for shift, factor in ((30, 0xbf58476d1ce4e5b9), (27, 0x94d049bb133111eb),
                          (31, 1)):
        if isinstance(x, int):
            x = (x ^ (x >> shift)) * factor % WRAP
        else:  # tensors are signed, so the shift has to be masked
            mask = (1 << (64 - shift)) - 1
            x = (x ^ ((x >> shift) & mask)) * signed(factor)
    return x


def signed(x):
    return x - WRAP if x >= WRAP // 2 else x


def random_parameter(seed, name, shape):
    """Returns a parameter of --params=random:SEED (docs/reference/formats.md)."""
    golden, key = 0x9e3779b97f4a7c15, 0xcbf29ce484222325
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001b3 % WRAP
    start = mix((seed * golden + key) % WRAP)
    index = torch.arange(1, math.prod(shape) + 1, device="cpu")
    bits = (mix(index * signed(golden) + signed(start)) >> 40) & 0xffffff
    values = (bits.double() / 2**23 - 1) * math.sqrt(3 / shape[-1])
    return values.float().view(shape)


# --- models -------------------------------------------------------------------

class Sequence(torch_peer.Model):
    """torch.nn.LSTM or GRU. prepare() looks up the embeddings of words, so timings do not include
    the lookup."""

    def load(self, p, size):
        self.E = torch_peer.tensor(p["E"])
        lstm = "W_f" in p
        self.names = ("h", "c") if lstm else ("h",)
        gates = "ifgo" if lstm else "rzn"
        kind = torch.nn.LSTM if lstm else torch.nn.GRU
        self.net = kind(size, size, device=torch_peer.device).eval()
        zero = torch.zeros(size)
        parts = {"weight_ih_l0": [p["W_" + gate] for gate in gates],
                 "weight_hh_l0": [p["U_" + gate] for gate in gates],
                 "bias_ih_l0": [p["b_" + gate] for gate in gates],
                 "bias_hh_l0": [p.get("d_" + gate, zero) for gate in gates]}
        for name, values in parts.items():
            getattr(self.net, name).copy_(torch_peer.rows(*values))
        self.net.flatten_parameters()

    def prepare(self, sequences):
        words = torch_peer.tensor(sequences).T
        return {"x": self.E[words]}

    def run(self, state):
        state["last"] = self.net(state["x"])[1]

    def outputs(self, state):
        last = state["last"] if len(self.names) > 1 else [state["last"]]
        return {name: values[0].cpu() for name, values in zip(self.names, last)}


def difference(found, wanted):
    scale = wanted.double().square().mean().sqrt()
    relative = (found - wanted).abs() / wanted.abs().clamp(min=float(scale))
    return float(relative.max()) if found.isfinite().all() else math.inf


class Peer:
    """The models on one device, "cuda" or "cpu"."""

    def __init__(self, device):
        self.cuda = device == "cuda"
        torch_peer.device = device
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False

    def forms(self):
        graph = ["graph"] if self.cuda else []
        if self.sequences:
            return ["cudnn"] + graph
        return ["recursive", "levels"] + graph + [
            "compiled"] * (self.compiled is not None)

    @torch.no_grad()
    def load(self, model, size, shapes, values, graphs):
        """Loads a model. `shapes` contains the shapes of the parameters by name; -1 means the
        number of words. `graphs` contains `values` as graphs, or as lists of words for sequence
        models."""
        self.sequences = model not in MODELS
        self.values, self.graphs, self.calls = values, graphs, {}
        self.trees = model in torch_peer.MODELS
        words = 1 + max(max(graph if self.sequences else graph[1])
                        for graph in graphs)
        parameters = {
            name: torch_peer.tensor(random_parameter(1, name, [
                words if extent < 0 else extent for extent in shape]))
            for name, shape in shapes.items()}
        self.model = MODELS.get(model, Sequence)(parameters, size)
        self.compiled = None
        if model in COMPILED:
            self.compiled = torch_cells.BinaryTreeLSTM(parameters, size)
            for name in ("inputs", "leaf", "node"):
                setattr(self.compiled, name, torch.compile(
                    getattr(self.compiled, name), dynamic=True))

    def of(self, form):
        return self.compiled if form == "compiled" else self.model

    def states(self, form, batch, instances):
        """Yields the state and the plan of each mini-batch."""
        for first in range(0, instances, batch):
            plan = self.graphs[first:first + batch]
            plan = plan if self.sequences else Plan(plan)
            yield self.of(form).prepare(plan), plan

    @torch.inference_mode()
    def check(self, form, batch, instances, wanted):
        """Returns the largest relative difference of an output from its tensor in `wanted`."""
        if form == "recursive":
            found = self.model.collect(self.recursive(instances))
        else:
            parts = []
            for state, plan in self.states(form, batch, instances):
                self.capture(state)() if form == "graph" else \
                    self.of(form).run(state)
                # Puts rows of nodes in post-order. Results per instance keep their order.
                parts.append({
                    name: values if self.sequences or name == "M_root"
                    else values[plan.row]
                    for name, values in self.of(form).outputs(state).items()})
            found = {name: torch.cat([part[name] for part in parts])
                     for name in parts[0]}
        if set(found) != set(wanted):
            raise ValueError("found outputs %s; expected %s" %
                             (sorted(found), sorted(wanted)))
        return max(difference(found[name], wanted[name]) for name in wanted)

    def recursive(self, instances):
        values = self.values if self.trees else self.graphs
        return self.model.recursive(values[:instances])

    def capture(self, state):
        """Captures the run of a mini-batch as a CUDA graph. Returns a function that replays it."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.model.run(state)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.model.run(state)

        def replay():
            graph.replay()

        replay.state = state  # the graph reads the tensors of the state but does not own them
        return replay

    @torch.inference_mode()
    def time(self, form, batch, instances, runs):
        """Returns [{"us", "device_us"}] for `runs` runs over all mini-batches of `batch` instances.
        Only runs of graphs and cuDNN on a GPU have "device_us"."""
        if (form, batch) not in self.calls:
            self.calls[form, batch] = [lambda: self.recursive(instances)] \
                if form == "recursive" \
                else [self.capture(state) if form == "graph" else
                      lambda state=state: self.of(form).run(state)
                      for state, _ in self.states(form, batch, instances)]
        calls, found = self.calls[form, batch], []
        for run in range(runs + 1):  # the first run is a warm-up
            found.append({"us": sum(wall_time(call, self.cuda) for call in calls)})
            if self.cuda and form in ("graph", "cudnn"):
                found[-1]["device_us"] = sum(map(device_time, calls))
        return found[1:]


def wall_time(call, cuda):
    """Returns the microseconds from a call until all of its work has ended."""
    wait = torch.cuda.synchronize if cuda else lambda: None
    wait()
    start = time.perf_counter()
    call()
    wait()
    return (time.perf_counter() - start) * 1e6


def device_time(call):
    """Returns the microseconds that a call takes on the GPU."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3


# --- the machine --------------------------------------------------------------

def ceilings(cuda):
    """Measures the peak rates of the device for products and copies, and the time of a launch."""
    device = torch_peer.device

    def best(call, times=20):
        call()
        return min(device_time(call) if cuda else wall_time(call, cuda)
                   for _ in range(times)) * 1e-6

    def product(extent, dtype):
        a, b = (torch.randn(extent, extent, device=device).to(dtype)
                for _ in range(2))
        return 2 * extent**3 / best(lambda: torch.mm(a, b)) / 1e9

    extent, elements = (8192, 1 << 28) if cuda else (512, 1 << 20)
    found = {"f32_gflops": product(extent, torch.float32)}
    if cuda:
        torch.backends.cuda.matmul.allow_tf32 = True
        found["tf32_gflops"] = product(extent, torch.float32)
        torch.backends.cuda.matmul.allow_tf32 = False
        found["bf16_gflops"] = product(extent, torch.bfloat16)
    source = torch.zeros(elements, device=device)
    target = torch.empty_like(source)
    found["copy_gbytes"] = 8 * elements / best(lambda: target.copy_(source)) / 1e9
    small = source[:1]
    found["launch_us"] = min(wall_time(lambda: small.add_(1), cuda)
                             for _ in range(200))
    return found


def describe(cuda):
    found = {"torch": torch.__version__}
    if cuda:
        facts = torch.cuda.get_device_properties(0)
        found.update(gpu=facts.name, multiprocessors=facts.multi_processor_count,
                     cuda=torch.version.cuda,
                     cudnn=torch.backends.cudnn.version())
    return found
