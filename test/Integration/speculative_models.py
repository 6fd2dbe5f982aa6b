#!/usr/bin/env python3
"""Speculative decoding as MLIR, with a target of any number of layers.

  speculative_models.py NAME [LAYERS]
  speculative_models.py NAME --params=FILE

NAME is specdec or specdec_sample. The default of LAYERS is that of batchtest.model.
Golden cases have fewer layers, each with its own parameters. --params writes parameters
of the default model with which the target often accepts drafts. With random parameters,
it almost never does.
"""

import math
import random
import sys

import batchtest
import residual_models
from residual_models import fill

LAYERS = 4
HEADS, D, F, V, POSITIONS = 4, 64, 1024, 4000, 128

INTRODUCTIONS = {
    "specdec": """\
// Speculative decoding, greedy. A small transformer, the draft, writes 4 words. A large one,
// the target, reads them all at once. It keeps those that it would have written, and adds a
// word. Decoding stops when a word is the end or `limit` words are written.
//
//   draft   : y_i = argmax d(words so far, y_1 .. y_i-1)
//   target  : t_i = argmax t(words so far, y_1 .. y_i-1), for all i up to 5 at once
//   n is the first i with y_i+1 != t_i+1, or 4; y_1 .. y_n and t_n+1 are written
""",
    "specdec_sample": """\
// Speculative decoding, sampled. A small transformer, the draft, draws 4 words. A large one,
// the target, reads them all at once and keeps some, so that the written words have the law
// of the target. Decoding stops when a word is the end or `limit` words are written. The
// address of a draw is (seed, chain), the round and a slot for its purpose.
//
//   draft   : q_i = softmax d(words so far, y_1 .. y_i-1), y_i is drawn from q_i
//   target  : p_i = softmax t(words so far, y_1 .. y_i-1), for all i up to 5 at once
//   n is the first i with u_i >= p_i+1(y_i+1) / q_i+1(y_i+1), or 4; y_1 .. y_n are written,
//   and a draw from max(0, p_n+1 - q_n+1), or p_5 if n is 4
""",
}
REST = """\
//   layer   : x += W_o attend(q, K, V) + b_o with q, k, v = W_* norm1(x) + b_*
//             x += W_2 gelu(W_1 norm2(x) + b_1) + b_2
//   attend  : softmax(q K^T / sqrt(D)) V for each of 4 heads, over the tokens so far
//   logits  = W_out norm(x), for x = E[word] + pos[position] after all layers
//
// Keys and values of a token are computed once. They are stored in lists, to which each
// token appends a row. A round keeps the rows of written words. No wait depends on the
// draft: its words are data, and control waits once per round, for n.
//
// Written by test/Integration/speculative_models.py. Run it:
//   test/Integration/speculative_models.py $name > $name.mlir
//   test/Integration/speculative_models.py $name --params=$name.safetensors
//   batch-run $name.mlir --params=$name.safetensors \\
//     --inputs=$inputs --batch=10 --strategy=lazy --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!inner = tensor<1013xf32>
!to_inner = tensor<1013x256xf32>
!from_inner = tensor<256x1013xf32>
!heads = tensor<4x64xf32>
!rows = tensor<?x4x64xf32>
!scores = tensor<?x4xf32>
!sums = tensor<4xf32>
!emb = tensor<?x256xf32>
!out = tensor<4000x256xf32>
!classes = tensor<4000xf32>
!scalar = tensor<f32>
!token = tensor<i32>
!drafted = tensor<6xi32>
!flags = tensor<2xi32>
!words = !rec.list<index>
!tokens = tensor<?xi32>
!rounds = !rec.list<i32>
!verdicts = tensor<?x2xi32>

#id = affine_map<(d) -> (d)>
#none = affine_map<(d) -> ()>
#key = affine_map<(token, head, d) -> (token, head, d)>
#query = affine_map<(token, head, d) -> (head, d)>
#score = affine_map<(token, head, d) -> (token, head)>
#all = affine_map<(token, head) -> (token, head)>
#head = affine_map<(token, head) -> (head)>

"""
HELPERS = """\
  // (x - mean) / sqrt(variance + 1e-5) * g + b
  func.func private @norm(%x: !vec, %g: !vec, %b: !vec) -> !vec {
    %c0 = arith.constant 0 : index
    %size = tensor.dim %x, %c0 : !vec
    %number = arith.index_cast %size : index to i32
    %n = arith.sitofp %number : i32 to f32
    %epsilon = arith.constant 1.0e-5 : f32
    %zero = arith.constant dense<0.0> : !scalar
    %sum = linalg.reduce { arith.addf } ins(%x : !vec) outs(%zero : !scalar)
        dimensions = [0]
    %squares = linalg.generic {indexing_maps = [#id, #none, #none],
                               iterator_types = ["reduction"]}
        ins(%x, %sum : !vec, !scalar) outs(%zero : !scalar) {
    ^bb0(%v: f32, %s: f32, %so_far: f32):
      %mean = arith.divf %s, %n : f32
      %d = arith.subf %v, %mean : f32
      %square = arith.mulf %d, %d : f32
      %next = arith.addf %so_far, %square : f32
      linalg.yield %next : f32
    } -> !scalar
    %empty = tensor.empty() : !vec
    %y = linalg.generic {indexing_maps = [#id, #none, #none, #id, #id, #id],
                         iterator_types = ["parallel"]}
        ins(%x, %sum, %squares, %g, %b : !vec, !scalar, !scalar, !vec, !vec)
        outs(%empty : !vec) {
    ^bb0(%v: f32, %s: f32, %square: f32, %scale: f32, %offset: f32, %out: f32):
      %mean = arith.divf %s, %n : f32
      %d = arith.subf %v, %mean : f32
      %variance = arith.divf %square, %n : f32
      %positive = arith.addf %variance, %epsilon : f32
      %inverse = math.rsqrt %positive : f32
      %normal = arith.mulf %d, %inverse : f32
      %scaled = arith.mulf %normal, %scale : f32
      %r = arith.addf %scaled, %offset : f32
      linalg.yield %r : f32
    } -> !vec
    return %y : !vec
  }

  // W x + b, by heads.
  func.func private @split(%x: !vec, %W: !mat, %b: !vec) -> !heads {
    %a = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %y = tensor.expand_shape %a [[0, 1]] output_shape [4, 64] : !vec into !heads
    return %y : !heads
  }

  func.func private @attend(%q: !heads, %K: !rows, %V: !rows) -> !vec {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %tokens = tensor.dim %K, %c0 : !rows
    %empty = tensor.empty(%tokens) : !scores
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : !scores) -> !scores
    %products = linalg.generic {indexing_maps = [#key, #query, #score],
                                iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%K, %q : !rows, !heads) outs(%zeros : !scores) {
    ^bb0(%k: f32, %qd: f32, %so_far: f32):
      %product = arith.mulf %k, %qd : f32
      %next = arith.addf %so_far, %product : f32
      linalg.yield %next : f32
    } -> !scores
    %size = tensor.dim %q, %c1 : !heads
    %number = arith.index_cast %size : index to i32
    %square = arith.sitofp %number : i32 to f32
    %root = math.sqrt %square : f32
    %low = arith.constant dense<0xFF800000> : !sums
    %most = linalg.reduce { arith.maximumf } ins(%products : !scores) outs(%low : !sums)
        dimensions = [0]
    %weights = linalg.generic {indexing_maps = [#all, #head, #all],
                               iterator_types = ["parallel", "parallel"]}
        ins(%products, %most : !scores, !sums) outs(%empty : !scores) {
    ^bb0(%product: f32, %max: f32, %out: f32):
      %below = arith.subf %product, %max : f32
      %score = arith.divf %below, %root : f32
      %weight = math.exp %score : f32
      linalg.yield %weight : f32
    } -> !scores
    %start = arith.constant dense<0.0> : !sums
    %sum = linalg.reduce { arith.addf } ins(%weights : !scores) outs(%start : !sums)
        dimensions = [0]
    %none = arith.constant dense<0.0> : !heads
    %y = linalg.generic {indexing_maps = [#score, #key, #query],
                         iterator_types = ["reduction", "parallel", "parallel"]}
        ins(%weights, %V : !scores, !rows) outs(%none : !heads) {
    ^bb0(%weight: f32, %v: f32, %so_far: f32):
      %product = arith.mulf %weight, %v : f32
      %next = arith.addf %so_far, %product : f32
      linalg.yield %next : f32
    } -> !heads
    %free = tensor.empty() : !heads
    %sums = linalg.broadcast ins(%sum : !sums) outs(%free : !heads) dimensions = [1]
    %mean = arith.divf %y, %sums : !heads
    %all = tensor.collapse_shape %mean [[0, 1]] : !heads into !vec
    return %all : !vec
  }

  // W_2 gelu(W_1 x + b_1) + b_2
  func.func private @forward(%x: !vec, %W_1: !to_inner, %b_1: !inner, %W_2: !from_inner,
                             %b_2: !vec) -> !vec {
    %a = linalg.matvec ins(%W_1, %x : !to_inner, !vec) outs(%b_1 : !inner) -> !inner
    %half = arith.constant dense<0.5> : !inner
    %root = arith.constant dense<0.70710678> : !inner
    %one = arith.constant dense<1.0> : !inner
    %scaled = arith.mulf %a, %root : !inner
    %erf = math.erf %scaled : !inner
    %more = arith.addf %one, %erf : !inner
    %halved = arith.mulf %a, %half : !inner
    %gelu = arith.mulf %halved, %more : !inner
    %y = linalg.matvec ins(%W_2, %gelu : !from_inner, !inner) outs(%b_2 : !vec) -> !vec
    return %y : !vec
  }

  // The result of a layer for a token, and the keys and values including its own.
  func.func private @layer(%x: !vec, %Ks: !rows, %Vs: !rows, $parameters)
      -> (!vec, !rows, !rows) {
    %a = func.call @norm(%x, %ln1_g, %ln1_b) : (!vec, !vec, !vec) -> !vec
    %q = func.call @split(%a, %q_W, %q_b) : (!vec, !mat, !vec) -> !heads
    %k = func.call @split(%a, %k_W, %k_b) : (!vec, !mat, !vec) -> !heads
    %v = func.call @split(%a, %v_W, %v_b) : (!vec, !mat, !vec) -> !heads
    %K = rec.append %Ks, %k : !rows
    %V = rec.append %Vs, %v : !rows
    %y = func.call @attend(%q, %K, %V) : (!heads, !rows, !rows) -> !vec
    %o = linalg.matvec ins(%o_W, %y : !mat, !vec) outs(%o_b : !vec) -> !vec
    %xo = arith.addf %x, %o : !vec
    %b = func.call @norm(%xo, %ln2_g, %ln2_b) : (!vec, !vec, !vec) -> !vec
    %f = func.call @forward(%b, %ff1_W, %ff1_b, %ff2_W, %ff2_b)
        : (!vec, !to_inner, !inner, !from_inner, !vec) -> !vec
    %next = arith.addf %xo, %f : !vec
    return %next, %K, %V : !vec, !rows, !rows
  }

  // E[token] + pos[position]
  func.func private @embed(%token: i32, %position: index, %E: !emb, %pos: !emb) -> !vec {
    %word = arith.index_cast %token : i32 to index
    %e = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
    %p = tensor.extract_slice %pos[%position, 0] [1, 256] [1, 1] : !emb to !vec
    %x = arith.addf %e, %p : !vec
    return %x : !vec
  }

  func.func private @logits(%x: !vec, %g: !vec, %b: !vec, %W_out: !out) -> !classes {
    %a = func.call @norm(%x, %g, %b) : (!vec, !vec, !vec) -> !vec
    %zero = arith.constant dense<0.0> : !classes
    %logits = linalg.matvec ins(%W_out, %a : !out, !vec) outs(%zero : !classes) -> !classes
    return %logits : !classes
  }

  // The rows before a round, and the first `count` rows that the round adds.
  func.func private @kept(%before: !rows, %after: !rows, %count: index) -> !rows {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = rec.length %before : !rows
    %r = scf.for %i = %c0 to %count step %c1 iter_args(%rows = %before) -> !rows {
      %place = arith.addi %first, %i : index
      %x = rec.element %after[%place] : !rows -> !heads
      %more = rec.append %rows, %x : !rows
      scf.yield %more : !rows
    }
    return %r : !rows
  }

  // The smallest i whose word is not accepted, and the smallest i whose word is the end, by
  // the verdicts of a round. Each is 5 if there is none.
  func.func private @judge(%verdicts: !verdicts) -> !flags {
    %last = arith.constant dense<5> : !flags
    %least = linalg.reduce { arith.minsi } ins(%verdicts : !verdicts) outs(%last : !flags)
        dimensions = [0]
    return %least : !flags
  }
"""
GREEDY = """\
  // The position of the first largest logit.
  func.func private @argmax(%logits: !classes) -> i32 {
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%logits : !classes) outs(%low : !scalar)
        dimensions = [0]
    %none = arith.constant dense<2147483647> : !token
    %first = linalg.generic {indexing_maps = [#id, #none, #none],
                             iterator_types = ["reduction"]}
        ins(%logits, %most : !classes, !scalar) outs(%none : !token) {
    ^bb0(%logit: f32, %max: f32, %before: i32):
      %position = linalg.index 0 : index
      %here = arith.index_cast %position : index to i32
      %is = arith.cmpf oeq, %logit, %max : f32
      %candidate = arith.select %is, %here, %before : i32
      %least = arith.minsi %candidate, %before : i32
      linalg.yield %least : i32
    } -> !token
    %word = tensor.extract %first[] : !token
    return %word : i32
  }
"""
SAMPLED = """\
  func.func private @random.threefry2x32(i32, i32, i32, i32) -> (i32, i32)
  func.func private @random.uniform.f32(i32) -> f32

  func.func private @uniform(%seed: i32, %chain: i32, %round: i32, %slot: i32) -> f32 {
    %bits:2 = func.call @random.threefry2x32(%seed, %chain, %round, %slot)
        : (i32, i32, i32, i32) -> (i32, i32)
    %u = func.call @random.uniform.f32(%bits#0) : (i32) -> f32
    return %u : f32
  }

  // The first position at which the cumulative sum exceeds u times the sum of all weights.
  func.func private @sample(%weights: !classes, %u: f32) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !scalar
    %first = arith.constant dense<0> : !token
    %total = linalg.reduce { arith.addf } ins(%weights : !classes) outs(%zero : !scalar)
        dimensions = [0]
    %sum, %place = linalg.generic {indexing_maps = [#id, #none, #none, #none],
                                   iterator_types = ["reduction"]}
        ins(%weights, %total : !classes, !scalar) outs(%zero, %first : !scalar, !token) {
    ^bb0(%weight: f32, %all: f32, %so_far: f32, %place: i32):
      %bound = arith.mulf %u, %all : f32
      %next = arith.addf %so_far, %weight : f32
      %below = arith.cmpf ole, %next, %bound : f32
      %step = arith.extui %below : i1 to i32
      %after = arith.addi %place, %step : i32
      linalg.yield %next, %after : f32, i32
    } -> (!scalar, !token)
    %size = tensor.dim %weights, %c0 : !classes
    %last = arith.subi %size, %c1 : index
    %most = arith.index_cast %last : index to i32
    %found = tensor.extract %place[] : !token
    %word = arith.minsi %found, %most : i32
    return %word : i32
  }

  func.func private @softmax(%logits: !classes) -> !classes {
    %empty = tensor.empty() : !classes
    %p = linalg.softmax dimension(0) ins(%logits : !classes) outs(%empty : !classes)
        -> !classes
    return %p : !classes
  }
"""
# The target's word at a position of the round, and whether the draft's word is accepted
VERIFY = {
    "specdec": """\
  // The word of the target at place i, and its verdict on the draft's word.
  func.func private @verify(%x: !vec, %drafted: !drafted, %i: index, %g: !vec, %b: !vec,
                            %W_out: !out) -> (!token, !flags) {
    %logits = func.call @logits(%x, %g, %b, %W_out) : (!vec, !vec, !vec, !out) -> !classes
    %out = func.call @argmax(%logits) : (!classes) -> i32
    %c1 = arith.constant 1 : index
    %next = arith.addi %i, %c1 : index
    %y = tensor.extract %drafted[%next] : !drafted
    %accepted = arith.cmpi eq, %out, %y : i32
""",
    "specdec_sample": """\
  // The word to write at place i if this place is accepted or the first one that is not.
  // Also returns the verdict on the draft's word, which was drawn from q. No word is drafted
  // for the last place, where q is zero.
  func.func private @verify(%x: !vec, %drafted: !drafted, %i: index, %q: !classes, %u: f32,
                            %u_last: f32, %g: !vec, %b: !vec, %W_out: !out)
      -> (!token, !flags) {
    %logits = func.call @logits(%x, %g, %b, %W_out) : (!vec, !vec, !vec, !out) -> !classes
    %p = func.call @softmax(%logits) : (!classes) -> !classes
    %zeros = arith.constant dense<0.0> : !classes
    %more = arith.subf %p, %q : !classes
    %rest = arith.maximumf %zeros, %more : !classes
    %r = func.call @sample(%rest, %u_last) : (!classes, f32) -> i32
    %c1 = arith.constant 1 : index
    %next = arith.addi %i, %c1 : index
    %zero_word = arith.constant 0 : i32
    %y = tensor.extract %drafted[%next] : !drafted
    %is_drafted = arith.cmpi sge, %y, %zero_word : i32
    %word = arith.maxsi %y, %zero_word : i32
    %at = arith.index_cast %word : i32 to index
    %p_y = tensor.extract %p[%at] : !classes
    %q_y = tensor.extract %q[%at] : !classes
    %ratio = arith.divf %p_y, %q_y : f32
    %is_below = arith.cmpf olt, %u, %ratio : f32
    %accepted = arith.andi %is_drafted, %is_below : i1
    %out = arith.select %accepted, %y, %r : i32
""",
}
VERDICT = """\
    %zero = arith.constant 0 : i32
    %none = arith.constant 5 : i32
    %place = arith.index_cast %i : index to i32
    %is_end = arith.cmpi eq, %out, %zero : i32
    %missed = arith.select %accepted, %none, %place : i32
    %ended = arith.select %is_end, %place, %none : i32
    %flags = tensor.from_elements %missed, %ended : !flags
    %token = tensor.from_elements %out : !token
    return %token, %flags : !token, !flags
  }
"""

LAYER = [("ln1.g", "!vec"), ("ln1.b", "!vec"), ("q.W", "!mat"), ("q.b", "!vec"),
         ("k.W", "!mat"), ("k.b", "!vec"), ("v.W", "!mat"), ("v.b", "!vec"),
         ("o.W", "!mat"), ("o.b", "!vec"), ("ln2.g", "!vec"), ("ln2.b", "!vec"),
         ("ff1.W", "!to_inner"), ("ff1.b", "!inner"), ("ff2.W", "!from_inner"),
         ("ff2.b", "!vec")]


# Lines are shorter here, because most of the text is later indented by up to 4 more columns.
def wrapped(items, indent, column=None):
    return residual_models.wrapped(items, indent, column, 88)


def call(results, callee, operands, types):
    return residual_models.call(results, callee, operands, types, 88)


def value(name):
    return "%" + name.replace(".", "_")


def indented(text, more):
    return "".join(" " * more + line for line in text.splitlines(True))


class Model:
    def __init__(self, name, layers):
        self.name, self.layers = name, layers
        self.sampled = name == "specdec_sample"

    def all_layers(self):
        return ["d.0"] + ["t.%d" % i for i in range(self.layers)]

    def parameters(self):
        """Returns the names and types of the parameters, in the order of the entry."""
        result = []
        for model in "dt":
            result += [(model + ".E", "!emb"), (model + ".pos", "!emb")]
            for layer in self.all_layers():
                if layer.startswith(model):
                    result += [("%s.%s" % (layer, key), kind) for key, kind in LAYER]
            result += [(model + ".lnf.g", "!vec"), (model + ".lnf.b", "!vec"),
                       (model + ".W_out", "!out")]
        return result

    def operands(self, prefix, keys):
        kinds = dict(self.parameters())
        return [(value("%s.%s" % (prefix, key)), kinds["%s.%s" % (prefix, key)])
                for key in keys]

    def lists(self, suffix=""):
        """Returns the names of the lists of keys and values of all layers."""
        return [value(layer) + letter + suffix
                for layer in self.all_layers() for letter in ("_K", "_V")]

    def layer(self, layer, x, before, after, result):
        """Returns a call that reads x and the lists with suffix `before`, and computes `result` and
        the lists with suffix `after`."""
        name = value(layer)
        return call("%s, %s_K%s, %s_V%s" % (result, name, after, name, after), "layer",
                    [(x, "!vec"), (name + "_K" + before, "!rows"),
                     (name + "_V" + before, "!rows")] +
                    self.operands(layer, [key for key, _ in LAYER]),
                    "(!vec, !rows, !rows)")

    def embed(self, model, result, token, position):
        return call(result, "embed", [(token, "i32"), (position, "index")] +
                    self.operands(model, ["E", "pos"]), "!vec")

    def target(self, token, position, before, after, result):
        """Returns the text that runs all layers of the target."""
        text = self.embed("t", "%t_x", token, position)
        x = "%t_x"
        for i in range(self.layers):
            y = result if i == self.layers - 1 else "%%t_x%d" % i
            text += self.layer("t.%d" % i, x, before, after, y)
            x = y
        return text

    def loop(self, results, op, carried, body):
        """Returns the text of a loop. Each element of `results` is (name outside the loop, name
        inside, yielded value, type)."""
        return ("    %s\n        = %s iter_args(%s)\n        -> (%s) {\n%s"
                "      scf.yield %s\n          : %s\n    }\n" % (
                    wrapped([outside for outside, _, _, _ in results], 8, 6), op,
                    wrapped(["%s = %s" % (inside, first)
                             for (_, inside, _, _), first in zip(results, carried)], 12,
                            len(op) + 22),
                    wrapped([kind for _, _, _, kind in results], 12),
                    indented(body, 2),
                    wrapped([after for _, _, after, _ in results], 12, 16),
                    wrapped([kind for _, _, _, kind in results], 12)))

    def prompt(self):
        """Returns the text that computes the keys and values of all tokens except the last one."""
        body = ("    %word = rec.element %words[%i] : !words -> index\n"
                "    %word32 = arith.index_cast %word : index to i32\n")
        body += self.target("%word32", "%i", "_i", "_n", "%t_unused")
        body += self.embed("d", "%d_x", "%word32", "%i")
        body += self.layer("d.0", "%d_x", "_i", "_n", "%d_unused")
        return self.loop(
            [(name, name + "_i", name + "_n", "!rows") for name in self.lists()],
            "scf.for %i = %c0 to %last_place step %c1", ["%none"] * len(self.lists()), body)

    def draft(self):
        """Returns the text that computes the words of the draft."""
        body = self.embed("d", "%d_x", "%token", "%position")
        body += self.layer("d.0", "%d_x", "_i", "_n", "%d_y")
        body += call("%logits", "logits", [("%d_y", "!vec")] + self.operands(
            "d", ["lnf.g", "lnf.b", "W_out"]), "!classes")
        head = ("    %position = arith.addi %p, %i : index\n"
                "    %token = tensor.extract %so_far[%i] : !drafted\n")
        if self.sampled:
            body += ("    %q = func.call @softmax(%logits) : (!classes) -> !classes\n"
                     "    %slot = arith.index_cast %i : index to i32\n"
                     "    %u = func.call @uniform(%seed, %chain, %round, %slot)\n"
                     "        : (i32, i32, i32, i32) -> f32\n"
                     "    %y = func.call @sample(%q, %u) : (!classes, f32) -> i32\n"
                     "    %more_qs = rec.append %qs_i, %q : !laws\n")
        else:
            body += "    %y = func.call @argmax(%logits) : (!classes) -> i32\n"
        body += ("    %next = arith.addi %i, %c1 : index\n"
                 "    %more = tensor.insert %y into %so_far[%next] : !drafted\n")
        results = [("%drafted", "%so_far", "%more", "!drafted")] + [
            ("%d_0_" + x + "_y", "%d_0_" + x + "_i", "%d_0_" + x + "_n", "!rows")
            for x in "KV"]
        carried = ["%first", "%d_0_K_r", "%d_0_V_r"]
        if self.sampled:
            results.append(("%qs", "%qs_i", "%more_qs", "!laws"))
            carried.append("%no_laws")
        text = ("    %empty = arith.constant dense<-1> : !drafted\n"
                "    %last_word = tensor.extract %last[] : !token\n"
                "    %first = tensor.insert %last_word into %empty[%c0] : !drafted\n")
        return (text + self.loop(results, "scf.for %i = %c0 to %c4 step %c1", carried,
                                 head + body) +
                # The last drafted word is also read, in case it is accepted.
                "    %end = arith.addi %p, %c4 : index\n"
                "    %last_drafted = tensor.extract %drafted[%c4] : !drafted\n" +
                self.embed("d", "%d_x", "%last_drafted", "%end") +
                self.layer("d.0", "%d_x", "_y", "_z", "%d_unused"))

    def verification(self):
        text, arguments = "", [("%t_y", "!vec"), ("%drafted", "!drafted"), ("%i", "index")]
        body = ("    %position = arith.addi %p, %i : index\n"
                "    %token = tensor.extract %drafted[%i] : !drafted\n")
        body += self.target("%token", "%position", "_i", "_n", "%t_y")
        if self.sampled:
            text = ("    %zeros = arith.constant dense<0.0> : !classes\n"
                    "    %laws = rec.append %qs, %zeros : !laws\n"
                    "    %u_last = func.call @uniform(%seed, %chain, %round, %last_slot)\n"
                    "        : (i32, i32, i32, i32) -> f32\n")
            body += ("    %q = rec.element %laws[%i] : !laws -> !classes\n"
                     "    %place = arith.index_cast %i : index to i32\n"
                     "    %slot = arith.addi %place, %slots : i32\n"
                     "    %u = func.call @uniform(%seed, %chain, %round, %slot)\n"
                     "        : (i32, i32, i32, i32) -> f32\n")
            arguments += [("%q", "!classes"), ("%u", "f32"), ("%u_last", "f32")]
        body += call("%out, %flags", "verify", arguments + self.operands(
            "t", ["lnf.g", "lnf.b", "W_out"]), "(!token, !flags)")
        body += ("    %more = rec.append %outs_i, %out : !tokens\n"
                 "    %more_verdicts = rec.append %verdicts_i, %flags : !verdicts\n")
        names = [name for name in self.lists() if name.startswith("%t")]
        results = [("%outs", "%outs_i", "%more", "!tokens"),
                   ("%verdicts", "%verdicts_i", "%more_verdicts", "!verdicts")] + [
                       (name + "_z", name + "_i", name + "_n", "!rows") for name in names]
        return text + self.loop(
            results, "scf.for %i = %c0 to %c5 step %c1",
            ["%no_tokens", "%no_verdicts"] + [name + "_r" for name in names], body)

    def judgement(self):
        """Returns the text that computes which words are written, and which rows of each list are
        kept."""
        text = """\
    %judged = func.call @judge(%verdicts) : (!verdicts) -> !flags
    %n = tensor.extract %judged[%c0] : !flags
    %end_place = tensor.extract %judged[%c1] : !flags
    %more_rounds = rec.append %rounds, %n : !rounds
    %last_written = arith.minsi %n, %end_place : i32
    %can_write = arith.addi %last_written, %one : i32
    %room = arith.subi %limit, %count : i32
    %writes = arith.minsi %can_write, %room : i32
    %total = arith.addi %count, %writes : i32
    %written = arith.index_cast %writes : i32 to index
    %all = scf.for %i = %c0 to %written step %c1 iter_args(%so_far = %tokens) -> !tokens {
      %word = rec.element %outs[%i] : !tokens -> !token
      %more = rec.append %so_far, %word : !tokens
      scf.yield %more : !tokens
    }
    %accepted = arith.index_cast %n : i32 to index
    %last_out = rec.element %outs[%accepted] : !tokens -> !token
    %kept = arith.addi %accepted, %c1 : index
    %next_place = arith.addi %p, %kept : index
"""
        for name in self.lists():
            text += call(name + "_k", "kept", [
                (name + "_r", "!rows"), (name + "_z", "!rows"), ("%kept", "index")], "!rows")
        return text + """\
    %has_ended = arith.cmpi sle, %end_place, %n : i32
    %has_room = arith.cmpi slt, %total, %limit : i32
    %true = arith.constant true
    %is_open = arith.xori %has_ended, %true : i1
    %again = arith.andi %is_open, %has_room : i1
"""

    def body(self):
        text = """\
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
"""
        if self.sampled:
            text += ("    // Slots of draws: words of the draft from 0 on, and these two kinds.\n"
                     "    %slots = arith.constant 256 : i32\n"
                     "    %last_slot = arith.constant 512 : i32\n"
                     "    %no_laws = rec.empty : !laws\n")
        text += """\
    %none = rec.empty : !rows
    %no_tokens = rec.empty : !tokens
    %no_rounds = rec.empty : !rounds
    %no_verdicts = rec.empty : !verdicts
    %length = rec.length %words : !words
    %last_place = arith.subi %length, %c1 : index
"""
        text += self.prompt()
        text += """\
    %last_of_prompt = rec.element %words[%last_place] : !words -> index
    %last_of_prompt32 = arith.index_cast %last_of_prompt : index to i32
    %given = tensor.from_elements %last_of_prompt32 : !token
"""
        carried = [("%tokens", "%no_tokens", "%all", "!tokens"),
                   ("%rounds", "%no_rounds", "%more_rounds", "!rounds"),
                   ("%last", "%given", "%last_out", "!token"),
                   ("%p", "%last_place", "%next_place", "index"),
                   ("%count", "%zero", "%total", "i32")]
        if self.sampled:
            carried.append(("%round", "%zero", "%next_round", "i32"))
        carried += [(name + "_r", name, name + "_k", "!rows") for name in self.lists()]
        kinds = wrapped([kind for _, _, _, kind in carried], 12)
        body = self.draft() + self.verification() + self.judgement()
        if self.sampled:
            body += "    %next_round = arith.addi %round, %one : i32\n"
        text += "    %%r:%d = scf.while (%s)\n        : (%s)\n        -> (%s) {\n" % (
            len(carried), wrapped(["%s = %s" % (inside, first)
                                   for inside, first, _, _ in carried], 18, 22),
            kinds, kinds)
        text += indented(body, 2)
        text += "      scf.condition(%%again) %s\n          : %s\n    } do {\n" % (
            wrapped([after for _, _, after, _ in carried], 12, 30), kinds)
        text += "    ^bb0(%s):\n      scf.yield %s\n          : %s\n    }\n" % (
            wrapped(["%s: %s" % (inside, kind) for inside, _, _, kind in carried], 9),
            wrapped([inside for inside, _, _, _ in carried], 12, 16), kinds)
        return text + "    return %r#0, %r#1 : !tokens, !rounds\n"

    def entry(self):
        arguments = ['%words: !words {batch.name = "tokens"}',
                     '%limit: i32 {batch.name = "limit"}']
        if self.sampled:
            arguments += ['%seed: i32 {batch.name = "seed"}',
                          '%chain: i32 {batch.name = "chain"}']
        arguments += ['%s: %s {batch.shared = "%s"}' % (value(name), kind, name)
                      for name, kind in self.parameters()]
        return ('  func.func @main(%s)\n'
                '      -> (!tokens {batch.name = "out"}, !rounds {batch.name = "accepted"})\n'
                '      attributes {batch.entry} {\n%s  }\n' % (
                    wrapped(arguments, 18), self.body()))

    def text(self):
        rest = REST
        if self.sampled:
            rest = rest.replace("\n#id", "!laws = tensor<?x4000xf32>\n\n#id")
        helpers = fill(HELPERS, parameters=wrapped(
            ["%s: %s" % (value(key), kind) for key, kind in LAYER], 26, 75))
        functions = [helpers, SAMPLED if self.sampled else GREEDY,
                     VERIFY[self.name] + VERDICT, self.entry()]
        return (INTRODUCTIONS[self.name] +
                fill(rest, name=self.name, inputs="random:1,10") +
                "// Types have other numbers for D and F, so that each follows one size.\n"
                "module attributes {batch.sizes = {D = 64 : index, "
                "F = [1013 : index, 1024 : index],\n"
                "                                  V = 4000 : index}} {\n" +
                "\n".join(functions) + "}\n")


def write(name, layers=LAYERS):
    """Returns the model's text."""
    return Model(name, layers).text()


def write_params(name, path, layers=LAYERS, head=D, inner=F, words=V):
    """Writes parameters for which draft and target often agree. Both use the same word embedding.
    If the current word has number n, the most likely next word usually has number n - 1."""
    hidden = HEADS * head
    shapes = {"!vec": (hidden,), "!mat": (hidden, hidden), "!inner": (inner,),
              "!to_inner": (inner, hidden), "!from_inner": (hidden, inner),
              "!emb": (words, hidden), "!out": (words, hidden)}
    tensors, generator = {}, random.Random(1)
    for parameter, kind in Model(name, layers).parameters():
        shape = (POSITIONS, hidden) if parameter.endswith(".pos") else shapes[kind]
        # The word influences the results more than its position and the layers do.
        bound = {"E": 0.8, "pos": 0.3}.get(parameter[2:], 0.5 / math.sqrt(shape[-1]))
        middle = 1 if parameter.endswith(".g") else 0
        tensors[parameter] = ("F32", shape, [
            generator.uniform(middle - bound, middle + bound)
            for _ in range(math.prod(shape))])
    table = tensors["t.E"][2]
    tensors["d.E"] = tensors["t.E"]
    # If words are sampled, logits have the magnitude of those in trained models.
    factor = (6 if name == "specdec_sample" else 1) / hidden
    turned = [factor * value for value in table[hidden:] + table[:hidden]]
    for model in "dt":
        tensors[model + ".W_out"] = ("F32", shapes["!out"], turned)
    batchtest.write_safetensors(path, tensors)


def main(name, *arguments):
    if name not in INTRODUCTIONS or len(arguments) > 1:
        sys.exit(__doc__)
    if arguments and arguments[0].startswith("--params="):
        write_params(name, arguments[0].partition("=")[2])
    else:
        sys.stdout.write(write(name, *map(int, arguments)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
