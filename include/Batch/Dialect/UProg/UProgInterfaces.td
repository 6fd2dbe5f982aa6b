//===- UProgInterfaces.td - Interfaces of the uprog dialect *- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_INTERFACES_TD
#define BATCH_DIALECT_UPROG_INTERFACES_TD

include "mlir/IR/OpBase.td"

def UTaskOpInterface : OpInterface<"UTaskOpInterface"> {
  let description = [{
    A piece of work that the units of a program share out, or that each of them does
    for itself, as barriers and schedules see it: what it reads and writes of the
    memory that units share, which units do it, and of how many tasks it consists.
  }];
  let cppNamespace = "::mlir::uprog";
  let methods = [
    InterfaceMethod<[{
      The rows that it reads and writes; nothing if it may read and write all
      memory.
    }], "std::optional<llvm::SmallVector<::mlir::uprog::RowAccess>>",
        "getAccesses">,
    InterfaceMethod<[{
      The level of a unit that does all of it by itself; nothing if all units of the
      program do it.
    }], "std::optional<::mlir::uprog::Level>", "getUnitLevel", (ins),
        /*methodBody=*/"", /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<[{
      How many tasks units can share out; null if it is one.
    }], "::mlir::Value", "getNumTasks", (ins), /*methodBody=*/"",
        /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      The op whose scratch memory it needs; null if it needs none.
    }], "::mlir::Operation *", "getScratch", (ins), /*methodBody=*/"",
        /*defaultImplementation=*/"return nullptr;">
  ];
}

#endif // BATCH_DIALECT_UPROG_INTERFACES_TD
