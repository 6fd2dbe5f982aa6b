"""The kernels of the benchmark: programs, what they compute, how PyTorch computes it.

To add one, append a Kernel to the list of a file, or a file to KERNELS.
"""

import convolutions
import matrices

KERNELS = convolutions.KERNELS + matrices.KERNELS
