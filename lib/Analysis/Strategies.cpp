//===- Strategies.cpp - Legal control strategies --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Strategies.h"

#include "Batch/Analysis/StepFunctions.h"
#include "Batch/Analysis/StepProgram.h"
#include "Batch/Analysis/TensorCode.h"
#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Analysis/WorkEstimate.h"
#include "Batch/Dialect/Batch/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::batch;

/// A type as messages have it.
static std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "'" << type << "'";
  return text;
}

Strategies::Strategies(const InstanceProgram &program, bool gpu)
    : program(program), gpu(gpu) {}

/// An obstacle to an inspector that runs ahead of all tensor code.
static std::optional<Obstacle>
findTensorControl(const InstanceProgram &program) {
  Sharedness sharedness(program);
  std::optional<TensorControl> control =
      StructuralControl(program, sharedness).getTensorControl();
  if (!control)
    return std::nullopt;
  return Obstacle{control->op->getLoc(), "control depends on a tensor here"};
}

/// An obstacle to an inspector that waits for tensors.
static std::optional<Obstacle> findWaitObstacle(const InstanceProgram &program,
                                                bool gpu) {
  for (func::FuncOp function : program.getFunctions())
    if (!function.getBody().hasOneBlock())
      return Obstacle{function.getLoc(),
                      "strategy 'lazy' needs structured control, and this "
                      "function has several blocks"};
  Sharedness sharedness(program);
  StructuralControl control(program, sharedness);
  if (std::optional<TensorControl> first = control.getTensorControl();
      first && gpu)
    return Obstacle{first->op->getLoc(),
                    "control waits for tensors on CPUs only"};
  for (tensor::ExtractOp read : control.getWaits())
    if (!read.getTensor().getType().hasStaticShape())
      return Obstacle{read.getLoc(),
                      "control waits here for a tensor of dynamic shape, which "
                      "no table holds; read a slice of it of static shape"};
  return std::nullopt;
}

/// True for a type that a program of single instances has a place for.
static bool isInstanceType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return isElementType(type);
  return tensor.hasStaticShape() && tensor.getNumElements() > 0 &&
         isElementType(tensor.getElementType());
}

/// An obstacle in control to running single instances on all units.
static std::optional<Obstacle>
findInstanceObstacle(Operation *op, const TensorCode &code,
                     const Sharedness &sharedness) {
  if (code.contains(op) ||
      isa<InvokeOp, func::ReturnOp, scf::ForOp, scf::WhileOp, scf::IfOp,
          scf::IndexSwitchOp, scf::YieldOp, scf::ConditionOp, rec::FoldOp,
          rec::YieldOp, rec::LengthOp, tensor::ExtractOp,
          tensor::ExtractSliceOp>(op) ||
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    for (Value operand : op->getOperands())
      if (!isa<rec::ListType>(operand.getType()) &&
          !sharedness.getParameter(operand) &&
          !isInstanceType(operand.getType()))
        return Obstacle{op->getLoc(),
                        (Twine("strategy 'replicate' has no place for a ") +
                         toText(operand.getType()) + ", which this reads")
                            .str()};
    return std::nullopt;
  }
  if (isa<func::CallOp>(op))
    return Obstacle{op->getLoc(),
                    "strategy 'replicate' runs no recursion, which this calls"};
  return Obstacle{op->getLoc(), ("strategy 'replicate' does not run '" +
                                 op->getName().getStringRef() + "'")
                                    .str()};
}

/// An obstacle to running single instances on all units.
static std::optional<Obstacle>
findInstanceObstacle(const InstanceProgram &program) {
  func::FuncOp entry = program.getEntry();
  if (!entry.getBody().hasOneBlock())
    return Obstacle{entry.getLoc(),
                    "strategy 'replicate' needs structured control, and this "
                    "function has several blocks"};
  Sharedness sharedness(program);
  TensorCode code(program, sharedness);
  for (Type type : entry.getResultTypes())
    if (!isInstanceType(type))
      return Obstacle{entry.getLoc(),
                      ("strategy 'replicate' has no place for a " +
                       toText(type) + ", which is a result")};
  std::optional<Obstacle> found;
  entry.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!found)
      found = findInstanceObstacle(op, code, sharedness);
    // The bodies of tensor code are in kernels.
    return code.contains(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return found;
}

/// An obstacle to following tensors, which the passes after the analysis need.
static std::optional<Obstacle> findUnknownFlow(const InstanceProgram &program) {
  ValueFlowWalker walker(program);
  for (func::FuncOp function : program.getFunctions())
    walker.walk(function, [](Operation *, const rec::ValueFlowEdge &) {});
  if (Operation *unknown = walker.getUnknown())
    return Obstacle{unknown->getLoc(), kUnknownFlow.str()};
  return std::nullopt;
}

std::optional<Obstacle> Strategies::find(Strategy strategy) const {
  if (std::optional<Obstacle> obstacle = findProgramObstacle(program))
    return obstacle;
  if (strategy != Strategy::Lockstep)
    if (std::optional<Obstacle> obstacle = findUnknownFlow(program))
      return obstacle;
  switch (strategy) {
  case Strategy::Linearize:
    return findTensorControl(program);
  case Strategy::Lazy:
    return findWaitObstacle(program, gpu);
  case Strategy::Lockstep:
  case Strategy::Mask:
    return StepProgram(program, /*tailCalls=*/true).getObstacle();
  case Strategy::Replicate:
    return findInstanceObstacle(program);
  case Strategy::None:
  case Strategy::Auto:
    return std::nullopt;
  }
  llvm_unreachable("unknown strategy");
}

const std::optional<Obstacle> &Strategies::getObstacle(Strategy strategy) {
  // Masking differs from lock step only in the order of blocks.
  if (strategy == Strategy::Mask)
    strategy = Strategy::Lockstep;
  auto [known, isNew] = obstacles.try_emplace(strategy);
  if (isNew)
    known->second = find(strategy);
  return known->second;
}

double Strategies::getOperationsPerWait() const {
  Sharedness sharedness(program);
  WorkEstimate work =
      estimateWork(program, sharedness, StructuralControl(program, sharedness));
  // A wait in a branch may count as less than one.
  return work.operations / std::max(work.waits, 1.0);
}

Strategy Strategies::choose(int64_t instances) {
  if (isLegal(Strategy::Linearize))
    return Strategy::Linearize;
  if (instances <= kFewInstances && isLegal(Strategy::Replicate))
    return Strategy::Replicate;
  if (isLegal(Strategy::Lockstep) &&
      (!isLegal(Strategy::Lazy) || getOperationsPerWait() < kOperationsPerWait))
    return Strategy::Lockstep;
  return isLegal(Strategy::Lazy) ? Strategy::Lazy : Strategy::None;
}

LogicalResult Strategies::emitError(const Obstacle &obstacle) {
  InFlightDiagnostic error = mlir::emitError(obstacle.loc) << obstacle.text;
  std::string legal;
  for (Strategy other :
       {Strategy::Linearize, Strategy::Lockstep, Strategy::Mask, Strategy::Lazy,
        Strategy::Replicate, Strategy::None}) {
    if (!isLegal(other))
      continue;
    if (!legal.empty())
      legal += other == Strategy::None ? " and " : ", ";
    legal += "'" + stringifyStrategy(other).str() + "'";
  }
  if (!legal.empty())
    error.attachNote() << "legal strategies: " << legal
                       << ", which runs one instance at a time";
  return error;
}
