//===- PlanSteps.h - The steps that executors run ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_PLANSTEPS_H
#define BATCH_RUNTIME_PLANSTEPS_H

#include "batch-runtime/IndexArrays.h"
#include "batch-runtime/Memory.h"
#include "batch-runtime/PlanRows.h"
#include "batch-runtime/Tables.h"
#include "batch-runtime/TaskOrder.h"

#include <vector>

namespace batchrt {

/// The steps of a plan in memory, with the addresses of operands, results and
/// scratch memory. The next plan reuses all memory.
class PlanSteps {
public:
  explicit PlanSteps(const Descriptor &descriptor);

  /// Creates the steps from the other components of the plan.
  void build(const TaskOrder &order, const PlanRows &rows,
             const IndexArrays &arrays, const Tables &tables);

  /// Returns one plan for all parts, or one plan for each part.
  const std::vector<BatchPlan> &plans() const { return planList; }
  /// Returns all steps, plan after plan.
  std::vector<BatchStep> &steps() { return stepList; }

  /// Consecutive steps that all workers share or that one worker runs.
  struct Range {
    int64_t begin, end;
    bool shared;
  };
  /// Cuts the single plan into ranges of steps. Workers share concurrent steps
  /// if these have enough tasks: at least `shareTasks`, or the number that
  /// their kernels specify if `shareTasks` is 0. No barrier follows the last
  /// step of a range.
  void shareSteps(int64_t workers, int64_t shareTasks);
  const std::vector<Range> &ranges() const { return rangeList; }

  /// Returns the memory of intermediates.
  ImageRegion region() const {
    return {scratch.data(), usedScratchBytes, ImageRegion::DeviceOnly,
            "intermediates"};
  }
  /// Returns the scratch memory that each worker needs to run the steps, in
  /// bytes.
  size_t workerScratch() const { return usedWorkerBytes; }
  /// Return the size in bytes of all arrays, and of intermediates.
  size_t bytes() const;
  size_t scratchBytes() const { return scratch.capacity(); }
  /// Returns the number of bytes that the steps copy for inserts.
  int64_t copiedBytes() const { return usedCopiedBytes; }

private:
  /// The positions in `operands` and `results` where the lists of a kernel's
  /// first step begin. The lists of the kernel's other steps follow.
  struct StepLists {
    size_t operands = 0, results = 0;
  };

  void makeLists(const TaskOrder &order, const PlanRows &rows,
                 const IndexArrays &arrays, const Tables &tables);
  void makeSteps(const TaskOrder &order);
  int64_t copiedBytes(const KernelInfo &kernel, const BatchStep &step) const;
  void reserveScratch();

  const Descriptor &descriptor;
  std::vector<StepLists> stepLists; ///< indexed by kernel
  std::vector<BatchOperand> operands;
  std::vector<char *> results;
  std::vector<BatchStep> stepList;
  std::vector<BatchPlan> planList;
  std::vector<Range> rangeList;
  Buffer scratch;
  size_t usedScratchBytes = 0, usedWorkerBytes = 0;
  int64_t usedCopiedBytes = 0;
  std::vector<int64_t> scratchOffsets; ///< indexed by step
};

} // namespace batchrt

#endif // BATCH_RUNTIME_PLANSTEPS_H
