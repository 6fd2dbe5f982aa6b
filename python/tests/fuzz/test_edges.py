"""Operations at edge values of two types. For some values, MLIR and LLVM define no result.

The slow tests compare the other types (test_sweeps.py).
"""

import functools

import pytest

from fuzz import edges_sweep

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def errors():
    """A function that returns, for a type and a form, the errors by operation, or an exception."""
    @functools.cache
    def of_form(dtype, form):
        try:
            return edges_sweep.differences(*edges_sweep.forms(dtype)[form])
        except Exception as error:
            return error
    return of_form


def operations():
    return [pytest.param(dtype, form, name, id=f"{dtype}-{form}-{name}")
            for dtype in ("int8", "float32")
            for form, (functions, _) in edges_sweep.forms(dtype).items()
            for name in functions]


@pytest.mark.sampled(3, "dtype", "form")
@pytest.mark.parametrize("dtype, form, name", operations())
def test_operation(errors, dtype, form, name):
    found = errors(dtype, form)
    if isinstance(found, Exception):
        raise found
    assert found[name] is None, found[name]
