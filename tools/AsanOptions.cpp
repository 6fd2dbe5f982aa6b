//===- AsanOptions.cpp - AddressSanitizer in programs that use LLVM -------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/// Default options of AddressSanitizer, which ASAN_OPTIONS overrides. They
/// ignore poisoning by LLVM headers, because the LLVM library is built without
/// AddressSanitizer and reuses poisoned memory. They also ignore leaks, because
/// MLIR contexts live until the process ends.
extern "C" __attribute__((visibility("default"))) const char *
__asan_default_options() {
  return "allow_user_poisoning=0:detect_leaks=0";
}
