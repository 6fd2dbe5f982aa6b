//===- ChooseStrategy.cpp - Choose where control flow runs ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ControlStructure.h"
#include "Batch/Analysis/NumberForm.h"
#include "Batch/Analysis/Sharedness.h"
#include "Batch/Analysis/Strategies.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Transforms/Control/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CHOOSESTRATEGYPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Returns the location and the text of `obstacle`, for a reader who does not
/// see the source. Example: "model.mlir:7:10: 'cf.assert' has effects".
static std::string toString(const Obstacle &obstacle) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto file = obstacle.loc->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ":" << file.getLine() << ":"
       << file.getColumn() << ": ";
  os << obstacle.text;
  return text;
}

/// Describes the decisions that depend on `scalar`, directly or only through
/// scalar operations. Example: "whether the loop at model.mlir:7:3 continues".
static SmallVector<std::string> listDecisions(Value scalar) {
  SmallVector<std::string> decisions;
  auto decides = [&](const char *what, Operation *op, const char *does) {
    std::string text = what + describePlace(op->getLoc()) + does;
    if (!llvm::is_contained(decisions, text))
      decisions.push_back(std::move(text));
  };
  llvm::SmallSetVector<Value, 8> values;
  values.insert(scalar);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      if (isa<scf::ConditionOp>(user)) {
        if (use.getOperandNumber() == 0)
          decides("whether the loop", user->getParentOp(), " continues");
      } else if (isa<scf::IfOp, scf::IndexSwitchOp>(user)) {
        decides("which branch of the conditional", user, " runs");
      } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
        if (use.getOperandNumber() < loop.getNumControlOperands())
          decides("how often the loop", user, " runs");
      } else if (user->getNumRegions() == 0 &&
                 llvm::none_of(user->getResultTypes(),
                               llvm::IsaPred<ShapedType>)) {
        values.insert_range(user->getResults());
      }
    }
  return decisions;
}

/// Reports every element of a computed tensor that control flow reads, the
/// decisions that depend on it, and how the strategy handles it.
static void explainControl(const InstanceProgram &program, Strategy strategy) {
  if (strategy == Strategy::None)
    return;
  StringRef then = strategy == Strategy::Replicate
                       ? "every unit reads it after it is computed"
                   : strategy == Strategy::Lazy
                       ? "the instance waits for a flush that computes it"
                       : "each lane follows its own value";
  Sharedness sharedness(program);
  StructuralControl control(program, sharedness);
  for (tensor::ExtractOp read : control.getWaits()) {
    SmallVector<std::string> decisions = listDecisions(read.getResult());
    std::string what = decisions.empty() ? "control flow reads this element"
                                         : "this element decides " +
                                               llvm::join(decisions, ", and ");
    remark::analysis(read.getLoc(),
                     remark::RemarkOpts::name("Control").category("batch"))
        << what + "; " + then.str();
  }
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
    Strategies strategies(program, gpu);
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
          << "' is requested; omit the option or the attribute";
      return signalPassFailure();
    }
    if (chosen == Strategy::Auto) {
      chosen = strategies.choose(instances);
      if (strategies.runsPerUnit())
        entry->setAttr(kPerUnitAttr, UnitAttr::get(&getContext()));
      explain(entry, chosen, strategies);
    } else if (gpu) {
      // Later passes check the strategy too, but do not know the target.
      if (const std::optional<Obstacle> &obstacle =
              strategies.getObstacle(chosen)) {
        (void)strategies.emitError(*obstacle);
        return signalPassFailure();
      }
    }
    explainControl(program, chosen);
    entry->setAttr(kStrategyAttr, StrategyAttr::get(&getContext(), chosen));
  }

private:
  /// Returns the strategy that the source specifies, the strategy for which a
  /// machine was created, or `auto`.
  Strategy getKnown(func::FuncOp entry) {
    if (auto given = entry->getAttrOfType<StrategyAttr>(kStrategyAttr))
      return given.getValue();
    for (auto machine : getOperation().getOps<MachineOp>())
      return machine.getFrames() ? Strategy::Mask : Strategy::Lockstep;
    return Strategy::Auto;
  }

  /// Reports why `auto` became `chosen`, and the obstacles to other strategies.
  void explain(func::FuncOp entry, Strategy chosen, Strategies &strategies) {
    const std::optional<Obstacle> &ahead =
        strategies.getObstacle(Strategy::Linearize);
    auto name = remark::RemarkOpts::name("ChooseStrategy").category("batch");
    if (entry->hasAttr(kPerUnitAttr)) {
      remark::passed(entry.getLoc(), name)
          << ("strategy 'replicate', with one worker per instance: no tensor "
              "of an instance has more than " +
              Twine(kFewElements) +
              " elements, so each worker runs its instances in registers")
                 .str();
      return;
    }
    if (!ahead && chosen == Strategy::Replicate) {
      remark::passed(strategies.findLayeredLoop()->getLoc(), name)
          << llvm::formatv(
                 "strategy 'replicate': layers of this loop read parameters "
                 "once for many rounds, and a mini-batch has {0} instance",
                 instances)
                 .str();
      return;
    }
    if (!ahead) {
      remark::passed(entry.getLoc(), name)
          << "strategy 'linearize': control flow reads only the inputs";
      return;
    }
    if (chosen == Strategy::None)
      return warn(entry, *ahead, strategies);
    std::string why =
        ("strategy '" + stringifyStrategy(chosen) + "': " + ahead->text).str();
    if (chosen == Strategy::Replicate) {
      why +=
          instances > kFewInstances
              ? ", and every unit runs the control flow of all instances"
              : llvm::formatv(", and a mini-batch has {0} instance", instances)
                    .str();
    } else if (strategies.isLegal(Strategy::Lazy) &&
               strategies.isLegal(Strategy::Lockstep)) {
      const double work = strategies.getOperationsPerWait();
      why += llvm::formatv(
          ", and an instance computes {0} operations between "
          "two waits, {1} {2}",
          int64_t(work), work < kOperationsPerWait ? "fewer than" : "at least",
          int64_t(kOperationsPerWait));
    }
    remark::passed(ahead->loc, name) << why;
    if (chosen == Strategy::Replicate && !gpu)
      return;
    for (Strategy other :
         {Strategy::Replicate, Strategy::Lockstep, Strategy::Lazy})
      if (const std::optional<Obstacle> &obstacle =
              strategies.getObstacle(other))
        remark::missed(obstacle->loc, name)
            << ("strategy '" + stringifyStrategy(other) +
                "' is not legal: " + obstacle->text)
                   .str();
  }

  /// Warns that `auto` became `none`.
  void warn(func::FuncOp entry, const Obstacle &ahead, Strategies &strategies) {
    entry->setAttr(kNotBatchedAttr,
                   StringAttr::get(&getContext(), toString(ahead)));
    InFlightDiagnostic warning = emitWarning(ahead.loc);
    warning << "the program is not batched and runs one instance at a time: "
            << ahead.text;
    for (Strategy other :
         {Strategy::Replicate, Strategy::Lockstep, Strategy::Lazy}) {
      const Obstacle &obstacle = *strategies.getObstacle(other);
      warning.attachNote(obstacle.loc)
          << "strategy '" << stringifyStrategy(other)
          << "' is not legal either: " << obstacle.text;
    }
  }
};

} // namespace
