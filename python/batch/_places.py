"""Where the user wrote what a compiled function computes.

A module that batch.vmap makes names lines of the user's by numbers, "jaxpr:7": so its text,
and the object in the cache, stay what they are when lines move.
"""

import os
import re

FILE = "jaxpr"
# "jaxpr:3, 5-7", or with a column, "jaxpr:3:1".
_PATTERN = re.compile(r"\b%s:(\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*)(?::\d+)?" % FILE)


def _numbers(text):
    for part in text.split(", "):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


class Places:
    """The lines that the locations of a module stand for.

    position: gives the file and the line of an equation, or None.
    """

    def __init__(self, position):
        self._position = position
        self._equations = []

    def add(self, equations):
        """The number of a place where all of these are."""
        self._equations.append(tuple(equations))
        return len(self._equations)

    def operations(self, number):
        """What is computed there, in words of JAX's."""
        return ", ".join(dict.fromkeys(
            equation.primitive.name for equation in self._equations[number - 1])) \
            if 0 < number <= len(self._equations) else ""

    def lines(self, number):
        """(file, line), in the order of the equations, each once."""
        if not 0 < number <= len(self._equations):
            return []
        found = map(self._position, self._equations[number - 1])
        return list(dict.fromkeys(place for place in found if place))

    def lines_in(self, text):
        """The lines that a text names."""
        found = []
        for match in _PATTERN.finditer(text):
            for number in _numbers(match[1]):
                found += self.lines(number)
        return list(dict.fromkeys(found))

    def translate(self, text):
        """The text with names of files and lines."""
        return _PATTERN.sub(lambda match: describe(self.lines_in(match[0])) or "?", text)

    def explain(self, error):
        """In the text of an exception, places become lines of the user's, and the compiler's
        errors say in which operations they are."""
        if error.args and isinstance(error.args[0], str) and FILE in error.args[0]:
            text = re.sub(r"\b%s:(\d+)(?::\d+)?: error: " % FILE, self._error, error.args[0])
            error.args = (self.translate(text) + _advice(text), *error.args[1:])

    def _error(self, match):
        names = self.operations(int(match[1]))
        return match[0] + "in %s: " % names if names else match[0]


def _advice(text):
    """The remedy for reading a row that does not exist, as in `x[-1]` of no rows."""
    return "; a list or a ragged array may have no rows: read one where `x.shape[0] > 0`" if \
        re.search(r"index -\d+ is out of range for [^;]*\?|of length 0", text) else ""


class Text:
    """Places of a model in MLIR, whose text came from a file or a string."""

    def __init__(self, what):
        self._file = what if os.path.exists(what) else None
        self._name = os.path.basename(what)

    def lines_in(self, text):
        found = []
        for numbers in re.findall(r"<stdin>:(\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*)", text):
            found += [(self._file or self._name, number) for number in _numbers(numbers)]
        return found

    def translate(self, text):
        return text.replace("<stdin>", self._name)


class translated:
    """In the texts of exceptions, places become lines of the user's."""

    def __init__(self, places):
        self._places = places

    def __enter__(self):
        pass

    def __exit__(self, kind, error, _):
        if error is not None:
            self._places.explain(error)


def describe(lines):
    """"roots.py:8, 10-12, models.py:3"."""
    files = {}
    for file, line in lines:
        files.setdefault(os.path.basename(file), set()).add(line)
    texts = []
    for file, numbers in files.items():
        ranges = []
        for number in sorted(numbers):
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
        texts.append("%s:%s" % (file, ", ".join(
            "%d" % first if first == last else "%d-%d" % (first, last)
            for first, last in ranges)))
    return ", ".join(texts)
