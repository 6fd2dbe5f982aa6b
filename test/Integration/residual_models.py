#!/usr/bin/env python3
"""BlockDrop and SkipNet as MLIR, with any number of blocks.

  residual_models.py NAME [SIZE BLOCKS BLOCKS BLOCKS]
  residual_models.py NAME --params=FILE

NAME is blockdrop, blockdrop_given, skipnet38 or skipnet101 (of bottleneck_models.py, with
its default sizes). SIZE is that of the square image, and BLOCKS are the numbers of blocks
per group. The default is the model of batchtest.model. Each block has its own parameters,
and golden cases have fewer blocks than the default. Each block is a call of a function for
its shape. --params writes random parameters of the default model, because --params=random
of batch-run gives negative variances.
"""

import math
import random
import string
import sys
import textwrap

import batchtest

CHANNELS = (16, 32, 64)
CLASSES = 10
STATE = 10
# Default sizes
SIZE = 32
BLOCKS = {"blockdrop": (5, 5, 5), "blockdrop_given": (5, 5, 5), "skipnet38": (6, 6, 6)}
INTRODUCTIONS = {
    "blockdrop": """\
// BlockDrop: a residual network on images, and a small one, the policy, that selects the
// blocks to run. Convolutions are 3 x 3, without biases. A norm follows each of them.
//
//   F(x)    = norm2(conv2(relu(norm1(conv1(x)))))
//   S(x)    = x, except in the first block of a group: the means of 2 x 2 squares, and
//             zeros for new channels
//   policy  : x = relu(norm(conv(image))), x = relu(S(x) + F(x)) for one block per group,
//             keep = W mean(x) + b > 0
//   network : x = relu(norm(conv(image))),
//             for block j: x = keep[j] ? relu(S(x) + F(x)) : S(x), logits = W mean(x) + b
""",
    "blockdrop_given": """\
// BlockDrop: a residual network on images in which some blocks run: those with a
// probability of at least a half. Convolutions are 3 x 3, without biases. A norm
// follows each of them.
//
//   F(x)    = norm2(conv2(relu(norm1(conv1(x)))))
//   S(x)    = x, except in the first block of a group: the means of 2 x 2 squares, and
//             zeros for new channels
//   network : x = relu(norm(conv(image))), keep = probs >= 0.5,
//             for block j: x = keep[j] ? relu(S(x) + F(x)) : S(x), logits = W mean(x) + b
""",
    "skipnet38": """\
// SkipNet: a residual network on images. Before each block, a recurrent gate decides
// whether it runs. The first block always runs. A norm follows each convolution.
//
//   F(x) = norm2(conv2(relu(norm1(conv1(x)))))
//   S(x) = x, except in the first blocks of groups 1 and 2: norm(W x), every second pixel
//   x    = relu(norm(conv(image))), h = c = 0, x = relu(x + F(x)), then for block j:
//          (h, c) = lstm(G mean(x) + g, h, c) with G, g of block j - 1,
//          run = w h + b > 0,
//          x = run ? relu(S(x) + F(x)) : S(x)
//   logits = W mean(x) + b
""",
}

HELPERS = """\
  // The position of the first largest logit.
  func.func private @argmax(%logits: !classes) -> !tag {
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%logits : !classes) outs(%low : !scalar)
        dimensions = [0]
    %none = arith.constant dense<2147483647> : !tag
    %tag = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
        iterator_types = ["reduction"]}
        ins(%logits, %most : !classes, !scalar) outs(%none : !tag) {
    ^bb0(%logit: f32, %max: f32, %first: i32):
      %position = linalg.index 0 : index
      %here = arith.index_cast %position : index to i32
      %is = arith.cmpf oeq, %logit, %max : f32
      %candidate = arith.select %is, %here, %first : i32
      %least = arith.minsi %candidate, %first : i32
      linalg.yield %least : i32
    } -> !tag
    return %tag : !tag
  }
"""

KEPT = """\
  func.func private @kept(%keep: !flags, %j: index) -> i1 {
    %zero = arith.constant 0 : i32
    %flag = tensor.extract %keep[%j] : !flags
    %is = arith.cmpi ne, %flag, %zero : i32
    return %is : i1
  }
"""

# The functions of a group with C channels; "pixels" is the number of pixels of a channel
GROUP = """\
  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm$C(%x: !map$C, %g: !vec$C, %b: !vec$C, %mean: !vec$C, %var: !vec$C)
      -> !map$C {
    %epsilon = arith.constant dense<1.0e-5> : !vec$C
    %positive = arith.addf %var, %epsilon : !vec$C
    %deviation = math.sqrt %positive : !vec$C
    %scale = arith.divf %g, %deviation : !vec$C
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec$C, !vec$C, !vec$C) outs(%x : !map$C) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map$C
    return %y : !map$C
  }

  func.func private @relu$C(%x: !map$C) -> !map$C {
    %zero = arith.constant dense<0.0> : !map$C
    %y = arith.maximumf %x, %zero : !map$C
    return %y : !map$C
  }
"""
MEAN = """\
  func.func private @mean$C(%x: !map$C) -> !vec$C {
    %zero = arith.constant dense<0.0> : !vec$C
    %sum = linalg.reduce { arith.addf } ins(%x : !map$C) outs(%zero : !vec$C)
        dimensions = [0, 2, 3]
    %pixels = arith.constant dense<$pixels.0> : !vec$C
    %mean = arith.divf %sum, %pixels : !vec$C
    return %mean : !vec$C
  }
"""
# A layer from B channels of s x s pixels to C channels; kind is C or "BtoC"
LAYER = """\
  // A convolution of 3 x 3 and its norm.
  func.func private @layer$kind(%x: !map$B, %W: !filter$kind, %g: !vec$C, %b: !vec$C,
                               %mean: !vec$C, %var: !vec$C) -> !map$C {
    %zeros = arith.constant dense<0.0> : !padded$B
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, $B, $s, $s] [1, 1, 1, 1]
        : !map$B into !padded$B
    %zero = arith.constant dense<0.0> : !map$C
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<$stride> : vector<2xi64>}
        ins(%padded, %W : !padded$B, !filter$kind) outs(%zero : !map$C) -> !map$C
    %y = func.call @norm$C(%a, %g, %b, %mean, %var)
        : (!map$C, !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
    return %y : !map$C
  }
"""
STEM = """\
  func.func private @stem(%image: !image, %W: !filter3to$C, %g: !vec$C, %b: !vec$C,
                          %mean: !vec$C, %var: !vec$C) -> !map$C {
    %x = tensor.expand_shape %image [[0, 1], [2], [3]] output_shape [1, 3, $s, $s]
        : !image into !map3
    %a = func.call @layer3to$C(%x, %W, %g, %b, %mean, %var)
        : (!map3, !filter3to$C, !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
    %y = func.call @relu$C(%a) : (!map$C) -> !map$C
    return %y : !map$C
  }
"""
BLOCK = """\
  // relu(s + F(x))
  func.func private @block$kind(
      %x: !map$B, %s: !map$C,
      %c1: !filter$kind, %g1: !vec$C, %b1: !vec$C, %mean1: !vec$C, %var1: !vec$C,
      %c2: !filter$C, %g2: !vec$C, %b2: !vec$C, %mean2: !vec$C, %var2: !vec$C) -> !map$C {
    %a = func.call @layer$kind(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map$B, !filter$kind, !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
    %r = func.call @relu$C(%a) : (!map$C) -> !map$C
    %f = func.call @layer$C(%r, %c2, %g2, %b2, %mean2, %var2)
        : (!map$C, !filter$C, !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
    %sum = arith.addf %s, %f : !map$C
    %y = func.call @relu$C(%sum) : (!map$C) -> !map$C
    return %y : !map$C
  }
"""
MAYBE = """\
  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe$kind(
      %run: i1, %x: !map$B, %s: !map$C,
      %c1: !filter$kind, %g1: !vec$C, %b1: !vec$C, %mean1: !vec$C, %var1: !vec$C,
      %c2: !filter$C, %g2: !vec$C, %b2: !vec$C, %mean2: !vec$C, %var2: !vec$C) -> !map$C {
    %y = scf.if %run -> !map$C {
      %r = func.call @block$kind(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2)
          : (!map$B, !map$C, !filter$kind, !vec$C, !vec$C, !vec$C, !vec$C, !filter$C,
             !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
      scf.yield %r : !map$C
    } else {
      scf.yield %s : !map$C
    }
    return %y : !map$C
  }
"""
# A shortcut from B channels of 2s x 2s pixels to C channels of s x s pixels
POOLED = """\
  // The means of 2 x 2 squares, and channels of zeros.
  func.func private @shortcut$C(%x: !map$B) -> !map$C {
    %window = tensor.empty() : tensor<2x2xf32>
    %zero = arith.constant dense<0.0> : !pooled$B
    %sums = linalg.pooling_nchw_sum
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%x, %window : !map$B, tensor<2x2xf32>) outs(%zero : !pooled$B) -> !pooled$B
    %quarter = arith.constant dense<0.25> : !pooled$B
    %means = arith.mulf %sums, %quarter : !pooled$B
    %zeros = arith.constant dense<0.0> : !map$C
    %y = tensor.insert_slice %means into %zeros[0, 0, 0, 0] [1, $B, $s, $s] [1, 1, 1, 1]
        : !pooled$B into !map$C
    return %y : !map$C
  }
"""
PROJECTED = """\
  // norm(W x), every second pixel.
  func.func private @shortcut$C(%x: !map$B, %W: !project$C, %g: !vec$C, %b: !vec$C,
                               %mean: !vec$C, %var: !vec$C) -> !map$C {
    %zero = arith.constant dense<0.0> : !map$C
    %p = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%x, %W : !map$B, !project$C) outs(%zero : !map$C) -> !map$C
    %y = func.call @norm$C(%p, %g, %b, %mean, %var)
        : (!map$C, !vec$C, !vec$C, !vec$C, !vec$C) -> !map$C
    return %y : !map$C
  }
"""
GATE_HELPERS = """\
  func.func private @sigmoid(%x: !state) -> !state {
    %one = arith.constant dense<1.0> : !state
    %n = arith.negf %x : !state
    %e = math.exp %n : !state
    %d = arith.addf %one, %e : !state
    %y = arith.divf %one, %d : !state
    return %y : !state
  }

  // W u + U h + b
  func.func private @sum(%u: !state, %h: !state, %W: !square, %U: !square, %b: !state)
      -> !state {
    %wu = linalg.matvec ins(%W, %u : !square, !state) outs(%b : !state) -> !state
    %a = linalg.matvec ins(%U, %h : !square, !state) outs(%wu : !state) -> !state
    return %a : !state
  }

  func.func private @lstm(
      %u: !state, %h: !state, %c: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state)
      -> (!state, !state) {
    %ai = func.call @sum(%u, %h, %W_i, %U_i, %b_i)
        : (!state, !state, !square, !square, !state) -> !state
    %af = func.call @sum(%u, %h, %W_f, %U_f, %b_f)
        : (!state, !state, !square, !square, !state) -> !state
    %ag = func.call @sum(%u, %h, %W_g, %U_g, %b_g)
        : (!state, !state, !square, !square, !state) -> !state
    %ao = func.call @sum(%u, %h, %W_o, %U_o, %b_o)
        : (!state, !state, !square, !square, !state) -> !state
    %i = func.call @sigmoid(%ai) : (!state) -> !state
    %f = func.call @sigmoid(%af) : (!state) -> !state
    %g = math.tanh %ag : !state
    %o = func.call @sigmoid(%ao) : (!state) -> !state
    %fc = arith.mulf %f, %c : !state
    %ig = arith.mulf %i, %g : !state
    %next = arith.addf %fc, %ig : !state
    %t = math.tanh %next : !state
    %y = arith.mulf %o, %t : !state
    return %y, %next : !state, !state
  }

  func.func private @positive(%h: !state, %w: !project, %b: !number) -> i1 {
    %zero = arith.constant 0.0 : f32
    %first = arith.constant 0 : index
    %s = linalg.matvec ins(%w, %h : !project, !state) outs(%b : !number)
        -> !number
    %number = tensor.extract %s[%first] : !number
    %is = arith.cmpf ogt, %number, %zero : f32
    return %is : i1
  }
"""
GATE = """\
  // Returns whether the next block runs, and the states.
  func.func private @gate$C(
      %x: !map$C, %h: !state, %c: !state, %G: !gate$C, %g: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state,
      %w: !project, %b: !number) -> (i1, !state, !state) {
    %mean = func.call @mean$C(%x) : (!map$C) -> !vec$C
    %u = linalg.matvec ins(%G, %mean : !gate$C, !vec$C) outs(%g : !state) -> !state
    %hn, %cn = func.call @lstm(%u, %h, %c, %W_i, %U_i, %b_i, %W_f, %U_f, %b_f,
        %W_g, %U_g, %b_g, %W_o, %U_o, %b_o)
        : (!state, !state, !state, !square, !square, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state) -> (!state, !state)
    %run = func.call @positive(%hn, %w, %b) : (!state, !project, !number) -> i1
    return %run, %hn, %cn : i1, !state, !state
  }
"""
GATE_PARAMETERS = [("rnn.%s_%s" % (kind, gate), "!state" if kind == "b" else "!square")
                   for gate in "ifgo" for kind in "WUb"]
GATE_PARAMETERS += [("rnn.proj", "!project"), ("rnn.proj.b", "!number")]


def fill(template, **values):
    return string.Template(template).substitute(values)


def wrapped(items, indent, column=None, width=92):
    """Returns comma-separated items in lines of at most `width` characters. The first
    line continues a line of the model at `column`."""
    lines = textwrap.wrap(", ".join(item.replace(" ", "~") for item in items), width,
                          initial_indent=" " * (column or indent),
                          subsequent_indent=" " * indent)
    return "\n".join(lines).lstrip().replace("~", " ")


def call(results, callee, operands, types, width=92):
    """Returns the text of a call. `operands` contains pairs (value, type)."""
    begin = "    %s = func.call @%s(" % (results, callee)
    return "%s%s)\n        : (%s) -> %s\n" % (
        begin, wrapped([v for v, _ in operands], 8, len(begin), width),
        wrapped([t for _, t in operands], 11, None, width), types)


def layer(filter_name, norm_name, kind, channels):
    """Returns the names and types of the parameters of a convolution and its norm."""
    return [(filter_name, kind)] + [("%s.%s" % (norm_name, key), "!vec%d" % channels)
                                    for key in ("g", "b", "mean", "var")]


class Block:
    def __init__(self, name, group, first, number):
        self.name, self.number = name, number
        self.channels = CHANNELS[group]
        # True if the block halves the width and height of the map
        self.narrows = bool(group) and first
        self.before = CHANNELS[group - 1] if self.narrows else self.channels
        self.kind = "%dto%d" % (self.before, self.channels) if self.narrows else str(
            self.channels)

    def parameters(self):
        name, channels = self.name, self.channels
        return (layer(name + ".c1", name + ".n1", "!filter" + self.kind, channels) +
                layer(name + ".c2", name + ".n2", "!filter%d" % channels, channels))


def all_blocks(letter, counts):
    result = []
    for group, count in enumerate(counts):
        for i in range(count):
            result.append(Block("%s%db%d" % (letter, group, i), group, not i, len(result)))
    return result


class Model:
    def __init__(self, name, size, counts):
        self.name, self.size = name, size
        self.gated = name == "skipnet38"
        self.blocks = all_blocks("g" if self.gated else "s", counts)
        # Names and types, in the order of their first use
        self.parameters = {}

    def pixels(self, group):
        """Returns the width of a map, which is also its height."""
        return self.size >> group

    def shapes(self):
        """Returns a dictionary from names of f32 tensor types to shapes."""
        shapes = {"image": (3, self.size, self.size), "classes": (CLASSES,),
                  "of_classes": (CLASSES, CHANNELS[-1])}
        for group, channels in enumerate((3,) + CHANNELS):
            pixels = self.pixels(max(group - 1, 0))
            shapes["map%d" % channels] = (1, channels, pixels, pixels)
            shapes["padded%d" % channels] = (1, channels, pixels + 2, pixels + 2)
        for group, channels in enumerate(CHANNELS):
            before, pixels = ((3,) + CHANNELS)[group], self.pixels(group)
            shapes["vec%d" % channels] = (channels,)
            shapes["filter%d" % channels] = (channels, channels, 3, 3)
            shapes["filter%dto%d" % (before, channels)] = (channels, before, 3, 3)
            if self.gated:
                shapes["gate%d" % channels] = (STATE, channels)
            if group and self.gated:
                shapes["project%d" % channels] = (channels, before, 1, 1)
            elif group:
                shapes["pooled%d" % before] = (1, before, pixels, pixels)
        if self.gated:
            shapes.update({"state": (STATE,), "square": (STATE, STATE),
                           "project": (1, STATE), "number": (1,)})
        else:
            shapes["scores"] = (len(self.blocks),)
            shapes["of_scores"] = (len(self.blocks), CHANNELS[-1])
        return shapes

    def aliases(self):
        return "".join("!%s = tensor<%sxf32>\n" % (name, "x".join(map(str, shape)))
                       for name, shape in self.shapes().items()) + (
            "!flags = tensor<%dxi32>\n!tag = tensor<i32>\n!scalar = tensor<f32>\n" %
            len(self.blocks))

    def functions(self):
        texts = [HELPERS]
        if self.gated:
            texts.append(GATE_HELPERS)
        else:
            texts.append(KEPT)
        for group, channels in enumerate(CHANNELS):
            before = ((3,) + CHANNELS)[group]
            values = {"C": channels, "pixels": self.pixels(group) ** 2,
                      "s": self.pixels(group)}
            texts.append(fill(GROUP, **values))
            if self.gated or channels == CHANNELS[-1]:
                texts.append(fill(MEAN, **values))
            if not group:
                texts.append(fill(LAYER, kind="3to%d" % channels, B=3, stride=1, **values))
                texts.append(fill(STEM, **values))
            texts += [fill(text, kind=channels, B=channels, stride=1, **values)
                      for text in (LAYER, BLOCK, MAYBE)]
            if group:
                change = {"kind": "%dto%d" % (before, channels), "B": before}
                texts.append(fill(PROJECTED if self.gated else POOLED, **change, **values))
                values["s"] = self.pixels(group - 1)
                texts += [fill(text, stride=2, **change, **values)
                          for text in (LAYER, BLOCK, MAYBE)]
            if self.gated:
                texts.append(fill(GATE, **values))
        return texts

    # The entry

    def take(self, parameters):
        """Adds parameters to the entry, and returns them as operands."""
        self.parameters.update(parameters)
        return [("%" + name.replace(".", "_"), kind) for name, kind in parameters]

    def stem(self, result, prefix):
        first = CHANNELS[0]
        parameters = layer(prefix + "stem", prefix + "stem.n", "!filter3to%d" % first, first)
        return call(result, "stem", [("%image", "!image")] + self.take(parameters),
                    "!map%d" % first)

    def linear(self, result, x, prefix, kind):
        """Returns the text that computes W mean(x) + b from the last map x."""
        last = CHANNELS[-1]
        W, b = self.take([(prefix + "fc.W", "!of_" + kind[1:]),
                          (prefix + "fc.b", kind)])
        text = call(result + "_mean", "mean%d" % last, [(x, "!map%d" % last)],
                    "!vec%d" % last)
        return text + ("    %s = linalg.matvec ins(%s, %s_mean : %s, !vec%d)\n"
                       "        outs(%s : %s) -> %s\n" % (
                           result, W[0], result, W[1], last, b[0], kind, kind))

    def block(self, block, x, prefix, run=None):
        """Returns the text of the calls that run a block on x, and the name of the result."""
        mapped, result = "!map%d" % block.channels, "%s%d" % (x[:2], block.number)
        text, short = "", (x, mapped)
        if block.narrows:
            short = ("%%%ss%d" % (x[1], block.number), mapped)
            more = []
            if self.gated:
                more = self.take(layer(block.name + ".ds", block.name + ".ds.n",
                                       "!project%d" % block.channels, block.channels))
            text += call(short[0], "shortcut%d" % block.channels,
                         [(x, "!map%d" % block.before)] + more, mapped)
        own = [(prefix + name, kind) for name, kind in block.parameters()]
        text += call(result, ("maybe" if run else "block") + block.kind,
                     ([(run, "i1")] if run else []) +
                     [(x, "!map%d" % block.before), short] + self.take(own), mapped)
        return text, result

    def decisions(self):
        """Returns the text that computes BlockDrop's decisions as a tensor of zeros and ones."""
        if self.name == "blockdrop_given":
            text = ("    %bound = arith.constant dense<0.5> : !scores\n"
                    "    %are_kept = arith.cmpf oge, %probs, %bound : !scores\n")
        else:
            text, x = self.stem("%p", "policy."), "%p"
            for block in all_blocks("s", (1, 1, 1)):
                more, x = self.block(block, x, "policy.")
                text += more
            text += self.linear("%scores", x, "policy.", "!scores")
            text += ("    %bound = arith.constant dense<0.0> : !scores\n"
                     "    %are_kept = arith.cmpf ogt, %scores, %bound : !scores\n")
        return text + "    %%flags = arith.extui %%are_kept : tensor<%dxi1> to !flags\n" % len(
            self.blocks)

    def decision(self, block, x, before, state):
        """Returns the text that decides whether a block runs, and the names of the gate's next
        state."""
        run = "%%run%d" % block.number
        if not self.gated:
            return ("    %%j%d = arith.constant %d : index\n" % (block.number, block.number) +
                    call(run, "kept", [("%flags", "!flags"),
                                       ("%%j%d" % block.number, "index")], "i1")), state
        parameters = [(before.name + ".gate.W", "!gate%d" % before.channels),
                      (before.name + ".gate.b", "!state")] + GATE_PARAMETERS
        after = ["%%h%d" % block.number, "%%c%d" % block.number]
        return call(", ".join([run] + after), "gate%d" % before.channels,
                    [(x, "!map%d" % before.channels)] + [(s, "!state") for s in state] +
                    self.take(parameters), "(i1, !state, !state)"), after

    def flags(self):
        """Returns text that collects the individual decisions into a tensor of flags, one per
        block: 1 if the block ran."""
        text = "    %always = arith.constant 1 : i32\n"
        numbers = ["%always"]
        for block in self.blocks[1:]:
            text += "    %%n%d = arith.extui %%run%d : i1 to i32\n" % (
                block.number, block.number)
            numbers.append("%%n%d" % block.number)
        return text + "    %%flags = tensor.from_elements %s\n        : !flags\n" % wrapped(
            numbers, 8, 35)

    def body(self):
        state, before = ["%zero", "%zero"], None
        text = "    %zero = arith.constant dense<0.0> : !state\n" if self.gated else \
            self.decisions()
        text += self.stem("%x", "")
        x = "%x"
        for block in self.blocks:
            text += "\n"
            run = None
            if before or not self.gated:
                run = "%%run%d" % block.number
                more, state = self.decision(block, x, before, state)
                text += more
            more, x = self.block(block, x, "", run)
            text += more
            before = block
        text += "\n" + self.linear("%logits", x, "", "!classes")
        if self.gated:
            text += self.flags()
        return text + ("    %cls = func.call @argmax(%logits) : (!classes) -> !tag\n"
                       "    return %logits, %flags, %cls : !classes, !flags, !tag\n")

    def entry(self):
        body = self.body()
        arguments = ['%image: !image {batch.name = "image"}']
        if self.name == "blockdrop_given":
            arguments.append('%probs: !scores {batch.name = "probs"}')
        arguments += ['%%%s: %s {batch.shared = "%s"}' % (name.replace(".", "_"), kind, name)
                      for name, kind in self.parameters.items()]
        return ('  func.func @main(%s)\n'
                '      -> (!classes {batch.name = "logits"}, !flags {batch.name = "%s"},\n'
                '          !tag {batch.name = "cls"}) attributes {batch.entry} {\n%s  }\n' % (
                    wrapped(arguments, 18), "ran" if self.gated else "keep",
                    body))

    def text(self):
        return INTRODUCTIONS[self.name] + text_of(self.name, self)


def text_of(name, model):
    """Returns the text of a model without its introduction."""
    return ("//\n// Written by test/Integration/residual_models.py. Run it:\n"
            "//   test/Integration/residual_models.py {0} > {0}.mlir\n"
            "//   test/Integration/residual_models.py {0} --params={0}.safetensors\n"
            "//   batch-run {0}.mlir --params={0}.safetensors \\\n"
            "//     --inputs=random:1,4 --batch=4 --check-unbatched\n\n".format(name) +
            model.aliases() +
            "\n#channel = affine_map<(n, c, i, j) -> (c)>\n"
            "#pixel = affine_map<(n, c, i, j) -> (n, c, i, j)>\n\n" +
            "module {\n" + "\n".join(model.functions() + [model.entry()]) + "}\n")


def default(name):
    """Returns the model with the default sizes."""
    if name == "skipnet101":
        import bottleneck_models  # imported here, because it imports residual_models
        return bottleneck_models.Model()
    return Model(name, SIZE, BLOCKS[name])


def write(name, size=SIZE, blocks=None):
    """Returns the model's text."""
    return (Model(name, size, blocks) if blocks else default(name)).text()


def write_params(name, path, size=SIZE, blocks=None):
    """Writes parameters for the model of write(). With these parameters, products and norms hardly
    change the magnitude of their inputs."""
    model = Model(name, size, blocks) if blocks else default(name)
    model.entry()
    shapes, tensors, generator = model.shapes(), {}, random.Random(1)
    for parameter, kind in model.parameters.items():
        shape = shapes[kind[1:]]
        bound = math.sqrt(3 / (math.prod(shape[1:]) if len(shape) > 1 else 12))
        middle = 1 if parameter.endswith((".var", ".g")) else 0
        tensors[parameter] = ("F32", shape, [
            generator.uniform(middle - bound, middle + bound)
            for _ in range(math.prod(shape))])
    batchtest.write_safetensors(path, tensors)


def main(name, *arguments):
    if name not in [*BLOCKS, "skipnet101"] or len(arguments) not in (
            (0, 1) if name == "skipnet101" else (0, 1, 4)):
        sys.exit(__doc__)
    if len(arguments) == 1 and arguments[0].startswith("--params="):
        write_params(name, arguments[0].partition("=")[2])
    else:
        sizes = [int(argument) for argument in arguments]
        sys.stdout.write(write(name, sizes[0], sizes[1:]) if sizes else write(name))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
