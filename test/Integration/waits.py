"""Counts the waits of instances from their results. This is an oracle for strategy `lazy` that
is independent of the compiler.

Instances wait concurrently. A mini-batch needs as many flushes as the instance with the
longest chain of waits, if no branch starts late because of --max-fibers. It needs one more if it
computes something that no wait needs.
"""


def lstm_nmt_greedy(outputs, instance):
    """Control flow waits for each word, including the last one."""
    return len(outputs["%d.out" % instance][2])


def stackrnn(outputs, instance):
    """Control flow waits for each action. The task for the last action's element runs
    after the last wait."""
    return len(outputs["%d.actions" % instance][2])


def nestedrnn_td(outputs, instance):
    """Control flow waits in each step of the inner loop. The sum of the outer loop is computed
    together with the first step, before the inner loop. It therefore exists when the outer loop
    needs it."""
    return sum(outputs["%d.counts" % instance][2])


def drnn(outputs, instance):
    """Control flow waits for each child, to decide whether it has children and whether another
    sibling follows. Its children and its later siblings wait concurrently. So the chain of waits
    that begins at a child is one wait longer than the longer of two chains: that of its children
    and that of its later siblings."""
    counts = iter(outputs["%d.child_count" % instance][2][::-1])

    def kids():
        chain = 0
        for below in [kids() for _ in range(next(counts))][::-1]:
            chain = 1 + max(below, chain)
        return chain

    return kids()


def berxit(outputs, instance):
    """Control flow waits for the score of each layer, including that of the last possible layer.
    The task of the classifier runs after the last wait."""
    return outputs["%d.layers" % instance][2][0]


def moe(outputs, instance):
    """In each of two layers, control flow waits for the first pick. The gates of all tokens are
    computed before this pick, so no other pick waits. The tasks of the last layer's experts run
    after the last wait."""
    return 2 if len(outputs["%d.route" % instance][2]) else 0


def specdec(outputs, instance):
    """Control flow waits once per round, whatever the draft computes. After the last wait, all
    results exist."""
    return len(outputs["%d.accepted" % instance][2])


def lstm_nmt_beam(outputs, instance):
    """In each step, including the last, control flow waits for the choice of the best beams."""
    return outputs["%d.steps" % instance][2][0]


# For each model: a function that returns the number of waits of an instance, and whether an
# instance that waits has tasks after its last wait
MODELS = {"lstm_nmt_greedy": (lstm_nmt_greedy, False), "stackrnn": (stackrnn, True),
          "nestedrnn_td": (nestedrnn_td, False),
          "drnn": (drnn, False), "berxit": (berxit, True),
          "moe_top1": (moe, True), "moe_top2": (moe, True),
          "specdec": (specdec, False), "specdec_sample": (specdec, False),
          "lstm_nmt_beam": (lstm_nmt_beam, False)}


def flushes(model, outputs, instances):
    """Returns the number of flushes of a mini-batch of these instances. The keys of `outputs` are
    "INSTANCE.NAME"."""
    chain, left = MODELS[model]
    longest = max(chain(outputs, i) for i in instances)
    return longest + 1 if left and longest else longest
