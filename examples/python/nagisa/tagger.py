#!/usr/bin/env python3
"""tagger.py SENTENCE…: prints the words of Japanese sentences and the kinds of these words, as
predicted by the pretrained networks of nagisa.

The first network reads letters in both directions and predicts where words end. The second
one spells each of these words, and reads the words in both directions. Both are written here
as one program for ONE sentence. `batch.vmap` runs it on many sentences. The results of the first
network determine the runs of the second one and their inputs.

    $ python tagger.py 日本語の文章を単語に分けます。
    日本/名詞 語/名詞 の/助詞 文章/名詞 を/助詞 単語/名詞 に/助詞 分け/動詞 ます/助動詞 。/補助記号

weights.py downloads nagisa's wheel from PyPI on the first run.
"""

import sys

import batch
import jax
import jax.numpy as jnp
from jax import lax

import dictionary
import weights

# Widths of the states of both networks, and of the states of the spelling LSTM.
WIDTH, SPELLING = 50, 16
# Tags. A word ends at END and SINGLE; BEFORE and AFTER are outside the sentence.
END, SINGLE, BEFORE, AFTER = 2, 3, 4, 5


@batch.adt(kind="sequence")
class Text:
    """The rest of a sentence from one letter on. dictionary.py creates sentences."""
    class End:
        pass

    class Letter:
        near: batch.tensor(3, 3, dtype="int32")  # letters, pairs and scripts around this letter
        words: batch.tensor(2, dictionary.SHORT, dtype="int32")  # words that begin or end here
        letter: int
        is_alnum: bool
        entries: batch.tensor(dictionary.LONGEST + 1, dtype="int32")  # words ending here, by length
        rest: "Text"


@batch.adt
class Path:
    """For each letter: the best tag of the next letter, by the tag of this letter."""
    class End:
        pass

    class Letter:
        next: batch.tensor(6, dtype="int32")
        rest: "Path"


@batch.adt
class Ends:
    """For each letter: whether a word ends at it."""
    class End:
        pass

    class Letter:
        is_end: bool
        rest: "Ends"


@batch.adt
class Words:
    """The result: the number of letters and the kind of each word."""
    class End:
        pass

    class Word:
        length: jnp.int32
        kind: jnp.int32
        rest: "Words"


def zeros(n):
    return jnp.zeros(n, "float32"), jnp.zeros(n, "float32")


def lstm(w, name, x, state):
    h, c = state
    gates = w[name + "_x"] @ x + w[name + "_h"] @ h + w[name + "_b"]
    i, f, o, g = jnp.split(gates, 4)
    c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


@batch.function
def read(text: Text, w, before):
    """Runs the first network, and the Viterbi algorithm from the end. For each tag of the previous
    letter, returns a score and the best tag of this letter. Also returns the state of the backward
    LSTM, and the best tags of the following letters."""
    match text:
        case Text.End():
            return (w["follows"][AFTER], jnp.full(6, SINGLE, jnp.int32), zeros(WIDTH),
                    Path.End())
        case Text.Letter(near, words, _, _, _, rest):
            x = jnp.concatenate([
                w["letter"][near[0]].ravel(), w["pair"][near[1]].ravel(),
                w["script"][near[2]].ravel(), *w["word"][words].sum(1)])
            before = lstm(w, "letters_forth", x, before)
            scores, next, after, path = read(rest, w, before)
            after = lstm(w, "letters_back", x, after)
            scores += w["tag_w"] @ jnp.concatenate([before[0], after[0]]) + w["tag_b"]
            scores = w["follows"] + scores[:, None]
            best = scores.max(0)
            # Only differences between scores matter, so the largest score becomes 0.
            return (best - best.max(), scores.argmax(0).astype(jnp.int32), after,
                    Path.Letter(next, path))


@batch.function
def segment(path: Path, tag):
    """Returns whether a word ends at each letter. `tag` is the tag of the first letter."""
    match path:
        case Path.End():
            return Ends.End()
        case Path.Letter(next, rest):
            after = next[tag]
            is_end = (tag == END) | (tag == SINGLE) | (after == SINGLE)
            return Ends.Letter(is_end, segment(rest, after))


def vector(w, word, letter, entries):
    """Returns the vectors of the word that ends with this letter, concatenated: its meaning, its
    spelling and its kinds."""
    forth, length, is_alnum = word
    back = lstm(w, "spelling_back", w["letter"][letter], zeros(SPELLING))
    entry = entries[jnp.minimum(length, dictionary.LONGEST)]
    entry = jnp.where((entry == dictionary.UNKNOWN) & is_alnum,
                      dictionary.UNKNOWN_ALNUM, entry)
    return jnp.concatenate([w["word"][w["words"][entry]], forth[0], back[0],
                            w["kind"][w["kinds"][entry]].sum(0)])


@batch.function
def tag(text: Text, ends: Ends, w, word, before):
    """Runs the second network from this letter on. Returns the state of the backward LSTM, and the
    words. `word` is the state of a partly read word. `before` is the state of the forward LSTM
    before this word."""
    match text, ends:
        case Text.Letter(_, _, letter, is_alnum, entries, rest), Ends.Letter(is_end, others):
            spelt, length, all_alnum = word
            word = (lstm(w, "spelling_forth", w["letter"][letter], spelt), length + 1,
                    all_alnum & is_alnum)

            def begin():
                x = vector(w, word, letter, entries)
                return x, lstm(w, "words_forth", x, before)

            x, before = lax.cond(is_end, begin, lambda: (jnp.zeros(64, "float32"), before))
            following = jax.tree.map(lambda new, old: jnp.where(is_end, new, old),
                                     nothing(), word)
            after, found = tag(rest, others, w, following, before)

            def end():
                behind = lstm(w, "words_back", x, after)
                scores = w["kind_w"] @ jnp.concatenate([before[0], behind[0]]) + w["kind_b"]
                return behind, Words.Word(word[1], scores.argmax().astype(jnp.int32), found)

            return lax.cond(is_end, end, lambda: (after, found))
        case _:
            return zeros(WIDTH), Words.End()


def nothing():
    """Returns the state of a word before its first letter."""
    return zeros(SPELLING), jnp.int32(0), jnp.bool_(True)


def analyse(text: Text, w):
    """Returns the words of ONE sentence, with weights w."""
    _, first, _, path = read(text, w, zeros(WIDTH))
    return tag(text, segment(path, first[BEFORE]), w, nothing(), zeros(WIDTH))[1]


def main(sentences):
    folder = weights.fetch()
    words = dictionary.Dictionary(weights.dictionaries(folder))
    network = words.tables(weights.load(folder))
    texts = list(map(dictionary.normalize, sentences))
    found = batch.vmap(analyse, (0, None))(words.sentences(Text, texts), network)
    for i, text in enumerate(texts):
        print(*("%s/%s" % pair for pair in words.named(
            text, found.length[i], found.kind[i])))


if __name__ == "__main__":
    main(sys.argv[1:] or ["日本語の文章を単語に分けます。"])
