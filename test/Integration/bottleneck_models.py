"""Writes SkipNet with bottleneck blocks as MLIR, for images like those of ImageNet.
residual_models.py calls this module, and contains the code that both kinds of blocks
share."""

import residual_models as residual
from residual_models import call, fill, wrapped

SIZE, BLOCKS, WIDTH, CLASSES = 224, (3, 4, 23, 3), 64, 1000

INTRODUCTION = """\
// SkipNet: a residual network on images. Before each block, a recurrent gate decides
// whether it runs. The first block always runs. A norm follows each convolution.
//
//   F(x) = norm3(conv3(relu(norm2(conv2(relu(norm1(conv1(x))))))): 1 x 1, 3 x 3 and 1 x 1
//   S(x) = x, except in the first blocks of groups: norm(W x), every second pixel from group 1
//   x    = the maxima of 3 x 3 in relu(norm(conv(image))), every second pixel of both,
//          h = c = 0, x = relu(S(x) + F(x)), then for block j:
//          (h, c) = lstm(G mean(x) + g, h, c) with G, g of block j - 1,
//          run = w h + b > 0,
//          x = run ? relu(S(x) + F(x)) : S(x)
//   logits = W mean(x) + b
"""

# A layer from map B to map C, with k x k filters and padding p
LAYER = """\
  func.func private @layer$kind(%x: !map$B, %W: !filter$kind, %g: !vec$C, %b: !vec$C,
                               %mean: !vec$C, %var: !vec$C) -> !map$C {
$padding    %zero = arith.constant dense<0.0> : !map$C
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<$stride> : vector<2xi64>}
        ins(%$from, %W : !$from$P, !filter$kind) outs(%zero : !map$C) -> !map$C
    %y = func.call @norm$C(%a, %g, %b, %mean, %var)
        : (!map$C, !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
    return %y : !map$C
  }
"""
PADDING = """\
    %zeros = arith.constant dense<0.0> : !padded$P
    %padded = tensor.insert_slice %$x into %zeros[0, 0, $p, $p] [1, $c, $s, $s] [1, 1, 1, 1]
        : !map$B into !padded$P
"""
# Padding with zeros does not change a maximum, because the padded map is not negative.
STEM = """\
  func.func private @stem(%image: !image, %W: !filter$kind, %g: !vec$C, %b: !vec$C,
                          %mean: !vec$C, %var: !vec$C) -> !map$D {
    %x = tensor.expand_shape %image [[0, 1], [2], [3]] output_shape [1, 3, $size, $size]
        : !image into !map$B
    %a = func.call @layer$kind(%x, %W, %g, %b, %mean, %var)
        : (!map$B, !filter$kind, !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
    %r = func.call @relu$C(%a) : (!map$C) -> !map$C
$padding    %window = tensor.empty() : tensor<3x3xf32>
    %low = arith.constant dense<0xFF800000> : !map$D
    %y = linalg.pooling_nchw_max
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%padded, %window : !padded$P, tensor<3x3xf32>) outs(%low : !map$D) -> !map$D
    return %y : !map$D
  }
"""
BLOCK = """\
  // relu(s + F(x))
  func.func private @block$kind(
      %x: !map$B, %s: !map$C,
      %c1: !filter$k1, %g1: !vec$I, %b1: !vec$I, %mean1: !vec$I, %var1: !vec$I,
      %c2: !filter$k2, %g2: !vec$J, %b2: !vec$J, %mean2: !vec$J, %var2: !vec$J,
      %c3: !filter$k3, %g3: !vec$C, %b3: !vec$C, %mean3: !vec$C, %var3: !vec$C) -> !map$C {
    %a1 = func.call @layer$k1(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map$B, !filter$k1, !vec$I, !vec$I, !vec$I, !vec$I) -> !map$I
    %r1 = func.call @relu$I(%a1) : (!map$I) -> !map$I
    %a2 = func.call @layer$k2(%r1, %c2, %g2, %b2, %mean2, %var2)
        : (!map$I, !filter$k2, !vec$J, !vec$J, !vec$J, !vec$J) -> !map$J
    %r2 = func.call @relu$J(%a2) : (!map$J) -> !map$J
    %f = func.call @layer$k3(%r2, %c3, %g3, %b3, %mean3, %var3)
        : (!map$J, !filter$k3, !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
    %sum = arith.addf %s, %f : !map$C
    %y = func.call @relu$C(%sum) : (!map$C) -> !map$C
    return %y : !map$C
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe$kind(
      %run: i1, %x: !map$B, %s: !map$C,
      %c1: !filter$k1, %g1: !vec$I, %b1: !vec$I, %mean1: !vec$I, %var1: !vec$I,
      %c2: !filter$k2, %g2: !vec$J, %b2: !vec$J, %mean2: !vec$J, %var2: !vec$J,
      %c3: !filter$k3, %g3: !vec$C, %b3: !vec$C, %mean3: !vec$C, %var3: !vec$C) -> !map$C {
    %y = scf.if %run -> !map$C {
      %r = func.call @block$kind(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2, %c3, %g3, %b3, %mean3, %var3)
          : (!map$B, !map$C, !filter$k1, !vec$I, !vec$I, !vec$I, !vec$I, !filter$k2, !vec$J,
             !vec$J, !vec$J, !vec$J, !filter$k3, !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
      scf.yield %r : !map$C
    } else {
      scf.yield %s : !map$C
    }
    return %y : !map$C
  }
"""


def key(channels, side):
    """Returns the suffix in the names of the types of a map and of its channels."""
    return "%dx%d" % (channels, side)


class Block:
    def __init__(self, name, number, before, inner, stride):
        """`before`: channels and side of the input"""
        self.name, self.number, self.stride = name, number, stride
        channels, side = before
        self.before, self.after = before, (4 * inner, side // stride)
        # For each layer: size and stride of its filters, its input map, and its output map
        self.layers = [(1, 1, before, (inner, side)),
                       (3, stride, (inner, side), (inner, side // stride)),
                       (1, 1, (inner, side // stride), self.after)]
        self.projection = None if before == self.after else (1, stride, before, self.after)
        self.kind = "%sto%s" % (key(*before), key(*self.after))

    def parameters(self):
        return [parameter for i, layer in enumerate(self.layers, 1)
                for parameter in layer_parameters(
                    "%s.c%d" % (self.name, i), "%s.n%d" % (self.name, i), layer)]


def layer_name(layer):
    size, stride, before, after = layer
    return "%dby%dof%sto%s" % (size, stride, key(*before), key(*after))


def layer_parameters(filters, norm, layer):
    return [(filters, "!filter" + layer_name(layer))] + [
        ("%s.%s" % (norm, part), "!vec" + key(*layer[3])) for part in ("g", "b", "mean", "var")]


def padding(x, size, before):
    channels, side = before
    pad = size // 2
    return fill(PADDING, x=x, p=pad, c=channels, s=side, B=key(*before),
                P=key(channels, side + 2 * pad))


class Model:
    """Describes the parameters in the same way as residual_models.Model. `parameters` maps their
    names to names of types, and shapes() returns the shapes of these types."""

    def __init__(self, size=SIZE, counts=BLOCKS, width=WIDTH, classes=CLASSES):
        self.size, self.classes = size, classes
        self.first = (7, 2, (3, size), (width, size // 2))
        before, self.blocks = (width, size // 4), []
        for group, count in enumerate(counts):
            for i in range(count):
                self.blocks.append(Block("g%db%d" % (group, i), len(self.blocks), before,
                                         width << group, 2 if group and not i else 1))
                before = self.blocks[-1].after
        self.layers = [self.first] + [
            layer for block in self.blocks for layer in block.layers +
            ([block.projection] if block.projection else [])]
        self.layers = list(dict.fromkeys(self.layers))
        self.maps = list(dict.fromkeys(
            place for layer in self.layers for place in layer[2:]))
        self.ends = list(dict.fromkeys(block.after for block in self.blocks))
        self.parameters = {}

    def shapes(self):
        """Returns the shapes of f32 tensors by the names of their types."""
        state = residual.STATE
        shapes = {"image": (3, self.size, self.size), "classes": (self.classes,),
                  "of_classes": (self.classes, self.ends[-1][0]), "state": (state,),
                  "square": (state, state), "project": (1, state), "number": (1,)}
        for channels, side in self.maps:
            shapes["map" + key(channels, side)] = (1, channels, side, side)
            shapes["vec" + key(channels, side)] = (channels,)
        for size, stride, before, after in self.layers:
            name = layer_name((size, stride, before, after))
            shapes["filter" + name] = (after[0], before[0], size, size)
            if size > 1:
                padded = before[1] + size // 2 * 2
                shapes["padded" + key(before[0], padded)] = (1, before[0], padded, padded)
        channels, side = self.first[3]
        shapes["padded" + key(channels, side + 2)] = (1, channels, side + 2, side + 2)
        for channels, side in self.ends:
            shapes["gate" + key(channels, side)] = (state, channels)
        return shapes

    def aliases(self):
        return "".join("!%s = tensor<%sxf32>\n" % (name, "x".join(map(str, shape)))
                       for name, shape in self.shapes().items()) + (
            "!flags = tensor<%dxi32>\n!tag = tensor<i32>\n!scalar = tensor<f32>\n" %
            len(self.blocks))

    def functions(self):
        texts = [residual.HELPERS, residual.GATE_HELPERS]
        for place in dict.fromkeys(layer[3] for layer in self.layers):
            values = {"C": key(*place), "pixels": place[1] ** 2}
            texts.append(fill(residual.GROUP, **values))
            if place in self.ends:
                texts += [fill(residual.MEAN, **values), fill(residual.GATE, **values)]
        for layer in self.layers:
            size, stride, before, after = layer
            padded = size > 1
            texts.append(fill(
                LAYER, kind=layer_name(layer), B=key(*before), C=key(*after), stride=stride,
                padding=padding("x", size, before) if padded else "",
                **{"from": "padded" if padded else "x"},
                P=key(before[0], before[1] + size // 2 * 2)).replace(
                    "!x" + key(*before), "!map" + key(*before)))
        channels, side = self.first[3]
        texts.append(fill(
            STEM, kind=layer_name(self.first), B=key(3, self.size), C=key(channels, side),
            D=key(channels, side // 2), P=key(channels, side + 2), size=self.size,
            padding=padding("r", 3, self.first[3])))
        for block in {block.kind: block for block in self.blocks}.values():
            names = {"k%d" % i: layer_name(layer) for i, layer in enumerate(block.layers, 1)}
            texts.append(fill(
                BLOCK, kind=block.kind, B=key(*block.before), I=key(*block.layers[0][3]),
                J=key(*block.layers[1][3]), C=key(*block.after), **names))
        return texts

    # The entry

    def take(self, parameters):
        """Adds parameters to the entry, and returns them as operands."""
        self.parameters.update(parameters)
        return [("%" + name.replace(".", "_"), kind) for name, kind in parameters]

    def block(self, block, x, run):
        """Returns the text of the calls that run a block, and the name of the result."""
        before, after = "!map" + key(*block.before), "!map" + key(*block.after)
        text, short, result = "", x, "%%x%d" % block.number
        if block.projection:
            short = "%%s%d" % block.number
            text += call(short, "layer" + layer_name(block.projection), [(x, before)] +
                         self.take(layer_parameters(block.name + ".ds", block.name + ".ds.n",
                                                    block.projection)), after)
        return text + call(
            result, ("maybe" if run else "block") + block.kind,
            ([(run, "i1")] if run else []) + [(x, before), (short, after)] +
            self.take(block.parameters()), after), result

    def gate(self, block, before, x, state):
        """Returns the call of a gate, and its results: whether a block runs, and the
        gate's state."""
        place = key(*before.after)
        parameters = [(before.name + ".gate.W", "!gate" + place),
                      (before.name + ".gate.b", "!state")] + residual.GATE_PARAMETERS
        results = ["%%%s%d" % (name, block.number) for name in ("run", "h", "c")]
        return call(", ".join(results), "gate" + place, [(x, "!map" + place)] +
                    [(s, "!state") for s in state] + self.take(parameters),
                    "(i1, !state, !state)"), results

    def body(self):
        text = "    %zero = arith.constant dense<0.0> : !state\n"
        first = key(self.first[3][0], self.first[3][1] // 2)
        text += call("%x", "stem", [("%image", "!image")] + self.take(
            layer_parameters("stem", "stem.n", self.first)), "!map" + first)
        x, run, state, flags = "%x", None, ["%zero", "%zero"], ["%always"]
        numbers = "    %always = arith.constant 1 : i32\n"
        for block in self.blocks:
            text += "\n"
            if block.number:
                more, (run, *state) = self.gate(block, self.blocks[block.number - 1], x, state)
                text += more
                flags.append("%%n%d" % block.number)
                numbers += "    %s = arith.extui %s : i1 to i32\n" % (flags[-1], run)
            more, x = self.block(block, x, run)
            text += more
        last = key(*self.ends[-1])
        W, b = self.take([("fc.W", "!of_classes"), ("fc.b", "!classes")])
        text += "\n" + call("%mean", "mean" + last, [(x, "!map" + last)], "!vec" + last)
        text += ("    %%logits = linalg.matvec ins(%s, %%mean : %s, !vec%s)\n"
                 "        outs(%s : !classes) -> !classes\n" % (W[0], W[1], last, b[0]))
        return text + numbers + (
            "    %%flags = tensor.from_elements %s\n        : !flags\n" %
            wrapped(flags, 8, 35)) + (
            "    %cls = func.call @argmax(%logits) : (!classes) -> !tag\n"
            "    return %logits, %flags, %cls : !classes, !flags, !tag\n")

    def entry(self):
        body = self.body()
        arguments = ['%image: !image {batch.name = "image"}'] + [
            '%%%s: %s {batch.shared = "%s"}' % (name.replace(".", "_"), kind, name)
            for name, kind in self.parameters.items()]
        return ('  func.func @main(%s)\n'
                '      -> (!classes {batch.name = "logits"}, !flags {batch.name = "ran"},\n'
                '          !tag {batch.name = "cls"}) attributes {batch.entry} {\n%s  }\n' % (
                    wrapped(arguments, 18), body))

    def text(self):
        return INTRODUCTION + residual.text_of("skipnet101", self)
