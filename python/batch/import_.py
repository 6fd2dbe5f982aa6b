"""batch-import: modules that front ends write become models for batch-compile."""

import argparse
import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import sys

import numpy

from batch import _compiler, _signature
from batch._signature import TextError

_HELP = """\
Writes a model that batch-compile takes, of a module that another front end has
written: StableHLO (JAX), linalg on tensors (torch-mlir), or any module of func,
linalg, tensor, arith, math and scf; text or bytecode. The function that is the
entry takes one instance; its arguments and results get names, and the arguments
that are the same for all instances are said to be shared.

  python -c "import jax, jax.numpy as jnp; f = lambda W, x: jnp.tanh(W @ x)
  print(jax.jit(f).lower(jnp.ones((4, 4)), jnp.ones(4)).as_text())" > f.mlir
  batch-import f.mlir --name=0=W --name=1=x --shared=W --outputs=y -o model.mlir
  batch-run model.mlir --params=random:1 --inputs=random:1,8
"""
_BYTECODE = b"ML\xefR"
_TYPES = {"f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64", "i1": "BOOL",
          "i8": "I8", "i16": "I16", "i32": "I32", "i64": "I64"}
_NUMPY = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "BOOL": "?", "I8": "i1", "I16": "<i2",
          "I32": "<i4", "I64": "<i8"}


def _options(arguments):
    parser = argparse.ArgumentParser(
        "batch-import", description=_HELP, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the module; - is standard input")
    parser.add_argument("-o", dest="output", metavar="FILE", default="-",
                        help="where the model goes; default: standard output")
    parser.add_argument("--entry", metavar="FUNCTION", help="the function that is the "
                        "entry; default: 'main', or the only one that is not private")
    parser.add_argument("--name", metavar="ARG=NAME", action="append", default=[],
                        help="the name of an argument, which is given by its position, "
                        "from 0, or by its name so far")
    parser.add_argument("--shared", metavar="ARG,...", action="append", default=[],
                        help="arguments that are the same for all instances: parameters")
    parser.add_argument("--outputs", metavar="NAME,...", help="the names of the results")
    parser.add_argument("--params", metavar="FILE", help="write the values of "
                        "dense_resource constants, which are parameters by their keys, to "
                        "this .safetensors or .npz file, and leave them out of the model")
    parser.add_argument("--no-check", action="store_true",
                        help="do not ask batch-compile whether it takes the model")
    return parser.parse_args(arguments)


# --- reading -----------------------------------------------------------------------------

def _beside(compiler):
    """batch-opt, which reads bytecode."""
    path = os.path.join(os.path.dirname(compiler), "batch-opt")
    return path if os.access(path, os.X_OK) else shutil.which("batch-opt")


def _text_of_bytecode(data, file):
    try:
        tool = _beside(_compiler.compiler())
    except _compiler.CompileError:
        tool = shutil.which("batch-opt")
    if not tool:
        raise TextError("%s: error: bytecode is read by batch-opt, which is neither "
                        "beside batch-compile nor on the PATH" % file)
    return _tool([tool, "-"], data, file)


def _tool(command, data, file):
    """What a tool prints, of this input."""
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode == 0:
        return done.stdout
    message = (done.stderr + done.stdout).decode(errors="replace").strip()
    message = re.sub(r"<stdin>(?=:)|(?<=\")-(?=\":\d)", lambda _: file, message)
    raise TextError(message or "%s: error: %s ended with %d" % (
        file, os.path.basename(command[0]), done.returncode))


def _is_stablehlo(data, file):
    """Whether a module has operations of StableHLO's dialects. Attributes with such names
    are none, nor are words in strings and comments."""
    names = ("stablehlo", "chlo", "vhlo")
    if data[:4] == _BYTECODE:
        return any(name.encode() in data for name in names)
    before = ""
    for _, token in _signature.Text(data.decode(), file).tokens():
        if before and token != "=":
            return True
        # An operation is a word, or in the generic form a string.
        name = token.strip('"')
        before = name if re.fullmatch(r"\w+\.\w+", name) and \
            name.partition(".")[0] in names else ""
    return False


def _read(data, file):
    """The module's text, its text for the compiler to check, and names of arguments."""
    if not data.strip():
        raise TextError("%s: error: the module is empty" % file)
    if data[:4] != _BYTECODE:
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise TextError("%s: error: this is neither MLIR's bytecode nor text in UTF-8 "
                            "(byte %d)" % (file, error.start)) from None
    if _is_stablehlo(data, file):
        try:
            from batch import _stablehlo
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] not in ("jax", "jaxlib"):
                raise
            raise TextError("%s: error: StableHLO is read by jaxlib: pip install "
                            "'jax>=0.9'" % file) from None
        return _stablehlo.lower(data, file)
    if data[:4] == _BYTECODE or b'"func.func"(' in data:
        data = _text_of_bytecode(data, file)
    text = data.decode()
    return text, text, {}


# --- names -------------------------------------------------------------------------------

def _plain(path):
    """params['W'][0].b → params.W.0.b"""
    return re.sub(r"\[(?:'([^']*)'|\"([^\"]*)\"|(\d+))\]",
                  lambda m: "." + next(filter(None, m.groups()), ""), path)


def _entry(text, functions, wanted):
    by_name = {function.name: function for function in functions if function.has_body}
    if not by_name:
        raise TextError("%s: error: the module has no function with a body: `func.func "
                        "@NAME(…) -> … {`" % text.file)
    names = ", ".join(by_name)
    if wanted is not None:
        if wanted not in by_name:
            raise TextError("%s: error: there is no function '%s'; there are: %s" % (
                text.file, wanted, names))
        return by_name[wanted]
    public = [f for f in by_name.values() if not f.is_private]
    for choice in ([f for f in by_name.values() if "batch.entry" in f.attributes],
                   [f for f in public if f.name == "main"], public):
        if len(choice) == 1:
            return choice[0]
    raise TextError("%s: error: which function is the entry? --entry=NAME says it; there "
                    "are: %s" % (text.file, names))


def _position(text, argument, names, option):
    """Of an argument that an option names."""
    if argument.isdecimal() and int(argument) < len(names[0]):
        return int(argument)
    for known in names:
        if known.count(argument) == 1:
            return known.index(argument)
    raise TextError("%s: error: %s: there is no argument '%s'; there are: %s" % (
        text.file, option, argument,
        ", ".join("%d (%s)" % pair for pair in enumerate(names[-1]))))


def _check_names(text, kind, values, names):
    for i, (value, name) in enumerate(zip(values, names)):
        if not _signature.is_name(name):
            raise text.error(value.start, "%s %d cannot be called %r: names have no "
                             "quotes or backslashes" % (kind, i, name))
        if name in names[:i]:
            raise text.error(value.start, "%ss %d and %d are both called '%s'; %s" % (
                kind, names.index(name), i, name, "--name=%d=NAME is another name" % i
                if kind == "argument" else "--outputs=NAME,... are others"))


def _names_of_arguments(text, entry, known, options):
    names = []
    for i, argument in enumerate(entry.arguments):
        given = next(filter(None, (_signature.string(argument.attributes, attribute)
                                   for attribute in ("batch.name", "batch.shared"))), None)
        own = argument.name or "%d" % i
        names.append(given or _plain(known[i] if i < len(known) and known[i] else
                                     "arg" + own if own.isdigit() else own))
    before = list(names)
    for option in options.name:
        argument, equals, name = option.rpartition("=")
        if not equals:
            raise TextError("%s: error: --name=%s: write --name=ARG=NAME" % (
                text.file, option))
        names[_position(text, argument, [before], "--name")] = name
    shared = {i for i, argument in enumerate(entry.arguments)
              if "batch.shared" in argument.attributes}
    for argument in ",".join(options.shared).split(",") if options.shared else ():
        shared.add(_position(text, argument.strip(), [before, names], "--shared"))
    _check_names(text, "argument", entry.arguments, names)
    if len(shared) == len(names):
        raise text.error(entry.place, "%s: an entry has one that differs from instance to "
                         "instance" % ("all arguments of '%s' are shared" % entry.name
                                       if names else "'%s' has no arguments" % entry.name))
    return names, shared


def _names_of_results(text, entry, options):
    values = entry.results
    if not values:
        raise text.error(entry.place, "'%s' has no results: an entry has some" %
                         entry.name)
    if options.outputs is not None:
        names = [name.strip() for name in options.outputs.split(",")]
        if len(names) != len(values):
            raise TextError("%s: error: --outputs names %d results, '%s' has %d" % (
                text.file, len(names), entry.name, len(values)))
    else:
        names = []
        for i, value in enumerate(values):
            info = _plain(_signature.string(value.attributes, "jax.result_info") or "")
            path = info.removeprefix("result").lstrip(".")
            names.append(_signature.string(value.attributes, "batch.name") or (
                path if path and not path[0].isdigit() else
                "result" + (path or ("%d" % i if len(values) > 1 else ""))))
    _check_names(text, "result", values, names)
    return names


def _as_entry(text, known, options):
    """The text with a function as the entry, and what the entry is, in words."""
    functions = _signature.functions(text)
    entry = _entry(text, functions, options.entry)
    names, shared = _names_of_arguments(text, entry, known.get(entry.name, []), options)
    outputs = _names_of_results(text, entry, options)
    for function in functions:
        function.attributes.pop("batch.entry", None)
    entry.attributes["batch.entry"] = "batch.entry"
    for i, (argument, name) in enumerate(zip(entry.arguments, names)):
        kind = "batch.shared" if i in shared else "batch.name"
        argument.attributes.pop("batch.name", None)
        argument.attributes.pop("batch.shared", None)
        argument.attributes[kind] = '%s = "%s"' % (kind, name)
    for result, name in zip(entry.results, outputs):
        result.attributes["batch.name"] = 'batch.name = "%s"' % name
    for function in functions:
        function.write()
    parts = ["%s%s: %s" % ("shared " if i in shared else "", name, argument.type)
             for i, (argument, name) in enumerate(zip(entry.arguments, names))]
    results = ["%s: %s" % (name, result.type)
               for result, name in zip(entry.results, outputs)]
    return text.changed(), "entry @%s(%s) -> (%s)" % (
        entry.name, ", ".join(parts), ", ".join(results))


# --- values of resources -----------------------------------------------------------------

def _take_resources(text, file):
    """The text without values of resources, and these: key → (type, shape, bytes)."""
    start = text.rfind("{-#")
    if start < 0:
        return text, {}
    values = {}
    for key, quoted, data in re.findall(r'(?:([\w$.-]+)|"([^"\n]*)")\s*:\s*"0x([^"\n]*)"',
                                        text[start:]):
        key = key or quoted
        kind = re.search(r'dense_resource<"?%s"?>\s*:\s*tensor<((?:\d+x)*)(\w+)>' %
                         re.escape(key), text[:start])
        if not kind:  # which no constant has
            continue
        if kind[2] not in _TYPES:
            raise TextError("%s: error: resource '%s' has elements of type %s, which "
                            "parameters have not" % (file, key, kind[2]))
        shape = [int(n) for n in kind[1].split("x")[:-1]]
        try:
            found = bytes.fromhex(data)[4:]  # behind the alignment
        except ValueError:
            raise TextError("%s: error: resource '%s' is no hexadecimal number" % (
                file, key)) from None
        size = math.prod(shape) * (int(re.sub(r"\D", "", kind[2])) + 7 >> 3)
        if len(found) != size:
            raise TextError("%s: error: resource '%s' has %d bytes, tensor<%s%s> %d" % (
                file, key, len(found), kind[1], kind[2], size))
        values[key] = _TYPES[kind[2]], shape, found
    return text[:start].rstrip() + "\n", values


def _packed(values, path, stream):
    if path.endswith(".npz"):
        refused = [key for key, (kind, _, _) in values.items() if kind not in _NUMPY]
        if refused:
            raise TextError("%s: error: NumPy has no bf16, which '%s' has: write a "
                            ".safetensors file" % (path, refused[0]))
        numpy.savez(stream, **{key: numpy.frombuffer(data, _NUMPY[kind]).reshape(shape)
                               for key, (kind, shape, data) in values.items()})
        return
    header, at = {}, 0
    for key, (kind, shape, data) in values.items():
        header[key] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    header = json.dumps(header).encode()
    header += b" " * (-len(header) % 8)
    stream.write(len(header).to_bytes(8, "little") + header)
    for _, _, data in values.values():
        stream.write(data)


# --- the command -------------------------------------------------------------------------

def _check(text, file):
    try:
        compiler = _compiler.compiler()
    except _compiler.CompileError as error:
        print("batch-import: not checked: %s" % error, file=sys.stderr)
        return
    _tool([compiler, "-", "--explain-json"], text.encode(), file)


def _replaced(path):
    """The regular file that a file written to `path` replaces, behind symbolic links; None
    where it is written in place: a device, a pipe, and what a link of /proc names."""
    for _ in range(40):
        if not os.path.islink(path):
            break
        if os.path.realpath(os.path.dirname(path)).startswith("/proc/"):
            return None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return path if os.path.isfile(path) or not os.path.exists(path) else None


@contextlib.contextmanager
def _files(paths):
    """Files to write, which are there when all have been written."""
    with contextlib.ExitStack() as stack:
        partial, streams = {}, []
        try:
            for path in paths:
                name = path
                replaced = _replaced(path)
                if replaced is not None:
                    name = partial[replaced] = "%s.%d.partial" % (replaced, os.getpid())
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
        raise TextError("--params=%s: error: write a .safetensors or an .npz file" %
                        options.params)
    text, located, known = _read(data, file)
    values = {}
    if options.params:
        text, values = _take_resources(text, file)
        located, _ = _take_resources(located, file)
        if not values:
            raise TextError("%s: error: the module has no values of dense_resource "
                            "constants that --params could write" % file)
    model, entry = _as_entry(_signature.Text(text, file), known, options)
    if not options.no_check:
        checked = model if located == text else \
            _as_entry(_signature.Text(located, file), known, options)[0]
        _check(checked, file)
    written = ["shared %s: tensor<%s>" % (key, "x".join([*map(str, shape), kind.lower()]))
               for key, (kind, shape, _) in values.items()]
    paths = [path for path in (options.output, options.params) if path and path != "-"]
    with _files(paths) as streams:
        if options.output == "-":
            sys.stdout.write(model)
        else:
            streams[0].write(model.encode())
        if options.params:
            _packed(values, options.params, streams[-1])
    if options.output != "-":
        print(entry)
        for line in written:
            print("  and %s, in %s" % (line, options.params))


def main(arguments=None):
    options = _options(arguments)
    try:
        _import(options)
    except TextError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print("%s: error: %s" % (error.filename or "batch-import", error.strerror),
              file=sys.stderr)
    except RecursionError:
        print("%s: error: the module nests too deeply" % options.file, file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
