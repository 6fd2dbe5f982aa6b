//===- CudaDriver.h - The CUDA driver, loaded at run time -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_DEVICE_CUDADRIVER_H
#define BATCH_RUNTIME_LIB_DEVICE_CUDADRIVER_H

#include "CudaApi.h"
#include "batch-runtime/OptionNames.h"

#include <string>

namespace batchrt {
namespace cuda {

/// The driver library and its functions, none of which is null. The library is
/// never unloaded because it has its own threads.
class CudaDriver {
public:
  /// Loads and initializes the driver. `names`: spelling of options in
  /// messages.
  explicit CudaDriver(OptionNames names);
  CudaDriver(const CudaDriver &) = delete;
  CudaDriver &operator=(const CudaDriver &) = delete;

#define CUDA_FUNCTION(name, symbol, since, parameters)                         \
  CUresult(*name) parameters;
#include "CudaFunctions.def"

  /// Raises an Error if a call has failed. `doing` describes the call's
  /// purpose.
  void check(CUresult result, const char *doing) const {
    if (result != CUDA_SUCCESS)
      fail(result, doing);
  }
  [[noreturn]] void fail(CUresult result, const std::string &doing) const;

  /// Returns a text such as "CUDA_ERROR_UNKNOWN: unknown error".
  std::string describe(CUresult result) const;
  /// Returns the CUDA version that the driver supports, such as "12.4".
  std::string version() const;

private:
  const OptionNames names;
  std::string path;
};

} // namespace cuda
} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_DEVICE_CUDADRIVER_H
