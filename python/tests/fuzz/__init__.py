"""Random tests: modules that generate cases, and sweeps that run many of them.

A sweep is a command, such as `python python/tests/fuzz/ranks_sweep.py --cases=10000`. Worker
processes run its cases with a time limit, so a crash or a hang affects only one case. The modules
test_*.py run a few cases of each sweep. Slow tests run the sweeps (test_sweeps.py).
"""
