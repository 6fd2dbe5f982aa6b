//===- FakeCuda.cpp - A CUDA driver for tests, without a GPU --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With OLD_DRIVER, the driver lacks the functions that CUDA 11.8 added.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace batchrt::cuda;

namespace {
FakeCuda state;
std::mutex mutex;
CUstream busyStream = nullptr;
} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT FakeCuda *fakeCuda() { return &state; }

/// Records the call of a function. Returns the result that is set for it, if
/// any.
#define CALL(name)                                                             \
  std::lock_guard<std::mutex> lock(mutex);                                     \
  state.calls.push_back(#name);                                                \
  {                                                                            \
    auto known = state.results.find(#name);                                    \
    if (known != state.results.end())                                          \
      return CUresult(known->second);                                          \
  }

template <class Handle>
static void make(Handle *handle, int &count) {
  *handle = reinterpret_cast<Handle>(uint64_t(0x1000 + 16 * ++count));
}

EXPORT CUresult cuGetErrorName(CUresult result, const char **name) {
  switch (result) {
  case CUDA_ERROR_ILLEGAL_ADDRESS:
    *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
    return CUDA_SUCCESS;
  case CUDA_ERROR_NO_DEVICE:
    *name = "CUDA_ERROR_NO_DEVICE";
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}
EXPORT CUresult cuGetErrorString(CUresult result, const char **text) {
  if (result != CUDA_ERROR_ILLEGAL_ADDRESS)
    return CUDA_ERROR_INVALID_VALUE;
  *text = "an illegal memory access was encountered";
  return CUDA_SUCCESS;
}

EXPORT CUresult cuInit(unsigned) {
  CALL(cuInit);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDriverGetVersion(int *version) {
  CALL(cuDriverGetVersion);
  *version = state.version;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetCount(int *count) {
  CALL(cuDeviceGetCount);
  *count = state.devices;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  CALL(cuDeviceGet);
  *device = ordinal;
  state.opened = ordinal;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  CALL(cuDeviceGetName);
  std::strncpy(name, "Fake GPU", length);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  CALL(cuDeviceTotalMem_v2);
  *bytes = state.memory;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                                     CUdevice) {
  CALL(cuDeviceGetAttribute);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = 1024;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = state.multiprocessors;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = state.major;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = state.minor;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    *value = state.cooperative;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = state.sharedOptIn;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    *value = state.clusters;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  CALL(cuDevicePrimaryCtxRetain);
  make(context, state.contexts);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  CALL(cuDevicePrimaryCtxRelease_v2);
  --state.contexts;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext) {
  CALL(cuCtxSetCurrent);
  return CUDA_SUCCESS;
}

static size_t allocated() {
  size_t sum = 0;
  for (auto &entry : state.allocations)
    sum += entry.second;
  return sum;
}
EXPORT CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  CALL(cuMemGetInfo_v2);
  *available = state.memory - allocated();
  *total = state.memory;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  CALL(cuMemAlloc_v2);
  if (bytes > state.memory - allocated())
    return CUDA_ERROR_OUT_OF_MEMORY;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  *address = reinterpret_cast<uint64_t>(memory);
  state.allocations[*address] = bytes;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  CALL(cuMemFree_v2);
  if (!state.allocations.erase(address))
    return CUDA_ERROR_INVALID_VALUE;
  std::free(reinterpret_cast<void *>(address));
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  CALL(cuMemHostAlloc);
  if (bytes > state.hostMemory)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  state.hostAllocations[*memory] = bytes;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemFreeHost(void *memory) {
  CALL(cuMemFreeHost);
  if (!state.hostAllocations.erase(memory))
    return CUDA_ERROR_INVALID_VALUE;
  std::free(memory);
  return CUDA_SUCCESS;
}

/// Returns true if all bytes are in one allocation. Otherwise, functions reject
/// the address, like those of the driver.
static bool isAllocated(CUdeviceptr address, size_t bytes) {
  auto next = state.allocations.upper_bound(address);
  if (next == state.allocations.begin())
    return false;
  auto &entry = *std::prev(next);
  return address + bytes <= entry.first + entry.second;
}
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from,
                                     size_t bytes, CUstream stream) {
  CALL(cuMemcpyHtoDAsync_v2);
  state.workStreams.push_back(stream);
  if (!isAllocated(to, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                                     CUstream stream) {
  CALL(cuMemcpyDtoHAsync_v2);
  state.workStreams.push_back(stream);
  if (!isAllocated(from, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  CALL(cuStreamCreate);
  if (flags != CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  make(stream, state.streams);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream) {
  CALL(cuStreamDestroy_v2);
  --state.streams;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamQuery(CUstream stream) {
  CALL(cuStreamQuery);
  if (stream != busyStream || state.busy == 0)
    return CUDA_SUCCESS;
  if (state.busy > 0)
    --state.busy;
  if (state.whenAsked)
    state.whenAsked();
  return CUDA_ERROR_NOT_READY;
}
EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  CALL(cuStreamSynchronize);
  state.workStreams.push_back(stream);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned) {
  CALL(cuEventCreate);
  make(event, state.events);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventDestroy_v2(CUevent) {
  CALL(cuEventDestroy_v2);
  --state.events;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventRecord(CUevent, CUstream stream) {
  CALL(cuEventRecord);
  state.workStreams.push_back(stream);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventQuery(CUevent) {
  CALL(cuEventQuery);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  CALL(cuEventElapsedTime);
  *milliseconds = 1.5F;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                                   unsigned count, CUjit_option *options,
                                   void **values) {
  {
    // The log exists even if the call fails.
    char *buffer = nullptr;
    size_t size = 0;
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        buffer = static_cast<char *>(values[i]);
      else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        size = reinterpret_cast<size_t>(values[i]);
    if (buffer && size)
      state.jitLog.copy(buffer, size);
  }
  CALL(cuModuleLoadDataEx);
  state.image = static_cast<const char *>(image);
  make(module, state.modules);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleUnload(CUmodule) {
  CALL(cuModuleUnload);
  --state.modules;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                                    const char *name) {
  CALL(cuModuleGetFunction);
  if (state.kernelName != name)
    return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(module);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                                   CUfunction) {
  CALL(cuFuncGetAttribute);
  if (attribute != CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    return CUDA_ERROR_INVALID_VALUE;
  *value = state.staticShared;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute attribute,
                                   int value) {
  CALL(cuFuncSetAttribute);
  state.functionAttributes[attribute] = value;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count,
                                                            CUfunction, int,
                                                            size_t) {
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  *count = state.blocksPerMultiprocessor;
  return CUDA_SUCCESS;
}

#ifndef OLD_DRIVER
static unsigned clusterOf(const CUlaunchConfig *config) {
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      return config->attrs[i].value.clusterDim.x;
  return 0;
}
EXPORT CUresult cuOccupancyMaxPotentialClusterSize(
    int *size, CUfunction, const CUlaunchConfig *config) {
  CALL(cuOccupancyMaxPotentialClusterSize);
  if (config->gridDimX % state.kernelCluster)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  bool large = state.functionAttributes
                   [CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED];
  *size = large ? state.maxCluster : std::min(state.maxCluster, 8);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuOccupancyMaxActiveClusters(int *count, CUfunction,
                                             const CUlaunchConfig *config) {
  CALL(cuOccupancyMaxActiveClusters);
  unsigned size = clusterOf(config);
  if (!size || config->gridDimX % size)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  *count = state.blocksPerMultiprocessor * state.multiprocessors / int(size);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction,
                                 void **parameters, void **) {
  CALL(cuLaunchKernelEx);
  FakeLaunch launch;
  launch.blocks = config->gridDimX;
  launch.blockSize = config->blockDimX;
  launch.sharedBytes = config->sharedMemBytes;
  launch.clusterSize = clusterOf(config);
  launch.stream = config->hStream;
  state.workStreams.push_back(config->hStream);
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      launch.cooperative = config->attrs[i].value.cooperative == 1;
  if (launch.clusterSize && launch.blocks % launch.clusterSize)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  unsigned resident = state.blocksPerMultiprocessor * state.multiprocessors;
  if (launch.cooperative && launch.blocks > resident)
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  for (int i = 0; i < state.numArguments; ++i)
    launch.arguments.push_back(*static_cast<uint64_t *>(parameters[i]));
  state.launches.push_back(launch);
  busyStream = config->hStream;
  if (state.kernel)
    state.kernel(launch);
  return CUDA_SUCCESS;
}
#endif
