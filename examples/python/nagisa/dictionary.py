"""Inputs of nagisa's networks for a sentence: identifiers of its letters, and the dictionary
entries of its parts."""

import unicodedata

import batch
import numpy

SHORT = 8  # maximum length of words in inputs of the first network
MOST_KINDS = 9  # maximum number of kinds of a word
UNKNOWN, UNKNOWN_ALNUM = 0, 1  # entries of words that are not in the dictionaries
LONGEST = 37  # exceeds the length of the longest word in the dictionaries
NO_SCRIPT = 6
OUTSIDE = 1  # identifier of letters and pairs outside of the sentence


def normalize(text):
    return unicodedata.normalize("NFKC", text.rstrip()).replace("İ", "I").replace(" ", "　")


def script(letter):
    """Returns the identifier of a letter's script."""
    for number, (first, last) in enumerate((("\u3040", "\u309f"), ("\u30a1", "\u30fa"),
                                            ("\u4e00", "\u9fa5"))):
        if first <= letter <= last:
            return number
    letters = unicodedata.normalize("NFKC", letter)
    if any("a" <= each <= "z" or "A" <= each <= "Z" for each in letters):
        return 3
    return 4 if any("0" <= each <= "9" for each in letters) else 5


class Dictionary:
    """The words of all dictionaries. An entry identifies a word."""

    def __init__(self, dictionaries):
        self.letters, self.pairs, self.words, kinds_of_names, kinds_of = dictionaries
        self.kinds = {number: name for name, number in kinds_of_names.items()}
        noun, unknown = kinds_of_names["名詞"], self.words["oov"]
        self._scripts = {}
        # Maps each prefix of a word to its entry, or to None if the prefix is not a word.
        self._entries, self._words, self._kinds = {}, [unknown] * 2, [[0], [noun]]
        for word in {**self.words, **kinds_of}:
            for n in range(1, len(word)):
                self._entries.setdefault(word[:n])
            self._entries[word] = len(self._words)
            self._words.append(self.words.get(word, unknown))
            kinds = set(kinds_of.get(word, [0]))
            if word.isalnum():
                kinds = kinds - {0} | {noun}
            self._kinds.append(list(kinds))

    def tables(self, network):
        """Returns the weights, and tables that map entries to words and to kinds."""
        kinds = numpy.zeros((len(self._kinds), MOST_KINDS), numpy.int32)
        for row, numbers in zip(kinds, self._kinds):
            row[:len(numbers)] = numbers
        # For the second network, word 0 and kind 0 mean "none". Both networks read zeros from row
        # `none`.
        words = numpy.array(self._words, numpy.int32)
        none = len(network["word"])
        words[words == 0] = none
        zeros = numpy.zeros_like(network["word"][:1])
        return {**network, "words": words, "kinds": kinds,
                "word": numpy.concatenate([network["word"], zeros]),
                "kind": numpy.concatenate([zeros, network["kind"][1:]])}

    def _script(self, letter):
        if letter not in self._scripts:
            self._scripts[letter] = script(letter)
        return self._scripts[letter]

    def _found(self, text):
        """Yields (begin, end, entry) of the parts of a text that are words."""
        entries = self._entries
        for begin in range(len(text)):
            for end in range(begin + 1, len(text) + 1):
                part = text[begin:end]
                if part not in entries:  # no word has this prefix
                    break
                entry = entries[part]
                if entry is not None:
                    yield begin, end, entry

    def sentences(self, data, texts):
        """Returns normalized sentences as a batch of the data type."""
        unknown, none = self.words["oov"], len(self.words)
        letters, pairs, scripts, cased, is_alnum = [], [], [], [], []
        words, known = [], []  # tuples (letter, side, place, word) and (letter, length, entry)
        for text in texts:
            lower, first = text.lower(), len(cased)
            if len(lower) != len(text):
                raise ValueError("conversion to lower case changes the length of %r" % text)
            letters += [OUTSIDE, *(self.letters.get(each, 0) for each in lower), OUTSIDE]
            pairs += [OUTSIDE, *(self.pairs.get(a + b, 0) for a, b in
                                 zip(lower, [*lower[1:], "<E>"])), OUTSIDE]
            scripts += [NO_SCRIPT, *map(self._script, lower), NO_SCRIPT]
            cased += [self.letters.get(each, 0) for each in text]
            is_alnum += map(str.isalnum, text)
            counts = [0] * len(text), [0] * len(text)
            spans = list(self._found(lower))
            for begin, end, entry in spans:
                word = self._words[entry]
                if word != unknown and end - begin <= SHORT:
                    for side, letter in enumerate((begin, end - 1)):
                        words.append((first + letter, side, counts[side][letter], word))
                        counts[side][letter] += 1
            known += [(first + end - 1, end - begin, entry) for begin, end, entry in
                      (spans if lower == text else self._found(text))]

        # Nodes are numbered from the end of each sentence, so children come first.
        lengths = numpy.array([len(text) for text in texts])
        ends = numpy.cumsum(lengths)
        of, count = numpy.repeat(numpy.arange(len(texts)), lengths), len(cased)
        row = (2 * ends - lengths - 1)[of] - numpy.arange(count)
        node = numpy.arange(count) + of + 1
        variants = numpy.zeros(count + len(texts), int)
        variants[node] = 1
        # Three rows of identifiers. OUTSIDE or NO_SCRIPT precedes and follows each sentence.
        around = (row + 2 * of + 1)[:, None, None] + numpy.arange(-1, 2)
        near = numpy.array([letters, pairs, scripts], "i4")[
            numpy.arange(3)[:, None], around]
        of_words = numpy.full((count, 2, SHORT), none, "i4")
        of_words[:, :, 0] = unknown
        entries = numpy.zeros((count, LONGEST + 1), "i4")
        if words:
            letter, side, place, word = numpy.array(words).T
            of_words[row[letter], side, place] = word
        if known:
            letter, length, entry = numpy.array(known).T
            entries[row[letter], length] = entry
        return batch.Forest.of_arrays(data, variants, {
            "Letter.near": near, "Letter.words": of_words, "Letter.entries": entries,
            "Letter.letter": numpy.array(cased)[row],
            "Letter.is_alnum": numpy.array(is_alnum)[row], "Letter.rest": node - 1,
        }, ends + numpy.arange(len(texts)))

    def named(self, text, lengths, kinds):
        """Returns pairs of words and names of their kinds."""
        found, end = [], len(text)
        for length, kind in zip(lengths.tolist(), kinds.tolist()):  # the last word first
            found.append((text[end - length:end], self.kinds[kind]))
            end -= length
        return found[::-1]
