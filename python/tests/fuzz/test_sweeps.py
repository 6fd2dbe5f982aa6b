"""Sweeps over random cases, for --minutes=N. Each --seed=M gives different cases."""

import os
import subprocess
import sys

import pytest

SWEEPS = ["ranks", "nests", "edges", "options", "mutations", "tree_mutations",
          "parameter_files"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SWEEPS)
def test_sweep(request, name):
    """Without --minutes, the sweep runs its default number of cases."""
    minutes, seed = (request.config.getoption(option) for option in ("--minutes", "--seed"))
    program = os.path.join(os.path.dirname(__file__), f"{name}_sweep.py")
    command = [sys.executable, program, f"--seed={seed}"]
    if minutes is not None:
        command.append(f"--minutes={minutes}")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    told = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("ok: "))
    assert done.returncode == 0, f"{' '.join(command)}\n{told[-8000:]}"
