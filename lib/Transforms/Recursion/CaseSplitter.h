//===- CaseSplitter.h - Copy cases for the variants of parts ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_TRANSFORMS_RECURSION_CASESPLITTER_H
#define BATCH_LIB_TRANSFORMS_RECURSION_CASESPLITTER_H

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Dialect/Rec/Rec.h"

namespace mlir::batch {

/// Replaces recursive calls by the callee's code for a known variant of the
/// part that they take: the code around a call gets a copy for each variant of
/// the part, and the callee's match on the part is decided there. What follows
/// the call and what the callee does is one straight line then.
///
/// Calls to be replaced are *selected*, with the number of levels to replace;
/// copies of selected calls are selected.
class CaseSplitter {
public:
  /// Callees are copied as they are now, whatever becomes of them. `maxCopies`
  /// bounds the copies of code that one function gets.
  CaseSplitter(ModuleOp module, const InstanceProgram &program,
               int64_t maxCopies);
  ~CaseSplitter();

  /// The part is the `operand` with that number, else what `getPart` finds. Has
  /// no effect on a call of unstructured code, which cannot be copied.
  void select(func::CallOp call, unsigned levels,
              std::optional<unsigned> operand = {}) {
    if (callees.contains(call.getCalleeAttr().getAttr()))
      selected[call] = {levels, operand};
  }
  void deselect(func::CallOp call) { selected.erase(call); }
  bool isSelected(func::CallOp call) const { return selected.contains(call); }
  /// The first selected call in `function`, or null.
  func::CallOp getSelected(func::FuncOp function) const;

  /// The field of a match or element of a list that `call` takes first; null
  /// if it takes none.
  static BlockArgument getPart(func::CallOp call);

  /// An error if `part`, which `call` takes, may be shared.
  LogicalResult checkUnshared(func::CallOp call, Value part);

  /// Makes the code of the block around a selected `call`, which takes a part,
  /// one case per variant of the part. Where `isTaken`, selected calls on the
  /// part are replaced by the callee's code; elsewhere they are calls as
  /// before, no longer selected. An error if the part may be shared or if there
  /// are too many copies by then.
  FailureOr<rec::MatchOp>
  split(func::CallOp call, llvm::function_ref<bool(rec::VariantOp)> isTaken);
  /// Replaces a selected call by the callee's code. An error if there are too
  /// many copies by then.
  LogicalResult inlineSelected(func::CallOp call);

  /// Decides matches on `value` in `block`, where it is of that variant and has
  /// these fields. A match that takes one of them as another type, a list as a
  /// ragged tensor, stays.
  void decideMatches(Block &block, Value value, StringAttr variant,
                     ValueRange fields);

private:
  struct Selection {
    unsigned levels;
    std::optional<unsigned> operand;
  };
  Value getSelectedPart(func::CallOp call) const;
  LogicalResult addCopy(func::FuncOp function);

  ModuleOp module;
  const InstanceProgram &program;
  int64_t maxCopies;
  DenseMap<StringAttr, func::FuncOp> callees;
  DenseMap<Operation *, Selection> selected;
  DenseMap<Operation *, int64_t> copies;
  SymbolTableCollection symbols;
};

} // namespace mlir::batch

#endif // BATCH_LIB_TRANSFORMS_RECURSION_CASESPLITTER_H
