//===- StepProgram.cpp - A program in lockstep ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/StepProgram.h"

#include "Batch/Analysis/StepFunctions.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::batch;

static Obstacle makeObstacle(Location loc, const Twine &text) {
  return {loc, text.str()};
}

static std::string toString(Type type) {
  return llvm::formatv("'{0}'", type).str();
}

//===----------------------------------------------------------------------===//
// Obstacles in the original program
//===----------------------------------------------------------------------===//

static std::optional<Obstacle> findDataStructure(Location loc,
                                                 TypeRange types) {
  for (Type type : types)
    if (isa<rec::RecDialect>(type.getDialect()))
      return makeObstacle(loc, "this value of type " + toString(type) +
                                   " is a data structure, which strategies "
                                   "'lockstep' and 'mask' do not support");
  return std::nullopt;
}

static std::optional<Obstacle> findObstacle(Operation *op) {
  if (isa_and_nonnull<rec::RecDialect>(op->getDialect()) &&
      !isa<rec::PhaseOp>(op))
    return makeObstacle(op->getLoc(),
                        describeOp(op) +
                            " uses a data structure, which strategies "
                            "'lockstep' and 'mask' do not support");
  return findDataStructure(op->getLoc(), op->getResultTypes());
}

static std::optional<Obstacle> findObstacle(const InstanceProgram &program) {
  std::optional<Obstacle> obstacle = findProgramObstacle(program);
  if (obstacle)
    return obstacle;
  for (func::FuncOp function : program.getFunctions()) {
    for (BlockArgument argument : function.getArguments()) {
      obstacle = findDataStructure(argument.getLoc(), argument.getType());
      if (obstacle)
        return obstacle;
    }
    function.walk([&](Operation *op) {
      obstacle = findObstacle(op);
      return obstacle ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (obstacle)
      return obstacle;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Obstacles in the steps of the program
//===----------------------------------------------------------------------===//

StepProgram::StepProgram(const InstanceProgram &original, bool tailCalls)
    : obstacle(findObstacle(original)) {
  if (obstacle)
    return;
  module = copyAsStepFunctions(original, tailCalls);
  analyses.emplace(*module);
  obstacle = findParameterObstacle();
  for (func::FuncOp function : analyses->program.getFunctions())
    if (!obstacle)
      obstacle = findVariableObstacle(function);
  for (func::FuncOp function : analyses->program.getFunctions())
    if (!obstacle)
      obstacle = findEffect(function);
}

bool StepProgram::isRematerializable(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isPure(op))
    return false;
  if (op->getNumOperands() == 0 && op->getNumRegions() == 0)
    return true;
  return isa<linalg::FillOp, tensor::SplatOp>(op) &&
         llvm::all_of(op->getOperands(), isRematerializable);
}

bool StepProgram::isOfLane(Value value) const {
  if (value.use_empty() || analyses->sharedness.getParameter(value) ||
      isRematerializable(value))
    return false;
  auto call = value.getDefiningOp<func::CallOp>();
  return !call || !StepLiveness::isTailCall(call);
}

/// Returns an obstacle if calls pass different values as a parameter of the
/// entry, or different parameters as a matrix of a function. Variables would
/// have to store a copy of the parameter for every lane.
std::optional<Obstacle> StepProgram::findParameterObstacle() const {
  const InstanceProgram &program = analyses->program;
  const Sharedness &sharedness = analyses->sharedness;
  func::FuncOp entry = program.getEntry();
  for (BlockArgument argument : entry.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (!entry.getArgAttr(number, kSharedAttr) ||
        sharedness.getParameter(argument))
      continue;
    for (func::CallOp call : program.getCallers(entry))
      if (call.getOperand(number) != argument)
        return makeObstacle(
            call.getLoc(),
            "argument #" + Twine(number) +
                " of the entry is a parameter, but this call passes another "
                "value; call a function that is not the entry");
  }
  for (func::FuncOp function : program.getFunctions())
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type || type.getRank() < 2 || !type.hasStaticShape())
        continue;
      unsigned number = argument.getArgNumber();
      std::optional<int64_t> first;
      for (func::CallOp call : program.getCallers(function)) {
        std::optional<int64_t> parameter =
            sharedness.getParameter(call.getOperand(number));
        if (!parameter)
          continue;
        if (!first)
          first = parameter;
        if (*first != *parameter)
          return makeObstacle(
              call.getLoc(),
              "this call and another one pass different parameters as "
              "argument #" +
                  Twine(number) + " of @" + function.getSymName() +
                  "; run batch-duplicate-functions before "
                  "batch-recursion-to-stack");
      }
    }
  return std::nullopt;
}

/// Returns an obstacle if a variable cannot store a value or result of
/// `function` that needs one, for example because its size is dynamic.
std::optional<Obstacle>
StepProgram::findVariableObstacle(func::FuncOp function) const {
  auto describe = [](Type type, StringRef rest) {
    return "type " + toString(type) + rest.str() +
           "strategies 'lockstep' and 'mask' can only store integers of at "
           "most 64 bits, index, f16, bf16, f32, f64 and nonempty static "
           "tensors of them";
  };
  std::optional<Obstacle> obstacle;
  auto check = [&](ValueRange values) {
    for (Value value : values)
      if (!obstacle && needsVariable(value) &&
          !VariableOp::isValidType(value.getType()))
        obstacle = {value.getLoc(),
                    describe(value.getType(),
                             " of a value that is stored between steps is not "
                             "supported: ")};
  };
  for (Block *block : getProgramOrder(function)) {
    check(block->getArguments());
    for (Operation &op : *block)
      check(op.getResults());
  }
  for (auto [number, type] : llvm::enumerate(function.getResultTypes()))
    if (!obstacle && !VariableOp::isValidType(type))
      obstacle = {function.getLoc(), "result #" + std::to_string(number) +
                                         ": " +
                                         describe(type, " is not supported: ")};
  return obstacle;
}

/// Returns an obstacle if an op of `function` has side effects, because a block
/// may run for any lanes in any order.
std::optional<Obstacle> StepProgram::findEffect(func::FuncOp function) const {
  for (Block *block : getProgramOrder(function))
    for (Operation &op : block->without_terminator())
      if (!isa<func::CallOp>(op) && !isOpTriviallyDead(&op) &&
          !isMemoryEffectFree(&op))
        return makeObstacle(op.getLoc(),
                            describeOp(&op) +
                                " has effects; strategies 'lockstep' and "
                                "'mask' can only run code without effects");
  return std::nullopt;
}
