"""Models and bound functions from files and from other processes.

The pickle of a model contains its object. A process opens equal objects once, so a model that
arrives again is the model that arrived first. Objects also cross with the functions of batch.vmap,
which otherwise compile their modules again.
"""

from __future__ import annotations

import atexit
import copyreg
import functools
import hashlib
import os
import tempfile
from typing import Any, NoReturn

from batch._native import Cancellation, Error
from batch.core.errors import CompileError
from batch.core.lru_cache import LruCache
from batch.runtime.compiler import compile
from batch.runtime.device import parse_device
from batch.runtime.model import Function, Model, Source
from batch.runtime.model_file import read_model_file
from batch.runtime.parameters import ParameterValue, given_parameters

# Limits on the values from other processes that this process keeps.
_models, _functions, _objects = LruCache(64), LruCache(64), LruCache(64)


@atexit.register
def _clear():
    """Frees models before the extension module."""
    _models.clear()
    _functions.clear()


# --- models ------------------------------------------------------------------------------

def _compiled(source: Source) -> Model:
    text = source.text if b"\n" in source.text else source.text + b"\n"
    strategy, *options = source.arguments
    return compile(text, strategy=strategy.partition("=")[2], options=options)


def _decisions(source: Source) -> tuple[list[dict[str, Any]], str]:
    return _compiled(source).decisions()[0], source.name


def _opened(data: bytes, source: Source | None) -> Model:
    """Returns the model of an object. Compiles the model if this machine cannot run the object.

    Raises batch.Error if there is no compiler either.
    """
    try:
        model = Model.of_object(data)
    except Error as error:
        if source is None:
            raise
        try:
            return _compiled(source)
        except CompileError as failure:
            raise Error(f"{error}; the model cannot be compiled here either: {failure}") from None
    return _with_source(model, source) if source else model


def _with_source(model: Model, source: Source) -> Model:
    model.source = source
    model.decisions = functools.lru_cache(functools.partial(_decisions, source))
    return model


def _received_model(digest: str, data: bytes, source: tuple[Any, ...] | None,
                    device: str) -> Model:
    model = _models.get(digest, lambda: _opened(data, Source(*source) if source else None))
    model.device = device
    return model


def _reduced_model(model: Model) -> tuple[Any, ...]:
    source = model.source and tuple(model.source)
    digest = hashlib.sha256(model.object + repr((source, model.device)).encode()).hexdigest()
    return _received_model, (digest, model.object, source, model.device)


# --- modules of batch.vmap ---------------------------------------------------------------

class CarriedObject:
    """Object of a module. A process that unpickles it does not compile the module."""

    def __init__(self, key: str, data: bytes) -> None:
        self._key, self._data = key, data

    def __reduce__(self) -> Any:
        return _received_object, (self._key, self._data)


def _received_object(key: str, data: bytes) -> CarriedObject:
    _objects.get(key, lambda: data)
    return CarriedObject(key, data)


def _key(text: str, strategy: str, device: str) -> str:
    return hashlib.sha256(f"{strategy} {device}\n{text}".encode()).hexdigest()


def carried_object(text: str, strategy: str, model: Model) -> CarriedObject:
    """Returns the object of a module, for the pickle of a function."""
    return CarriedObject(_key(text, strategy, model.device), model.object)


def arrived_model(text: str, strategy: str, device: str) -> Model | None:
    """Returns the model of a module, if its object has arrived and this machine can run it."""
    data = _objects.find(_key(text, strategy, device))
    if data is None:
        return None
    try:
        model = Model.of_object(data)
    except Error:
        return None
    kind, _ = parse_device(device)
    arguments = [f"--strategy={strategy}", *[f"--device={kind}"] * (kind != "cpu")]
    model.device = device
    return _with_source(model, Source(text.encode(), tuple(arguments), "a module"))


# --- bound functions ---------------------------------------------------------------------

def _bound(model: Model, parameters: ParameterValue, options: dict[str, Any]) -> Function:
    if not isinstance(parameters, bytes):
        return model.bind(parameters, bits=True, **options)
    with tempfile.NamedTemporaryFile(prefix="batch-") as file:
        file.write(parameters)
        file.flush()
        function = model.bind(file.name, **options)
    function.given = function.given._replace(parameters=given_parameters(parameters))
    return function


def _received_function(token: str, model: Model, parameters: ParameterValue,
                       options: dict[str, Any]) -> Function:
    function = _functions.get(token, lambda: _bound(model, parameters, options))
    function.token = token
    return function


def _reduced_function(function: Function) -> tuple[Any, ...]:
    if function.token is None:
        function.token = os.urandom(16).hex()
    parameters, options = function.given
    return _received_function, (function.token, function.model, parameters.value(), options)


def load(path: str | os.PathLike[str]) -> Model | Function:
    """Reads a file of Model.save() or Function.save(). Returns such a Model or Function.

    Needs neither the compiler nor JAX. If this machine lacks instructions that the saved code
    uses, the model is compiled again.

    The file contains machine code, which the returned object runs. Load only files that you trust.

    Raises a ValueError if the file has another format. Raises batch.Error if this machine can
    neither run the code nor compile the model.
    """
    file = read_model_file(path)
    model = _opened(file.object, Source(*file.source) if file.source else None)
    if file.parameters is None or file.options is None:
        return model
    return _bound(model, file.parameters, file.options)


def _refused(_: Cancellation) -> NoReturn:
    raise TypeError("a batch.Cancellation belongs to this process and cannot be pickled; create "
                    "one in the process that calls the function")


copyreg.pickle(Model, _reduced_model)
copyreg.pickle(Function, _reduced_function)
copyreg.pickle(Cancellation, _refused)
