"""How often models wait for tensors, replayed from what they return: an oracle for
strategy `lazy` that knows nothing of the compiler.

Instances wait side by side, so a mini-batch needs as many flushes as the instance with
the longest chain of waits, and one more if it computes something that nobody waits for.
"""


def lstm_nmt_greedy(outputs, instance):
    """Each word is waited for, the last one too."""
    return len(outputs["%d.out" % instance][2])


def stackrnn(outputs, instance):
    """Each action is waited for; the element that the last one makes is left."""
    return len(outputs["%d.actions" % instance][2])


def nestedrnn_td(outputs, instance):
    """Each step of the inner loop is waited for. The sum of the outer loop is made with
    the first of them, before the inner loop, so it is there when the outer loop asks."""
    return sum(outputs["%d.counts" % instance][2])


def drnn(outputs, instance):
    """Each child is waited for, which says whether it has children of its own and
    whether another sibling follows. These do not depend on each other, so they wait side
    by side: one more than the longer of their two chains."""
    counts = iter(outputs["%d.child_count" % instance][2][::-1])

    def kids():
        chain = 0
        for below in [kids() for _ in range(next(counts))][::-1]:
            chain = 1 + max(below, chain)
        return chain

    return kids()


def berxit(outputs, instance):
    """The score of each layer is waited for, that of the last possible one too; the
    classifier is left."""
    return outputs["%d.layers" % instance][2][0]


def moe(outputs, instance):
    """In each of two layers the gates of all tokens are computed before the first pick is
    waited for: so the others are there. The experts of the last layer are left."""
    return 2 if len(outputs["%d.route" % instance][2]) else 0


def specdec(outputs, instance):
    """Each round is waited for once, whatever the draft has computed; after the last one
    all is there."""
    return len(outputs["%d.accepted" % instance][2])


def lstm_nmt_beam(outputs, instance):
    """The best beams of each step are waited for; of the last ones too."""
    return outputs["%d.steps" % instance][2][0]


# By model: the waits of an instance, and whether anything is left after them, if there
# are any.
MODELS = {"lstm_nmt_greedy": (lstm_nmt_greedy, False), "stackrnn": (stackrnn, True),
          "nestedrnn_td": (nestedrnn_td, False),
          "drnn": (drnn, False), "berxit": (berxit, True),
          "moe_top1": (moe, True), "moe_top2": (moe, True),
          "specdec": (specdec, False), "specdec_sample": (specdec, False),
          "lstm_nmt_beam": (lstm_nmt_beam, False)}


def flushes(model, outputs, instances):
    """Of a mini-batch of these instances; `outputs` by "INSTANCE.NAME"."""
    chain, left = MODELS[model]
    longest = max(chain(outputs, i) for i in instances)
    return longest + 1 if left and longest else longest
