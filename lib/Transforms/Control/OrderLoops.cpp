//===- OrderLoops.cpp - Order of the tasks of loops -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/LoopLayers.h"
#include "Batch/Transforms/Control/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::batch {
#define GEN_PASS_DEF_ORDERLOOPSPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// The fewest bytes of parameters for which rounds wait for each other's
/// products: they take about as long to read as a barrier.
static constexpr int64_t kWorthBytes = 1 << 16;

/// The bytes of parameters that products of the layers 2, 4, … read.
static int64_t countProductBytes(const LoopLayers &layers, Block &body,
                                 const Sharedness &sharedness) {
  int64_t bytes = 0;
  for (Operation &op : body.without_terminator()) {
    linalg::LinalgOp product = getContraction(&op);
    if (!product)
      continue;
    unsigned layer = layers.getLayer(&op);
    if (layer == 0 || layer % 2 != 0)
      continue;
    for (Value operand : product.getDpsInputs()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (type && type.hasStaticShape() && sharedness.isShared(operand))
        bytes += type.getNumElements() *
                 llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    }
  }
  return bytes;
}

namespace {
class OrderLoopsPass : public batch::impl::OrderLoopsPassBase<OrderLoopsPass> {
  using OrderLoopsPassBase::OrderLoopsPassBase;

  void runOnOperation() override {
    InstanceProgram program(getOperation());
    if (program.getStrategy() != Strategy::Replicate)
      return;
    Sharedness sharedness(program);
    TensorCode code(program, sharedness);
    WalkResult result =
        program.getEntry().walk([&](LoopLikeOpInterface loop) -> WalkResult {
          if (code.contains(loop))
            return WalkResult::skip();
          return decide(loop, code, sharedness);
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult decide(LoopLikeOpInterface loop, const TensorCode &code,
                       const Sharedness &sharedness) {
    auto given = loop->getAttrOfType<OrderAttr>(kOrderAttr);
    if (!isCounted(loop)) {
      if (given && given.getValue() != Order::Rounds)
        return loop.emitError("has order '")
               << stringifyOrder(given.getValue())
               << "', but knows its number of rounds only when it ends; use a "
                  "counted loop, or order 'rounds'";
      return success();
    }
    if (given)
      return success();
    LoopLayers layers = findLayers(loop, code);
    if (layers.getNumLayers() <= 2)
      return success();
    Order chosen = order == LoopOrder::Auto
                       ? choose(loop, layers, sharedness)
                       : *symbolizeOrder(getOptionName<LoopOrder>(order));
    loop->setAttr(kOrderAttr, OrderAttr::get(&getContext(), chosen));
    return success();
  }

  Order choose(LoopLikeOpInterface loop, const LoopLayers &layers,
               const Sharedness &sharedness) {
    int64_t bytes = countProductBytes(
        layers, loop.getLoopRegions().front()->front(), sharedness);
    auto name = remark::RemarkOpts::name("OrderLoops").category("batch");
    std::string text = llvm::formatv(
        "{0} layers, between which products read {1} bytes of parameters",
        layers.getNumLayers(), bytes);
    if (bytes < kWorthBytes) {
      remark::missed(loop.getLoc(), name)
          << "order 'rounds': " + text + ", too few to wait for rounds";
      return Order::Rounds;
    }
    remark::passed(loop.getLoc(), name)
        << "order 'layers': " + text + ", once for a group of rounds";
    return Order::Layers;
  }
};
} // namespace
