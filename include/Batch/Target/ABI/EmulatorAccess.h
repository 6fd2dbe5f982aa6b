//===- EmulatorAccess.h - IR that uses the GPU emulator ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TARGET_ABI_EMULATORACCESS_H
#define BATCH_TARGET_ABI_EMULATORACCESS_H

#include "batch-runtime/EmulatorABI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::batch {

/// Registers that an emulated thread can read.
enum class EmulatorRegister : int32_t {
#define BATCH_EMULATOR_REGISTER(name) name,
#include "batch-runtime/EmulatorFunctions.def"
};

/// Functions of the emulator.
enum class EmulatorFunction : int32_t {
#define BATCH_EMULATOR_FUNCTION(result, name, parameters) name,
#include "batch-runtime/EmulatorFunctions.def"
};

/// Stores the locations of operations as strings in the module, each string
/// once.
class LocationStrings {
public:
  explicit LocationStrings(ModuleOp module)
      : body(module.getBody()), symbols(module) {}

  /// Returns the global that contains the "file:line:column" of an operation,
  /// or the name of the operation if its location is unknown.
  LLVM::GlobalOp get(Operation *op);

private:
  Block *body;
  SymbolTable symbols;
  llvm::StringMap<LLVM::GlobalOp> globals;
};

/// Builds code before one operation of an emulated kernel.
class EmulatorBuilder {
public:
  /// `thread` is the BatchEmulatorThread argument of the emulated function.
  EmulatorBuilder(Operation *op, Value thread, LocationStrings &locations);

  /// Builds an i64 constant.
  Value constant(int64_t value);
  /// Reads a register of the thread, an i64.
  Value read(EmulatorRegister name);
  /// Returns the address `offset` bytes into the block's shared memory.
  Value sharedAddress(int64_t offset);
  /// Calls a function of the emulator with the thread, `arguments`, and the
  /// operation's location. Returns the result, or null if the function has
  /// none.
  Value call(EmulatorFunction function, ValueRange arguments);

  /// Returns the bits of an integer, index, float or pointer, zero-extended to
  /// i64.
  Value toI64(Value value);
  Value fromI64(Value bits, Type type);
  /// Returns the address of element `index` of an array of `elementType`.
  Value address(Value base, int64_t index, Type elementType);

  OpBuilder builder;

private:
  Operation *op;
  Location loc;
  Value thread;
  LocationStrings &locations;
  Type pointerType, cellType;
};

} // namespace mlir::batch

#endif // BATCH_TARGET_ABI_EMULATORACCESS_H
