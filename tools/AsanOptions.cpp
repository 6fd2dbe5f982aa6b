//===- AsanOptions.cpp - AddressSanitizer in programs that use LLVM -------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/// Default options of AddressSanitizer, which ASAN_OPTIONS overrides. LLVM
/// headers poison memory that the LLVM library reuses, because the library is
/// built without AddressSanitizer. MLIR contexts live until the process ends.
extern "C" __attribute__((visibility("default"))) const char *
__asan_default_options() {
  return "allow_user_poisoning=0:detect_leaks=0";
}
