"""Files of compiled models: ZIP archives without pickles.

    batch.json          version of the format, options of Model.bind() and of the compiler
    object.so           compiled code
    module.mlir         text of the module, unless only the object is known
    parameters.file, or parameters/NAME.npy for each parameter of a bound model
"""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

if TYPE_CHECKING:
    from batch.runtime.model import Source
    from batch.runtime.parameters import ParameterValue

_FORMAT = 1
_ARRAYS, _FILE = "parameters/", "parameters.file"


class ModelFile(NamedTuple):
    """Contents of a file.

    source: (text, arguments, name) of a Source, or None.
    parameters, options: arguments of Model.bind(); None for a model without parameters.
    """
    object: bytes
    source: tuple[bytes, tuple[str, ...], str] | None
    parameters: ParameterValue | None
    options: dict[str, Any] | None


def write_model_file(path: str | os.PathLike[str], data: bytes, source: Source | None,
                     parameters: ParameterValue | None = None,
                     options: Mapping[str, Any] | None = None) -> None:
    """Writes a file, and replaces an older one only after all bytes are written."""
    about = {"format": _FORMAT, "options": options,
             "source": source and {"arguments": source.arguments, "name": source.name}}
    partial = f"{os.fspath(path)}.{os.urandom(16).hex()}.partial"
    try:
        with zipfile.ZipFile(partial, "x") as archive:
            def put(name: str, content: bytes) -> None:
                archive.writestr(zipfile.ZipInfo(name), content)  # without the time of day

            put("batch.json", json.dumps(about).encode())
            put("object.so", data)
            if source:
                put("module.mlir", source.text)
            if isinstance(parameters, bytes):
                put(_FILE, parameters)
            elif parameters is not None:
                for name, array in parameters.items():
                    info = zipfile.ZipInfo(f"{_ARRAYS}{name}.npy")
                    with archive.open(info, "w", force_zip64=True) as member:
                        numpy.lib.format.write_array(member, array, allow_pickle=False)
        os.replace(partial, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)


def read_model_file(path: str | os.PathLike[str]) -> ModelFile:
    """Reads a file.

    Raises a ValueError for other files, and for files of a newer version.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(archive.read("batch.json"))
            if about["format"] != _FORMAT:
                raise ValueError(
                    f"{os.fspath(path)!r} has format {about['format']}, but this version of Batch "
                    f"reads format {_FORMAT}; save the model again with this version")
            source = about["source"]
            parameters: Any = None
            if about["options"] is not None:
                parameters = archive.read(_FILE) if _FILE in archive.namelist() else {
                    name[len(_ARRAYS):-len(".npy")]: _array(archive, name)
                    for name in archive.namelist() if name.startswith(_ARRAYS)}
            return ModelFile(
                archive.read("object.so"), source and (
                    archive.read("module.mlir"), tuple(source["arguments"]), source["name"]),
                parameters, about["options"])
    except (zipfile.BadZipFile, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{os.fspath(path)!r} is not a saved model ({error}); expected a file of "
                         "Model.save() or Function.save()") from None


def _array(archive, name):
    with archive.open(name) as member:
        return numpy.lib.format.read_array(member, allow_pickle=False)
