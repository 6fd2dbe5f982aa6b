"""Random programs of scans, while loops, branches and indices, nested three levels deep."""

import pytest

from fuzz import nests_sweep

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("number", range(6))
def test_program(number):
    program = nests_sweep.program_of(number, seed=1)
    assert nests_sweep.differences([program], seed=1) == [None], program[1]


def test_program_whose_results_rounding_changes():
    program = nests_sweep.program_of(10, seed=20261129)
    assert nests_sweep.is_sensitive(program, seed=20261129)
    assert not nests_sweep.is_sensitive(nests_sweep.program_of(0, seed=1), seed=1)
