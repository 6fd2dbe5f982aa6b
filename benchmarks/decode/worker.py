"""Runs the decoder in one library on a number of cores, for run.py: worker.py NAME THREADS.

Requests and answers are JSON objects, one per line (workers.py):

  {"do": "load", "width": …, "layers": …, "requests": …} → {"products": …}
      creates weights and requests. `products` counts the multiplications and additions of a
      step in products with weights
  {"do": "prepare", "form": …, "lanes": …, "count": …} → {}
      compiles a form
  {"do": "run", "form": …, "lanes": …, "count": …} → {"seconds": …, "tokens": [of each request]}
      runs the first `count` requests, `lanes` at a time. On one thread, seconds are CPU time
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
sys.path.append(os.path.join(ROOT, "examples", "python", "decode"))
import workers  # noqa: E402

if __name__ == "__main__":
    workers.serve(lambda peer: peer.Programs())
