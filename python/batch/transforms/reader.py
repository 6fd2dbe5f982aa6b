"""Readers of iterators, including those whose next() blocks."""

import atexit
import collections
import contextvars
import itertools
import os
import sys
import threading
import weakref

import batch._native as _native
from batch.tracing.options import current_options

_Unraised = collections.namedtuple(
    "_Unraised", "exc_type exc_value exc_traceback err_msg object")
_IDLE = 0.01  # seconds to wait for another element before taking those that have arrived


class Here:
    """Reads elements from memory, in the caller's thread."""

    def __init__(self, elements):
        self._elements, self._read, self.is_over = iter(elements), collections.deque(), False

    def want(self, most):
        """Allows the reader to hold up to `most` elements that have not been taken."""
        missing = most - len(self._read)
        if missing > 0 and not self.is_over:
            self._read.extend(itertools.islice(self._elements, missing))
            self.is_over = len(self._read) < most

    def __len__(self):
        return len(self._read)

    def pop(self):
        return self._read.popleft()

    def wait(self, most=1):
        """Waits until `most` elements are available, none are left, or the next one is late."""

    def finish(self):
        """Raises the iterator's exception, if any; called after its last element."""

    def is_here(self):
        return False

    def close(self):
        pass


class Thread:
    """Reads an iterator, whose next() may block indefinitely, in a separate thread.

    The thread reads no more than want() allows. It uses the caller's context variables and JAX
    options. `stream` is a weak reference to a stream. The thread wakes the stream whenever an
    element becomes available and no other element is available.
    """

    def __init__(self, elements):
        self._elements, self._read = elements, collections.deque()
        self._changed = threading.Condition()
        # `_is_reading` is true from the start, because iter() may also block.
        self._wanted, self._is_reading, self._is_closed = 0, True, False
        self.stream, self._error, self.is_over = lambda: None, None, False
        self._process = os.getpid()
        self._thread = threading.Thread(
            target=contextvars.copy_context().run, args=(self._run, current_options()),
            name="batch.map", daemon=True)
        self._thread.start()
        _threads.add(self)

    def _run(self, options):
        error = None
        try:
            with options:
                elements = iter(self._elements)
                while self._may_read():
                    try:
                        element = next(elements)
                    except StopIteration:
                        break
                    self._add(element)
                    del element
        except BaseException as raised:
            error = raised
        with self._changed:
            self.is_over, self._is_reading, self._elements = True, False, None
            if not self._is_closed:
                self._error = error
            self._changed.notify_all()
        if self._is_closed and isinstance(error, Exception):  # no caller receives the error
            sys.unraisablehook(_Unraised(type(error), error, error.__traceback__,
                                         "Exception ignored in an iterator of batch.map", None))
        error = None  # its traceback refers to this frame

    def _may_read(self):
        with self._changed:
            self._is_reading = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_closed or self._wanted > len(self._read))
            self._is_reading = not self._is_closed
            return self._is_reading

    def _add(self, element):
        with self._changed:
            if self._is_closed:
                return
            self._read.append(element)
            self._changed.notify_all()
            stream = self.stream() if len(self._read) == 1 else None
        if stream:
            stream.wake()

    def is_reading(self):
        """Returns whether the thread is in iter() or next(), which may block."""
        return self._is_reading

    def is_here(self):
        """Returns whether the caller runs in the reader's thread."""
        return threading.current_thread() is self._thread

    def want(self, most):
        if os.getpid() != self._process:
            raise ValueError("a forked process cannot continue a batch.map whose elements the "
                             "parent process reads; call batch.map in the forked process")
        with self._changed:
            self._wanted = most
            self._changed.notify_all()

    def __len__(self):
        return len(self._read)

    def pop(self):
        with self._changed:
            self._wanted -= 1
            return self._read.popleft()

    def wait(self, most=1):
        with self._changed:
            self._changed.wait_for(lambda: self._read or self.is_over)
            while len(self._read) < most and not self.is_over:
                before = len(self._read)
                self._changed.wait_for(
                    lambda before=before: len(self._read) > before or self.is_over, _IDLE)
                if len(self._read) == before:
                    break

    def finish(self):
        error, self._error = self._error, None
        try:
            if error is not None:
                raise error
        finally:
            del error

    def close(self):
        """Ends the thread. If next() blocks, the thread ends once next() returns."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._is_closed = True
            self._read.clear()
            self._changed.notify_all()
            is_reading = self._is_reading
        if not is_reading and not self.is_here():
            self._thread.join()


_threads = weakref.WeakSet()


@atexit.register
def _leave():
    """Closes all readers at exit. Threads whose iterators still block leak their objects."""
    for reader in list(_threads):
        reader.close()
        if reader.is_reading():
            _native.expect_leaks()
