//===- CaseSplitter.h - Copy cases for the variants of children -*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_RECURSION_CASESPLITTER_H
#define BATCH_TRANSFORMS_RECURSION_CASESPLITTER_H

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Dialect/Rec/Rec.h"

namespace mlir::batch {

/// Replaces recursive calls on children with the callee's code. The code around
/// a call is copied for each variant of the child. In each copy, the variant is
/// known, so the callee's match on the child is resolved. The callee's code and
/// the code after the call then form straight-line code.
///
/// Calls to be replaced are *selected*, with the number of levels to replace.
/// Copies of selected calls are selected, except for the calls that split()
/// does not replace.
class CaseSplitter {
public:
  /// Copies the callees now, so later changes do not affect the inlined code.
  /// `maxCopies` limits the number of copies of code in one function.
  CaseSplitter(ModuleOp module, const InstanceProgram &program,
               int64_t maxCopies);
  ~CaseSplitter();

  /// Selects `call`. The child is operand number `operand` if given, and the
  /// result of `getChild` otherwise. Has no effect if the callee is not
  /// recursive, or has unstructured code, which cannot be copied.
  void select(func::CallOp call, unsigned levels,
              std::optional<unsigned> operand = {}) {
    if (callees.contains(call.getCalleeAttr().getAttr()))
      selected[call] = {levels, operand};
  }
  void deselect(func::CallOp call) { selected.erase(call); }
  bool isSelected(func::CallOp call) const { return selected.contains(call); }
  /// Returns the first selected call in `function`, or null.
  func::CallOp getSelected(func::FuncOp function) const;

  /// Returns the first operand of `call` that is a value of an ADT and a block
  /// argument of a match, map or fold. Returns null if there is none.
  static BlockArgument getChild(func::CallOp call);

  /// Emits an error if `child`, an operand of `call`, may be shared.
  LogicalResult checkUnshared(func::CallOp call, Value child);

  /// Converts the block's code around `call`, a selected call on a child, to
  /// one case per variant of the child. In the cases for which `isTaken` is
  /// true, selected calls on the child are replaced with the callee's code. In
  /// the other cases they remain calls and are no longer selected. Emits an
  /// error if the child may be shared or there are too many copies.
  FailureOr<rec::MatchOp>
  split(func::CallOp call, llvm::function_ref<bool(rec::VariantOp)> isTaken);
  /// Replaces a selected call with the callee's code. Emits an error if there
  /// are too many copies.
  LogicalResult inlineSelected(func::CallOp call);

  /// Resolves matches on `value` in `block`, given the variant and the fields
  /// of `value` there. Leaves a match unchanged if it reads a field as a
  /// different type, such as a list as a ragged tensor.
  void decideMatches(Block &block, Value value, StringAttr variant,
                     ValueRange fields);

private:
  struct Selection {
    unsigned levels;
    std::optional<unsigned> operand;
  };
  Value getSelectedChild(func::CallOp call) const;
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

#endif // BATCH_TRANSFORMS_RECURSION_CASESPLITTER_H
