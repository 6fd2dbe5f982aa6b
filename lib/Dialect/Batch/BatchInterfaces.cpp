//===- BatchInterfaces.cpp - Interfaces of the batch dialect --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/BatchInterfaces.h"

#include "Batch/Dialect/Batch/BatchInterfaces.cpp.inc"
