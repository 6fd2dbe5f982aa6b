//===- JsonLines.h - Instances as JSON lines --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_FORMATS_JSONLINES_H
#define BATCH_RUNTIME_LIB_FORMATS_JSONLINES_H

#include "../Forest/ValueBuilder.h"

namespace batchrt {

/// Parses one line, the arguments of one instance, into the forest. `where`
/// begins messages ("FILE:3:").
void parseJsonInstance(const Descriptor &descriptor, const char *begin,
                       const char *end, const std::string &where, int64_t line,
                       ValueBuilder &builder, InputTensors &tensors,
                       Vocabulary &words, Forest &forest);

/// Returns the message of an error of nlohmann::json without its prefix. Adds a
/// hint if the parser stopped in a NaN or an infinity without quotes.
std::string jsonErrorText(std::string message);

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_FORMATS_JSONLINES_H
