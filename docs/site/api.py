"""Writes the docstrings of the Python package's public names as reStructuredText.

Reads them from the sources, so neither JAX nor a compiler is needed.
"""

import ast
import inspect
import os
import re

# Descriptions of the names that the extension module `_native` defines.
OF_EXTENSION = {
    "Cancellation": """.. py:class:: Cancellation()

   Requests that runs end early. Any thread and any signal handler can request it.

   .. py:method:: request()

      Ends the runs with this object after at most one more batch. They raise
      :py:exc:`Cancelled`.

   .. py:method:: reset()

      Withdraws the request for runs that start later.
""",
    "Cancelled": """.. py:exception:: Cancelled

   A run ended early because its cancellation was requested.
""",
    "Error": """.. py:exception:: Error

   A model, its parameters or its inputs are invalid. The message names the argument, the
   field or the instance.
"""}


def inline(line):
    """Returns a line of plain text as reStructuredText: marks `code` and escapes stars."""
    pieces = re.split(r"`([^`]+)`", line)
    return "".join("``%s``" % piece if i % 2 else piece.replace("*", r"\*")
                   for i, piece in enumerate(pieces))


def paragraphs(text):
    """Returns the reStructuredText lines of a docstring, which is plain text.

    Arguments (`name: description`) become a list. Text that is indented after an empty
    line becomes code.
    """
    result, kind = [], "text"
    for line in inspect.cleandoc(text).splitlines():
        field = re.match(r"(\*{0,2}[a-z_]+(?:, \*{0,2}[a-z_]+)*): +(?=\S)", line)
        after = not result or result[-1] == ""
        if line == "" or kind == "code" and line.startswith("    "):
            result.append(line)
        elif line.startswith("    "):
            if after:
                result += ["::", ""]
                kind = "code"
            result.append(line if after else inline(line))
        elif field and (after or kind == "list"):
            kind = "list"
            result.append("*   **%s**: %s" % (inline(field.group(1)),
                                              inline(line[field.end():])))
        else:
            if kind == "list" and not after:
                result.append("")
            kind = "text"
            result.append(inline(line))
    return result


def indented(lines, depth):
    return "\n".join("   " * depth + line if line else "" for line in lines) + "\n"


def signature(function, skipped=0):
    """Returns the arguments after the first `skipped`, without types, which Sphinx would link."""
    arguments = function.args
    arguments.args = arguments.args[skipped:]
    for node in ast.walk(arguments):
        if isinstance(node, ast.arg):
            node.annotation = None
    return "(%s)" % ast.unparse(arguments)


def is_overload(node):
    """Returns whether a node is an overload, which precedes the function's definition."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)


def entry(node):
    """Returns the entry of a function, or of a class with its documented public methods."""
    text = ast.get_docstring(node, clean=False)
    if isinstance(node, ast.FunctionDef):
        return ".. py:function:: %s%s\n\n%s" % (
            node.name, signature(node), indented(paragraphs(text or ""), 1))
    bases = {b.id for b in node.bases if isinstance(b, ast.Name)}
    kind = "exception" if any(b.endswith(("Error", "Exception")) for b in bases) else "class"
    result = ".. py:%s:: %s\n\n%s\n" % (kind, node.name,
                                        indented(paragraphs(text or ""), 1))
    for method in node.body:
        text = isinstance(method, ast.FunctionDef) and ast.get_docstring(method, False)
        if not text or method.name.startswith("_"):
            continue
        decorators = {d.id for d in method.decorator_list if isinstance(d, ast.Name)}
        directive, arguments = "method", signature(method, 1)
        if "property" in decorators:
            directive, arguments = "property", ""
        elif "classmethod" in decorators:
            directive = "classmethod"
        elif "staticmethod" in decorators:
            directive, arguments = "staticmethod", signature(method)
        result += "   .. py:%s:: %s%s\n\n%s\n" % (directive, method.name, arguments,
                                                 indented(paragraphs(text), 2))
    return result


def imported(module):
    """Returns {name: module} for the names that are imported from modules of the package."""
    return {a.asname or a.name: node.module[6:] for node in module.body
            if isinstance(node, ast.ImportFrom) and node.module.startswith("batch.")
            for a in node.names}


def describe(package):
    """Returns a directive with the entries of all names in a package's __all__."""
    def parse(module):
        with open(os.path.join(package, *module.split(".")) + ".py") as file:
            return ast.parse(file.read())

    def find(name, module):
        if module == "_native":
            return OF_EXTENSION[name]
        tree = parse(module)
        for node in tree.body:
            if getattr(node, "name", None) == name and not is_overload(node):
                return entry(node)
            # Resolve an alias of a name that another module of the package defines.
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and \
                    [getattr(t, "id", None) for t in node.targets] == [name]:
                return find(node.value.attr, node.value.value.id)
        return find(name, imported(tree)[name])

    package_itself = parse("__init__")
    where, names = imported(package_itself), []
    for node in package_itself.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "_OF_JAX":
            where.update(ast.literal_eval(node.value))
        elif isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            names = ast.literal_eval(node.value)
    entries = [find(name, where[name])
               for name in sorted(names, key=lambda n: (n[0].isupper(), n.lower()))]
    return "```{eval-rst}\n.. py:currentmodule:: batch\n\n%s```\n" % "\n".join(entries)
