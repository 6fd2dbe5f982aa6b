//===- ModuleTables.h - Packings of parameters ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_MODULETABLES_H
#define BATCH_CODEGEN_STAGES_MODULETABLES_H

#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::uprog {

/// Tables that a module's kernels need in addition to their code: constant
/// tensors, and the module's lists `uprog.packings` and `uprog.indices`.
/// Kernels refer to the entries of these lists by number.
class ModuleTables {
public:
  /// Adds constants as globals to `code`, which is the module or a nested
  /// module.
  ModuleTables(ModuleOp module, Operation *code, unsigned addressSpace = 0);

  /// Returns the number of a packing, and adds the packing if it is new.
  int64_t getRows(int64_t parameter);
  int64_t getPanels(PanelsAttr panels);
  /// Returns the number of a checked index in the list `uprog.indices`, counted
  /// from 1.
  int64_t getIndex(StringRef text);
  /// Returns the symbol of the rows of a dense constant, padded as ABI.h
  /// specifies.
  StringRef getConstant(DenseElementsAttr value);
  /// Writes `uprog.packings` and `uprog.indices`.
  void save();

private:
  int64_t getPacking(Attribute packing);

  ModuleOp module;
  Operation *code;
  unsigned addressSpace;
  SmallVector<Attribute> packings, indices;
  llvm::MapVector<Attribute, std::string> constants;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_MODULETABLES_H
