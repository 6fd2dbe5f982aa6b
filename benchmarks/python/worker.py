"""Runs the programs on a number of cores, for run.py: worker.py jax THREADS.

Requests and answers are JSON objects, one per line (workers.py):

  {"do": "load", "program": …, "lanes": N, "forms": […]}
      → {"agree": {form: share of instances whose results are those of jit(vmap)},
         "refused": {form: reason}}
  {"do": "time", "form": …, "seconds": …} → {"us": microseconds of a call, "calls": …}
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import workers  # noqa: E402

if __name__ == "__main__":
    workers.serve(lambda peer: peer.Programs())
