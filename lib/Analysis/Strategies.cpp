//===- Strategies.cpp - Legal strategies ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Strategies.h"

#include "Batch/Analysis/LoopLayers.h"
#include "Batch/Analysis/NumberForm.h"
#include "Batch/Analysis/StepFunctions.h"
#include "Batch/Analysis/StepProgram.h"
#include "Batch/Analysis/TensorCode.h"
#include "Batch/Analysis/UnitCosts.h"
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

/// Returns a type as text for messages.
static std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "'" << type << "'";
  return text;
}

Strategies::Strategies(const InstanceProgram &program, bool gpu)
    : program(program), gpu(gpu) {}

/// Finds an obstacle to an inspector that runs ahead of all tensor code.
static std::optional<Obstacle>
findTensorControl(const InstanceProgram &program) {
  Sharedness sharedness(program);
  std::optional<TensorControl> control =
      StructuralControl(program, sharedness).getTensorControl();
  if (!control)
    return std::nullopt;
  return Obstacle{control->op->getLoc(),
                  "control flow depends on a tensor here"};
}

/// Finds an obstacle to an inspector that waits for tensors.
static std::optional<Obstacle> findWaitObstacle(const InstanceProgram &program,
                                                bool gpu) {
  for (func::FuncOp function : program.getFunctions())
    if (!function.getBody().hasOneBlock())
      return Obstacle{function.getLoc(),
                      "strategy 'lazy' requires structured control flow, but "
                      "this function has several blocks"};
  Sharedness sharedness(program);
  StructuralControl control(program, sharedness);
  if (std::optional<TensorControl> first = control.getTensorControl();
      first && gpu)
    return Obstacle{first->op->getLoc(),
                    "control flow can wait for tensors only on CPUs"};
  for (tensor::ExtractOp read : control.getWaits())
    if (!read.getTensor().getType().hasStaticShape())
      return Obstacle{
          read.getLoc(),
          "control flow waits here for a tensor of dynamic shape, which cannot "
          "be stored in a table; read a slice of static "
          "shape"};
  return std::nullopt;
}

/// Returns true for a type that a program for single instances can store.
static bool isInstanceType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return isElementType(type);
  return tensor.hasStaticShape() && tensor.getNumElements() > 0 &&
         isElementType(tensor.getElementType());
}

/// Returns true for an op that may have values of ADTs as operands in a program
/// for single instances.
static bool takesAdts(Operation *op) {
  return isa<rec::MatchOp, rec::ConstructOp, rec::YieldOp, scf::YieldOp,
             func::CallOp, func::ReturnOp>(op);
}

/// Returns true for a node of the input: a function argument, or a value
/// extracted from an argument by matches and folds.
static bool isInputNode(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(owner))
      return true;
    if (auto match = dyn_cast<rec::MatchOp>(owner)) {
      value = match.getValue();
      continue;
    }
    auto fold = dyn_cast<rec::FoldOp>(owner);
    if (!fold || !llvm::is_contained(fold.getElements(), argument))
      return false;
    value = fold.getLists()[argument.getArgNumber() -
                            fold.getElements().front().getArgNumber()];
  }
  return false;
}

namespace {
/// Finds the first obstacle to running single instances on all units.
class InstanceObstacles {
public:
  explicit InstanceObstacles(const InstanceProgram &program)
      : program(program), sharedness(program), code(program, sharedness),
        recursions(program, sharedness) {}

  std::optional<Obstacle> find();

private:
  std::optional<Obstacle> findIn(func::FuncOp function);
  std::optional<Obstacle> check(Operation *op);
  std::optional<Obstacle> checkCall(func::CallOp call);
  std::optional<Obstacle> checkOperands(Operation *op);
  bool isLoopOverNodes(func::FuncOp function) const;

  const InstanceProgram &program;
  Sharedness sharedness;
  TensorCode code;
  RecursionClasses recursions;
};
} // namespace

/// Returns true if a loop over the nodes of a data structure replaces
/// `function`.
bool InstanceObstacles::isLoopOverNodes(func::FuncOp function) const {
  return llvm::any_of(
      recursions.getClasses(), [&](const RecursionClass &component) {
        return component.onePassPerCall &&
               llvm::is_contained(component.functions, function);
      });
}

std::optional<Obstacle> InstanceObstacles::checkCall(func::CallOp call) {
  func::FuncOp callee = program.getCallee(call);
  if (!callee || !isLoopOverNodes(callee))
    return Obstacle{call.getLoc(),
                    "strategy 'replicate' does not support this call; it only "
                    "supports recursion that visits all nodes of an argument, "
                    "children first"};
  if (program.isRecursiveCall(call))
    return std::nullopt;
  if (call->getParentOfType<func::FuncOp>() != program.getEntry() ||
      call->getParentOfType<LoopLikeOpInterface>())
    return Obstacle{call.getLoc(),
                    "strategy 'replicate' does not support a recursion inside "
                    "a loop or another recursion"};
  for (Type type : call.getResultTypes())
    if (!isa<rec::AdtType>(type) && !isInstanceType(type))
      return Obstacle{call.getLoc(),
                      "strategy 'replicate' does not support results of type " +
                          toText(type)};
  return std::nullopt;
}

/// Finds an operand of `op` that a program for single instances cannot store.
std::optional<Obstacle> InstanceObstacles::checkOperands(Operation *op) {
  for (Value operand : op->getOperands()) {
    Type type = operand.getType();
    bool isList = isa<rec::ListType>(type) && !isa<rec::ConstructOp>(op);
    bool isAdt = isa<rec::AdtType>(type) && takesAdts(op);
    if (!isList && !isAdt && !sharedness.getParameter(operand) &&
        !isInstanceType(type))
      return Obstacle{op->getLoc(),
                      "strategy 'replicate' does not support operands of "
                      "type " +
                          toText(type)};
  }
  return std::nullopt;
}

std::optional<Obstacle> InstanceObstacles::check(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return checkCall(call);
  if (auto match = dyn_cast<rec::MatchOp>(op)) {
    if (isInputNode(match.getValue()))
      return std::nullopt;
    return Obstacle{op->getLoc(), "strategy 'replicate' supports 'rec.match' "
                                  "only on values of the input"};
  }
  // True if the op constructs a value for each node of the input.
  bool isOfNode = isa<rec::ConstructOp>(op) &&
                  op->getParentOfType<func::FuncOp>() != program.getEntry() &&
                  !op->getParentOfType<LoopLikeOpInterface>();
  if (isOfNode || code.contains(op) ||
      isa<InvokeOp, func::ReturnOp, scf::ForOp, scf::WhileOp, scf::IfOp,
          scf::IndexSwitchOp, scf::YieldOp, scf::ConditionOp, rec::FoldOp,
          rec::YieldOp, rec::LengthOp, tensor::ExtractOp,
          tensor::ExtractSliceOp>(op) ||
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return checkOperands(op);
  return Obstacle{op->getLoc(), ("strategy 'replicate' does not support '" +
                                 op->getName().getStringRef() + "'")
                                    .str()};
}

std::optional<Obstacle> InstanceObstacles::findIn(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return Obstacle{function.getLoc(),
                    "strategy 'replicate' requires structured control flow, "
                    "but this function has several blocks"};
  std::optional<Obstacle> found;
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!found)
      found = check(op);
    // The bodies of tensor ops become kernel code.
    return code.contains(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return found;
}

std::optional<Obstacle> InstanceObstacles::find() {
  func::FuncOp entry = program.getEntry();
  for (Type type : entry.getResultTypes())
    if (!isa<rec::AdtType>(type) && !isInstanceType(type))
      return Obstacle{entry.getLoc(),
                      "strategy 'replicate' does not support results of type " +
                          toText(type)};
  if (std::optional<Obstacle> found = findIn(entry))
    return found;
  for (func::FuncOp function : program.getFunctions())
    if (function != entry)
      if (std::optional<Obstacle> found = findIn(function))
        return found;
  return std::nullopt;
}

/// Finds an op whose data flow is unknown. Later passes need to follow tensors
/// through every op.
static std::optional<Obstacle> findUnknownFlow(const InstanceProgram &program) {
  ValueFlowWalker walker(program);
  for (func::FuncOp function : program.getFunctions())
    walker.walk(function, [](Operation *, const rec::ValueFlowEdge &) {});
  if (Operation *unknown = walker.getUnknown())
    return Obstacle{unknown->getLoc(), describeUnknownFlow(unknown)};
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
  case Strategy::Mask:
    if (gpu)
      return Obstacle{program.getEntry().getLoc(),
                      "strategy 'mask' calls functions on the host stack, "
                      "which GPU blocks do not have"};
    [[fallthrough]];
  case Strategy::Lockstep:
    return StepProgram(program, /*tailCalls=*/true).getObstacle();
  case Strategy::Replicate:
    return InstanceObstacles(program).find();
  case Strategy::None:
  case Strategy::Auto:
    return std::nullopt;
  }
  llvm_unreachable("unknown strategy");
}

const std::optional<Obstacle> &Strategies::getObstacle(Strategy strategy) {
  // On CPUs, masking differs from lockstep only in the order of blocks, so both
  // have the same obstacles.
  if (strategy == Strategy::Mask && !gpu)
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
  // Waits in branches count as fractions, so the sum may be less than one.
  return work.operations / std::max(work.waits, 1.0);
}

Operation *Strategies::findLayeredLoop() const {
  Sharedness sharedness(program);
  TensorCode code(program, sharedness);
  EstimatedCosts costs(gpu);
  Operation *found = nullptr;
  program.getEntry()->walk<WalkOrder::PreOrder>([&](LoopLikeOpInterface loop) {
    if (code.contains(loop))
      return WalkResult::skip();
    if (!isCounted(loop) ||
        !costs.isLongerThanBarrier(
            findLayers(loop, code).countParameterBytes(sharedness)))
      return WalkResult::advance();
    found = loop;
    return WalkResult::interrupt();
  });
  return found;
}

bool Strategies::runsPerUnit() {
  auto find = [&] {
    if (gpu || !isLegal(Strategy::Replicate))
      return false;
    const bool loops =
        program.getEntry()
            .walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); })
            .wasInterrupted();
    std::optional<Obstacle> obstacle;
    return loops && makeNumberForm(program, obstacle);
  };
  if (!perUnit)
    perUnit = find();
  return *perUnit;
}

Strategy Strategies::choose(int64_t instances) {
  if (runsPerUnit())
    return Strategy::Replicate;
  const bool isFew = instances <= kFewInstances;
  const bool replicates = isLegal(Strategy::Replicate);
  if (isLegal(Strategy::Linearize) &&
      !(isFew && replicates && findLayeredLoop()))
    return Strategy::Linearize;
  // On a GPU, prefer `replicate`: `lockstep` runs an instance on one unit, and
  // a GPU has more units than most mini-batches have instances.
  if (replicates && (isFew || gpu || isLegal(Strategy::Lockstep)))
    return Strategy::Replicate;
  if (isLegal(Strategy::Lockstep) &&
      (!isLegal(Strategy::Lazy) || getOperationsPerWait() < kOperationsPerWait))
    return Strategy::Lockstep;
  if (isLegal(Strategy::Lazy))
    return Strategy::Lazy;
  return replicates ? Strategy::Replicate : Strategy::None;
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
