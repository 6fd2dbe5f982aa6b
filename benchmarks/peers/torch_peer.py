"""The models in eager PyTorch, in two forms: by level, and with one Python call per node.

By level, all nodes of one height of a mini-batch run at once. index_select gathers the
children's rows, and one product computes all gates. Every result is written to a
slice of a tensor for all nodes. prepare() makes all these views, so that run() only calls
PyTorch. Weights are stored transposed, [in, out], so that the product reads both operands in
memory order.
"""

import math

import torch


def start(threads):
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    torch.set_grad_enabled(False)


def describe():
    """Returns the version of PyTorch, its math libraries, and its OpenMP and CPU settings."""
    wanted = ("Math Kernel Library", "OpenBLAS", "MKL-DNN", "oneDNN", "OpenMP",
              "CPU capability")
    found = []
    for line in torch.__config__.show().splitlines():
        if "Build settings" in line:  # all settings are on one line
            found += [part.split()[-1] for part in line.split(",")
                      if "BLAS_INFO=" in part]
        elif any(word in line for word in wanted):
            found.append(line.strip(" -"))
    return {"version": torch.__version__, "config": found}


inference = torch.inference_mode
device = "cpu"  # device of all tensors


def tensor(values):
    return torch.as_tensor(values, device=device).contiguous()


def rows(*parts):
    """Concatenates vectors or matrices by rows."""
    return torch.cat([tensor(part) for part in parts])


def stack(*matrices):
    """Concatenates matrices [out, in] and transposes the result: [in, sum of out]."""
    return rows(*matrices).T.contiguous()


class Scratch:
    """A buffer that the levels use one after the other."""

    def __init__(self, data):
        self.data = data

    def view(self, *shape):
        return self.data[:math.prod(shape)].view(shape)


class Model:
    def __init__(self, p, size):
        self.size, self.pool = size, {}
        self.load(p, size)
        self.w_out = stack(p["W_out"]) if "W_out" in p else None
        self.W_out = tensor(p["W_out"]) if "W_out" in p else None

    def buffer(self, name, *shape):
        """Returns a buffer that all mini-batches share. It grows to the largest request."""
        size = math.prod(shape)
        if name not in self.pool or len(self.pool[name]) < size:
            self.pool[name] = torch.empty(size, device=device)
        return self.pool[name][:size].view(shape)

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
        """Creates the tensors and views of one mini-batch."""
        state = self.buffers(plan)
        state["words"] = tensor(plan.words)
        state["first"] = self.leaf_views(state, plan.leaves)
        state["levels"] = [
            self.views(state, begin, end, tensor(kids))
            for begin, end, kids in plan.levels]
        if self.w_out is not None:
            state["logits"] = self.buffer("logits", plan.nodes,
                                          self.w_out.shape[1])
        return state

    def run(self, state):
        self.leaves(*state["first"])
        for views in state["levels"]:
            self.level(*views)
        if self.w_out is not None:
            torch.mm(state[self.names[0]], self.w_out, out=state["logits"])

    def outputs(self, state):
        names = list(self.names) + (["logits"] if self.w_out is not None else [])
        return {name: state[name].cpu() for name in names}

    def recursive(self, trees):
        """Makes one call per node. Returns the results of all nodes, in post-order."""
        found = []
        for tree in trees:
            self.encode(tree, found)
        return found

    def collect(self, found):
        names = list(self.names) + (["logits"] if self.w_out is not None else [])
        return {name: torch.stack([node[i] for node in found]).cpu()
                for i, name in enumerate(names)}


class TreeFC(Model):
    names = ("h",)

    def load(self, p, size):
        self.E, self.w, self.b = tensor(p["E"]), stack(p["W"]), tensor(p["b"])
        self.W = tensor(p["W"])

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
        torch.index_select(self.E, 0, words, out=h)

    def level(self, h, kids, pairs, e, out):
        torch.index_select(h, 0, kids, out=pairs)
        torch.addmm(self.b, e, self.w, out=out)
        out.relu_()

    def encode(self, tree, found):
        if isinstance(tree[1], int):
            h = self.E[tree[1]]
        else:
            e = torch.cat((self.encode(tree[1], found),
                           self.encode(tree[2], found)))
            h = torch.addmv(self.b, self.W, e).relu_()
        found.append((h,))
        return h


class TreeLSTM(Model):
    """If `own` is set, each forget gate reads only its own child. Otherwise, it reads both
    children, and the order of gates is i, o, f_l, f_r, u."""

    names = ("h", "c")

    def load(self, p, size):
        self.own = p["U_fl"].shape[1] == size
        self.E = tensor(p["E"])
        leaf = [p["W_i"], p["W_o"], p["W_u"]]
        self.w_leaf, self.W_leaf = stack(*leaf), rows(*leaf)
        self.b_leaf = rows(p["b_i"], p["b_o"], p["b_u"])
        self.b = rows(p["b_i"], p["b_o"], p["b_f"], p["b_f"], p["b_u"])
        if self.own:
            # Two products without unused columns: f_l, i, o, u for the left child, and i, o, u,
            # f_r for the right child. The columns of i, o and u in both products are added.
            gates = [p["U_i"], p["U_o"], p["U_u"]]
            self.w_l = stack(p["U_fl"], *[u[:, :size] for u in gates])
            self.w_r = stack(*[u[:, size:] for u in gates], p["U_fr"])
            self.b_l = rows(p["b_f"], p["b_i"], p["b_o"], p["b_u"])
            self.b_r = tensor(p["b_f"])
            self.W = rows(*gates)
            self.W_fl, self.W_fr = tensor(p["U_fl"]), tensor(p["U_fr"])
            self.b_f = tensor(p["b_f"])
        else:
            gates = [p["U_i"], p["U_o"], p["U_fl"], p["U_fr"], p["U_u"]]
            self.w, self.W = stack(*gates), rows(*gates)

    def buffers(self, plan):
        size = self.size
        return self.make(plan, nodes={"h": size, "c": size},
                         leaves={"x": size, "g_leaf": 3 * size},
                         scratch={"e": 2 * size, "k": 2 * size, "g": 5 * size})

    def views(self, s, begin, end, kids):
        n, size = end - begin, self.size
        e, k = s["e"].view(2 * n, size), s["k"].view(2 * n, size)
        g = s["g"].view(n, 5 * size)
        wide, pair = s["e"].view(n, 2 * size), s["k"].view(n, 2 * size)
        part = [g[:, i * size:(i + 1) * size] for i in range(5)]
        if self.own:  # the order of gates is f_l, i, o, u, f_r
            products = (wide[:, :size], wide[:, size:], g[:, :4 * size],
                        g[:, size:], part[4])
            f_l, i, o, u, f_r = part
            sigmoids = (g[:, :3 * size], f_r)
        else:
            products = (wide, g)
            i, o, f_l, f_r, u = part
            sigmoids = (g[:, :4 * size],)
        return (s["h"], s["c"], kids, e, k, products, sigmoids, u, i, o, f_l, f_r,
                pair[:, :size], pair[:, size:], s["h"][begin:end],
                s["c"][begin:end])

    def leaf_views(self, s, n):
        size, g = self.size, s["g_leaf"]
        return (s["words"], s["x"], g, g[:, :2 * size], g[:, :size],
                g[:, size:2 * size], g[:, 2 * size:], s["h"][:n], s["c"][:n])

    def leaves(self, words, x, g, sigmoids, i, o, u, h, c):
        torch.index_select(self.E, 0, words, out=x)
        torch.addmm(self.b_leaf, x, self.w_leaf, out=g)
        sigmoids.sigmoid_()
        u.tanh_()
        torch.mul(i, u, out=c)
        torch.tanh(c, out=h)
        h.mul_(o)

    def level(self, hs, cs, kids, e, k, products, sigmoids, u, i, o, f_l, f_r,
              c_l, c_r, h, c):
        torch.index_select(hs, 0, kids, out=e)
        torch.index_select(cs, 0, kids, out=k)
        if self.own:
            left, right, to_left, to_right, last = products
            last.copy_(self.b_r)
            torch.addmm(self.b_l, left, self.w_l, out=to_left)
            to_right.addmm_(right, self.w_r)
        else:
            torch.addmm(self.b, products[0], self.w, out=products[1])
        for part in sigmoids:
            part.sigmoid_()
        u.tanh_()
        torch.mul(i, u, out=c)
        c.addcmul_(f_l, c_l)
        c.addcmul_(f_r, c_r)
        torch.tanh(c, out=h)
        h.mul_(o)

    def encode(self, tree, found):
        size = self.size
        if isinstance(tree[1], int):
            g = torch.addmv(self.b_leaf, self.W_leaf, self.E[tree[1]])
            i, o = g[:2 * size].sigmoid_().view(2, size)
            c = i * g[2 * size:].tanh_()
        else:
            h_l, c_l = self.encode(tree[1], found)
            h_r, c_r = self.encode(tree[2], found)
            e = torch.cat((h_l, h_r))
            if self.own:
                g = torch.addmv(self.b_leaf, self.W, e)
                i, o = g[:2 * size].sigmoid_().view(2, size)
                u = g[2 * size:]
                f_l = torch.addmv(self.b_f, self.W_fl, h_l).sigmoid_()
                f_r = torch.addmv(self.b_f, self.W_fr, h_r).sigmoid_()
            else:
                g = torch.addmv(self.b, self.W, e)
                i, o, f_l, f_r = g[:4 * size].sigmoid_().view(4, size)
                u = g[4 * size:]
            c = (i * u.tanh_()).addcmul_(f_l, c_l).addcmul_(f_r, c_r)
        h = o * torch.tanh(c)
        found.append((h, c, torch.mv(self.W_out, h)))
        return h, c


class TreeGRU(Model):
    names = ("h",)

    def load(self, p, size):
        self.E = tensor(p["E"])
        pair = [[p["U_r%d" % k], p["U_z%d" % k]] for k in range(3)]
        self.w_leaf, self.w_c_leaf = stack(*pair[0]), stack(p["U_c0"])
        self.w = torch.stack([stack(*m) for m in pair[1:]])
        self.w_c = torch.stack([stack(p["U_c%d" % k]) for k in (1, 2)])
        self.W = [rows(*m) for m in pair]
        self.W_c = [tensor(p["U_c%d" % k]) for k in range(3)]
        self.b, self.b_c = rows(p["b_r"], p["b_z"]), tensor(p["b_c"])
        self.b_pair = self.b.expand(2, 1, 2 * size)
        self.b_c_pair = self.b_c.expand(2, 1, size)

    def buffers(self, plan):
        size = self.size
        return self.make(plan, nodes={"h": size},
                         leaves={"x": size, "g_leaf": 2 * size, "t_leaf": size},
                         scratch={"e": 2 * size, "g": 4 * size, "t": 2 * size,
                                  "a": 2 * size})

    def views(self, s, begin, end, kids):
        # The batched product has a batch of two: all left children times the left weights, and
        # all right children times the right weights.
        n, size = end - begin, self.size
        kids = torch.cat((kids[0::2], kids[1::2]))
        g, a = s["g"].view(2 * n, 2 * size), s["a"].view(2, n, size)
        return (s["h"], kids, s["e"].view(2 * n, size), s["e"].view(2, n, size), g,
                s["g"].view(2, n, 2 * size), g[:, :size], g[:, size:],
                s["t"].view(2 * n, size), s["t"].view(2, n, size),
                s["a"].view(2 * n, size), a, a[0], a[1], s["h"][begin:end])

    def leaf_views(self, s, n):
        size, g = self.size, s["g_leaf"]
        return (s["words"], s["x"], g, g[:, :size], g[:, size:], s["t_leaf"],
                s["h"][:n])

    def leaves(self, words, x, g, r, z, t, h):
        torch.index_select(self.E, 0, words, out=x)
        torch.addmm(self.b, x, self.w_leaf, out=g)
        g.sigmoid_()
        torch.mul(r, x, out=t)
        torch.addmm(self.b_c, t, self.w_c_leaf, out=h)
        h.tanh_()
        torch.lerp(h, x, z, out=h)

    def level(self, hs, kids, e, e_pair, g, g_pair, r, z, t, t_pair, a, a_pair,
              a_l, a_r, out):
        torch.index_select(hs, 0, kids, out=e)
        torch.baddbmm(self.b_pair, e_pair, self.w, out=g_pair)
        g.sigmoid_()
        torch.mul(r, e, out=t)
        torch.baddbmm(self.b_c_pair, t_pair, self.w_c, out=a_pair)
        a.tanh_()
        torch.lerp(a, e, z, out=a)
        torch.lerp(a_l, a_r, 0.5, out=out)

    def update(self, k, h):
        r, z = torch.addmv(self.b, self.W[k], h).sigmoid_().view(2, self.size)
        c = torch.addmv(self.b_c, self.W_c[k], r * h).tanh_()
        return torch.lerp(c, h, z)

    def encode(self, tree, found):
        if isinstance(tree[1], int):
            h = self.update(0, self.E[tree[1]])
        else:
            h_l, h_r = self.encode(tree[1], found), self.encode(tree[2], found)
            h = torch.lerp(self.update(1, h_l), self.update(2, h_r), 0.5)
        found.append((h, torch.mv(self.W_out, h)))
        return h


class MVRNN(Model):
    """The form by level stores all matrices transposed. Then W_m [A; B] for all nodes of a level
    is the sum of two plain products: one of all rows of A^T, and one of all rows of B^T."""

    names = ("v",)

    def load(self, p, size):
        self.E, self.E_m = tensor(p["E_v"]), tensor(p["E_m"])
        self.E_t = self.E_m.transpose(1, 2).contiguous()
        self.w, self.W = stack(p["W_v"]), tensor(p["W_v"])
        self.b, self.b_m = tensor(p["b_v"]), tensor(p["b_m"])
        self.w_l, self.w_r = stack(p["W_m"][:, :size]), stack(p["W_m"][:, size:])
        self.W_m, self.b_column = tensor(p["W_m"]), self.b_m[:, None]

    def buffers(self, plan):
        size = self.size
        return self.make(plan, nodes={"v": size, "M": (size, size)},
                         scratch={"e": 2 * size, "y": 2 * size,
                                  "A": size * size, "B": size * size})

    def views(self, s, begin, end, kids):
        n, size = end - begin, self.size
        left, right = kids[0::2].contiguous(), kids[1::2].contiguous()
        A, B = s["A"].view(n, size, size), s["B"].view(n, size, size)
        e, y = s["e"].view(n, 2, size), s["y"].view(n, 2, size)
        M = s["M"][begin:end]
        return (s["v"], s["M"], kids, left, right, s["e"].view(2 * n, size),
                e[:, :1], e[:, 1:], A, B, s["A"].view(n * size, size),
                s["B"].view(n * size, size), y[:, :1], y[:, 1:],
                s["y"].view(n, 2 * size), s["v"][begin:end],
                M.view(n * size, size))

    def leaf_views(self, s, n):
        return s["words"], s["v"][:n], s["M"][:n]

    def leaves(self, words, v, M):
        torch.index_select(self.E, 0, words, out=v)
        torch.index_select(self.E_t, 0, words, out=M)

    def level(self, vs, Ms, kids, left, right, e, a, b, A, B, A_rows, B_rows,
              Ba, Ab, y, v, M_rows):
        torch.index_select(vs, 0, kids, out=e)
        torch.index_select(Ms, 0, left, out=A)
        torch.index_select(Ms, 0, right, out=B)
        torch.bmm(a, B, out=Ba)
        torch.bmm(b, A, out=Ab)
        torch.addmm(self.b, y, self.w, out=v)
        v.tanh_()
        torch.addmm(self.b_m, A_rows, self.w_l, out=M_rows)
        M_rows.addmm_(B_rows, self.w_r)

    def outputs(self, s):
        result = Model.outputs(self, s)
        result["M_root"] = s["M"][tensor(s["roots"])].transpose(1, 2).cpu()
        return result

    def recursive(self, trees):
        self.matrices = []
        found = []
        for tree in trees:
            self.matrices.append(self.encode(tree, found)[1])
        return found

    def collect(self, found):
        result = Model.collect(self, found)
        result["M_root"] = torch.stack(self.matrices).cpu()
        return result

    def encode(self, tree, found):
        if isinstance(tree[1], int):
            v, M = self.E[tree[1]], self.E_m[tree[1]]
        else:
            a, A = self.encode(tree[1], found)
            b, B = self.encode(tree[2], found)
            y = torch.cat((torch.mv(B, a), torch.mv(A, b)))
            v = torch.addmv(self.b, self.W, y).tanh_()
            M = torch.addmm(self.b_column, self.W_m, torch.cat((A, B)))
        found.append((v, torch.mv(self.W_out, v)))
        return v, M


MODELS = {"treefc": TreeFC, "treelstm_nary": TreeLSTM,
          "treelstm_nary_tai": TreeLSTM, "treegru_nary": TreeGRU, "mvrnn": MVRNN}
