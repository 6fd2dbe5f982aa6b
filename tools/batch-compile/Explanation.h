//===- Explanation.h - Decisions of a compilation ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_COMPILE_EXPLANATION_H
#define BATCH_COMPILE_EXPLANATION_H

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <vector>

namespace mlir::batch {

/// Collects the remarks of a compilation and prints them by subject, each with
/// its source line.
class Explanation {
public:
  /// Enables all remarks of the context and disables its threads, so that
  /// remarks arrive in the order of the passes. `sources` contains the module's
  /// text.
  Explanation(MLIRContext &context, const llvm::SourceMgr &sources);
  ~Explanation();

  void print(llvm::raw_ostream &os, llvm::StringRef model) const;
  /// Prints the remarks and their locations as a JSON array for other programs,
  /// with one element per remark.
  void printJson(llvm::raw_ostream &os) const;

private:
  struct Remark;
  class Collector;

  void printRemark(llvm::raw_ostream &os, const Remark &remark) const;
  llvm::StringRef getLine(FileLineColLoc loc) const;

  const llvm::SourceMgr &sources;
  std::vector<Remark> remarks;
  /// Files that remarks refer to and that are not in `sources`. The buffer of a
  /// file that does not exist is null. Locations in bytecode refer to the text
  /// from which the bytecode was created.
  mutable llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files;
};

} // namespace mlir::batch

#endif // BATCH_COMPILE_EXPLANATION_H
