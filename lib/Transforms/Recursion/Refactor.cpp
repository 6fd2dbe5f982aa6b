//===- Refactor.cpp - Move the backedge of recursion ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../CallInlining.h"
#include "CaseSplitter.h"

#include "Batch/Analysis/Sharedness.h"
#include "Batch/Transforms/Recursion/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::batch {
#define GEN_PASS_DEF_REFACTORPASS
#include "Batch/Transforms/Recursion/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Place where a block of a recursive function is cut in two. The *tail*, which
/// consists of the marked ops and all ops that depend on them, moves to the
/// callers. The *head*, which consists of the other ops, including recursive
/// calls, becomes a function.
struct Cut {
  func::FuncOp function;
  Block *block;
  Operation *mark;
  /// Ops of the head in order, except code that depends only on parameters and
  /// constants. The head and the tail both contain such code.
  SetVector<Operation *> head;
  /// Ops that are copied into the head, in order.
  SmallVector<Operation *> copied;
  /// Outside values that the head reads, and values of the head that the tail
  /// reads.
  SetVector<Value> inputs;
  SmallVector<Value> results;
  func::CallOp call;
};

class Refactorer {
public:
  Refactorer(ModuleOp module, int64_t maxCopies)
      : module(module), symbols(module), maxCopies(maxCopies) {}

  LogicalResult run();

private:
  void findMarks(const InstanceProgram &program);
  LogicalResult checkPlace(Cut &cut);
  LogicalResult divide(Cut &cut, const InstanceProgram &program,
                       const Sharedness &sharedness);
  LogicalResult checkCalls(const InstanceProgram &program);
  void outlineHead(Cut &cut);
  LogicalResult moveToRecursiveCallers();
  void moveToOutsideCallers();

  ModuleOp module;
  SymbolTable symbols;
  int64_t maxCopies;
  SmallVector<Cut> cuts;
};

} // namespace

/// Returns the operands of `op` and the values that its regions capture.
static SetVector<Value> getUsedValues(Operation *op) {
  SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

/// Returns the op of `block` that is `op` or contains it, or null if there is
/// none.
static Operation *getAncestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

/// Creates, in order, one cut for each block that contains marked ops.
void Refactorer::findMarks(const InstanceProgram &program) {
  for (func::FuncOp function : program.getFunctions())
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!op->hasAttr(rec::kBackedgeAttr))
        return;
      Block *block = op->getBlock();
      if (llvm::none_of(cuts,
                        [&](const Cut &cut) { return cut.block == block; }))
        cuts.push_back({function, block, op, {}, {}, {}, {}, {}});
    });
}

/// Checks that the function of a cut has structured control flow, and that the
/// cut is not inside the block of another cut.
LogicalResult Refactorer::checkPlace(Cut &cut) {
  if (!cut.function.getBody().hasOneBlock())
    return cut.mark->emitError("cannot cut a function with several blocks at "
                               "this marked op; use structured control flow");
  for (const Cut &other : cuts)
    if (&other != &cut &&
        getAncestorIn(other.block, cut.block->getParentOp())) {
      InFlightDiagnostic error =
          cut.mark->emitError("this op is marked inside a block that also has "
                              "a mark; mark only one place");
      error.attachNote(other.mark->getLoc()) << "the other mark is here";
      return error;
    }
  return success();
}

/// Separates the head from the tail. Emits an error if a recursive call is in
/// the tail, or if none is in the head.
LogicalResult Refactorer::divide(Cut &cut, const InstanceProgram &program,
                                 const Sharedness &sharedness) {
  DenseSet<Value> tailValues;
  bool inTail = false, recursive = false;
  for (Operation &op : cut.block->without_terminator()) {
    bool isTail =
        op.hasAttr(rec::kBackedgeAttr) ||
        llvm::any_of(getUsedValues(&op),
                     [&](Value value) { return tailValues.contains(value); }) ||
        (inTail && isa<rec::PhaseOp>(op));
    inTail |= isTail;
    func::CallOp inner;
    op.walk([&](func::CallOp call) {
      if (program.isRecursiveCall(call))
        inner = call;
    });
    recursive |= inner && !isTail;
    if (isTail) {
      if (inner) {
        InFlightDiagnostic error =
            inner.emitError("this call depends on an op marked 'rec.backedge'; "
                            "only ops after all recursive calls of a block can "
                            "move to the callers, so mark a later op");
        error.attachNote(cut.mark->getLoc()) << "the mark is here";
        return error;
      }
      tailValues.insert(op.result_begin(), op.result_end());
    } else if (op.getNumResults() == 0 ||
               !llvm::all_of(op.getResults(), [&](Value value) {
                 return sharedness.isShared(value);
               })) {
      cut.head.insert(&op);
    }
  }
  if (!recursive)
    return cut.mark->emitError(
        "this op is marked 'rec.backedge', but no recursive call comes before "
        "it in its block; mark an op after the recursive calls of a case");
  return success();
}

/// Finds the outside values that the head reads, the code that is copied into
/// it, and the values of the head that the tail reads.
static void collectInterface(Cut &cut, const Sharedness &sharedness) {
  SetVector<Operation *> worklist(cut.head.begin(), cut.head.end());
  for (size_t i = 0; i < worklist.size(); ++i)
    for (Value value : getUsedValues(worklist[i])) {
      Operation *op = value.getDefiningOp();
      if (op && cut.head.contains(op))
        continue;
      if (op && sharedness.isShared(value))
        worklist.insert(op);
      else
        cut.inputs.insert(value);
    }
  cut.function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (worklist.contains(op) && !cut.head.contains(op))
      cut.copied.push_back(op);
  });
  for (Operation *op : cut.head)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !cut.head.contains(getAncestorIn(cut.block, user));
          }))
        cut.results.push_back(result);
}

/// Checks that each call of a cut function to itself is in the head of a cut.
/// Otherwise the whole function would remain recursive.
LogicalResult Refactorer::checkCalls(const InstanceProgram &program) {
  SetVector<func::FuncOp> functions;
  for (Cut &cut : cuts)
    functions.insert(cut.function);
  for (func::FuncOp function : functions)
    for (func::CallOp call : program.getCallers(function)) {
      bool isCut = llvm::any_of(cuts, [&](const Cut &cut) {
        return cut.head.contains(getAncestorIn(cut.block, call));
      });
      if (call->getParentOfType<func::FuncOp>() == function && !isCut)
        return call.emitError(
            "this call is not followed by an op marked 'rec.backedge', unlike "
            "calls in other cases of the function; mark one in every case that "
            "calls recursively");
    }
  return success();
}

/// Moves the head into a function that the block calls.
void Refactorer::outlineHead(Cut &cut) {
  Location loc = cut.mark->getLoc();
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(cut.function);
  auto head = func::FuncOp::create(
      builder, loc, (cut.function.getSymName() + "_head").str(),
      builder.getFunctionType(ValueRange(cut.inputs.getArrayRef()).getTypes(),
                              ValueRange(cut.results).getTypes()));
  head.setPrivate();
  symbols.insert(head);

  IRMapping mapping;
  Block *body = head.addEntryBlock();
  mapping.map(cut.inputs.getArrayRef(), body->getArguments());
  builder.setInsertionPointToStart(body);
  for (Operation *op : cut.copied)
    builder.clone(*op, mapping);
  for (Operation *op : cut.head)
    builder.clone(*op, mapping);
  SmallVector<Value> results;
  for (Value result : cut.results)
    results.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, loc, results);

  builder.setInsertionPointToStart(cut.block);
  cut.call = func::CallOp::create(builder, loc, head, cut.inputs.getArrayRef());
  for (auto [result, value] :
       llvm::zip_equal(cut.results, cut.call.getResults()))
    result.replaceAllUsesWith(value);
  for (Operation *op : llvm::reverse(cut.head))
    op->erase();
  // Erase the ops that were copied to the head and are now unused here.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*cut.block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (Operation &op : *cut.block)
    op.removeAttr(rec::kBackedgeAttr);
  remark::passed(loc, remark::RemarkOpts::name("Refactor").category("batch"))
      << "the marked ops moved to the callers of @" +
             cut.function.getSymName().str() + ", which call @" +
             head.getSymName().str() + " for the rest";
}

/// Returns the index of the argument whose variant decides whether the cut is
/// reached, if there is one.
static std::optional<unsigned> getTestedArgument(const Cut &cut) {
  std::optional<unsigned> number;
  for (auto match = cut.call->getParentOfType<rec::MatchOp>(); match;
       match = match->getParentOfType<rec::MatchOp>()) {
    auto argument = dyn_cast<BlockArgument>(match.getValue());
    if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      number = argument.getArgNumber();
  }
  return number;
}

/// Replaces each recursive call with the remaining code of the callee: the call
/// of the head, and the tail. If a case has been cut, copies the code around a
/// call for each variant of the child. This code and the tail then form
/// straight-line code.
LogicalResult Refactorer::moveToRecursiveCallers() {
  InstanceProgram program(module);
  CaseSplitter splitter(module, program, maxCopies);
  llvm::MapVector<StringAttr, std::optional<unsigned>> tested;
  for (Cut &cut : cuts)
    tested.insert({cut.function.getSymNameAttr(), getTestedArgument(cut)});
  for (auto [name, argument] : tested)
    for (func::CallOp call :
         program.getCallers(symbols.lookup<func::FuncOp>(name)))
      if (program.isRecursiveCall(call))
        splitter.select(call, /*levels=*/1, argument);
  for (func::FuncOp function : program.getFunctions())
    while (func::CallOp call = splitter.getSelected(function)) {
      std::optional<unsigned> argument =
          tested.lookup(call.getCalleeAttr().getAttr());
      if (argument && isa<BlockArgument>(call.getOperand(*argument))) {
        if (failed(splitter.split(call, [](rec::VariantOp) { return true; })))
          return failure();
        continue;
      }
      BlockArgument child = CaseSplitter::getChild(call);
      if ((child && failed(splitter.checkUnshared(call, child))) ||
          failed(splitter.inlineSelected(call)))
        return failure();
    }
  return success();
}

/// Inlines the cut functions that are no longer recursive, and erases those
/// that then have no uses. Callees come first.
void Refactorer::moveToOutsideCallers() {
  InstanceProgram program(module);
  SetVector<func::FuncOp> functions;
  for (Cut &cut : cuts)
    functions.insert(cut.function);
  functions.remove(program.getEntry());
  for (ArrayRef<func::FuncOp> component : program.getComponents())
    for (func::FuncOp function : component)
      if (functions.contains(function) && !program.isRecursive(function))
        for (func::CallOp call : program.getCallers(function))
          inlineCall(call, function);
  for (func::FuncOp function : functions)
    if (SymbolTable::symbolKnownUseEmpty(function, module))
      function.erase();
}

LogicalResult Refactorer::run() {
  {
    InstanceProgram program(module);
    Sharedness sharedness(program);
    findMarks(program);
    for (Cut &cut : cuts) {
      if (failed(checkPlace(cut)) || failed(divide(cut, program, sharedness)))
        return failure();
      collectInterface(cut, sharedness);
    }
    if (failed(checkCalls(program)))
      return failure();
  }
  if (cuts.empty()) {
    remark::missed(module.getLoc(),
                   remark::RemarkOpts::name("Refactor").category("batch"))
        << "no op is marked 'rec.backedge'";
    return success();
  }
  for (Cut &cut : cuts)
    outlineHead(cut);
  if (failed(moveToRecursiveCallers()))
    return failure();
  moveToOutsideCallers();
  return success();
}

namespace {
class RefactorPass : public batch::impl::RefactorPassBase<RefactorPass> {
  using RefactorPassBase::RefactorPassBase;
  void runOnOperation() override {
    if (failed(Refactorer(getOperation(), maxCopies).run()))
      return signalPassFailure();
  }
};
} // namespace
