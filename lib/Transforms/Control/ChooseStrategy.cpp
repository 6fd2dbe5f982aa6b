//===- ChooseStrategy.cpp - Choose where control runs ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Strategies.h"
#include "Batch/Transforms/Control/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CHOOSESTRATEGYPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// "model.mlir:7:10: this op has effects", for a reader without the source.
static std::string toString(const Obstacle &obstacle) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto file = obstacle.loc->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ":" << file.getLine() << ":"
       << file.getColumn() << ": ";
  os << obstacle.text;
  return text;
}

namespace {

struct ChooseStrategyPass
    : batch::impl::ChooseStrategyPassBase<ChooseStrategyPass> {
  using ChooseStrategyPassBase::ChooseStrategyPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    InstanceProgram program(module);
    func::FuncOp entry = program.getEntry();
    if (!entry)
      return;
    Strategies strategies(program);
    if (const std::optional<Obstacle> &obstacle =
            strategies.getObstacle(Strategy::None)) {
      (void)strategies.emitError(*obstacle);
      return signalPassFailure();
    }
    Strategy chosen = getKnown(entry);
    if (chosen == Strategy::Auto)
      chosen = strategy;
    if (strategy != Strategy::Auto && strategy != chosen) {
      entry.emitError("the entry has strategy '")
          << stringifyStrategy(chosen) << "', but strategy '"
          << stringifyStrategy(strategy)
          << "' is requested; leave out the option or the attribute";
      return signalPassFailure();
    }
    if (chosen == Strategy::Auto) {
      chosen = strategies.choose();
      explain(entry, chosen, strategies);
    }
    entry->setAttr(kStrategyAttr, StrategyAttr::get(&getContext(), chosen));
  }

private:
  /// The strategy that is in the source, or that a machine was made for.
  Strategy getKnown(func::FuncOp entry) {
    if (auto given = entry->getAttrOfType<StrategyAttr>(kStrategyAttr))
      return given.getValue();
    for (auto machine : getOperation().getOps<MachineOp>())
      return machine.getFrames() ? Strategy::Mask : Strategy::Lockstep;
    return Strategy::Auto;
  }

  /// Reports why `auto` became `chosen`.
  void explain(func::FuncOp entry, Strategy chosen, Strategies &strategies) {
    const std::optional<Obstacle> &ahead =
        strategies.getObstacle(Strategy::Linearize);
    if (chosen != Strategy::None) {
      std::string why = ("strategy '" + stringifyStrategy(chosen) + "': " +
                         (ahead ? StringRef(ahead->text)
                                : "control reads nothing but the inputs"))
                            .str();
      remark::passed(
          ahead ? ahead->loc : entry.getLoc(),
          remark::RemarkOpts::name("ChooseStrategy").category("batch"))
          << why;
      return;
    }
    entry->setAttr(kNotBatchedAttr,
                   StringAttr::get(&getContext(), toString(*ahead)));
    InFlightDiagnostic warning = emitWarning(ahead->loc);
    warning << "not batched, runs one instance at a time: " << ahead->text;
    const Obstacle &lanes = *strategies.getObstacle(Strategy::Lockstep);
    warning.attachNote(lanes.loc)
        << "strategy 'lockstep' is not legal either: " << lanes.text;
    const Obstacle &wait = *strategies.getObstacle(Strategy::Lazy);
    warning.attachNote(wait.loc)
        << "strategy 'lazy' is not legal either: " << wait.text;
  }
};

} // namespace
