"""Cache with a limited number of entries."""

import collections
import threading


class LruCache:
    """Cache of values for the most recently used keys; holds at most `most` entries."""

    def __init__(self, most):
        self._most, self._known = most, collections.OrderedDict()
        self._lock = threading.Lock()

    def clear(self):
        with self._lock:
            self._known.clear()

    def find(self, key):
        """Returns the value of a key, or None."""
        with self._lock:
            return self._known.get(key)

    def get(self, key, make):
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = make()
        with self._lock:
            self._known[key] = made
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made
