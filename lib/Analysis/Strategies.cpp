//===- Strategies.cpp - Legal control strategies --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Strategies.h"

#include "Batch/Analysis/StepFunctions.h"
#include "Batch/Analysis/StepProgram.h"
#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Analysis/WorkEstimate.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::batch;

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

Strategy Strategies::choose() {
  if (isLegal(Strategy::Linearize))
    return Strategy::Linearize;
  if (isLegal(Strategy::Lockstep) &&
      (!isLegal(Strategy::Lazy) || getOperationsPerWait() < kOperationsPerWait))
    return Strategy::Lockstep;
  return isLegal(Strategy::Lazy) ? Strategy::Lazy : Strategy::None;
}

LogicalResult Strategies::emitError(const Obstacle &obstacle) {
  InFlightDiagnostic error = mlir::emitError(obstacle.loc) << obstacle.text;
  std::string legal;
  for (Strategy other : {Strategy::Linearize, Strategy::Lockstep,
                         Strategy::Mask, Strategy::Lazy, Strategy::None}) {
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
