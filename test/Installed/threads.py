"""threads.py MODEL.mlir REQUESTS THREADS [OPTION...]: does the same as threads.c, with only
the Python package and NumPy. Each OPTION is an option of the compiler."""

import os
import sys
import threading

import numpy as np

import batch

# The compiler runs without a preloaded ThreadSanitizer. It is not instrumented, so its threads
# would be reported as false races.
os.environ.pop("LD_PRELOAD", None)
model, path, threads, *options = sys.argv[1:]
requests = []
with open(path) as file:
    for line in file:
        limit, _, *words = line.split()
        requests.append((float(limit), [int(word) for word in words]))
answers = [None] * len(requests)
waiting = iter(range(0, len(requests), 3))
lock = threading.Lock()
f = batch.compile(model, options=options).bind(
    {"E": np.float32(np.arange(1, 6)[:, None] + np.arange(4) / 4)}, threads=1)


def serve():
    while True:
        with lock:
            first = next(waiting, None)
        if first is None:
            return
        taken = requests[first:first + 3]
        for _ in range(5):
            outputs = f(words=[words for _, words in taken],
                        limit=np.float32([limit for limit, _ in taken]))
        answers[first:first + 3] = zip(outputs["sum"], outputs["rounds"])


started = [threading.Thread(target=serve) for _ in range(int(threads))]
for thread in started:
    thread.start()
for thread in started:
    thread.join()
for total, rounds in answers:
    print("%g %g %g %g %d" % (*total, rounds))
assert "jax" not in sys.modules
