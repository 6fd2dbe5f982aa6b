//===- Options.h - Options of passes that create programs -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_OPTIONS_H
#define BATCH_CONVERSION_BATCHTOUPROG_OPTIONS_H

#include "Batch/Analysis/WorkEstimate.h"
#include "Batch/Support/NamedOption.h"

namespace mlir::batch {

/// Units that run an instance with strategy `replicate`: one unit by itself,
/// the blocks of a cluster, or all units together. `Auto` selects the level
/// with the lowest estimated time.
enum class InstanceLevel { Auto, Block, Cluster, Device };

template <>
struct OptionNames<InstanceLevel> {
  static NameList<InstanceLevel> list() {
    return {{"auto", InstanceLevel::Auto},
            {"block", InstanceLevel::Block},
            {"cluster", InstanceLevel::Cluster},
            {"device", InstanceLevel::Device}};
  }
};

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::InstanceLevel)

#endif // BATCH_CONVERSION_BATCHTOUPROG_OPTIONS_H
