//===- OutputFile.h - Files that the runtime writes -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_OUTPUTFILE_H
#define BATCH_RUNTIME_OUTPUTFILE_H

#include <functional>
#include <string>

namespace batchrt {

/// Writes the file `path`. The runtime writes every file with this function.
///
/// A regular or new file is written atomically: to a temporary file in the same
/// directory, which is then renamed. A symbolic link is kept, and its target is
/// replaced. Devices, pipes and targets of links in /proc are written in place.
void writeFile(
    const std::string &path,
    const std::function<void(const std::function<void(const void *, size_t)> &)>
        &produce);
void writeFile(const std::string &path, const std::string &text);

/// Removes the temporary files that are being written. For signal handlers that
/// end the program; async-signal-safe.
void removePartialFiles();

} // namespace batchrt

#endif // BATCH_RUNTIME_OUTPUTFILE_H
