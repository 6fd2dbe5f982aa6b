"""batch-import: errors, files that it writes, damaged modules, missing tools."""

import functools
import os
import random
import shutil
import subprocess
import sys

import batchtest
import jax
import jax.numpy as jnp
import pytest
from jax import export
from support.import_command import (
    CELL,
    MODULE,
    NS,
    PLAIN,
    XS,
    W,
    batch_import,
    batch_opt,
    looping,
    nested,
)
from support.processes import run_python

BAD = """func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
"""


TWO_RESULTS = """func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
"""


SHARDED = """sdy.mesh @mesh = <["x"=2]>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<4xf32>
  %z = stablehlo.add %y, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Path of in.mlir in an empty folder, which becomes the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "in.mlir"


@functools.cache
def bytecode():
    return batch_opt(PLAIN, "--emit-bytecode")


@functools.cache
def sort():
    """Returns a module with an operation that jaxlib does not lower."""
    return jax.jit(jnp.sort).lower(XS[0]).as_text()


def cell():
    with open(CELL) as file:
        return file.read()


def resource(kind):
    """Returns a module with a constant of two elements of type `kind`, and 4 bytes of data."""
    return f"""func.func @f(%x: tensor<2x{kind}>) -> tensor<2x{kind}> {{
  %w = arith.constant dense_resource<w> : tensor<2x{kind}>
  %y = arith.addf %x, %w : tensor<2x{kind}>
  return %y : tensor<2x{kind}>
}}
{{-#
  dialect_resources: {{
    builtin: {{
      w: "0x0400000000000000"
    }}
  }}
#-}}
"""


def nest():
    """Returns a StableHLO module whose regions are nested deeper than Python's recursion limit."""
    levels = sys.getrecursionlimit() + 1
    return "\n".join([
        "func.func @f(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {",
        "  %y = stablehlo.add %x, %x : tensor<4xf32>",
        *["scf.if %c {"] * levels, *["}"] * levels, "  return %y : tensor<4xf32>", "}", ""])


# --- errors -----------------------------------------------------------------------------

def case(name, make, text, *options):
    """make: the module, or a function that returns it."""
    return pytest.param(make, text, options, id=name)


@pytest.mark.parametrize("make, text, options", [
    case("empty_module", "", "the module is empty"),
    case("no_function", "module {\n}\n", "has no function with a body; expected `func.func"),
    case("two_functions", BAD + BAD.replace("@f", "@g"),
         "the entry function is ambiguous; specify --entry=NAME with one of f, g"),
    case("unknown_entry", BAD, "unknown function 'h' in --entry; expected one of f",
         "--entry=h"),
    case("unknown_argument", BAD, "unknown argument 'q' in --shared; expected one of 0 (x), 1 (y)",
         "--shared=q"),
    case("position_out_of_range", BAD, "unknown argument '2' in --name", "--name=2=z"),
    case("position_in_superscript_digits", BAD, "unknown argument '\u00b2' in --name",
         "--name=\u00b2=z"),
    case("name_without_argument", BAD, "invalid value 'z' for --name; expected ARG=NAME",
         "--name=z"),
    case("same_name_twice", BAD,
         "arguments 0 and 1 are both named 'y'; specify another name with --name=1=NAME",
         "--name=0=y"),
    case("same_name_of_results_twice", TWO_RESULTS,
         "results 0 and 1 are both named 'a'; specify another name with --outputs=NAME,...",
         "--outputs=a,a"),
    case("invalid_name", BAD, ":1:14: error: invalid name 'a\"' for argument 0; expected "
         "words without double quotes or backslashes, separated by single spaces",
         '--name=0=a"'),
    case("all_arguments_shared", BAD, "all arguments of 'f' are shared; the entry function",
         "--shared=0,1"),
    case("no_arguments",
         "func.func @f() -> tensor<4xf32> {\n  %y = arith.constant dense<1.0> :"
         " tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n",
         "'f' has no arguments; the entry function"),
    case("too_many_names_of_results", BAD,
         "--outputs has 2 names; expected 1, one for each result of 'f'", "--outputs=a,b"),
    case("no_results", "func.func @f(%x: i32) {\n  return\n}\n",
         "'f' has no results; the entry function requires at least one"),
    case("no_resources", BAD, "no dense_resource constants with values; omit --params",
         "--params=w.npz"),
    case("unsupported_file_of_parameters", BAD,
         "invalid value 'w.pt' for --params; expected a .safetensors or .npz file",
         "--params=w.pt"),
    case("binary_file", b"\xff\xfe\x00",
         "expected MLIR bytecode or UTF-8 text, got an invalid byte at offset 0"),
    case("open_bracket", BAD.replace(") ->", " ->"), ":1:13: error: '(' is not closed"),
    case("attribute_without_name", BAD.replace("f32>,", "f32> {= 1 : i32},"),
         ":1:33: error: expected the name of an attribute"),
    case("argument_without_type", BAD.replace("%x: tensor<4xf32>,", ","),
         ":1:14: error: expected a type"),
    case("function_without_name", BAD.replace("@f", ""),
         ":1:11: error: expected the name of a function"),
    case("function_without_arguments", BAD.replace("@f(", "@f "),
         ":1:14: error: expected '(' after the name of a function"),
    case("attributes_without_bracket", BAD.replace(" {", " attributes x {"),
         ":1:80: error: expected '{' after 'attributes'"),
    case("module_attributes_without_bracket", "module attributes x {\n}\n",
         ":1:19: error: expected '{' after 'attributes'"),
    case("unknown_operation", BAD.replace("arith.addf", "arith.plus"), "in.mlir:2:8: error: "),
    case("unsupported_operation", BAD.replace("arith.addf %x, %y", "linalg.nothing %x, %y"),
         "in.mlir:2:"),
    case("unsupported_stablehlo", sort,
         "error: stablehlo.sort is not supported; compile the JAX function with batch.vmap"),
    case("sharded_program", SHARDED,
         "3:8: error: sdy.sharding_constraint is not supported because it belongs to a sharded "
         "program; lower the program for one device"),
    case("wrong_type_in_stablehlo",
         lambda: sort().replace("tensor<4xf32>", "tensor<5xf32>", 1), "in.mlir:"),
    case("deeply_nested_regions", nest, "in.mlir: error: the module is nested too deeply"),
    case("cut_stablehlo", lambda: sort()[:400], "in.mlir:"),
    case("cut_bytecode", lambda: bytecode()[:200], "error"),
    case("cut_bytecode_of_stablehlo",
         lambda: export.export(jax.jit(jnp.sin))(XS[0]).mlir_module_serialized[:300], "error"),
    case("resource_of_wrong_size",
         lambda: cell().replace("0x04000000", "0x04000000FF", 1),
         "has 65 bytes; expected 64 for tensor<16xf32>", "--params", "x.npz"),
    case("resource_without_number",
         lambda: cell().replace("0x04000000", "0x0400000G", 1),
         "is not a hexadecimal number", "--params", "x.npz"),
    case("resource_of_unsupported_type", lambda: resource("f8E4M3"),
         "unsupported element type f8E4M3 of resource 'w'; expected one of f16, bf16, f32",
         "--params", "x.npz"),
    case("bfloat16_in_npz", lambda: resource("bf16"),
         "x.npz: error: NumPy does not support type bf16 of resource 'w'; write a .safetensors",
         "--params", "x.npz", "--no-check"),
])
def test_wrong_module(source, make, text, options):
    """The command prints an error message without a traceback, and writes no file."""
    data = make() if callable(make) else make
    source.write_bytes(data if isinstance(data, bytes) else data.encode())
    result = batch_import("in.mlir", "-o", "none.mlir", *options)
    assert result.code == 1, result.output
    assert text in result.errors
    assert "Traceback" not in result.errors
    assert os.listdir() == ["in.mlir"]


def test_error_is_located_in_user_function(source):
    def transform(x):
        return jnp.fft.fft(x).real

    source.write_text(jax.jit(transform).lower(XS[0]).as_text(debug_info=True))
    line = transform.__code__.co_firstlineno + 1
    assert batch_import(source).errors.startswith(f"{os.path.abspath(__file__)}:{line}:")


# --- files ------------------------------------------------------------------------------

@pytest.mark.parametrize("arguments, text", [
    (["nowhere.mlir"], "No such file"),
    ([os.sep], "Is a directory"),
    (["in.mlir", "-o", "no/where.mlir"], "No such file"),
], ids=["missing_file", "folder", "missing_folder_of_output"])
def test_wrong_file(source, arguments, text):
    source.write_text(BAD)
    result = batch_import(*arguments)
    assert result.code == 1
    assert text in result.errors


def test_error_leaves_existing_output(source, tmp_path):
    source.write_text(BAD)
    output = tmp_path / "model.mlir"
    output.write_text("before")
    assert batch_import(source, "-o", output, "--entry=h").code == 1
    assert output.read_text() == "before"


def test_output_to_device(source):
    source.write_text(BAD)
    result = batch_import(source, "-o", os.devnull)
    assert result.code == 0, result.errors
    assert os.path.exists(os.devnull)
    assert not os.path.isfile(os.devnull)


# --- help -------------------------------------------------------------------------------

def test_example_of_help(tmp_path):
    """The example commands in the help text run exactly as printed."""
    code, output, _ = batch_import("--help")
    assert code == 0
    assert "batch-import f.mlir" in output
    lines = output[output.index("  python -c"):output.index("positional")].splitlines()
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, start in ("python", ""), ("batch-import", "-m batch.cli.import_model"):
        script = commands / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {start} "$@"\n')
        script.chmod(0o755)
    tools = os.path.dirname(batchtest.tool("batch-run"))
    done = subprocess.run(
        ["bash", "-ec", "\n".join(line[2:] for line in lines)], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PATH": os.pathsep.join([str(commands), tools, os.environ["PATH"]])})
    assert done.returncode == 0, done.stdout
    bits = 64 if jax.config.jax_enable_x64 else 32
    assert f"y f{bits} [8,4]" in done.stdout


# --- damaged files ----------------------------------------------------------------------

def damaged(chance, text):
    """Returns the text with one to three changes."""
    text = bytearray(text)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text))
        kind = chance.randrange(5)
        if kind == 0:
            del text[at:at + chance.randrange(1, 30)]
        elif kind == 1:
            text[at:at] = bytes(chance.choice(b'()<>{}[]"%@#:,->x! 0\\') for _ in range(2))
        elif kind == 2:
            text[at] = chance.randrange(256)
        elif kind == 3:
            del text[at:]
        else:
            other = chance.randrange(len(text) or 1)
            text[at:at] = text[other:other + chance.randrange(1, 40)]
    return bytes(text)


SOURCES = {
    "text": lambda: MODULE,
    "torch_mlir": cell,
    "stablehlo": lambda: jax.jit(nested).lower(W, XS[0], NS[0]).as_text(),
    "stablehlo_with_locations":
        lambda: jax.jit(looping).lower(W, XS[0], NS[0]).as_text(debug_info=True),
}


@pytest.mark.parametrize("count", [40, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("make", SOURCES.values(), ids=list(SOURCES))
def test_damaged_module(source, make, count):
    """The result is a model or an error. More than a quarter of the modules cause errors."""
    chance = random.Random(7)
    whole = make().encode()
    failed = 0
    for i in range(count):
        source.write_bytes(damaged(chance, whole))
        result = batch_import("in.mlir", "-o", "out.mlir")
        assert result.code in (0, 1), f"module {i}: {result}"
        assert os.path.exists("out.mlir") == (result.code == 0), f"module {i}: {result}"
        if result.code == 1:
            assert "error" in result.errors, f"module {i}: {result}"
            failed += 1
        else:
            os.remove("out.mlir")
    assert failed > count // 4
    assert os.listdir() == ["in.mlir"]


# --- missing tools ----------------------------------------------------------------------

def hide_tools(monkeypatch):
    """Hides batch-compile and batch-opt from batch-import."""
    monkeypatch.setenv("BATCH_COMPILE", "/none")
    monkeypatch.setenv("PATH", os.path.dirname(shutil.which("env")))


def test_model_without_compiler_is_not_checked(source, monkeypatch):
    source.write_text(BAD)
    hide_tools(monkeypatch)
    result = batch_import(source)
    assert result.code == 0
    assert "batch-import: warning: the model is not checked: " in result.errors


def test_bytecode_without_batch_opt(source, monkeypatch):
    source.write_bytes(bytecode())
    hide_tools(monkeypatch)
    result = batch_import(source)
    assert result.code == 1
    assert "in.mlir: error: reading bytecode requires batch-opt" in result.errors


def test_compiler_that_fails_without_message(source, tmp_path, monkeypatch):
    source.write_text(BAD)
    script = tmp_path / "compile"
    script.write_text("#!/bin/sh\ncat > /dev/null\nexit 3\n")
    script.chmod(0o755)
    monkeypatch.setenv("BATCH_COMPILE", str(script))
    result = batch_import("in.mlir")
    assert result.code == 1
    assert result.errors == "in.mlir: error: compile exited with status 3\n"


def test_stablehlo_without_jax(source):
    source.write_text("func.func @f() {\n  stablehlo.return\n}\n")
    done = run_python(f"""
        import sys
        sys.modules["jax"] = sys.modules["jaxlib"] = None  # as if they were not installed
        from batch.cli import import_model
        import_model.main([{str(source)!r}])
    """)
    assert done.stdout == \
        f"{source}: error: reading StableHLO requires JAX; run pip install 'jax>=0.9'\n"
