//===- AttachPolicy.cpp - Attach a batching policy to a module ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Support/OptionError.h"
#include "Batch/Transforms/Memory/Passes.h"
#include "batch-runtime/Schedule/StateMachine.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::batch {
#define GEN_PASS_DEF_ATTACHPOLICYPASS
#include "Batch/Transforms/Memory/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {
class AttachPolicyPass
    : public batch::impl::AttachPolicyPassBase<AttachPolicyPass> {
  using AttachPolicyPassBase::AttachPolicyPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!policy && table.empty())
      return;
    batchrt::Policy kind = policy.value_or(batchrt::Policy::StateMachine);
    if ((kind == batchrt::Policy::StateMachine) == table.empty()) {
      emitOptionError(
          &getContext(),
          table.empty()
              ? "policy 'fsm' requires the table of a state machine; write "
                "one with 'batch-run --learn-policy=FILE'"
              : "only policy 'fsm' takes a table; omit the table or use 'fsm'");
      return signalPassFailure();
    }
    StringAttr text;
    if (!table.empty() && !(text = readTable(module)))
      return signalPassFailure();
    // Batching by depth is the default and needs no attribute.
    if (kind == batchrt::Policy::Depth)
      module->removeAttr(kPolicyAttr);
    else
      module->setAttr(kPolicyAttr, PolicyAttr::get(&getContext(), kind, text));
  }

  /// Reads the table, which must be for the module's kernels. Returns null
  /// after an error.
  StringAttr readTable(ModuleOp module) {
    auto file = llvm::MemoryBuffer::getFile(table, /*IsText=*/true);
    if (!file) {
      emitOptionError(&getContext(), "cannot read '")
          << table << "': " << file.getError().message();
      return {};
    }
    std::vector<std::string> kernels;
    for (auto kernel : module.getOps<KernelOp>())
      kernels.push_back(kernel.getSymName().str());
    batchrt::StateMachine machine;
    std::string wrong = machine.parse((*file)->getBuffer().str(), table);
    if (wrong.empty())
      wrong = machine.renumber(kernels);
    if (!wrong.empty()) {
      emitOptionError(&getContext(), wrong);
      return {};
    }
    return StringAttr::get(&getContext(), machine.print());
  }
};
} // namespace
