"""Normalizes generated code so that two texts are equal if and only if their code is equal.

LLVM IR, PTX and AMD assembly define functions, constants, values, registers, labels and
metadata by name. A refactoring may change these names and the order of the definitions,
and nothing else. `normalize` gives definitions new names and a new order that depend
only on the code:

  - Values, registers and labels are numbered in the order in which they first occur in
    their function.
  - Definitions are numbered and sorted in the order of their first use, starting at the
    visible ones, which keep their names. Unused definitions follow, sorted by their text.
  - Locations, debug information and comments are dropped.
  - Text constants that are JSON or assembly are normalized like separate files.
"""

import json
import re

# ---------------------------------------------------------------------------- Entities


DECLARED = "declared"  # kind of external declarations, which are omitted unless used


class Entity:
    """A definition or declaration: its name, and its text as a list of literals and
    references. A reference is a tuple that contains a name."""

    def __init__(self, name, pieces, visible, kind):
        self.name, self.pieces, self.visible, self.kind = name, pieces, visible, kind

    def text(self, names):
        return "".join(p if isinstance(p, str) else names.get(p[0], p[0])
                       for p in self.pieces)

    def references(self):
        return [p[0] for p in self.pieces if not isinstance(p, str)]


def number(entities):
    """Returns new names for the entities that are not visible, and a list of all entities. Both are
    in order of first use."""
    table = {e.name: e for e in entities}
    names, order, done = {}, [], set()

    def visit(root):
        stack = [root]
        while stack:
            entity = stack.pop()
            if entity.name in done:
                continue
            done.add(entity.name)
            order.append(entity)
            if not entity.visible:
                names[entity.name] = "%s%d" % (entity.kind, len(names))
            stack += [table[r] for r in reversed(entity.references())
                      if r in table and r not in done]

    for entity in sorted((e for e in entities if e.visible and e.kind != DECLARED),
                         key=lambda e: e.name):
        visit(entity)
    # Entities that no visible entity uses. References in their text are numbered locally.
    rest = []
    for entity in entities:
        if entity.name not in done and entity.kind != DECLARED:
            local = {}
            for r in entity.references():
                if r in table and r not in names:
                    local.setdefault(r, "?%d" % len(local))
            rest.append((entity.text({**names, **local}), entity))
    for _, entity in sorted(rest, key=lambda pair: pair[0]):
        visit(entity)
    return names, order


class Text:
    """Normalized code: its entities, their new names and their order."""

    def __init__(self, entities):
        self.entities = entities
        self.names, self.order = number(entities)

    def canonical(self):
        return "\n".join(e.text(self.names) for e in self.order)

    def readable(self):
        """Returns the text with the original names, sorted by name."""
        return "\n".join(e.text({}) for e in sorted(self.order, key=lambda e: e.name))


# ----------------------------------------------------------------------------- LLVM IR

STRING = r'"(?:[^"\\]|\\.)*"'
IR_TOKEN = re.compile(
    r'(?P<symbol>@(?:%s|[-\w.$]+))|(?P<local>%%(?:%s|[-\w.$]+))'
    r'|(?P<metadata>!\d+)|(?P<attributes>#\d+)|(?P<string>!?%s)|(?P<comment>;.*)' %
    (STRING, STRING, STRING))
LABEL = re.compile(r'^([-\w.$]+|%s):' % STRING)
DEBUG = re.compile(r',? !dbg !\d+|^ +(tail )?call void @llvm\.dbg\..*$|^ +#dbg_.*$')
TEXT_CONSTANT = re.compile(r'\[(\d+) x i8\] c("(?:[^"\\]|\\.)*")')


def unescape(quoted):
    """Returns the bytes of a quoted string of LLVM IR or MLIR, as text."""
    return re.sub(r'\\([0-9A-Fa-f]{2}|[\\"nt])',
                  lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else
                  {"n": "\n", "t": "\t"}.get(m[1], m[1]), quoted[1:-1])


def constant_text(quoted):
    """Returns the normalized text of a constant that is JSON or assembly, else None."""
    body = unescape(quoted).rstrip("\0")
    if body.startswith("{") and body.endswith("}"):
        try:
            return "JSON " + json.dumps(json.loads(body), indent=1, sort_keys=True)
        except ValueError:
            pass
    kind = kind_of(body)
    if kind in ("PTX", "AMD"):
        return "%s {\n%s\n}" % (kind, normalize(body, kind).canonical())
    return None


def ir_pieces(lines):
    """Returns a definition's lines as pieces with renumbered values and labels."""
    local, pieces = {}, []

    def value(name):
        name = name.strip('"')
        return local.setdefault(name, "%%%d" % len(local))

    for line in lines:
        line = DEBUG.sub("", line)
        constant = TEXT_CONSTANT.search(line)
        found = constant and constant_text(constant[2])
        if found:
            head, tail = line[:constant.start()].rstrip(), line[constant.end():]
            found = " " + found
        else:
            head, tail = line, ""
        label = LABEL.match(head)
        at, out = 0, []
        if label:
            out.append(value(label[1]) + ":")
            at = label.end()
        for token in IR_TOKEN.finditer(head, at):
            out.append(head[at:token.start()])
            at = token.end()
            kind, text = token.lastgroup, token[0]
            if kind == "symbol":
                out.append(("@" + text[1:].strip('"'),))
            elif kind == "local":
                out.append(value(text[1:]))
            elif kind in ("metadata", "attributes"):
                out.append((text,))
            elif kind == "string":
                out.append(text)
        out.append(head[at:])
        while out and isinstance(out[-1], str) and not out[-1].strip():
            out.pop()
        if found:
            out += [found, tail]
        if out:
            pieces += out + ["\n"]
    return pieces


def parse_ir(text):
    entities, body = [], None
    # The object stores the length of its assembly, which depends on names.
    lengths = "|".join(
        str(size) for match in TEXT_CONSTANT.finditer(text)
        if kind_of(unescape(match[2])) != "IR"
        for size in (int(match[1]) - 1, int(match[1])))

    def add(name, lines, visible, kind):
        entities.append(Entity(name, ir_pieces(lines), visible, kind))

    for line in text.split("\n"):
        if body is not None:
            body.append(line)
            if line == "}":
                # batch-compile makes all functions of an object internal.
                add("@" + symbol(body[0]), body, False, "@f")
                body = None
        elif line.startswith("define "):
            body = [re.sub(r'^define (internal|private) ', "define ", line)]
        elif line.startswith("declare "):
            name = symbol(line)
            if not name.startswith("llvm.dbg."):
                add("@" + name, [line], True, DECLARED)
        elif line.startswith("@"):
            inside = re.match(r'@\S+ = (private|internal) ', line)
            if lengths:
                line = re.sub(r'\bi64 (%s)\b' % lengths, "i64 length", line)
            add("@" + symbol(line), [line], not inside, "@g")
        elif line.startswith("attributes "):
            add(line.split(" ")[1], [line], False, "#")
        elif re.match(r'!\d+ = ', line):
            if not re.match(r'!\d+ = (distinct )?!DI', line):
                add(line.split(" ")[0], [line], False, "!")
        elif line.startswith("!"):
            if not line.startswith("!llvm.dbg"):
                add(line.split(" ")[0], [line], True, "!")
        elif line.strip() and not line.startswith((";", "source_filename")):
            add(line, [line], True, "")
    return Text(entities)


def symbol(line):
    return re.search(r'@(%s|[-\w.$]+)' % STRING, line)[1].strip('"')


# --------------------------------------------------------------------------------- PTX

PTX_TOKEN = re.compile(
    r'(?P<register>%[a-z]+)(?P<digits>\d+)\b|(?P<label>\$\w+|__local_depot\d+)'
    r'|(?P<word>[A-Za-z_][\w$]*)|(?P<skip>%[\w.]+|\.[\w.:]+)')


def parse_ptx(text):
    text = re.sub(r'//.*', "", text)
    parts, depth, start = [], 0, 0
    lines = text.split("\n")
    head = [l for l in lines if re.match(r'\s*\.(version|target|address_size)\b', l)]
    rest = "\n".join(l for l in lines if l not in head and
                     not re.match(r'\s*\.(loc|file)\b', l))
    for match in re.finditer(r'[(){}\[\];]', rest):
        c = match[0]
        depth += 1 if c in "({[" else -1 if c in ")}]" else 0
        if depth == 0 and c in ";}":
            part = rest[start:match.end()].strip()
            if part and part != ";":
                parts.append(part)
            start = match.end()
    entities = [Entity("", ["\n".join(l.strip() for l in head) + "\n"], True, "")]
    defined = {}
    for part in parts:
        signature = re.sub(r'^(\W*(?:\.\w+\s+)*)\(.*?\)', r'\1',
                           part.split("{")[0] if ".func" in part else part)
        name = re.search(r'(?:^|\s)([A-Za-z_$][\w$]*)', re.sub(
            r'\.(?:align|maxntid|reqntid)\s+[\d, ]+', " ", signature))
        name = name[1] if name else part
        # A function can have a declaration before its definition.
        if part.endswith(";") and ".func" in part:
            name += " declared"
        defined[name] = part
    for name, part in defined.items():
        plain = name.split(" ")[0]
        visible = bool(re.match(r'(?:\.\w+\s+)*?\.(visible|extern|weak)\b', part))
        entities.append(Entity(name, ptx_pieces(part, plain, defined), visible, "f"))
    return Text(entities)


def ptx_pieces(part, own, defined):
    local, counts, pieces, at = {}, {}, [], 0
    lines = re.sub(r'[ \t]+', " ", part)
    text = "\n".join(l.strip() for l in lines.split("\n") if l.strip()) + "\n"

    def numbered(kind, name):
        if name not in local:
            local[name] = "%s%d" % (kind, counts.get(kind, 0))
            counts[kind] = counts.get(kind, 0) + 1
        return local[name]

    for token in PTX_TOKEN.finditer(text):
        new = None
        if token["register"]:
            new = numbered(token["register"], token[0])
        elif token["label"]:
            new = numbered("$L", token[0])
        elif token["word"]:
            word = token[0]
            if word.startswith(own + "_param_"):
                new = "param_" + word[len(own) + 7:]
            elif word in defined:
                new = (word,)
        if new is not None:
            pieces += [text[at:token.start()], new]
            at = token.end()
    return pieces + [text[at:]]


# --------------------------------------------------------------------------------- AMD


def parse_amd(text):
    """Returns a text of one entity with all lines in order, because functions are inlined into the
    kernel."""
    kernels = set(re.findall(r'^\s*\.globl\s+(\S+)', text, re.M))
    symbols = set(re.findall(r'^\s*\.type\s+([^\s,]+)', text, re.M)) - kernels
    local = {}

    def rename(match):
        word = match[0]
        if word.startswith((".L", "BB")) or word in symbols:
            return local.setdefault(word, "$%d" % len(local))
        return word

    lines = []
    for line in text.split("\n"):
        line = re.sub(r'\s*;.*', "", line).strip()
        if line and not re.match(r'\.(loc|file|ident)\b', line):
            lines.append(re.sub(r'\.L[\w$.]+|[A-Za-z_][\w$.]*', rename, line))
    return Text([Entity("", ["\n".join(lines) + "\n"], True, "")])


# ------------------------------------------------------------------------------- Texts


def kind_of(text):
    head = text[:4000]
    if re.search(r'^\s*\.version\s', head, re.M) and ".target" in head:
        return "PTX"
    if ".amdgcn_target" in head:
        return "AMD"
    return "IR"


def normalize(text, kind=None):
    return {"IR": parse_ir, "PTX": parse_ptx, "AMD": parse_amd}[
        kind or kind_of(text)](text)


def for_people(old, new):
    """Returns two texts for a readable diff. They have the original names unless most
    names differ. Numbers of values are dropped unless only the numbers differ, because an
    additional value changes all numbers after it."""
    names = [{e.name for e in text.entities} for text in (old, new)]
    if len(names[0] & names[1]) * 2 > len(names[0] | names[1]):
        texts = old.readable(), new.readable()
    else:
        texts = old.canonical(), new.canonical()
    plain = [re.sub(r'(%[a-z]*|\$L?)\d+\b', r'\1', text) for text in texts]
    return plain if plain[0] != plain[1] else texts
