"""`generate` of transformers, with padding. The only value of `form` is "generate"."""

import torch
import torch_peer
import transformers
from workload import Worker

import compare

inference = torch.inference_mode


def start(threads):
    torch.set_num_threads(threads)


def describe():
    return {"version": "%s, PyTorch %s" % (transformers.__version__, torch.__version__)}


class Programs(Worker):
    def start(self, arrays):
        self.decoder = torch_peer.Decoder(arrays)

    def program(self, form, lanes, given):
        self.decoder.generate(*(part[:1] for part in given))
        return lambda: compare.in_chunks(self.decoder.generate, lanes, given)
