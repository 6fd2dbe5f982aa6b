"""The extension's declarations of XLA's interface agree with the header of jaxlib."""

import os
import re
import shutil
import subprocess

import jax
import pytest

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../src")
HEADER = "xla/ffi/api/c_api.h"
# Structs and their fields: those of XlaApi.h, and those of jaxlib.
STRUCTS = {
    ("Extension", "XLA_FFI_Extension_Base"): "structSize:struct_size type next",
    ("Version", "XLA_FFI_Api_Version"): "structSize:struct_size extensions:extension_start "
        "major:major_version minor:minor_version",
    ("ErrorArguments", "XLA_FFI_Error_Create_Args"): "structSize:struct_size "
        "extensions:extension_start message code:errc",
    ("Buffer", "XLA_FFI_Buffer"): "structSize:struct_size extensions:extension_start type:dtype "
        "data rank shape:dims",
    ("Buffers", "XLA_FFI_Args"): "structSize:struct_size extensions:extension_start size "
        "kinds:types buffers:args",
    ("Buffers", "XLA_FFI_Rets"): "structSize:struct_size extensions:extension_start size "
        "kinds:types buffers:rets",
    ("Span", "XLA_FFI_ByteSpan"): "data:ptr size:len",
    ("Scalar", "XLA_FFI_Scalar"): "type:dtype value",
    ("Attributes", "XLA_FFI_Attrs"): "structSize:struct_size extensions:extension_start size "
        "kinds:types names values:attrs",
    ("MetadataExtension", "XLA_FFI_Metadata_Extension"): "base:extension_base metadata",
}
# Structs that newer versions of jaxlib extend.
PREFIXES = {
    ("Api", "XLA_FFI_Api"): "structSize:struct_size extensions:extension_start "
        "version:api_version internal:internal_api createError:XLA_FFI_Error_Create",
    ("CallFrame", "XLA_FFI_CallFrame"): "structSize:struct_size extensions:extension_start api "
        "context:ctx stage arguments:args results:rets attributes:attrs",
    ("Metadata", "XLA_FFI_Metadata"): "structSize:struct_size version:api_version traits",
}
VALUES = {
    "ExtensionType": ["Metadata:XLA_FFI_Extension_Metadata"],
    "ErrorCode": ["Cancelled:XLA_FFI_Error_Code_CANCELLED",
                  "InvalidArgument:XLA_FFI_Error_Code_INVALID_ARGUMENT",
                  "ResourceExhausted:XLA_FFI_Error_Code_RESOURCE_EXHAUSTED",
                  "Internal:XLA_FFI_Error_Code_INTERNAL"],
    "DataType": ["Pred:XLA_FFI_DataType_PRED", *[
        f"{name}:XLA_FFI_DataType_{name}" for name in (
            "S8", "S16", "S32", "S64", "U8", "U16", "U32", "U64", "F16", "F32", "F64", "BF16")]],
    "BufferKind": ["Dense:XLA_FFI_ArgType_BUFFER", "Dense:XLA_FFI_RetType_BUFFER"],
    "AttributeKind": ["Scalar:XLA_FFI_AttrType_SCALAR"],
    "Stage": [f"{name}:XLA_FFI_ExecutionStage_{name.upper()}"
              for name in ("Instantiate", "Prepare", "Initialize", "Execute")],
}


def assertions():
    yield "static_assert(majorVersion == XLA_FFI_API_MAJOR);"
    yield "static_assert(minorVersion <= XLA_FFI_API_MINOR);"
    for (own, theirs), fields in {**STRUCTS, **PREFIXES}.items():
        for field in fields.split():
            a, b = field.split(":") if ":" in field else (field, field)
            yield f"static_assert(offsetof({own}, {a}) == offsetof({theirs}, {b}));"
            yield f"static_assert(sizeof({own}::{a}) == sizeof({theirs}::{b}));"
    for own, theirs in STRUCTS:
        yield f"static_assert(sizeof({own}) == sizeof({theirs}));"
    for kind, pairs in VALUES.items():
        for own, theirs in (pair.split(":") for pair in pairs):
            yield f"static_assert(int({kind}::{own}) == int({theirs}));"


def declared():
    """Returns the names of the structs and enumerations in XlaApi.h, with their members."""
    with open(os.path.join(SOURCES, "XlaApi.h")) as file:
        text = re.sub(r"//.*", "", file.read())
    for kind, name, body in re.findall(r"\b(struct|enum class) (\w+)(?: : int)? \{(.*?)\};", text,
                                       re.S):
        if kind == "struct":
            yield name, re.findall(r"\(?\*?\b(\w+)\)?(?:\([^)]*\))?;", body)
        else:
            yield name, re.findall(r"(\w+) =", body)


def test_all_declarations_are_compared():
    compared = {own: {field.split(":")[0] for field in fields.split()}
                for (own, _), fields in {**STRUCTS, **PREFIXES}.items()}
    compared.update((kind, {pair.split(":")[0] for pair in pairs})
                    for kind, pairs in VALUES.items())
    assert {name: set(members) for name, members in declared()} == compared


@pytest.mark.skipif(not shutil.which("c++"), reason="c++ is not installed")
def test_declarations_agree_with_jaxlib():
    program = "\n".join([
        '#include "XlaApi.h"', f'#include "{HEADER}"', "using namespace batch::xla;",
        *assertions()])
    done = subprocess.run(
        ["c++", "-std=c++17", "-fsyntax-only", "-x", "c++", "-I", SOURCES, "-isystem",
         jax.ffi.include_dir(), "-"], input=program, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
