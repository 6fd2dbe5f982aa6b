"""The description of a kernel."""

import collections

# Fields: the name; the program for one instance; the FLOPs of an instance; torch(torch, batch),
# which returns an equivalent module and its input for a batch; and jax(jax, batch), which returns
# {setting: (function, arguments)} with functions that can be compiled.
Kernel = collections.namedtuple("Kernel", "name program flops torch jax")
