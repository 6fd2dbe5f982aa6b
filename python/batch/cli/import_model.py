"""batch-import: converts modules of front ends to models for batch-compile."""

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys

from batch.cli.model_names import as_entry
from batch.cli.resources import take_resources, write_values
from batch.core.errors import CompileError, TextError
from batch.runtime.compiler import compiler
from batch.runtime.signature import Text

_HELP = """\
Converts a module from another front end to a model for batch-compile. The module
contains StableHLO (JAX), linalg on tensors (torch-mlir), or only func, linalg,
tensor, arith, math and scf, as text or bytecode. Its entry function computes one
instance. Options name its arguments and results, and specify the arguments that
are the same for all instances: the parameters.

  python -c "import jax, jax.numpy as jnp; f = lambda W, x: jnp.tanh(W @ x)
  print(jax.jit(f).lower(jnp.ones((4, 4)), jnp.ones(4)).as_text())" > f.mlir
  batch-import f.mlir --name=0=W --name=1=x --shared=W --outputs=y -o model.mlir
  batch-run model.mlir --params=random:1 --inputs=random:1,8
"""
_BYTECODE = b"ML\xefR"


def _options(arguments):
    parser = argparse.ArgumentParser(
        "batch-import", description=_HELP, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="module to read (-: standard input)")
    parser.add_argument("-o", dest="output", metavar="FILE", default="-",
                        help="write the model to FILE (default: standard output)")
    parser.add_argument("--entry", metavar="FUNCTION",
                        help="use FUNCTION as the entry (default: a function with batch.entry, "
                        "'main', or the only public function)")
    parser.add_argument("--name", metavar="ARG=NAME", action="append", default=[],
                        help="rename an argument; ARG is its position, from 0, or its current "
                        "name")
    parser.add_argument("--shared", metavar="ARG,...", action="append", default=[],
                        help="make these arguments parameters, which all instances share")
    parser.add_argument("--outputs", metavar="NAME,...", help="name the results")
    parser.add_argument("--params", metavar="FILE",
                        help="write the values of dense_resource constants to FILE (.safetensors "
                        "or .npz) instead of the model, and name the parameters by their keys")
    parser.add_argument("--no-check", action="store_true",
                        help="do not check the model with batch-compile")
    return parser.parse_args(arguments)


# --- reading -----------------------------------------------------------------------------

def _batch_opt_of(compiler):
    """Returns the path of batch-opt, which reads bytecode, or None."""
    path = os.path.join(os.path.dirname(compiler), "batch-opt")
    return path if os.access(path, os.X_OK) else shutil.which("batch-opt")


def _text_of_bytecode(data, file):
    try:
        tool = _batch_opt_of(compiler())
    except CompileError:
        tool = shutil.which("batch-opt")
    if not tool:
        raise TextError(f"{file}: error: reading bytecode requires batch-opt; put it next to "
                        "batch-compile or on the PATH")
    return _tool([tool, "-"], data, file)


def _tool(command, data, file):
    """Returns the output of a tool for this input.

    Raises a TextError with the tool's message if it fails.
    """
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode == 0:
        return done.stdout
    message = (done.stderr + done.stdout).decode(errors="replace").strip()
    message = re.sub(r"<stdin>(?=:)|(?<=\")-(?=\":\d)", lambda _: file, message)
    raise TextError(message or f"{file}: error: {os.path.basename(command[0])} exited with "
                    f"status {done.returncode}")


def _is_stablehlo(data, file):
    """Returns whether a module contains operations of the StableHLO dialects.

    Ignores attributes with such names, and words in strings and comments.
    """
    names = ("stablehlo", "chlo", "vhlo")
    if data[:4] == _BYTECODE:
        return any(name.encode() in data for name in names)
    before = ""
    for _, token in Text(data.decode(), file).tokens():
        if before and token != "=":
            return True
        # In the generic syntax, the names of operations are quoted.
        name = token.strip('"')
        before = name if re.fullmatch(r"\w+\.\w+", name) and \
            name.partition(".")[0] in names else ""
    return False


def _read(data, file):
    """Returns a module's text, the text for the compiler to check, and argument names."""
    if not data.strip():
        raise TextError(f"{file}: error: the module is empty")
    if data[:4] != _BYTECODE:
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise TextError(f"{file}: error: expected MLIR bytecode or UTF-8 text, got an invalid "
                            f"byte at offset {error.start}") from None
    if _is_stablehlo(data, file):
        try:
            from batch.lowering.stablehlo import lower_stablehlo  # loads JAX
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] not in ("jax", "jaxlib"):
                raise
            raise TextError(f"{file}: error: reading StableHLO requires JAX; run pip install "
                            "'jax>=0.9'") from None
        return lower_stablehlo(data, file)
    if data[:4] == _BYTECODE or b'"func.func"(' in data:
        data = _text_of_bytecode(data, file)
    text = data.decode()
    return text, text, {}


# --- the command -------------------------------------------------------------------------

def _check(text, file):
    try:
        program = compiler()
    except CompileError as error:
        print(f"batch-import: warning: the model is not checked: {error}", file=sys.stderr)
        return
    _tool([program, "-", "--explain-json"], text.encode(), file)


def _replaced(path):
    """Returns the regular file that a write to `path` replaces or creates; follows symbolic links.

    Returns None if the file is written in place: a device, a pipe, or the target of a link in
    /proc.
    """
    for _ in range(40):
        if not os.path.islink(path):
            break
        if os.path.realpath(os.path.dirname(path)).startswith("/proc/"):
            return None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return path if os.path.isfile(path) or not os.path.exists(path) else None


@contextlib.contextmanager
def _files(paths):
    """Opens files for writing. Existing files are replaced after all files have been written."""
    with contextlib.ExitStack() as stack:
        partial, streams = {}, []
        try:
            for path in paths:
                name = path
                replaced = _replaced(path)
                if replaced is not None:
                    name = partial[replaced] = f"{replaced}.{os.getpid()}.partial"
                streams.append(stack.enter_context(open(name, "wb")))
            yield streams
            stack.close()
            while partial:
                path, name = partial.popitem()
                os.replace(name, path)
        finally:
            for name in partial.values():
                with contextlib.suppress(FileNotFoundError):
                    os.remove(name)


def _import(options):
    if options.file == "-":
        file, data = "<stdin>", sys.stdin.buffer.read()
    else:
        file = options.file
        with open(file, "rb") as stream:
            data = stream.read()
    if options.params and not options.params.endswith((".safetensors", ".npz")):
        raise TextError(f"{file}: error: invalid value '{options.params}' for --params; expected "
                        "a .safetensors or .npz file")
    text, located, known = _read(data, file)
    values = {}
    if options.params:
        text, values = take_resources(text, file)
        located, _ = take_resources(located, file)
        if not values:
            raise TextError(f"{file}: error: the module has no dense_resource constants "
                            "with values; omit --params")
    model, entry = as_entry(Text(text, file), known, options)
    if not options.no_check:
        checked = model if located == text else \
            as_entry(Text(located, file), known, options)[0]
        _check(checked, file)
    written = ["shared {}: tensor<{}>".format(key, "x".join([*map(str, shape), kind.lower()]))
               for key, (kind, shape, _) in values.items()]
    paths = [path for path in (options.output, options.params) if path and path != "-"]
    with _files(paths) as streams:
        if options.output == "-":
            sys.stdout.write(model)
        else:
            streams[0].write(model.encode())
        if options.params:
            write_values(values, options.params, streams[-1])
    if options.output != "-":
        print(entry)
        for line in written:
            print(f"  and {line}, stored in {options.params}")


def main(arguments=None):
    options = _options(arguments)
    try:
        _import(options)
    except TextError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print("{}: error: {}".format(error.filename or "batch-import", error.strerror),
              file=sys.stderr)
    except RecursionError:
        print(f"{options.file}: error: the module is nested too deeply", file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
