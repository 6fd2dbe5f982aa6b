//===- Compile.h - Old path of Target/Compile/Compile.h ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_COMPILE_COMPILE_H
#define BATCH_COMPILE_COMPILE_H

#include "Batch/Target/Compile/Compile.h"

#endif // BATCH_COMPILE_COMPILE_H
