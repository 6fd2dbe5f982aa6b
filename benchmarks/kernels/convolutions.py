"""Padded 3 x 3 convolutions."""

from kernel import Kernel

CONVOLUTION = """
func.func @main(%x: tensor<{c}x{s}x{s}xf32> {{batch.name = "x"}},
                %W: tensor<{c}x{c}x3x3xf32> {{batch.shared = "W"}})
    -> (tensor<{c}x{s}x{s}xf32> {{batch.name = "y"}}) attributes {{batch.entry}} {{
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {{
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  }} : tensor<{c}x{s}x{s}xf32> to tensor<{c}x{p}x{p}xf32>
  %image = tensor.expand_shape %padded [[0, 1], [2], [3]] output_shape [1, {c}, {p}, {p}]
      : tensor<{c}x{p}x{p}xf32> into tensor<1x{c}x{p}x{p}xf32>
  %start = arith.constant dense<0.0> : tensor<1x{c}x{s}x{s}xf32>
  %y = linalg.conv_2d_nchw_fchw
      {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}
      ins(%image, %W : tensor<1x{c}x{p}x{p}xf32>, tensor<{c}x{c}x3x3xf32>)
      outs(%start : tensor<1x{c}x{s}x{s}xf32>) -> tensor<1x{c}x{s}x{s}xf32>
  %flat = tensor.collapse_shape %y [[0, 1], [2], [3]]
      : tensor<1x{c}x{s}x{s}xf32> into tensor<{c}x{s}x{s}xf32>
  return %flat : tensor<{c}x{s}x{s}xf32>
}}
"""


def convolution(channels, size):
    """Returns a 3 x 3 convolution of an image of size x size pixels, padded by one pixel."""

    def run(torch, batch):
        layer = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        return layer, torch.rand(batch, channels, size, size)

    def run_jax(jax, batch):
        def make(image, weight, layout):
            return lambda x, w: jax.lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=layout), (
                    jax.numpy.ones(image), jax.numpy.ones(weight))

        return {
            "channels first": make((batch, channels, size, size),
                                   (channels, channels, 3, 3),
                                   ("NCHW", "OIHW", "NCHW")),
            "channels last": make((batch, size, size, channels),
                                  (3, 3, channels, channels),
                                  ("NHWC", "HWIO", "NHWC"))}

    return Kernel("conv3x3 %d@%d²" % (channels, size),
                  CONVOLUTION.format(c=channels, s=size, p=size + 2),
                  2 * 9 * channels * channels * size * size, run, run_jax)


KERNELS = [convolution(16, 32), convolution(64, 8), convolution(64, 56),
           convolution(256, 14)]
