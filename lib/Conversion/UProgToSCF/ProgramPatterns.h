//===- ProgramPatterns.h - Common lowering of programs ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowerings beyond control flow: ops of programs that run lanes or single
// instances, and the conversion of a program to a function of a target.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOSCF_PROGRAMPATTERNS_H
#define BATCH_CONVERSION_UPROGTOSCF_PROGRAMPATTERNS_H

#include "../../Codegen/Instances/InstanceCode.h"
#include "../../Codegen/Lanes/LaneCode.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::batch {

/// Emits the code that replaces one op of a program. A target derives from this
/// class and has a method
///
///   SmallVector<Value> lower(Op op, Op::Adaptor operands);
///
/// for each op that it lowers. The method returns the values that replace the
/// results.
class OpEmitter {
protected:
  OpEmitter(Operation *op, ConversionPatternRewriter &rewriter)
      : rewriter(rewriter), b(op->getLoc(), rewriter) {}

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  }
  Value compare(arith::CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(b, predicate, left, right);
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  }
  Value toIndex(Value integer) {
    return arith::IndexCastOp::create(b, b.getIndexType(), integer);
  }
  /// Converts the results of makeLeastLoop to the results of a uprog.reduce.
  SmallVector<Value> toResults(SmallVector<Value> found);
  /// Loads the pointer to the lanes of `unit`. `context` is also a pointer.
  Value loadLanes(Value context, Value unit);
  /// Moves the body of a program to the insertion point. `plan` and `lanes`
  /// replace its plan and lanes, and `others` replace its other arguments.
  void inlineBody(uprog::ProgramOp program, Value plan, Value lanes,
                  ValueRange others = {});
  /// Moves the predicate of `compact` to the insertion point, and applies it to
  /// `number`, an i64. Sets the insertion point after the predicate. Returns
  /// the result of the predicate and the listed value, an i64.
  std::pair<Value, Value> inlinePredicate(uprog::CompactOp compact,
                                          Value number);

  ConversionPatternRewriter &rewriter;
  ImplicitLocOpBuilder b;
};

/// Lowers an op with a method of `Emitter`. The emitter is created for this op.
/// It takes the state that all patterns of a program share.
template <class Emitter, class State, class OpTy>
class ProgramPattern : public OpConversionPattern<OpTy> {
public:
  ProgramPattern(const TypeConverter &converter, MLIRContext *context,
                 State &state)
      : OpConversionPattern<OpTy>(converter, context), state(state) {
    // The body that replaces a uprog.run has ops of the same kinds. The
    // recursion ends, because the body runs only programs of lower levels.
    this->setHasBoundedRewriteRecursion();
  }

  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, Emitter(op, rewriter, state).lower(op, operands));
    return success();
  }

private:
  State &state;
};

/// Adds a pattern for each of `Ops`.
template <class Emitter, class... Ops, class State>
void addProgramPatterns(const TypeConverter &converter, State &state,
                        RewritePatternSet &patterns) {
  patterns.add<ProgramPattern<Emitter, State, Ops>...>(
      converter, patterns.getContext(), state);
}

/// Returns true if the code of a program takes arguments of this type. The code
/// does not take plans or lanes, because it finds them in the context or in the
/// arguments of a launch.
bool isCodeArgument(Type type);
/// Returns true if any program, possibly `program` itself, runs `program`.
bool isRunByPrograms(uprog::ProgramOp program);
/// Returns true if a program has lanes.
bool hasLanes(uprog::ProgramOp program);
/// Returns the machine of a program that has lanes, and null for other
/// programs. Emits an error and fails if there is no machine.
FailureOr<MachineOp> findMachine(uprog::ProgramOp program);
/// Emits `error` and fails at the first op in `program` that no target lowers.
/// Also emits an error and fails if lanes have no entry, or if the host runs
/// the program but cannot pass one of its arguments. Fails if `checkOp` fails.
LogicalResult checkProgram(uprog::ProgramOp program, StringRef error,
                           function_ref<LogicalResult(Operation *)> checkOp);

/// Function that creates an emitter of lane code at an insertion point, given a
/// pointer to the unit's lanes.
using MakeLaneCode =
    std::function<LaneCode(ImplicitLocOpBuilder &b, Value lanes)>;

/// Returns true if a program runs single instances.
bool runsInstances(uprog::ProgramOp program);

/// Unit of a program that runs single instances, and the tables of its module.
struct InstanceProgramState {
  InstanceTables &tables;
  InstanceUnit unit = {}; ///< unit for most ops of the program
  /// Function that returns the unit for an op in a task of another program, and
  /// null for other ops. The function is null if there are no tasks.
  std::function<const InstanceUnit *(Operation *)> getUnitOfTask = {};
  /// Loops created from `uprog.each`. In such a loop, each thread runs whole
  /// iterations by itself.
  DenseSet<Operation *> eachLoops = {};

  InstanceUnit getUnit(Operation *op) const {
    const InstanceUnit *ofTask = getUnitOfTask ? getUnitOfTask(op) : nullptr;
    InstanceUnit found = ofTask ? *ofTask : unit;
    for (Operation *outer = op->getParentOp(); outer;
         outer = outer->getParentOp())
      if (eachLoops.contains(outer))
        found.threads.threads = 1;
    return found;
  }
};

/// Lowers a program with all its code. Plans, steps, tasks, lanes and lists of
/// lanes become pointers. Rows, cells, lists and nodes of instances become
/// i64s. `addPatterns` adds the patterns of the target.
LogicalResult convertProgram(
    uprog::ProgramOp program, Type pointer, MakeLaneCode makeLanes,
    InstanceProgramState &instances,
    function_ref<void(const TypeConverter &, RewritePatternSet &)> addPatterns);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_UPROGTOSCF_PROGRAMPATTERNS_H
