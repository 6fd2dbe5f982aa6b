"""What the benchmark knows of a kernel."""

import collections

# name; the program for one instance; FLOPs of an instance; torch(torch, batch) returns
# a module that computes the same, and its input for a batch.
Kernel = collections.namedtuple("Kernel", "name program flops torch")
