//===- ObjectLayout.h - Numbers of a compiled object ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOLLVM_OBJECTLAYOUT_H
#define BATCH_CONVERSION_BATCHTOLLVM_OBJECTLAYOUT_H

#include "Batch/Analysis/Sharedness.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Rec/AdtLookup.h"
#include "Reservation.h"
#include "llvm/Support/JSON.h"

namespace mlir::batch {

/// Numbering in a compiled object and its descriptor. Kernels, tables and
/// variants are numbered in module order from 0, and sources from 1. The first
/// memo of a traversed function identifies the function. The numbering is
/// computed from a module before the module is lowered.
class ObjectLayout {
public:
  explicit ObjectLayout(ModuleOp module);

  int64_t getKernel(StringAttr name) const { return kernels.lookup(name); }
  int64_t getTable(StringAttr name) const { return tables.lookup(name); }
  int64_t getSource(StringAttr name) const { return sources.lookup(name); }
  /// Returns the number of the source that provides `parameter` as rows of type
  /// `row`, or 0 if there is none.
  int64_t getSource(int64_t parameter, Type row) const;
  /// Returns the first memo of a traversed function, or -1 for any other
  /// function.
  int64_t getMemo(StringAttr function) const;
  /// Returns the space that a traversal reserves per node.
  const Reservation &getReservation(TraverseOp traverse) const {
    return reservations.find(traverse)->second;
  }
  /// Calls `visit` for the ops for which a traversal reserves space.
  void forEachReserved(function_ref<void(Operation *)> visit) const {
    for (const auto &entry : reservations)
      llvm::for_each(entry.second.ops, visit);
  }
  /// For each operand of a kernel, returns the number of the cell that contains
  /// the operand in a record. Cells are counted from 1. All arguments except
  /// parameters are operands. Operands that are equal in every record share a
  /// cell.
  ArrayRef<int64_t> getRecordCells(KernelOp kernel) const {
    return recordCells.find(kernel)->second;
  }
  /// Returns true if all records of a kernel would be equal, so one record is
  /// enough for a run. Such records read only parameters and rows at equal
  /// constant positions of sources.
  bool isConstant(KernelOp kernel) const {
    return constantKernels.contains(kernel);
  }
  /// Returns true if the inspector waits for tensors.
  bool hasWaits() const { return waits; }
  /// Returns true if rows are reused unless a batch.keep lists them.
  bool hasTransientTables() const { return transientTables; }
  /// Returns the number of a loop or recursion whose rounds are counted.
  /// Numbers start at 1. Loops and recursions with the same location have the
  /// same number.
  int64_t numberCounted(Operation *op);
  /// Returns the size in bytes of a result in unbatched code, where it has the
  /// layout of its table.
  int64_t getResultBytes(KernelOp kernel, unsigned result) const;
  /// Returns the size in bytes of a task's record (see BatchQueue in ABI.h).
  int64_t getRecordBytes(KernelOp kernel) const;
  /// Returns the ADT of a traversed function's argument.
  rec::AdtType getTraversedAdt(StringAttr function) const {
    return traversedAdts.lookup(function);
  }
  /// Returns the first number and the count of the variants of an ADT, whose
  /// numbers are consecutive.
  std::pair<int64_t, int64_t> getVariantRange(rec::AdtType adt) const;

  const rec::VariantNumbering &getVariants() const { return variants; }

  struct Target {
    StringRef triple, cpu;
    ArrayRef<std::string> features;
  };
  /// Returns the descriptor that docs/reference/abi.md specifies. Emits an
  /// error and fails if the program contains something that the descriptor
  /// cannot express.
  FailureOr<llvm::json::Value> describe(const InstanceProgram &program,
                                        const Target &target) const;

private:
  void assignRecordCells();
  void findConstantKernels();
  FailureOr<llvm::json::Value> describeType(Location loc, Type type,
                                            Attribute table,
                                            Attribute source) const;
  FailureOr<llvm::json::Value> describeKernel(KernelOp kernel) const;
  bool isBlock(KernelOp kernel) const;
  llvm::json::Value describeMachine(MachineOp machine) const;
  /// Returns the number of the variable `name` in its machine, or nullopt if
  /// no machine has it.
  std::optional<int64_t> findVariable(StringAttr name) const;
  llvm::json::Value describeLaunch(DictionaryAttr launch) const;
  FailureOr<llvm::json::Value> describeAdts() const;
  LogicalResult describeEntry(llvm::json::Object &object,
                              func::FuncOp entry) const;
  void describeRows(llvm::json::Object &object) const;

  /// Mutable because MLIR has no const access to the ops of a module.
  mutable ModuleOp module;
  rec::VariantNumbering variants;
  DenseMap<StringAttr, int64_t> kernels, tables, tableRowBytes, sources, memos;
  DenseMap<StringAttr, rec::AdtType> traversedAdts;
  DenseMap<Operation *, Reservation> reservations;
  DenseMap<Operation *, SmallVector<int64_t>> recordCells;
  DenseSet<Operation *> constantKernels;
  SmallVector<std::string> counted;
  DenseMap<Location, int64_t> countedPlaces;
  int64_t memoCount = 0;
  bool waits = false, transientTables = false;
};

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_OBJECTLAYOUT_H
