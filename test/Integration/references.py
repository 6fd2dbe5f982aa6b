"""References in float64, written from the equations in the models' header comments.

They replace the golden cases where these are not available. A tree is
["leaf", w] or ["node", l, r] (N-ary) or ["node", [kids]] (child-sum). Each
function returns {output: rows in post-order}.
"""

import math


def matvec(matrix, vector):
    return [math.fsum(m * v for m, v in zip(row, vector)) for row in matrix]


def add(*vectors):
    return [math.fsum(values) for values in zip(*vectors)]


def mul(a, b):
    return [x * y for x, y in zip(a, b)]


def sigmoid(a):
    return [1 / (1 + math.exp(-x)) for x in a]


def tanh(a):
    return [math.tanh(x) for x in a]


def blend(z, a, b):
    """z * a + (1 - z) * b"""
    return [g * x + (1 - g) * y for g, x, y in zip(z, a, b)]


def kids_of(tree):
    if tree[0] == "leaf":
        return []
    return tree[1] if isinstance(tree[1][0], list) else tree[1:]


def fold_up(tree, cell):
    """Calls cell(node, children's results) in post-order; returns all results."""
    results = []

    def visit(node):
        results.append(cell(node, [visit(kid) for kid in kids_of(node)]))
        return results[-1]

    visit(tree)
    return results


def treelstm_nary(tree, p):
    def cell(node, kids):
        if not kids:
            x, weights, forget = p["E"][node[1]], "W_", [0.0] * len(p["b_i"])
        else:
            (hl, cl), (hr, cr) = kids
            x, weights = hl + hr, "U_"
            fl = sigmoid(add(matvec(p["U_fl"], hl), p["b_f"]))
            fr = sigmoid(add(matvec(p["U_fr"], hr), p["b_f"]))
            forget = add(mul(fl, cl), mul(fr, cr))
        i = sigmoid(add(matvec(p[weights + "i"], x), p["b_i"]))
        o = sigmoid(add(matvec(p[weights + "o"], x), p["b_o"]))
        u = tanh(add(matvec(p[weights + "u"], x), p["b_u"]))
        c = add(mul(i, u), forget)
        return mul(o, tanh(c)), c

    states = fold_up(tree, cell)
    return {"h": [h for h, _ in states], "c": [c for _, c in states],
            "logits": [matvec(p["W_out"], h) for h, _ in states]}


def treelstm_cs(tree, p):
    zero = [0.0] * len(p["b_i"])

    def cell(node, kids):
        x = p["E"][node[1]] if node[0] == "leaf" else zero
        s = add(zero, *[h for h, _ in kids])
        gate = lambda g, h: add(matvec(p["W_" + g], x), matvec(p["U_" + g], h),
                                p["b_" + g])
        i, o, u = sigmoid(gate("i", s)), sigmoid(gate("o", s)), tanh(gate("u", s))
        c = add(mul(i, u), *[mul(sigmoid(gate("f", h)), ck) for h, ck in kids])
        return mul(o, tanh(c)), c

    states = fold_up(tree, cell)
    return {"h": [h for h, _ in states], "c": [c for _, c in states]}


def treegru_nary(tree, p):
    def update(h, k):
        r = sigmoid(add(matvec(p["U_r%d" % k], h), p["b_r"]))
        z = sigmoid(add(matvec(p["U_z%d" % k], h), p["b_z"]))
        c = tanh(add(matvec(p["U_c%d" % k], mul(r, h)), p["b_c"]))
        return blend(z, h, c)

    def cell(node, kids):
        if not kids:
            return update(p["E"][node[1]], 0)
        return [(a + b) / 2 for a, b in zip(update(kids[0], 1),
                                            update(kids[1], 2))]

    states = fold_up(tree, cell)
    return {"h": states, "logits": [matvec(p["W_out"], h) for h in states]}


def treegru_cs(tree, p):
    zero = [0.0] * len(p["b_z"])

    def cell(node, kids):
        x = p["E"][node[1]] if node[0] == "leaf" else zero
        s = add(zero, *kids)
        gate = lambda g, h: add(matvec(p["W_" + g], x), matvec(p["U_" + g], h),
                                p["b_" + g])
        r, z = sigmoid(gate("r", s)), sigmoid(gate("z", s))
        return blend(z, s, tanh(gate("h", mul(r, s))))

    return {"h": fold_up(tree, cell)}


def shapes(model, vocabulary, hidden, classes=5):
    """Returns the names and shapes of a model's parameters."""
    vector, matrix, wide = [hidden], [hidden, hidden], [hidden, 2 * hidden]
    result = {"E": [vocabulary, hidden]}
    if model == "treelstm_nary":
        result.update({"W_" + g: matrix for g in "iou"})
        result.update({"U_" + g: wide for g in "iou"})
        result.update({"U_fl": matrix, "U_fr": matrix,
                       "W_out": [classes, hidden]})
        result.update({"b_" + g: vector for g in "iouf"})
    elif model == "treegru_nary":
        result.update({"U_%s%d" % (g, k): matrix for g in "rzc" for k in range(3)})
        result.update({"b_" + g: vector for g in "rzc"})
        result["W_out"] = [classes, hidden]
    else:
        for g in "iouf" if model == "treelstm_cs" else "rzh":
            result.update({"W_" + g: matrix, "U_" + g: matrix, "b_" + g: vector})
    return result


MODELS = {"treelstm_nary": treelstm_nary, "treelstm_cs": treelstm_cs,
          "treegru_nary": treegru_nary, "treegru_cs": treegru_cs}
