"""Numbers of waits of models, replayed from their results: an oracle for strategy `lazy`
that is independent of the compiler.

Instances wait concurrently. A mini-batch needs as many flushes as the instance with the
longest chain of waits. It needs one more if it computes something that no wait needs.
"""


def lstm_nmt_greedy(outputs, instance):
    """Each word is a wait, including the last one."""
    return len(outputs["%d.out" % instance][2])


def stackrnn(outputs, instance):
    """Each action is a wait. The element that the last action creates remains."""
    return len(outputs["%d.actions" % instance][2])


def nestedrnn_td(outputs, instance):
    """Each step of the inner loop is a wait. The sum of the outer loop is computed
    together with the first step, before the inner loop, so it exists when the outer loop
    needs it."""
    return sum(outputs["%d.counts" % instance][2])


def drnn(outputs, instance):
    """Each child is a wait, for whether it has children and whether another sibling follows. Its
    children and its siblings wait concurrently, so a chain is one more than the longer of their
    two chains."""
    counts = iter(outputs["%d.child_count" % instance][2][::-1])

    def kids():
        chain = 0
        for below in [kids() for _ in range(next(counts))][::-1]:
            chain = 1 + max(below, chain)
        return chain

    return kids()


def berxit(outputs, instance):
    """The score of each layer is a wait, including that of the last possible layer. The
    classifier remains."""
    return outputs["%d.layers" % instance][2][0]


def moe(outputs, instance):
    """In each of two layers, the first pick is a wait. The gates of all tokens are computed
    before it, so no other pick waits. The experts of the last layer remain."""
    return 2 if len(outputs["%d.route" % instance][2]) else 0


def specdec(outputs, instance):
    """Each round is one wait, whatever the draft computes. After the last wait, all results
    exist."""
    return len(outputs["%d.accepted" % instance][2])


def lstm_nmt_beam(outputs, instance):
    """In each step, including the last, the choice of the best beams is a wait."""
    return outputs["%d.steps" % instance][2][0]


# For each model: a function that returns the waits of an instance, and whether tasks remain after
# them, if there are any waits
MODELS = {"lstm_nmt_greedy": (lstm_nmt_greedy, False), "stackrnn": (stackrnn, True),
          "nestedrnn_td": (nestedrnn_td, False),
          "drnn": (drnn, False), "berxit": (berxit, True),
          "moe_top1": (moe, True), "moe_top2": (moe, True),
          "specdec": (specdec, False), "specdec_sample": (specdec, False),
          "lstm_nmt_beam": (lstm_nmt_beam, False)}


def flushes(model, outputs, instances):
    """Returns the flushes of a mini-batch of these instances; `outputs` by
    "INSTANCE.NAME"."""
    chain, left = MODELS[model]
    longest = max(chain(outputs, i) for i in instances)
    return longest + 1 if left and longest else longest
