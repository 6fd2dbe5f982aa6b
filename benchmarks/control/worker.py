#!/usr/bin/env python3
"""worker.py PEER THREADS: runs one peer, torch or jax, in a process that run.py starts.
checked.py describes the answers of this process."""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import workers  # noqa: E402
import checked  # noqa: E402, imports from the path that workers adds

workers.serve(checked.Worker)
