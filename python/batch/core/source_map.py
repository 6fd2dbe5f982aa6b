"""Source lines of the computations in a compiled function.

A module that batch.vmap creates refers to source lines by number, such as "jaxpr:7". Its text
does not change when lines move, so the object in the cache remains valid.
"""

import os
import re

FILE = "jaxpr"
# Matches "jaxpr:3, 5-7" or, with a column, "jaxpr:3:1".
_PATTERN = re.compile(rf"\b{FILE}:(\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*)(?::\d+)?")


def _numbers(text):
    for part in text.split(", "):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


class SourceMap:
    """Maps the location numbers of a module to source lines.

    position: function that returns the file and the line of an equation, or None.
    """

    def __init__(self, position):
        self._position = position
        self._equations = []

    def add(self, equations):
        """Returns a new location number, which represents all `equations`."""
        self._equations.append(tuple(equations))
        return len(self._equations)

    def operations(self, number):
        """Returns the names of the JAX primitives at a location; "" for an unknown number."""
        return ", ".join(dict.fromkeys(
            equation.primitive.name for equation in self._equations[number - 1])) \
            if 0 < number <= len(self._equations) else ""

    def lines(self, number):
        """Returns (file, line) of the equations at a location, in order and without duplicates."""
        if not 0 < number <= len(self._equations):
            return []
        found = map(self._position, self._equations[number - 1])
        return list(dict.fromkeys(place for place in found if place))

    def lines_in(self, text):
        """Returns the source lines of all locations in a text."""
        found = []
        for match in _PATTERN.finditer(text):
            for number in _numbers(match[1]):
                found += self.lines(number)
        return list(dict.fromkeys(found))

    def translate(self, text):
        """Replaces the locations in a text by file names and lines."""
        return _PATTERN.sub(lambda match: describe_lines(self.lines_in(match[0])) or "?", text)

    def explain(self, error):
        """Translates the locations in the message of an exception to source lines.

        The messages of compiler errors also name the operations in which the errors occur.
        """
        if error.args and isinstance(error.args[0], str) and FILE in error.args[0]:
            text = re.sub(rf"\b{FILE}:(\d+)(?::\d+)?: error: ", self._error, error.args[0])
            error.args = (self.translate(text) + _advice(text), *error.args[1:])

    def _error(self, match):
        names = self.operations(int(match[1]))
        return match[0] + f"in {names}: " if names else match[0]


def _advice(text):
    """Returns the remedy if a text reports a read of a row that does not exist, such as `x[-1]` of
    an empty array. Returns "" for any other text."""
    return "; a list or ragged array may be empty; read a row only where `x.shape[0] > 0`" if \
        re.search(r"index -\d+ is out of range for [^;]*\?|of length 0", text) else ""


class TextSourceMap:
    """Source map of an MLIR model whose text was read from a file or a string."""

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


class translated_errors:
    """Translates the locations in the messages of exceptions to source lines."""

    def __init__(self, source_map):
        self._source_map = source_map

    def __enter__(self):
        pass

    def __exit__(self, kind, error, _):
        if error is not None:
            self._source_map.explain(error)


def describe_lines(lines):
    """Formats lines, as in "roots.py:8, 10-12, models.py:3"."""
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
        listed = ", ".join(f"{first}" if first == last else f"{first}-{last}"
                           for first, last in ranges)
        texts.append(f"{file}:{listed}")
    return ", ".join(texts)
