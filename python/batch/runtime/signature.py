"""Signatures of functions in the text of a module: names of arguments and results.

The parser reads only the attributes of a module, and the text between a function's name and its
body. Changes to the text preserve line numbers.
"""

import re

from batch.core.errors import TextError

_TOKEN = re.compile(
    r'//[^\n]*|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|->|[<>=]=|[()<>\[\]{}]|[@%#!]?[\w$.-]*[\w$]|.',
    re.S)
_CLOSES = {"(": ")", "[": "]", "{": "}", "<": ">"}
_NAME = re.compile(r"[^\s\"\\\x00-\x1f]+(?: [^\s\"\\\x00-\x1f]+)*")


def _tokens(text, at=0):
    for match in _TOKEN.finditer(text, at):
        token = match[0]
        if not token.isspace() and not token.startswith("//"):
            yield match.start(), token


def _on_a_line(text):
    """Returns the text without comments and line breaks."""
    parts, at = [], 0
    for position, token in _tokens(text):
        if text[at:position]:
            parts.append(" ")
        parts.append(token)
        at = position + len(token)
    return "".join(parts).strip()


class Text:
    """Text of a module, and changes to it."""

    def __init__(self, text, file):
        self.text, self.file = text, file
        self._changes = []

    def error(self, at, message):
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return TextError(f"{self.file}:{line}:{column}: error: {message}")

    def tokens(self, at=0):
        """Yields (position, token) from position `at` on; skips white space and comments."""
        return _tokens(self.text, at)

    def next(self, at):
        """Returns the position of the next token and the token, which is "" at the end."""
        return next(self.tokens(at), (len(self.text), ""))

    def close(self, at):
        """Returns the end of the group that begins with a bracket at this position."""
        stack = []
        for position, token in self.tokens(at):
            if token in _CLOSES:
                stack.append((position, token))
            elif token in _CLOSES.values():
                if _CLOSES[stack[-1][1]] != token:
                    break
                stack.pop()
                if not stack:
                    return position + 1
        raise self.error(stack[-1][0], f"{stack[-1][1]!r} is not closed")

    def split(self, start, end):
        """Returns the ranges of the comma-separated elements in a group."""
        parts, first, at = [], start + 1, start + 1
        while at < end - 1:
            position, token = self.next(at)
            if position >= end - 1:
                break
            if token in _CLOSES:
                at = self.close(position)
                continue
            at = position + len(token)
            if token == ",":
                parts.append((first, position))
                first = at
        if self.next(first)[0] < end - 1:
            parts.append((first, end - 1))
        return parts

    def change(self, start, end, text):
        """Replaces a range of the text, and preserves the number of lines."""
        missing = self.text.count("\n", start, end) - text.count("\n")
        self._changes.append((start, end, text + "\n" * missing))

    def changed(self):
        parts, at = [], 0
        # Changes at the same position remain in their original order.
        for start, end, text in sorted(self._changes, key=lambda change: change[:2]):
            parts += [self.text[at:start], text]
            at = end
        return "".join(parts) + self.text[at:]


def _attributes(text, start, end):
    """Returns {name: text} of the attributes in a dictionary. A text includes the name."""
    found = {}
    for first, last in text.split(start, end):
        part = _on_a_line(text.text[first:last])
        name = re.match(r'"([^"]*)"|[^\s=]+', part)
        if not name:
            raise text.error(first, "expected the name of an attribute")
        found[name[1] or name[0]] = part
    return found


def is_preserved(name):
    """Returns whether an attribute of a function, an argument or a result is preserved.

    Batch attributes have a meaning here. Attributes of front ends, such as "jax.result_info",
    do not.
    """
    return "." not in name or name.startswith("batch.")


def written(attributes):
    return f"{{{', '.join(attributes.values())}}}" if attributes else ""


def string(attributes, name):
    """Returns the value of a string attribute, or None."""
    match = re.fullmatch(r'[^=]*=\s*"([^"]*)"', attributes.get(name, ""))
    return match and match[1]


class Value:
    """Argument or result of a function. `name` is the name of an argument in the text."""

    def __init__(self, text, start, end):
        self._text = text
        self.name, self.attributes, self._dictionary = None, {}, None
        at, depth = start, start
        while at < end:
            position, token = text.next(at)
            if position >= end:
                break
            if token == "loc":  # locations follow the attributes
                break
            if token == "{":
                self._dictionary = position, text.close(position)
                self.attributes = _attributes(text, *self._dictionary)
                break
            if token[0] == "%" and self.name is None:
                self.name = token[1:]
            at = text.close(position) if token in _CLOSES else position + len(token)
            depth = at
        self.end = depth
        self.start = text.next(start)[0]
        if depth == start:
            raise text.error(self.start, "expected a type")
        if self.name is None:
            self.type = text.text[self.start:depth]
        else:
            self.type = text.text[self.start:depth].partition(":")[2].strip()

    def write(self):
        preserved = written({name: part for name, part in self.attributes.items()
                             if is_preserved(name)})
        if self._dictionary:
            self._text.change(self.end, self._dictionary[1], preserved and " " + preserved)
        elif preserved:
            self._text.change(self.end, self.end, " " + preserved)


class Function:
    """Signature of a function.

        func.func [VISIBILITY] @NAME(ARGUMENTS) [-> RESULTS] [attributes {…}] {
    """

    def __init__(self, text, start):
        self._text = text
        position, token = text.next(start)
        self.place = position
        self.is_private = token == "private"
        if token in ("private", "public", "nested"):
            position, token = text.next(position + len(token))
        if token == "@":  # @"a name"
            position, token = text.next(position + 1)
        elif not token.startswith("@"):
            raise text.error(position, "expected the name of a function")
        self.name = token.lstrip("@").strip('"')
        first, bracket = text.next(position + len(token))
        if bracket != "(":
            raise text.error(first, "expected '(' after the name of a function")
        end = text.close(first)
        self.arguments = [Value(text, *part) for part in text.split(first, end)]
        self.results, self._bare = [], False
        position, token = text.next(end)
        if token == "->":
            position, token = text.next(position + 2)
            if token == "(":
                end = text.close(position)
                self.results = [Value(text, *part) for part in text.split(position, end)]
            else:
                first, end = position, self._type_end(position)
                self.results, self._bare = [Value(text, first, end)], True
            position, token = text.next(end)
        self._end, self.attributes, self._dictionary = end, {}, None
        if token == "attributes":
            first, token = text.next(position + len(token))
            if token != "{":
                raise text.error(first, "expected '{' after 'attributes'")
            self._dictionary = first, text.close(first)
            self.attributes = _attributes(text, *self._dictionary)
            position, token = text.next(self._dictionary[1])
        self.has_body = token == "{"

    def _type_end(self, at):
        """Returns the end of a type that is not in parentheses."""
        position, token = self._text.next(at)
        if token == "!":
            position, token = self._text.next(position + 1)
        end = position + len(token)
        following, token = self._text.next(end)
        return self._text.close(following) if token == "<" and following == end else end

    def write(self):
        for value in self.arguments + self.results:
            value.write()
        if self._bare and any(map(is_preserved, self.results[0].attributes)):
            start, end = self.results[0].start, self.results[0].end
            self._text.change(start, start, "(")
            self._text.change(end, end, ")")
        preserved = written({name: part for name, part in self.attributes.items()
                             if is_preserved(name)})
        preserved = preserved and " attributes " + preserved
        self._text.change(self._end, self._dictionary[1] if self._dictionary else self._end,
                          preserved)


def parse_functions(text):
    """Returns the functions of a module.

    Operations of the dialect `util` are renamed to those of `func`. Attributes of front ends
    are removed from the module.
    """
    found = []
    end = 0
    for position, token in text.tokens():
        if position < end:
            continue
        if token in ("util.func", "util.return", "util.call"):
            text.change(position, position + 4, "func")
        if token in ("func.func", "util.func"):
            found.append(Function(text, position + len(token)))
        elif token == "module":
            at, token = text.next(position + len(token))
            if token == "@":  # @"a name"
                at, token = text.next(at + 1)
                at, token = text.next(at + len(token))
            elif token.startswith("@"):
                at, token = text.next(at + len(token))
            if token != "attributes":
                continue
            first, token = text.next(at + len(token))
            if token != "{":
                raise text.error(first, "expected '{' after 'attributes'")
            end = text.close(first)
            preserved = written({name: part
                                 for name, part in _attributes(text, first, end).items()
                                 if is_preserved(name)})
            text.change(at, end, "attributes " + preserved if preserved else "")
    return found


def is_name(name):
    return bool(_NAME.fullmatch(name))
