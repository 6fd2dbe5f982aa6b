"""Locations in user code, for messages."""

import collections
import os
import re
import sys
from traceback import walk_stack, walk_tb

import jax
import jaxlib

from batch.core.errors import LoweringError
from batch.core.package import FOLDER

# Directories whose frames do not belong to the user.
OWN_FOLDERS = tuple(os.path.join(folder, "") for folder in (
    FOLDER, *(os.path.dirname(os.path.abspath(file)) for file in (jax.__file__, jaxlib.__file__))))
_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")


# The `source_info` of an equation in an expanded jaxpr. `traceback` is the JAX traceback, which
# ends at the traced function. `tracebacks` also has the tracebacks of the calls to that function.
Source = collections.namedtuple("Source", ["traceback", "name_stack", "tracebacks"])


def _frame(equation):
    """Returns (file, line, function) of the user frame that created an equation, or None.

    The equation belongs to an expanded jaxpr. The frame is the innermost one outside of jax, batch
    and the Python library.
    """
    for line in "\n".join(map(str, equation.source_info.tracebacks)).splitlines():
        found = re.match(r"(.*):(\d+) \((.*)\)$", line.strip())
        if found and is_user_file(found[1]):
            return found.groups()
    return None


def describe_place(equation):
    """Returns the user location of an equation as a message prefix, empty if unknown."""
    frame = _frame(equation)
    return "{}:{} (in {}): ".format(*frame) if frame else ""


def source_line(equation):
    """Returns the file and the line of an equation in user code, or None."""
    frame = _frame(equation)
    return (frame[0], int(frame[1])) if frame else None


def is_user_file(file):
    """Returns whether a file is outside of jax, batch and the Python library."""
    return not file.startswith(OWN_FOLDERS) and not (
        file.startswith(_LIBRARY) and "-packages" not in file)


def user_location(traceback=None):
    """Returns the location of the innermost user frame as a message prefix.

    A user frame is outside of jax and batch. The function searches `traceback`, or the current
    stack if `traceback` is None. The prefix is empty if no user frame exists.
    """
    frames = [frame for frame, _ in walk_tb(traceback)][::-1] if traceback else \
        (frame for frame, _ in walk_stack(sys._getframe(1)))
    lines = dict((id(frame), line) for frame, line in walk_tb(traceback))
    for frame in frames:
        code = frame.f_code
        if not code.co_filename.startswith(OWN_FOLDERS):
            line = lines.get(id(frame), frame.f_lineno)
            return f"{code.co_filename}:{line} (in {code.co_name}): "
    return ""


def unknown_extent(equation):
    """Returns the error for an equation whose extents must be static, but differ between
    instances."""
    types = ", ".join(atom.aval.str_short() for atom in equation.invars)
    return LoweringError(f"{describe_place(equation)}{equation.primitive.name} of {types} is not "
                         "supported for extents that differ between instances; process the rows "
                         "one by one with lax.scan")
