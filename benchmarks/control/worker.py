#!/usr/bin/env python3
"""worker.py PEER THREADS: the process of one peer, torch or jax; run.py starts it, and
checked.py says what it answers."""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import workers  # noqa: E402
import checked  # noqa: E402: it needs what workers finds

workers.serve(checked.Worker)
