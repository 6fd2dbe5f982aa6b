"""Single JAX primitives of rank 0 to 3 with extents 0, 1 and 2, two cases of each."""

import re
import subprocess
import sys

import numpy
import pytest

import batch
from batch.lowering import expansion
from batch.lowering.refusals import refusal
from fuzz import ranks, ranks_sweep

pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = sorted(ranks.MAKERS)
KNOWN = set(ranks.MAKERS).union(*ranks.ELSEWHERE.values())


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", NAMES)
def test_primitive(name):
    cases = [ranks_sweep.case_of(NAMES.index(name) + first, seed=1)
             for first in (0, len(NAMES))]
    errors = ranks_sweep.differences(cases)
    assert not errors, {cases[i].text: text for i, text in errors.items()}
    for case in cases:
        ranks_sweep.lower(case)


# --- survey of primitives ---------------------------------------------------------------

def test_every_primitive_has_a_maker_or_a_reason():
    """Runs in a new process: modules of other tests may register more primitives."""
    code = (f"import sys; sys.path[:] = {sys.path!r}\n"
            "from fuzz import ranks_sweep\n"
            "print(*sorted(ranks_sweep.ranks.primitives()))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    assert set(names) & KNOWN
    assert not [name for name in names
                if name not in KNOWN and not refusal(name)]


def test_no_primitive_has_a_maker_and_is_refused():
    assert not [name for name in KNOWN if refusal(name)]


@pytest.mark.parametrize("name", sorted(filter(refusal, ranks.primitives())))
def test_equation_of_refused_primitive(name):
    equation = ranks.equation_of(ranks.primitives()[name])
    message = rf"\b{re.escape(name)} .*; (compute|remove|use) "
    with pytest.raises(batch.LoweringError, match=message):
        expansion.expand(equation)


@pytest.mark.parametrize("name", ranks.refusals())
def test_call_of_refused_primitive(name):
    named = "complex" if name == "fft" else name
    with pytest.raises(batch.LoweringError, match=rf"\b{named}\b"):
        batch.vmap(ranks.refusals()[name])(numpy.eye(2, dtype="float32")[None])
