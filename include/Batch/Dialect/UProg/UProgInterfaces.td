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
    Interface of an op whose work the units of a program divide, or that each
    unit does by itself. Passes that insert barriers or schedule tasks query
    this interface. It provides the accesses to memory that units share, the
    units that do the work, and the number of tasks.
  }];
  let cppNamespace = "::mlir::uprog";
  let methods = [
    InterfaceMethod<[{
      Returns the rows that the op reads and writes, or nullopt if it may read
      and write all memory.
    }], "std::optional<llvm::SmallVector<::mlir::uprog::RowAccess>>",
        "getAccesses">,
    InterfaceMethod<[{
      Returns the level of the unit that does all of the work by itself, or
      nullopt if all units of the program do the work.
    }], "std::optional<::mlir::uprog::Level>", "getUnitLevel", (ins),
        /*methodBody=*/"", /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<[{
      Returns the number of tasks that can be divided among units, or null if
      there is only one.
    }], "::mlir::Value", "getNumTasks", (ins), /*methodBody=*/"",
        /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Returns the op that creates the step whose scratch memory this op uses, or
      null if it uses none.
    }], "::mlir::Operation *", "getScratch", (ins), /*methodBody=*/"",
        /*defaultImplementation=*/"return nullptr;">
  ];
}

#endif // BATCH_DIALECT_UPROG_INTERFACES_TD
