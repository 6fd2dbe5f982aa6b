//===- CudaDriver.cpp - The CUDA driver, loaded at run time ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "batch-runtime/Error.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace batchrt;
using namespace batchrt::cuda;

/// Returns the name of a version: 11080 is "11.8".
static std::string versionName(int version) {
  return concat(version / 1000, ".", version % 1000 / 10);
}

CudaDriver::CudaDriver(OptionNames names) : names(names) {
  const char *chosen = std::getenv("BATCH_CUDA_DRIVER");
  path = chosen && *chosen ? chosen : "libcuda.so.1";
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    raise("no NVIDIA driver found (", path, "): ", ::dlerror(),
          "; install the GPU driver, or ", otherDevices(names));
#define CUDA_FUNCTION(name, symbol, since, parameters)                         \
  name = reinterpret_cast<decltype(name)>(::dlsym(library, #symbol));
#include "CudaFunctions.def"
  if (!init || !driverGetVersion)
    raise("'", path,
          "' is not an NVIDIA driver: it has no function cuInit; install the "
          "GPU driver, or ",
          otherDevices(names));
#define CUDA_FUNCTION(name, symbol, since, parameters)                         \
  if (!name)                                                                   \
    raise("the NVIDIA driver is too old: it supports CUDA ", version(),        \
          ", but " #symbol " needs ", versionName(since),                      \
          "; install a newer driver, or ", otherDevices(names));
#include "CudaFunctions.def"
  check(init(0), "starting the driver");
}

std::string CudaDriver::version() const {
  int version = 0;
  return driverGetVersion(&version) == CUDA_SUCCESS ? versionName(version)
                                                    : "unknown";
}

std::string CudaDriver::describe(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return concat(name ? name : concat("CUDA error ", int(result)), ": ",
                text ? text : "not known to this driver");
}

void CudaDriver::fail(CUresult result, const std::string &doing) const {
  std::string error = describe(result);
  switch (result) {
  case CUDA_ERROR_NO_DEVICE:
    raise("no NVIDIA GPU found (", error,
          "); check that nvidia-smi lists one and that CUDA_VISIBLE_DEVICES "
          "does not hide it, or ",
          otherDevices(names));
  case CUDA_ERROR_STUB_LIBRARY:
    raise(
        "'", path,
        "' is the driver's stub library from the CUDA toolkit, not a driver (",
        error, "); remove its directory from LD_LIBRARY_PATH, or ",
        otherDevices(names));
  case CUDA_ERROR_SYSTEM_NOT_READY:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    raise(
        "the NVIDIA driver does not work (", error,
        "); check the output of nvidia-smi, reboot after a driver update, or ",
        otherDevices(names));
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
    raise("the GPU is in use by another process (", error,
          "); wait for it, choose another with CUDA_VISIBLE_DEVICES, or ",
          otherDevices(names));
  case CUDA_ERROR_ILLEGAL_ADDRESS:
    raise("the GPU kernel accessed an invalid address, as detected while ",
          doing, " (", error, "); run with ",
          compilerOption(names, "device", "emulator"),
          " to find the access; this process can "
          "no longer use the GPU");
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
    raise("the GPU kernel failed, as detected while ", doing, " (", error,
          "); run with ", compilerOption(names, "device", "emulator"),
          " to find the cause; this process can "
          "no longer use the GPU");
  case CUDA_ERROR_LAUNCH_TIMEOUT:
    raise("the driver stopped the GPU kernel (", error,
          "), because it limits how long a kernel may run on a GPU that drives "
          "a display; use a GPU without a display, or ",
          smallerBatch(names));
  default:
    raise("the GPU failed while ", doing, " (", error, ")");
  }
}
