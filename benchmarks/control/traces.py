"""Generates traces. A trace is a program that repeats a model's run of one instance with fixed
decisions. It has the same operations, but its control flow reads no tensors, so `linearize`
compiles it."""

import batchtest
import residual


def replaced(text, *pairs):
    for old, new in pairs:
        if old not in text:
            raise ValueError("the model does not contain " + old)
        text = text.replace(old, new)
    return text


LOOP = """\
    %%zero = arith.constant 0 : index
    %%one = arith.constant 1 : index
    %%most = arith.constant %d : index
    %%start = arith.constant dense<1> : !number
    %%no_words = arith.constant dense<0> : !words
    %%no_states = arith.constant dense<0.0> : !states
    %%r:5 = scf.for %%t = %%zero to %%most step %%one
        iter_args(%%word = %%start, %%hs = %%h0, %%cs = %%c0, %%words = %%no_words,
                  %%states = %%no_states) -> (!number, !vec, !vec, !words, !states) {
      %%number = tensor.extract %%word[] : !number
      %%w = arith.index_cast %%number : i32 to index
%s      %%chosen = tensor.extract %%next[] : !number
%s      scf.yield %%next, %%h, %%c, %%words_next, %%states_next
          : !number, !vec, !vec, !words, !states
    }
"""


def seq2seq(name, count):
    """Returns the text of a trace with a loop of `count` steps. Words only select the rows that
    the steps read."""
    with open(batchtest.model(name)) as file:
        text = file.read()
    first, end = text.index("    %zero = arith.constant 0 : index\n"), text.index(
        "    %count = arith.index_cast %r#0")
    loop = text[first:end]
    cell = loop[loop.index("      %x = "):loop.index("      %words_next")]
    writes = loop[loop.index("      %words_next"):loop.index("      %count = ")]
    return replaced(
        text[:first] + LOOP % (count, cell, writes.replace("%next,", "%chosen,")) + text[end:],
        ("func.func private @argmax(%logits: !logits) -> i32",
         "func.func private @argmax(%logits: !logits) -> !number"),
        ("    %word = tensor.extract %first[] : !number\n    return %word : i32",
         "    return %first : !number"),
        (": (!logits) -> i32", ": (!logits) -> !number"),
        ("arith.index_cast %r#0 :", "arith.index_cast %most :"),
        ("%r#4, %r#5", "%r#3, %r#4"))


def trace(name, s, output):
    """Returns the text of a model's trace, or None if the model's control flow reads no tensors.
    For such a model, the plan of `linearize` serves as the trace."""
    if name in ("seq2seq", "seq2seq_forced"):
        return seq2seq(name, int(output["count"]))
    if name in ("blockdrop", "blockdrop_given", "skipnet38"):
        return residual.Trace(residual.Net(name, s), output[
            "ran" if name == "skipnet38" else "keep"]).text()
    return None
