#!/usr/bin/env python3
"""check_pass_examples.py [--print] [FLAG…]: checks that the description of each pass, or
of the named ones, has a correct example.

An example is code, a line "// becomes", and the output of the pass. Or it is code with a
line "// error: TEXT" above an invalid op. test/Docs/Inputs/passes.mlir contains the
program around each example. "// OPTIONS: …" in it specifies flags of batch-opt that replace
the pass's own. After "// becomes", "..." matches any code. Names of values match any names,
provided that equal ones remain equal. Comments and line breaks are ignored. --print
prints the output of the pass.
"""

import os
import re
import shlex
import sys

import batchtest
import descriptions

BECOMES = re.compile(r"^ *// becomes\b.*\n", re.M)
TOKEN = re.compile(r'\.\.\.|%[\w.$-]+|#[A-Za-z_]\w*\b(?!\.)|[\w.$]+|"[^"]*"|->|\S')


def tokens(code):
    """Returns the words and punctuation of code. Drops the prefix `func.` of calls and returns, as
    MLIR does when it prints them inside a func.func."""
    code = re.sub(r"//.*", "", code)
    return TOKEN.findall(re.sub(r"\bfunc\.(call|return)\b", r"\1", code))


def pattern(code):
    """Returns a regular expression that matches the code with any names of values and aliases."""
    names, pieces = {}, []
    for token in tokens(code):
        if token == "...":
            pieces.append("...")
        elif len(token) > 1 and token[0] in "%#":
            known = token in names
            group = names.setdefault(token, "v%d" % len(names))
            pieces.append("(?P=%s)" % group if known else
                          r"(?P<%s>%s[\w.$-]+)" % (group, token[0]))
        else:
            pieces.append(re.escape(token))
    text = re.sub(r"^\.\.\. | \.\.\.$", "", " ".join(pieces))
    return re.compile(text.replace(" ... ", " (?:.* )?"))


def expand(code, program):
    """Returns code in which the type aliases that the program defines are replaced."""
    for name, value in re.findall(r"^(!\w+) = (.*)$", program, re.M):
        code = re.sub(re.escape(name) + r"\b", lambda _: value, code)
    return code


def run(flag, source, program, scratch):
    found = re.search(r"^// OPTIONS: (.*)$", program, re.M)
    path = os.path.join(scratch, "example.mlir")
    with open(path, "w") as file:
        file.write(source)
    options = shlex.split(found[1]) if found else ["--" + flag]
    if not any(re.match("--%s(=|$)" % flag, o) for o in options):
        raise batchtest.ToolError("the OPTIONS of %s do not contain --%s" % (flag, flag))
    return path, options


def check_error(flag, example, program, scratch):
    path, options = run(flag, descriptions.surrounded(example, program), program, scratch)
    try:
        batchtest.call("batch-opt", path, *options)
    except batchtest.ToolError as error:
        for text in re.findall(r"// error: (.*)", example):
            with open(path) as file:
                line = next(i for i, l in enumerate(file, 2) if "// error: " + text in l)
            if not re.search(r"(example\.mlir:%d:\d+|<unknown>:0): error: .*%s" % (line, re.escape(text)),
                             str(error)):
                raise batchtest.ToolError(
                    "expected error '%s' at line %d, got:\n%s" % (text, line, error))
        return
    raise batchtest.ToolError("%s accepts an example that should cause an error" % flag)


def check(flag, record, programs, scratch, show):
    found = descriptions.examples(record)
    if not found:
        raise batchtest.ToolError("%s has no example" % flag)
    for number, example in enumerate(found):
        key = flag if number == 0 else "%s/%d" % (flag, number + 1)
        program = programs.get(key, "EXAMPLE\n")
        if "// error: " in example:
            check_error(flag, example, program, scratch)
            continue
        halves = BECOMES.split(example)
        if len(halves) != 2 or "..." in halves[0]:
            raise batchtest.ToolError(
                "the example of %s does not have the form CODE // becomes CODE" % key)
        source = descriptions.surrounded(halves[0], program)
        path, options = run(flag, source, program, scratch)
        output = batchtest.call("batch-opt", path, *options)
        if show:
            print("==== %s\n%s" % (key, output))
        wanted = expand(halves[1], program)
        if not pattern(wanted).search(" ".join(tokens(output))):
            raise batchtest.ToolError("%s: expected the code\n%sgot\n%s" %
                                      (key, wanted, output))


def main(arguments):
    checks = batchtest.Checks("examples of passes")
    scratch = batchtest.temporary()
    programs = descriptions.surroundings("passes")
    names = [a for a in arguments if a != "--print"]
    known = set()
    for flag, record in descriptions.passes():
        known.add(flag)
        if not names or flag in names:
            checks.run(flag, lambda: check(flag, record, programs, scratch,
                                           "--print" in arguments))
    for name in sorted({p.split("/")[0] for p in programs} - known):
        checks.expect(name, False, "passes.mlir has a program for it, but there is no such pass")
    checks.exit()


main(sys.argv[1:])
