"""The models in NumPy, computed level by level, as in torch_peer.py.

Products run on NumPy's BLAS, everything else on one thread. A sigmoid is
0.5 tanh(0.5 x) + 0.5. The inner factor is folded into the weights, which is exact for a power
of two. So one call of tanh computes all gates.
"""

import contextlib
import ctypes
import math

import numpy

inference = contextlib.nullcontext


def start(threads):
    """Does nothing, because OpenBLAS read its number of threads from the environment when it was
    loaded."""


def core_name():
    """Returns the name of the kernels that the BLAS selected for this machine, or "unknown"."""
    with contextlib.suppress(OSError):
        with open("/proc/self/maps") as file:
            paths = {line.split()[-1] for line in file if "openblas" in line}
        for path in sorted(paths):
            library = ctypes.CDLL(path)
            for name in ("scipy_openblas_get_corename64_",
                         "openblas_get_corename64_", "openblas_get_corename"):
                with contextlib.suppress(AttributeError):
                    function = getattr(library, name)
                    function.restype = ctypes.c_char_p
                    return function().decode()
    return "unknown"


def describe():
    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {"version": numpy.__version__,
            "config": ["%s %s" % (blas.get("name"), blas.get("version")),
                       "kernels: " + core_name()]}


def stack(*matrices):
    return numpy.ascontiguousarray(numpy.concatenate(matrices).T)


class Scratch:
    """A buffer that the levels use one after the other."""

    def __init__(self, data):
        self.data = data

    def view(self, *shape):
        return self.data[:math.prod(shape)].reshape(shape)


def sigmoids(x):
    """Computes sigmoids in place. `x` contains the tanh of half of each argument."""
    x *= 0.5
    x += 0.5


class Model:
    def __init__(self, p, size):
        self.size, self.pool = size, {}
        self.load(p, size)
        self.w_out = stack(p["W_out"]) if "W_out" in p else None

    def buffer(self, name, *shape):
        """Returns a buffer that all mini-batches share. It grows to the largest request."""
        size = math.prod(shape)
        if name not in self.pool or len(self.pool[name]) < size:
            self.pool[name] = numpy.empty(size, "f4")
        return self.pool[name][:size].reshape(shape)

    def make(self, plan, nodes, leaves={}, scratch={}):
        """Creates buffers with a row per node or per leaf (name: shape of a row), and scratch
        buffers that the levels use one after the other (name: floats per node)."""
        state = {"roots": plan.roots}
        for count, shapes in ((plan.nodes, nodes), (plan.leaves, leaves)):
            for name, shape in shapes.items():
                shape = shape if isinstance(shape, tuple) else (shape,)
                state[name] = self.buffer(name, count, *shape)
        for name, width in scratch.items():
            state[name] = Scratch(self.buffer(name, plan.widest * width))
        return state

    def prepare(self, plan):
        state = self.buffers(plan)
        state["words"] = plan.words
        state["first"] = self.leaf_views(state, plan.leaves)
        state["levels"] = [self.views(state, *level) for level in plan.levels]
        if self.w_out is not None:
            state["logits"] = self.buffer("logits", plan.nodes,
                                          self.w_out.shape[1])
        return state

    def run(self, state):
        self.leaves(*state["first"])
        for views in state["levels"]:
            self.level(*views)
        if self.w_out is not None:
            numpy.matmul(state[self.names[0]], self.w_out, out=state["logits"])

    def outputs(self, state):
        names = list(self.names) + (["logits"] if self.w_out is not None else [])
        return {name: state[name] for name in names}


class TreeFC(Model):
    names = ("h",)

    def load(self, p, size):
        self.E, self.w, self.b = p["E"], stack(p["W"]), p["b"]

    def buffers(self, plan):
        size = self.size
        return self.make(plan, nodes={"h": size},
                         scratch={"e": 2 * size})

    def views(self, s, begin, end, kids):
        n, size = end - begin, self.size
        return (s["h"], kids, s["e"].view(2 * n, size), s["e"].view(n, 2 * size),
                s["h"][begin:end])

    def leaf_views(self, s, n):
        return s["words"], s["h"][:n]

    def leaves(self, words, h):
        self.E.take(words, 0, out=h, mode="clip")

    def level(self, h, kids, pairs, e, out):
        h.take(kids, 0, out=pairs, mode="clip")
        numpy.matmul(e, self.w, out=out)
        out += self.b
        numpy.maximum(out, 0, out=out)


class TreeLSTM(Model):
    """The order of gates is f_l, i, o, u, f_r. The gates that read one child are then adjacent
    columns (see torch_peer.py)."""

    names = ("h", "c")

    def load(self, p, size):
        self.E = p["E"]
        self.own = p["U_fl"].shape[1] == size
        half = numpy.float32(0.5)
        self.w_leaf = stack(half * p["W_i"], half * p["W_o"], p["W_u"])
        self.b_leaf = numpy.concatenate([half * p["b_i"], half * p["b_o"],
                                         p["b_u"]])
        gates = [half * p["U_i"], half * p["U_o"], p["U_u"]]
        f_l, f_r = half * p["U_fl"], half * p["U_fr"]
        self.b = numpy.concatenate([half * p["b_f"], half * p["b_i"],
                                    half * p["b_o"], p["b_u"], half * p["b_f"]])
        if self.own:
            self.w_l = stack(f_l, *[u[:, :size] for u in gates])
            self.w_r = stack(*[u[:, size:] for u in gates], f_r)
        else:
            self.w = stack(f_l, *gates, f_r)

    def buffers(self, plan):
        size = self.size
        return self.make(plan, nodes={"h": size, "c": size},
                         leaves={"x": size, "g_leaf": 3 * size},
                         scratch={"e": 2 * size, "k": 2 * size,
                                  "g": 5 * size, "t": 4 * size, "m": size})

    def views(self, s, begin, end, kids):
        n, size = end - begin, self.size
        g, t = s["g"].view(n, 5 * size), s["t"].view(n, 4 * size)
        e, k = s["e"].view(n, 2 * size), s["k"].view(n, 2 * size)
        return (s["h"], s["c"], kids, s["e"].view(2 * n, size),
                s["k"].view(2 * n, size), e, e[:, :size], e[:, size:],
                k[:, :size], k[:, size:], g, g[:, :4 * size], g[:, size:],
                g[:, :3 * size], [g[:, i * size:(i + 1) * size] for i in range(5)],
                t, s["m"].view(n, size), s["h"][begin:end], s["c"][begin:end])

    def leaf_views(self, s, n):
        size, g = self.size, s["g_leaf"]
        return (s["words"], s["x"], g, g[:, :2 * size], g[:, :size],
                g[:, size:2 * size], g[:, 2 * size:], s["h"][:n], s["c"][:n])

    def leaves(self, words, x, g, first, i, o, u, h, c):
        self.E.take(words, 0, out=x, mode="clip")
        numpy.matmul(x, self.w_leaf, out=g)
        g += self.b_leaf
        numpy.tanh(g, out=g)
        sigmoids(first)
        numpy.multiply(i, u, out=c)
        numpy.tanh(c, out=h)
        h *= o

    def level(self, hs, cs, kids, e_rows, k_rows, e, e_l, e_r, c_l, c_r, g,
              to_left, to_right, first, parts, t, m, h, c):
        hs.take(kids, 0, out=e_rows, mode="clip")
        cs.take(kids, 0, out=k_rows, mode="clip")
        f_l, i, o, u, f_r = parts
        if self.own:
            size = self.size
            numpy.matmul(e_l, self.w_l, out=to_left)
            numpy.matmul(e_r, self.w_r, out=t)
            g[:, size:4 * size] += t[:, :3 * size]
            f_r[...] = t[:, 3 * size:]
        else:
            numpy.matmul(e, self.w, out=g)
        g += self.b
        numpy.tanh(g, out=g)
        sigmoids(first)
        sigmoids(f_r)
        numpy.multiply(i, u, out=c)
        numpy.multiply(f_l, c_l, out=m)
        c += m
        numpy.multiply(f_r, c_r, out=m)
        c += m
        numpy.tanh(c, out=h)
        h *= o


class TreeGRU(Model):
    names = ("h",)

    def load(self, p, size):
        half = numpy.float32(0.5)
        self.E = p["E"]
        self.w = [stack(half * p["U_r%d" % k], half * p["U_z%d" % k])
                  for k in range(3)]
        self.w_c = [stack(p["U_c%d" % k]) for k in range(3)]
        self.b = half * numpy.concatenate([p["b_r"], p["b_z"]])
        self.b_c = p["b_c"]

    def buffers(self, plan):
        size = self.size
        return self.make(plan, nodes={"h": size},
                         leaves={"x": size, "g_leaf": 2 * size, "t_leaf": size},
                         scratch={"e": 2 * size, "g": 4 * size, "t": 2 * size,
                                  "a": 2 * size})

    def views(self, s, begin, end, kids):
        n, size = end - begin, self.size
        kids = numpy.concatenate([kids[0::2], kids[1::2]])
        e, g, t, a = (s["e"].view(2 * n, size), s["g"].view(2 * n, 2 * size),
                      s["t"].view(2 * n, size), s["a"].view(2 * n, size))
        return (s["h"], kids, e, e[:n], e[n:], g, g[:n], g[n:], g[:, :size],
                g[:, size:], t, t[:n], t[n:], a, a[:n], a[n:],
                s["h"][begin:end])

    def leaf_views(self, s, n):
        size, g = self.size, s["g_leaf"]
        return (s["words"], s["x"], g, g[:, :size], g[:, size:], s["t_leaf"],
                s["h"][:n])

    def leaves(self, words, x, g, r, z, t, h):
        self.E.take(words, 0, out=x, mode="clip")
        numpy.matmul(x, self.w[0], out=g)
        g += self.b
        numpy.tanh(g, out=g)
        sigmoids(g)
        numpy.multiply(r, x, out=t)
        numpy.matmul(t, self.w_c[0], out=h)
        h += self.b_c
        numpy.tanh(h, out=h)
        x -= h
        x *= z
        h += x

    def level(self, hs, kids, e, e_l, e_r, g, g_l, g_r, r, z, t, t_l, t_r,
              a, a_l, a_r, out):
        hs.take(kids, 0, out=e, mode="clip")
        numpy.matmul(e_l, self.w[1], out=g_l)
        numpy.matmul(e_r, self.w[2], out=g_r)
        g += self.b
        numpy.tanh(g, out=g)
        sigmoids(g)
        numpy.multiply(r, e, out=t)
        numpy.matmul(t_l, self.w_c[1], out=a_l)
        numpy.matmul(t_r, self.w_c[2], out=a_r)
        a += self.b_c
        numpy.tanh(a, out=a)
        e -= a
        e *= z
        a += e
        numpy.add(a_l, a_r, out=out)
        out *= 0.5


class MVRNN(Model):
    names = ("v",)

    def load(self, p, size):
        self.E = p["E_v"]
        self.E_t = numpy.ascontiguousarray(p["E_m"].transpose(0, 2, 1))
        self.w, self.b, self.b_m = stack(p["W_v"]), p["b_v"], p["b_m"]
        self.w_l, self.w_r = stack(p["W_m"][:, :size]), stack(p["W_m"][:, size:])

    def buffers(self, plan):
        size = self.size
        return self.make(plan, nodes={"v": size, "M": (size, size)},
                         scratch={"e": 2 * size, "y": 2 * size,
                                  "A": size * size, "B": size * size,
                                  "t": size * size})

    def views(self, s, begin, end, kids):
        n, size = end - begin, self.size
        left, right = kids[0::2].copy(), kids[1::2].copy()
        e, y = s["e"].view(n, 2, size), s["y"].view(n, 2, size)
        return (s["v"], s["M"], kids, left, right, s["e"].view(2 * n, size),
                e[:, :1], e[:, 1:], s["A"].view(n, size, size),
                s["B"].view(n, size, size), s["A"].view(n * size, size),
                s["B"].view(n * size, size), y[:, :1], y[:, 1:],
                s["y"].view(n, 2 * size), s["t"].view(n * size, size),
                s["v"][begin:end], s["M"][begin:end].reshape(n * size, size))

    def leaf_views(self, s, n):
        return s["words"], s["v"][:n], s["M"][:n]

    def leaves(self, words, v, M):
        self.E.take(words, 0, out=v, mode="clip")
        self.E_t.take(words, 0, out=M, mode="clip")

    def level(self, vs, Ms, kids, left, right, e, a, b, A, B, A_rows, B_rows,
              Ba, Ab, y, t, v, M_rows):
        vs.take(kids, 0, out=e, mode="clip")
        Ms.take(left, 0, out=A, mode="clip")
        Ms.take(right, 0, out=B, mode="clip")
        numpy.matmul(a, B, out=Ba)
        numpy.matmul(b, A, out=Ab)
        numpy.matmul(y, self.w, out=v)
        v += self.b
        numpy.tanh(v, out=v)
        numpy.matmul(A_rows, self.w_l, out=M_rows)
        numpy.matmul(B_rows, self.w_r, out=t)
        M_rows += t
        M_rows += self.b_m

    def outputs(self, s):
        result = Model.outputs(self, s)
        result["M_root"] = s["M"][s["roots"]].transpose(0, 2, 1)
        return result


MODELS = {"treefc": TreeFC, "treelstm_nary": TreeLSTM,
          "treelstm_nary_tai": TreeLSTM, "treegru_nary": TreeGRU, "mvrnn": MVRNN}
