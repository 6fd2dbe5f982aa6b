"""What the benchmark knows of a kernel."""

import collections

# name; the program for one instance; FLOPs of an instance; torch(torch, batch) returns
# a module that computes the same, and its input for a batch; jax(jax, batch) returns
# {setting: (function, arguments)}, functions that can be compiled.
Kernel = collections.namedtuple("Kernel", "name program flops torch jax")
