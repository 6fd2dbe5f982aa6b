"""Errors that several modules of the package raise."""


class TextError(Exception):
    """Unreadable text of a module; the message reports the location and the cause."""


class LoweringError(NotImplementedError):
    """Unsupported construct in a function; the message reports its location."""


class CompileError(Exception):
    """Failure to compile a model; the message reports the location and the cause."""
