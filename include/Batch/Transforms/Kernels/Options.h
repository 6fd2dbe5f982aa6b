//===- Options.h - Options of kernel passes ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_KERNELS_OPTIONS_H
#define BATCH_TRANSFORMS_KERNELS_OPTIONS_H

#include "Batch/Support/NamedOption.h"

namespace mlir::batch {

/// Operators that batch-layout-pq treats as equal in a kernel; `None` leaves
/// kernels unchanged.
enum class EqualOperators { None, Parameters, Shapes };

template <>
struct OptionNames<EqualOperators> {
  static NameList<EqualOperators> list() {
    return {{"none", EqualOperators::None},
            {"weights", EqualOperators::Parameters},
            {"shapes", EqualOperators::Shapes}};
  }
};

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::EqualOperators)

#endif // BATCH_TRANSFORMS_KERNELS_OPTIONS_H
