//===- Options.h - Options of control-flow passes ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_CONTROL_OPTIONS_H
#define BATCH_TRANSFORMS_CONTROL_OPTIONS_H

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Support/NamedOption.h"

namespace mlir::batch {

template <>
struct OptionNames<Strategy>
    : EnumNames<Strategy, symbolizeStrategy, getMaxEnumValForStrategy()> {};

/// Order of the tasks of a loop; `Auto` leaves the choice to batch-order-loops.
enum class LoopOrder { Auto, Rounds, Layers, Wavefront };

template <>
struct OptionNames<LoopOrder> {
  static NameList<LoopOrder> list() {
    return {{"auto", LoopOrder::Auto},
            {"rounds", LoopOrder::Rounds},
            {"layers", LoopOrder::Layers},
            {"wavefront", LoopOrder::Wavefront}};
  }
};

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::LoopOrder)
BATCH_NAMED_OPTION(mlir::batch::Strategy)

#endif // BATCH_TRANSFORMS_CONTROL_OPTIONS_H
