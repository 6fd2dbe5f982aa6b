//===- OptionError.h - Errors about options ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_SUPPORT_OPTIONERROR_H
#define BATCH_SUPPORT_OPTIONERROR_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace mlir::batch {

/// Starts an error about an option, or about a file that an option names. The
/// location of the error is unknown, because no line of the module caused it.
inline InFlightDiagnostic emitOptionError(MLIRContext *context,
                                          const Twine &message = "") {
  return emitError(UnknownLoc::get(context), message);
}

} // namespace mlir::batch

#endif // BATCH_SUPPORT_OPTIONERROR_H
