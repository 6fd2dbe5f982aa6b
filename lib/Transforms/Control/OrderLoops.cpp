//===- OrderLoops.cpp - Order of the tasks of loops -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/LoopLayers.h"
#include "Batch/Analysis/Tuning.h"
#include "Batch/Analysis/UnitCosts.h"
#include "Batch/Transforms/Control/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::batch {
#define GEN_PASS_DEF_ORDERLOOPSPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {
class OrderLoopsPass : public batch::impl::OrderLoopsPassBase<OrderLoopsPass> {
  using OrderLoopsPassBase::OrderLoopsPassBase;

  void runOnOperation() override {
    InstanceProgram program(getOperation());
    if (program.getStrategy() != Strategy::Replicate)
      return;
    if (failed(choices.load(tuning, &getContext())))
      return signalPassFailure();
    layered.clear();
    Sharedness sharedness(program);
    TensorCode code(program, sharedness);
    WalkResult result =
        program.getEntry().walk([&](LoopLikeOpInterface loop) -> WalkResult {
          if (code.contains(loop))
            return WalkResult::skip();
          return decide(loop, code, sharedness);
        });
    if (result.wasInterrupted() ||
        failed(choices.checkLoops(getOperation(), layered)))
      signalPassFailure();
  }

  LogicalResult decide(LoopLikeOpInterface loop, const TensorCode &code,
                       const Sharedness &sharedness) {
    auto given = loop->getAttrOfType<OrderAttr>(kOrderAttr);
    if (!isCounted(loop)) {
      if (given && given.getValue() != Order::Rounds)
        return loop.emitError("loop has order '")
               << stringifyOrder(given.getValue())
               << "', but its number of rounds is unknown until it ends; use "
                  "a counted loop, or order 'rounds'";
      return success();
    }
    LoopLayers layers = findLayers(loop, code);
    if (layers.getNumLayers() <= 2)
      return success();
    layered.push_back(loop.getLoc());
    if (given)
      return success();
    Order chosen;
    if (order != LoopOrder::Auto)
      chosen = *symbolizeOrder(getOptionName<LoopOrder>(order));
    else if (std::optional<Order> known = choices.getOrder(loop.getLoc()))
      chosen = *known;
    else
      chosen = choose(loop, layers, sharedness);
    loop->setAttr(kOrderAttr, OrderAttr::get(&getContext(), chosen));
    return success();
  }

  Order choose(LoopLikeOpInterface loop, const LoopLayers &layers,
               const Sharedness &sharedness) {
    const int64_t bytes = layers.countParameterBytes(sharedness);
    auto name = remark::RemarkOpts::name("OrderLoops").category("batch");
    std::string text = llvm::formatv(
        "products between the {0} layers read {1} bytes of parameters",
        layers.getNumLayers(), bytes);
    EstimatedCosts costs(gpu);
    if (!costs.isLongerThanBarrier(bytes)) {
      remark::missed(loop.getLoc(), name)
          << "order 'rounds': " + text + ", too few to group rounds";
      return Order::Rounds;
    }
    remark::passed(loop.getLoc(), name)
        << "order 'layers': " + text + " once per group of rounds";
    return Order::Layers;
  }

  Tuning choices;
  /// Locations of counted loops with more than two layers.
  SmallVector<Location> layered;
};
} // namespace
