//===- LeftOut.cpp - Code of LLVM archives that is omitted ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linker in the LLVM archives can optimize at link time, so it refers to
// every target and extension of LLVM, such as Polly. Batch links objects
// without these optimizations. The functions below do nothing. They replace the
// extensions and the unused targets (BATCH_LEFT_OUT), which are then not
// linked.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

#define HANDLE_EXTENSION(NAME)                                                 \
  llvm::PassPluginLibraryInfo get##NAME##PluginInfo() {                        \
    return {LLVM_PLUGIN_API_VERSION, #NAME, "", [](llvm::PassBuilder &) {}};   \
  }
#include "llvm/Support/Extension.def"

#define LEFT_OUT(TARGET)                                                       \
  extern "C" void LLVMInitialize##TARGET##TargetInfo() {}                      \
  extern "C" void LLVMInitialize##TARGET##Target() {}                          \
  extern "C" void LLVMInitialize##TARGET##TargetMC() {}                        \
  extern "C" void LLVMInitialize##TARGET##AsmPrinter() {}                      \
  extern "C" void LLVMInitialize##TARGET##AsmParser() {}
BATCH_LEFT_OUT
