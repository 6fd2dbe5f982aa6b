#!/usr/bin/env python3
"""g2p.py WORD…: prints the pronunciation of English words, as predicted by the pretrained
network of g2p_en.

The network reads a word letter by letter. Then it returns one phoneme after another, until
it returns the end of the word. It is written here for ONE word. `batch.vmap` runs it on many words,
and each word takes as many steps as it needs.

    $ python g2p.py batching compiler
    batching B AE1 CH IH0 NG
    compiler K AH0 M P IH1 L ER0

weights.py downloads the network's weights from PyPI on the first run.
"""

import sys

import batch
import jax
import jax.numpy as jnp
import numpy
from jax import lax

import weights

LETTERS = ["<pad>", "<unk>", "</s>", *"abcdefghijklmnopqrstuvwxyz"]
VOWELS = "AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split()
CONSONANTS = "B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH".split()
PHONEMES = ["<pad>", "<unk>", "<s>", "</s>"] + sorted(
    CONSONANTS + [vowel + stress for vowel in VOWELS for stress in "012"] + ["UW"])
START, END = PHONEMES.index("<s>"), PHONEMES.index("</s>")
MOST = 20  # maximum number of phonemes of a word


def gru(w, side, x, h):
    """Runs a step of the encoder ("enc") or the decoder ("dec")."""
    n = h.size
    of_x = w[side + "_w_ih"] @ x + w[side + "_b_ih"]
    of_h = w[side + "_w_hh"] @ h + w[side + "_b_hh"]
    reset, keep = jnp.split(jax.nn.sigmoid(of_x[:2 * n] + of_h[:2 * n]), 2)
    return (1 - keep) * jnp.tanh(of_x[2 * n:] + reset * of_h[2 * n:]) + keep * h


def pronounce(w, letters, count):
    """Returns the phonemes of ONE word, computed with weights w: MOST numbers, which are END
    after the last phoneme. Reads only the first `count` elements of `letters`."""
    def read(i, h):
        return gru(w, "enc", w["enc_emb"][letters[i]], h)

    def goes_on(state):
        n, last, _, _ = state
        return (last != END) & (n < MOST)

    def say(state):
        n, last, h, said = state
        h = gru(w, "dec", w["dec_emb"][last], h)
        last = jnp.argmax(w["fc_w"] @ h + w["fc_b"]).astype(jnp.int32)
        return n + 1, last, h, said.at[n].set(last)

    h = lax.fori_loop(0, count, read, jnp.zeros(256))
    start = jnp.int32(0), jnp.int32(START), h, jnp.full(MOST, END, jnp.int32)
    return lax.while_loop(goes_on, say, start)[3]


def spell(words):
    """Returns each word as the indices of its letters and an end symbol, and its length including
    this symbol."""
    unknown = LETTERS.index("<unk>")
    counts = numpy.array([len(word) + 1 for word in words], numpy.int32)
    letters = numpy.full((len(words), counts.max(initial=1)), LETTERS.index("</s>"),
                         numpy.int32)
    for row, word in zip(letters, words):
        row[:len(word)] = [LETTERS.index(letter) if letter in LETTERS[3:] else unknown
                           for letter in word]
    return letters, counts


def name(numbers):
    """Returns the names of phonemes, without the end of the word."""
    return [PHONEMES[number] for number in numbers if number != END]


def main(words):
    pronounce_all = batch.vmap(pronounce, in_axes=(None, 0, 0))
    found = pronounce_all(weights.load(weights.fetch()),
                          *spell([word.lower() for word in words]))
    for word, numbers in zip(words, numpy.asarray(found)):
        print(word, *name(numbers))


if __name__ == "__main__":
    main(sys.argv[1:] or ["batching", "compiler"])
