//===- Forms.h - The forms of parameters that kernels read ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_OPERATORCODE_FORMS_H
#define BATCH_CONVERSION_OPERATORCODE_FORMS_H

#include "StagePlan.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::uprog {

/// What a module's kernels need besides their code: the list `batch.forms` of
/// the module, which kernels index, and constant tensors.
class ModuleTables {
public:
  static constexpr StringLiteral kForms = "batch.forms";

  /// Constants become globals of `code`, which is the module or one in it.
  ModuleTables(ModuleOp module, Operation *code, unsigned addressSpace = 0);

  /// Number of a form, added if it is new.
  int64_t getRows(int64_t parameter);
  int64_t getPanels(const PanelOperand &panels);
  /// Symbol of the rows of a dense constant, padded as in ABI.h.
  StringRef getConstant(DenseElementsAttr value);
  /// Writes `batch.forms`.
  void save();

private:
  int64_t getForm(DictionaryAttr form);

  ModuleOp module;
  Operation *code;
  unsigned addressSpace;
  SmallVector<Attribute> forms;
  llvm::MapVector<Attribute, std::string> constants;
};

} // namespace mlir::uprog

#endif // BATCH_CONVERSION_OPERATORCODE_FORMS_H
