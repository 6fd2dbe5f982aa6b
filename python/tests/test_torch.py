"""PyTorch tensors as arguments, parameters and list rows. Outputs become tensors without a copy."""

import types

import pytest
from support.comparison import raises

import batch

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

# Multiplies the sum of a list's rows by a parameter and adds a vector. Also doubles a number.
MODEL = """
!vec = tensor<4x$T>
func.func @main(%rows: tensor<?x4x$T> {batch.name = "rows"}, %x: !vec {batch.name = "x"},
                %n: i64 {batch.name = "n"}, %w: !vec {batch.shared = "w"})
    -> (!vec {batch.name = "y"}, i64 {batch.name = "m"}) attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : !vec
  %sum = linalg.reduce ins(%rows : tensor<?x4x$T>) outs(%zero : !vec) dimensions = [0]
      (%a: $T, %b: $T) { %s = arith.addf %a, %b : $T linalg.yield %s : $T }
  %v = arith.mulf %sum, %w : !vec
  %y = arith.addf %v, %x : !vec
  %m = arith.addi %n, %n : i64
  return %y, %m : !vec, i64
}
"""
DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16,
          "bf16": torch.bfloat16}


def compile_model(name):
    return batch.compile(MODEL.replace("$T", name))


# --- results ----------------------------------------------------------------------------

@pytest.fixture(scope="module", params=DTYPES)
def case(request):
    """A bound model of one element type, its inputs, and the output that PyTorch computes."""
    dtype = DTYPES[request.param]
    generator = torch.Generator().manual_seed(0)

    def random(low, high, *shape):
        """Returns small integers, whose sums are exact in every type."""
        return torch.randint(low, high, shape, generator=generator).to(dtype)

    rows = [random(-4, 5, n, 4) for n in (3, 1, 5)]
    x = random(-9, 9, 4, 3).T  # strided
    w = torch.tensor([1, 2, -1, 0.5]).to(dtype)
    f = compile_model(request.param).bind({"w": w}, threads=2)
    wanted = torch.stack([r.sum(0) for r in rows]) * w + x
    w += 1  # does not change the model, which has copied w
    return types.SimpleNamespace(f=f, rows=rows, x=x, n=torch.tensor([1, -2, 3]),
                                 dtype=dtype, wanted=wanted)


def test_arguments_list_and_parameter(case):
    y = torch.from_dlpack(case.f(case.rows, case.x, case.n)["y"])
    assert y.dtype == case.dtype
    assert torch.equal(y, case.wanted)


def test_integers(case):
    m = torch.from_dlpack(case.f(case.rows, case.x, case.n)["m"])
    assert torch.equal(m, 2 * case.n)


def test_ragged(case):
    rows = batch.Ragged(torch.cat(case.rows), [0, 3, 4, 9])
    y = torch.from_dlpack(case.f(rows, case.x.contiguous(), case.n)["y"])
    assert torch.equal(y, case.wanted)


def test_output_lives_as_long_as_its_tensor(case):
    y = torch.from_dlpack(case.f(case.rows, case.x, case.n)["y"])
    case.f(case.rows, -case.x, case.n)
    assert torch.equal(y, case.wanted)


@pytest.mark.parametrize("case", [name for name in DTYPES if name != "bf16"], indirect=True)
def test_output_is_read_in_place(case):
    output = case.f(case.rows, case.x, case.n)["y"]
    y = torch.from_dlpack(output)
    assert y.data_ptr() == output.__array_interface__["data"][0]
    y += 1  # tensors can be written
    assert torch.equal(y, case.wanted + 1)


# --- errors -----------------------------------------------------------------------------

@pytest.fixture(scope="module")
def single():
    """A model in float32, and its inputs for one instance."""
    model = compile_model("f32")
    return types.SimpleNamespace(
        model=model, f=model.bind({"w": torch.ones(4)}), rows=[torch.ones(2, 4)],
        x=torch.ones(1, 4), n=torch.ones(1, dtype=torch.int64))


def assert_computes(single):
    y = torch.from_dlpack(single.f(single.rows, single.x, single.n)["y"])
    assert torch.equal(y, torch.full((1, 4), 3.0))


@pytest.mark.parametrize("change, error, text", [
    (lambda x: x.double(), ValueError, "'x' has elements of type f64"),
    (lambda x: x[:, :3], ValueError, "'x'"),
    (lambda x: x.clone().requires_grad_(), TypeError, "argument 'x' requires a gradient"),
    (lambda x: torch.ones(1, 4, device="meta"), TypeError, "'x'"),
    (lambda x: x.to_sparse(), TypeError, "'x'"),
    (lambda x: x.to(torch.complex64), TypeError, "'x' has an unsupported element type"),
], ids=["float64", "shape", "gradient", "meta", "sparse", "complex"])
def test_argument_is_refused(single, change, error, text):
    with raises(error, text):
        single.f(single.rows, change(single.x), single.n)
    assert_computes(single)


def test_rows_with_gradient_are_refused(single):
    with raises(TypeError, "argument 'rows' requires a gradient"):
        single.f([single.rows[0].clone().requires_grad_()], single.x, single.n)
    assert_computes(single)


def test_parameter_with_gradient_is_refused(single):
    with raises(TypeError, "parameter 'w' requires a gradient"):
        single.model.bind({"w": torch.nn.Parameter(torch.ones(4))})


def test_argument_of_vmap_is_refused():
    with raises(TypeError, "got a Tensor; pass numpy.asarray(x)"):
        batch.vmap(abs)(torch.ones(1, 4))


def test_argument_of_vmap_with_gradient_is_refused():
    with raises(TypeError, "pass numpy.asarray(x.detach()); gradients"):
        batch.vmap(abs)(torch.ones(1, 4).requires_grad_())


# --- threads ----------------------------------------------------------------------------

def test_calls_alternate_with_products_of_pytorch(single):
    """The threads of PyTorch and of Batch take turns."""
    ones = torch.ones(256, 256)
    for _ in range(20):
        assert (ones @ ones == 256).all()
        assert_computes(single)
