//===- XlaApi.h - Declarations of XLA's call interface ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These declarations replace jaxlib's header xla/ffi/api/c_api.h, so jaxlib
// need not be installed to build the extension. `CallFrame` is its
// XLA_FFI_CallFrame, and so on. python/tests/test_xla_header.py compares them
// with the header of the installed jaxlib.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_PYTHON_XLAAPI_H
#define BATCH_PYTHON_XLAAPI_H

#include <cstddef>
#include <cstdint>

namespace batch::xla {
/// Version of the interface in the oldest supported jaxlib, 0.9. Newer versions
/// only add fields.
constexpr int majorVersion = 0, minorVersion = 2;

enum class ExtensionType : int { Metadata = 1 };

struct Extension {
  size_t structSize;
  ExtensionType type;
  Extension *next;
};

struct Version {
  size_t structSize;
  Extension *extensions;
  int major;
  int minor;
};

struct Error;

enum class ErrorCode : int {
  Cancelled = 1,
  InvalidArgument = 3,
  ResourceExhausted = 8,
  Internal = 13,
};

struct ErrorArguments {
  size_t structSize;
  Extension *extensions;
  const char *message;
  ErrorCode code;
};

/// The first functions of XLA.
struct Api {
  size_t structSize;
  Extension *extensions;
  Version version;
  const void *internal;
  Error *(*createError)(ErrorArguments *arguments);
};

enum class DataType : int {
  Pred = 1,
  S8 = 2,
  S16 = 3,
  S32 = 4,
  S64 = 5,
  U8 = 6,
  U16 = 7,
  U32 = 8,
  U64 = 9,
  F16 = 10,
  F32 = 11,
  F64 = 12,
  BF16 = 16,
};

struct Buffer {
  size_t structSize;
  Extension *extensions;
  DataType type;
  void *data;
  int64_t rank;
  int64_t *shape;
};

enum class BufferKind : int { Dense = 1 };

/// Arguments or results of a call.
struct Buffers {
  size_t structSize;
  Extension *extensions;
  int64_t size;
  BufferKind *kinds;
  Buffer **buffers;
};

enum class AttributeKind : int { Scalar = 3 };

struct Span {
  const char *data;
  size_t size;
};

struct Scalar {
  DataType type;
  void *value;
};

/// Attributes of a call, sorted by name.
struct Attributes {
  size_t structSize;
  Extension *extensions;
  int64_t size;
  AttributeKind *kinds;
  Span **names;
  void **values;
};

enum class Stage : int {
  Instantiate = 0,
  Prepare = 1,
  Initialize = 2,
  Execute = 3,
};

struct CallFrame {
  size_t structSize;
  Extension *extensions;
  const Api *api;
  void *context;
  Stage stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};

struct Metadata {
  size_t structSize;
  Version version;
  uint32_t traits;
};

/// With this extension, a call only asks for the handler's metadata.
struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

using Handler = Error *(CallFrame *frame);
} // namespace batch::xla

#endif // BATCH_PYTHON_XLAAPI_H
