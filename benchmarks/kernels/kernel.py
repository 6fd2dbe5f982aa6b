"""The description of a kernel."""

import collections

# Fields: name; the program for one instance; FLOPs of an instance; torch(torch, batch)
# returns an equivalent module, and its input for a batch; jax(jax, batch) returns
# {setting: (function, arguments)} with functions that can be compiled.
Kernel = collections.namedtuple("Kernel", "name program flops torch jax")
