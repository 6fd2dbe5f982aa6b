"""The kernels of the benchmark: programs, their FLOPs, and equivalents in PyTorch and JAX.

To add one, append a Kernel to the list of a file, or a file to KERNELS.
"""

import convolutions
import matrices

KERNELS = convolutions.KERNELS + matrices.KERNELS
