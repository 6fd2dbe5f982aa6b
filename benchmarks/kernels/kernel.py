"""What the benchmark knows of a kernel."""

import collections

# name; the program for one instance; FLOPs of an instance; torch(torch, batch) returns
# a function without arguments that computes the same for a batch, from data of its own.
Kernel = collections.namedtuple("Kernel", "name program flops torch")
