"""Kernels of matrices: a layer of BERT-base with weights of 2 and of 3 dimensions, and the
position of the largest of 4,000 numbers. The layer has 128 tokens of 768 numbers, 12 heads,
3072 inner numbers per token, and GELU computed by erf.
"""

from kernel import Kernel


def layer(by_head, M=128, D=768, H=12, F=3072):
    """Returns the program of a layer. If `by_head`, projections have weights of 3 dimensions."""
    d = D // H
    out = []
    p = out.append
    T = lambda *s: "tensor<" + "x".join(map(str, s)) + "xf32>"
    p(f"!rows = {T(M,D)}\n!vec = {T(D)}\n!inner = {T(M,F)}\n!bias = {T(F)}")
    p(f"!wide = {T(D,F)}\n!back = {T(F,D)}\n!heads = {T(H,M,d)}\n!split = {T(M,H,d)}")
    p(f"!scores = {T(H,M,M)}\n!row = {T(M)}")
    if not by_head:
        p(f"!weight = {T(D,D)}\n!last = {T(D,D)}\n!hbias = {T(D)}")
    else:
        p(f"!weight = {T(H,d,D)}\n!last = {T(H,d,D)}\n!hbias = {T(H,d)}")
    p("""
#id = affine_map<(m, n) -> (m, n)>
#col = affine_map<(m, n) -> (n)>
#rowof = affine_map<(m, n) -> (m)>
#qi = affine_map<(h, m, n, k) -> (h, m, k)>
#ki = affine_map<(h, m, n, k) -> (h, n, k)>
#si = affine_map<(h, m, n, k) -> (h, m, n)>
#pi = affine_map<(h, m, n, k) -> (h, m, k)>
#vi = affine_map<(h, m, n, k) -> (h, k, n)>
#h3 = affine_map<(h, m, n) -> (h, m, n)>
#hb = affine_map<(h, m, n) -> (h, n)>
#x3 = affine_map<(h, m, n, k) -> (m, k)>
#w3 = affine_map<(h, m, n, k) -> (h, n, k)>
#lc = affine_map<(m, n, h, k) -> (h, m, k)>
#lw = affine_map<(m, n, h, k) -> (h, k, n)>
#lo = affine_map<(m, n, h, k) -> (m, n)>
#tr = affine_map<(m, h, n) -> (m, h, n)>
#th = affine_map<(m, h, n) -> (h, m, n)>
module {""")
    if not by_head:
        p(f"""
  func.func private @project(%x: !rows, %W: !weight, %b: !hbias) -> !heads {{
    %zero = arith.constant dense<0.0> : !rows
    %p = linalg.matmul ins(%x, %W : !rows, !weight) outs(%zero : !rows) -> !rows
    %e = tensor.empty() : !rows
    %q = linalg.generic {{indexing_maps = [#id, #col, #id],
        iterator_types = ["parallel", "parallel"]}}
        ins(%p, %b : !rows, !hbias) outs(%e : !rows) {{
    ^bb0(%u: f32, %v: f32, %o: f32):
      %s = arith.addf %u, %v : f32
      linalg.yield %s : f32
    }} -> !rows
    %split = tensor.expand_shape %q [[0], [1, 2]] output_shape [{M}, {H}, {d}] : !rows into !split
    %eh = tensor.empty() : !heads
    %t = linalg.transpose ins(%split : !split) outs(%eh : !heads) permutation = [1, 0, 2]
    return %t : !heads
  }}
  func.func private @merge(%c: !heads, %W: !last) -> !rows {{
    %es = tensor.empty() : !split
    %t = linalg.transpose ins(%c : !heads) outs(%es : !split) permutation = [1, 0, 2]
    %x = tensor.collapse_shape %t [[0], [1, 2]] : !split into !rows
    %zero = arith.constant dense<0.0> : !rows
    %p = linalg.matmul ins(%x, %W : !rows, !last) outs(%zero : !rows) -> !rows
    return %p : !rows
  }}""")
    else:
        p("""
  func.func private @project(%x: !rows, %W: !weight, %b: !hbias) -> !heads {
    %zero = arith.constant dense<0.0> : !heads
    %p = linalg.generic {indexing_maps = [#x3, #w3, #si],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %W : !rows, !weight) outs(%zero : !heads) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> !heads
    %e = tensor.empty() : !heads
    %q = linalg.generic {indexing_maps = [#h3, #hb, #h3],
        iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %b : !heads, !hbias) outs(%e : !heads) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %s = arith.addf %u, %v : f32
      linalg.yield %s : f32
    } -> !heads
    return %q : !heads
  }
  func.func private @merge(%c: !heads, %W: !last) -> !rows {
    %zero = arith.constant dense<0.0> : !rows
    %p = linalg.generic {indexing_maps = [#lc, #lw, #lo],
        iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%c, %W : !heads, !last) outs(%zero : !rows) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> !rows
    return %p : !rows
  }""")
    p(f"""
  func.func private @attend(%q: !heads, %k: !heads, %v: !heads) -> !heads {{
    %zeros = arith.constant dense<0.0> : !scores
    %s = linalg.generic {{indexing_maps = [#qi, #ki, #si],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
        ins(%q, %k : !heads, !heads) outs(%zeros : !scores) {{
    ^bb0(%u: f32, %w: f32, %o: f32):
      %m = arith.mulf %u, %w : f32
      %t = arith.addf %o, %m : f32
      linalg.yield %t : f32
    }} -> !scores
    %scale = arith.constant dense<{d**-0.5}> : !scores
    %scaled = arith.mulf %s, %scale : !scores
    %e = tensor.empty() : !scores
    %a = linalg.softmax dimension(2) ins(%scaled : !scores) outs(%e : !scores) -> !scores
    %zero = arith.constant dense<0.0> : !heads
    %c = linalg.batch_matmul ins(%a, %v : !scores, !heads) outs(%zero : !heads) -> !heads
    return %c : !heads
  }}
  func.func private @norm(%x: !rows, %g: !vec, %b: !vec) -> !rows {{
    %zero = arith.constant dense<0.0> : !row
    %n = arith.constant {float(D)} : f32
    %eps = arith.constant 1.0e-12 : f32
    %sum = linalg.generic {{indexing_maps = [#id, #rowof],
        iterator_types = ["parallel", "reduction"]}}
        ins(%x : !rows) outs(%zero : !row) {{
    ^bb0(%u: f32, %o: f32):
      %s = arith.addf %o, %u : f32
      linalg.yield %s : f32
    }} -> !row
    %var = linalg.generic {{indexing_maps = [#id, #rowof, #rowof],
        iterator_types = ["parallel", "reduction"]}}
        ins(%x, %sum : !rows, !row) outs(%zero : !row) {{
    ^bb0(%u: f32, %t: f32, %o: f32):
      %mean = arith.divf %t, %n : f32
      %diff = arith.subf %u, %mean : f32
      %sq = arith.mulf %diff, %diff : f32
      %s = arith.addf %o, %sq : f32
      linalg.yield %s : f32
    }} -> !row
    %e = tensor.empty() : !rows
    %y = linalg.generic {{indexing_maps = [#id, #rowof, #rowof, #col, #col, #id],
        iterator_types = ["parallel", "parallel"]}}
        ins(%x, %sum, %var, %g, %b : !rows, !row, !row, !vec, !vec) outs(%e : !rows) {{
    ^bb0(%u: f32, %t: f32, %v: f32, %gg: f32, %bb: f32, %o: f32):
      %mean = arith.divf %t, %n : f32
      %va = arith.divf %v, %n : f32
      %ve = arith.addf %va, %eps : f32
      %inv = math.rsqrt %ve : f32
      %diff = arith.subf %u, %mean : f32
      %h = arith.mulf %diff, %inv : f32
      %hg = arith.mulf %h, %gg : f32
      %s = arith.addf %hg, %bb : f32
      linalg.yield %s : f32
    }} -> !rows
    return %y : !rows
  }}
  func.func private @addbias(%p: !rows, %b: !vec, %x: !rows) -> !rows {{
    %e = tensor.empty() : !rows
    %q = linalg.generic {{indexing_maps = [#id, #col, #id, #id],
        iterator_types = ["parallel", "parallel"]}}
        ins(%p, %b, %x : !rows, !vec, !rows) outs(%e : !rows) {{
    ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
      %s = arith.addf %u, %v : f32
      %t = arith.addf %s, %w : f32
      linalg.yield %t : f32
    }} -> !rows
    return %q : !rows
  }}
  func.func @main(%x: !rows {{batch.name = "x"}},
      %Wq: !weight {{batch.shared = "Wq"}}, %bq: !hbias {{batch.shared = "bq"}},
      %Wk: !weight {{batch.shared = "Wk"}}, %bk: !hbias {{batch.shared = "bk"}},
      %Wv: !weight {{batch.shared = "Wv"}}, %bv: !hbias {{batch.shared = "bv"}},
      %Wo: !last {{batch.shared = "Wo"}}, %bo: !vec {{batch.shared = "bo"}},
      %g1: !vec {{batch.shared = "g1"}}, %b1: !vec {{batch.shared = "b1"}},
      %W1: !wide {{batch.shared = "W1"}}, %bi: !bias {{batch.shared = "bi"}},
      %W2: !back {{batch.shared = "W2"}}, %b2: !vec {{batch.shared = "b2"}},
      %g2: !vec {{batch.shared = "g2"}}, %b3: !vec {{batch.shared = "b3"}})
      -> !rows attributes {{batch.entry}} {{
    %q = func.call @project(%x, %Wq, %bq) : (!rows, !weight, !hbias) -> !heads
    %k = func.call @project(%x, %Wk, %bk) : (!rows, !weight, !hbias) -> !heads
    %v = func.call @project(%x, %Wv, %bv) : (!rows, !weight, !hbias) -> !heads
    %c = func.call @attend(%q, %k, %v) : (!heads, !heads, !heads) -> !heads
    %o = func.call @merge(%c, %Wo) : (!heads, !last) -> !rows
    %aa = func.call @addbias(%o, %bo, %x) : (!rows, !vec, !rows) -> !rows
    %n = func.call @norm(%aa, %g1, %b1) : (!rows, !vec, !vec) -> !rows
    %zi = arith.constant dense<0.0> : !inner
    %ff = linalg.matmul ins(%n, %W1 : !rows, !wide) outs(%zi : !inner) -> !inner
    %ei = tensor.empty() : !inner
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %g = linalg.generic {{indexing_maps = [#id, #col, #id],
        iterator_types = ["parallel", "parallel"]}}
        ins(%ff, %bi : !inner, !bias) outs(%ei : !inner) {{
    ^bb0(%u: f32, %w: f32, %oo: f32):
      %s = arith.addf %u, %w : f32
      %r = arith.constant 0.70710678 : f32
      %a = arith.mulf %s, %r : f32
      %f = math.erf %a : f32
      %f1 = arith.addf %f, %one : f32
      %sh = arith.mulf %s, %half : f32
      %t = arith.mulf %sh, %f1 : f32
      linalg.yield %t : f32
    }} -> !inner
    %z2 = arith.constant dense<0.0> : !rows
    %h = linalg.matmul ins(%g, %W2 : !inner, !back) outs(%z2 : !rows) -> !rows
    %r = func.call @addbias(%h, %b2, %n) : (!rows, !vec, !rows) -> !rows
    %y = func.call @norm(%r, %g2, %b3) : (!rows, !vec, !vec) -> !rows
    return %y : !rows
  }}
}}""")
    return "\n".join(out)


ARGMAX = """module {
  func.func @main(%x: tensor<4000xf32> {batch.name = "x"}) -> tensor<i32>
      attributes {batch.entry} {
    %low = arith.constant dense<0xFF800000> : tensor<f32>
    %none = arith.constant dense<0> : tensor<i32>
    %most:2 = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>,
                         affine_map<(d) -> ()>],
        iterator_types = ["reduction"]}
        ins(%x : tensor<4000xf32>) outs(%low, %none : tensor<f32>, tensor<i32>) {
    ^bb0(%value: f32, %best: f32, %at: i32):
      %position = linalg.index 0 : index
      %n = arith.index_cast %position : index to i32
      %is = arith.cmpf ogt, %value, %best : f32
      %b = arith.select %is, %value, %best : f32
      %a = arith.select %is, %n, %at : i32
      linalg.yield %b, %a : f32, i32
    } -> (tensor<f32>, tensor<i32>)
    return %most#1 : tensor<i32>
  }
}
"""


def run_layer(torch, batch):
    layer = torch.nn.TransformerEncoderLayer(
        768, 12, 3072, dropout=0, activation="gelu", batch_first=True)
    return layer, torch.rand(batch, 128, 768)


def run_jax_layer(jax, batch):
    """Returns the same layer in JAX. Parameters are arguments, as in our program."""
    np = jax.numpy

    def normalize(x, scale, shift):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift

    def run(x, inputs, last, wide, back, biases, scales):
        split = lambda y: y.reshape(batch, 128, 12, 64)
        q, k, v = (split(x @ w + b) for w, b in zip(inputs, biases[:3]))
        scores = np.einsum("bmhd,bnhd->bhmn", q, k) / 8
        mixed = np.einsum("bhmn,bnhd->bmhd", jax.nn.softmax(scores), v)
        y = normalize(x + mixed.reshape(batch, 128, 768) @ last + biases[3],
                      scales[0], scales[1])
        inner = jax.nn.gelu(y @ wide + scales[4], approximate=False)
        return normalize(y + inner @ back + biases[4], scales[2], scales[3])

    square = [np.full((768, 768), 0.01)] * 4
    vector = np.full(768, 0.1)
    return {"compiled": (run, (
        np.ones((batch, 128, 768)), square[:3], square[3], np.full((768, 3072), 0.01),
        np.full((3072, 768), 0.01), [vector] * 5, [vector] * 4 + [np.full(3072, 0.1)]))}


def run_jax_argmax(jax, batch):
    return {"compiled": (lambda x: x.argmax(1),
                         (jax.random.uniform(jax.random.key(1), (batch, 4000)),))}


def run_argmax(torch, batch):
    class Argmax(torch.nn.Module):
        def forward(self, x):
            return x.argmax(1)

    return Argmax(), torch.rand(batch, 4000)


# FLOPs of 4 products with 768 x 768 matrices, 2 products with 768 x 3072 matrices, the scores and
# the weighted sums.
LAYER_FLOPS = 2 * 128 * (4 * 768 * 768 + 2 * 768 * 3072 + 2 * 128 * 768)

KERNELS = [Kernel("BERT layer", layer(False), LAYER_FLOPS, run_layer, run_jax_layer),
           Kernel("BERT layer, weights by head", layer(True), LAYER_FLOPS, run_layer, run_jax_layer),
           Kernel("argmax of 4000", ARGMAX, 4000, run_argmax, run_jax_argmax)]
