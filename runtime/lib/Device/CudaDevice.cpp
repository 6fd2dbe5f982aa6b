//===- CudaDevice.cpp - NVIDIA GPUs through the CUDA driver ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "batch-runtime/Device.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

using namespace batchrt;
using namespace batchrt::cuda;

namespace {
class CudaDevice : public Device {
public:
  CudaDevice(int ordinal, OptionNames names);
  ~CudaDevice() override;

  void release(uint64_t address) noexcept override;
  void releaseStaging(char *memory) noexcept override;
  void copyIn(uint64_t to, const void *from, size_t bytes,
              DeviceStream stream) override;
  void copyOut(void *to, uint64_t from, size_t bytes,
               DeviceStream stream) override;
  DeviceStream createStream() override;
  void releaseStream(DeviceStream stream) noexcept override;
  DeviceKernel load(const DeviceCode &code) override;
  int64_t residentBlocks(DeviceKernel kernel,
                         const LaunchShape &shape) override;
  int64_t maxClusterSize(DeviceKernel kernel,
                         const LaunchShape &shape) override;
  void launch(DeviceKernel kernel, const LaunchShape &shape,
              const std::vector<uint64_t> &arguments,
              DeviceStream stream) override;
  bool isDone(DeviceStream stream) override;
  void synchronize(DeviceStream stream) override;
  DeviceEvent createEvent() override;
  void releaseEvent(DeviceEvent event) noexcept override;
  void record(DeviceEvent event, DeviceStream stream) override;
  bool hasHappened(DeviceEvent event) override;
  double microseconds(DeviceEvent begin, DeviceEvent end) override;

protected:
  uint64_t tryAllocate(size_t bytes) override;
  char *tryAllocateStaging(size_t bytes) override;
  size_t freeMemory() override;
  bool peek(void *to, uint64_t from, size_t bytes) override;
  void abandon() noexcept override { lost = true; }

private:
  int attribute(CUdevice_attribute attribute) const;
  void readFacts();
  CUmodule loadModule(const DeviceCode &code);
  void reserveShared(CUfunction function, const LaunchShape &shape);
  /// Returns the option with which the compiler generates code for this chip.
  std::string ownChip() const {
    return compilerOption(names, "chip", facts.chip);
  }

  /// Makes the context current on the calling thread.
  void enter() const {
    driver.check(driver.ctxSetCurrent(context), "choosing the GPU");
  }
  CUstream streamOf(DeviceStream stream) const {
    return stream ? reinterpret_cast<CUstream>(stream) : ownStream;
  }
  static CUfunction functionOf(DeviceKernel kernel) {
    return reinterpret_cast<CUfunction>(kernel);
  }
  static CUevent eventOf(DeviceEvent event) {
    return reinterpret_cast<CUevent>(event);
  }
  template <class Handle>
  static uint64_t number(Handle handle) {
    return reinterpret_cast<uint64_t>(handle);
  }

  static constexpr size_t peekBytes = 64 << 10;

  CudaDriver driver;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream ownStream = nullptr, peekStream = nullptr;
  char *peekMemory = nullptr;
  std::atomic<bool> lost{false};
  std::mutex mutex;                        ///< for peekStream, peekMemory
                                           ///< and all members below
  std::map<std::string, CUmodule> modules; ///< indexed by their code
  /// Kernels with dynamic shared memory, and the number of bytes that they may
  /// use.
  std::map<CUfunction, int64_t> shared;
};
} // namespace

std::unique_ptr<Device> batchrt::openCudaDevice(int ordinal,
                                                OptionNames names) {
  return std::make_unique<CudaDevice>(ordinal, names);
}

CudaDevice::CudaDevice(int ordinal, OptionNames names)
    : Device(names), driver(names) {
  int count = 0;
  driver.check(driver.deviceGetCount(&count), "counting GPUs");
  if (count == 0)
    driver.fail(CUDA_ERROR_NO_DEVICE, "counting GPUs");
  if (ordinal < 0 || ordinal >= count)
    raise("GPU ", ordinal, " does not exist; this machine has ", count,
          ", numbered from 0");
  driver.check(driver.deviceGet(&device, ordinal), "opening the GPU");
  readFacts();
  if (!attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH))
    raise(facts.name, " (", facts.chip,
          ") does not support cooperative launches; use a newer GPU, or ",
          otherDevices(names));
  driver.check(driver.primaryCtxRetain(&context, device), "opening the GPU");
  try {
    enter();
    driver.check(driver.streamCreate(&ownStream, CU_STREAM_NON_BLOCKING),
                 "creating a stream");
    driver.check(driver.streamCreate(&peekStream, CU_STREAM_NON_BLOCKING),
                 "creating a stream");
    // Allocate now, because later allocations would wait for kernels.
    peekMemory = allocateStaging(peekBytes, "control words");
  } catch (...) {
    driver.primaryCtxRelease(device); // also destroys the streams
    throw;
  }
}

CudaDevice::~CudaDevice() {
  // If a kernel never finishes, all calls below would wait for it.
  if (lost || driver.ctxSetCurrent(context) != CUDA_SUCCESS)
    return;
  for (auto &entry : modules)
    driver.moduleUnload(entry.second);
  driver.memFreeHost(peekMemory);
  driver.streamDestroy(peekStream);
  driver.streamDestroy(ownStream);
  driver.primaryCtxRelease(device);
}

int CudaDevice::attribute(CUdevice_attribute attribute) const {
  int value = 0;
  driver.check(driver.deviceGetAttribute(&value, attribute, device),
               "reading the GPU's properties");
  return value;
}

void CudaDevice::readFacts() {
  char name[256] = "";
  driver.check(driver.deviceGetName(name, sizeof(name) - 1, device),
               "reading the GPU's name");
  facts.name = name;
  driver.check(driver.deviceTotalMem(&facts.memory, device),
               "reading the size of the GPU's memory");
  facts.capabilityMajor =
      attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  facts.capabilityMinor =
      attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts.chip = concat("sm_", facts.capabilityMajor, facts.capabilityMinor);
  facts.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts.maxSharedPerBlock =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  facts.maxThreadsPerBlock =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  // Drivers that predate clusters do not support the attribute.
  int clusters = 0;
  facts.hasClusters =
      driver.deviceGetAttribute(&clusters, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH,
                                device) == CUDA_SUCCESS &&
      clusters;
}

//===----------------------------------------------------------------------===//
// Memory, copies, streams
//===----------------------------------------------------------------------===//

uint64_t CudaDevice::tryAllocate(size_t bytes) {
  enter();
  CUdeviceptr memory = 0;
  CUresult result = driver.memAlloc(&memory, std::max<size_t>(bytes, 1));
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return 0;
  driver.check(result, "allocating memory");
  return memory;
}

void CudaDevice::release(uint64_t address) noexcept {
  if (!lost && driver.ctxSetCurrent(context) == CUDA_SUCCESS)
    driver.memFree(address);
}

char *CudaDevice::tryAllocateStaging(size_t bytes) {
  enter();
  void *memory = nullptr;
  CUresult result =
      driver.memHostAlloc(&memory, std::max<size_t>(bytes, 1), /*flags=*/0);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return nullptr;
  driver.check(result, "allocating pinned memory");
  return static_cast<char *>(memory);
}

void CudaDevice::releaseStaging(char *memory) noexcept {
  if (!lost && driver.ctxSetCurrent(context) == CUDA_SUCCESS)
    driver.memFreeHost(memory);
}

size_t CudaDevice::freeMemory() {
  size_t available = 0, total = 0;
  driver.memGetInfo(&available, &total);
  return available;
}

void CudaDevice::copyIn(uint64_t to, const void *from, size_t bytes,
                        DeviceStream stream) {
  enter();
  driver.check(driver.memcpyHtoDAsync(to, from, bytes, streamOf(stream)),
               "copying to the GPU");
}

void CudaDevice::copyOut(void *to, uint64_t from, size_t bytes,
                         DeviceStream stream) {
  enter();
  driver.check(driver.memcpyDtoHAsync(to, from, bytes, streamOf(stream)),
               "copying from the GPU");
}

DeviceStream CudaDevice::createStream() {
  enter();
  CUstream stream = nullptr;
  driver.check(driver.streamCreate(&stream, CU_STREAM_NON_BLOCKING),
               "creating a stream");
  return number(stream);
}

void CudaDevice::releaseStream(DeviceStream stream) noexcept {
  if (!lost && driver.ctxSetCurrent(context) == CUDA_SUCCESS)
    driver.streamDestroy(reinterpret_cast<CUstream>(stream));
}

bool CudaDevice::isDone(DeviceStream stream) {
  enter();
  CUresult result = driver.streamQuery(streamOf(stream));
  if (result == CUDA_ERROR_NOT_READY)
    return false;
  driver.check(result, "running the kernel");
  return true;
}

void CudaDevice::synchronize(DeviceStream stream) {
  enter();
  driver.check(driver.streamSynchronize(streamOf(stream)),
               "running the kernel");
}

bool CudaDevice::peek(void *to, uint64_t from, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  enter();
  if (bytes > peekBytes || driver.memcpyDtoHAsync(peekMemory, from, bytes,
                                                  peekStream) != CUDA_SUCCESS)
    return false;
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (driver.streamQuery(peekStream) != CUDA_SUCCESS) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  std::memcpy(to, peekMemory, bytes);
  return true;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Returns true if the code is PTX text, and neither a cubin nor a fatbin.
static bool isPtx(const std::string &code) {
  return code.rfind("\177ELF", 0) != 0 &&
         code.rfind("\x50\xed\x55\xba", 0) != 0;
}

CUmodule CudaDevice::loadModule(const DeviceCode &code) {
  // The string adds the NUL character that the driver needs after PTX.
  std::string key(static_cast<const char *>(code.data), code.size);
  auto known = modules.find(key);
  if (known != modules.end())
    return known->second;

  std::string log(8192, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  CUmodule loaded = nullptr;
  CUresult result =
      driver.moduleLoadDataEx(&loaded, key.c_str(), 2, options, values);
  log.resize(std::strlen(log.c_str()));
  while (!log.empty() && log.back() == '\n')
    log.pop_back();

  const char *kind = isPtx(key) ? "PTX" : "machine code";
  std::string madeFor = code.chip.empty() ? "" : " for " + code.chip;
  switch (result) {
  case CUDA_SUCCESS:
    break;
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
    raise(facts.name, " (", facts.chip,
          ") cannot run the model, which was compiled to ", kind,
          code.chip.empty() ? " for another GPU" : madeFor,
          "; recompile it with ", ownChip());
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    raise("the NVIDIA driver is too old for the model's PTX: it supports CUDA ",
          driver.version(), " (", driver.describe(result),
          "); install a newer driver, or compile the model to machine code "
          "with ",
          ownChip(), " and a CUDA toolkit");
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    raise("the NVIDIA driver cannot compile the model's PTX (",
          driver.describe(result),
          "); install its library libnvidia-ptxjitcompiler.so.1, or compile "
          "the model to machine code with ",
          ownChip(), " and a CUDA toolkit");
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_INVALID_PTX:
    raise("the NVIDIA driver for CUDA ", driver.version(),
          " rejected the model's ", kind, madeFor, " (",
          driver.describe(result), ")", log.empty() ? "" : ":\n" + log,
          "\ninstall a newer driver, or recompile the model with ", ownChip());
  default:
    driver.fail(result, concat("loading the model's ", kind,
                               log.empty() ? "" : ": " + log));
  }
  modules.emplace(std::move(key), loaded);
  return loaded;
}

DeviceKernel CudaDevice::load(const DeviceCode &code) {
  if (!code.data || code.size == 0)
    raise("the object has no code for a GPU; compile the model with ",
          compilerOption(names, "device", "cuda"));
  std::lock_guard<std::mutex> lock(mutex);
  enter();
  CUfunction function = nullptr;
  CUresult result = driver.moduleGetFunction(&function, loadModule(code),
                                             code.kernel.c_str());
  if (result == CUDA_ERROR_NOT_FOUND)
    raise("the model's GPU code has no kernel '", code.kernel,
          "'; recompile the model");
  driver.check(result, "looking up the kernel");
  return number(function);
}

/// Requests the shared memory of blocks. By default, a block may use at most 48
/// KiB.
void CudaDevice::reserveShared(CUfunction function, const LaunchShape &shape) {
  std::lock_guard<std::mutex> lock(mutex);
  int64_t &reserved = shared[function];
  if (shape.sharedBytes <= reserved)
    return;
  int fixed = 0;
  driver.check(driver.funcGetAttribute(
                   &fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
               "reading the kernel's properties");
  if (shape.sharedBytes > facts.maxSharedPerBlock - fixed)
    raise("the kernel needs ", fixed + shape.sharedBytes,
          " bytes of shared memory per block, but ", facts.name, " has ",
          facts.maxSharedPerBlock, "; recompile the model with ", ownChip());
  driver.check(driver.funcSetAttribute(
                   function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   static_cast<int>(shape.sharedBytes)),
               "reserving shared memory");
  reserved = shape.sharedBytes;
}

static CUlaunchConfig configFor(const LaunchShape &shape, int64_t blocks) {
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(blocks);
  config.blockDimX = static_cast<unsigned>(shape.blockSize);
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = static_cast<unsigned>(shape.sharedBytes);
  return config;
}

static CUlaunchAttribute cooperative() {
  CUlaunchAttribute attribute{CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 0, {}};
  attribute.value.cooperative = 1;
  return attribute;
}

static CUlaunchAttribute clusterOf(const LaunchShape &shape) {
  CUlaunchAttribute attribute{CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 0, {}};
  attribute.value.clusterDim.x = static_cast<unsigned>(shape.clusterSize);
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  return attribute;
}

int64_t CudaDevice::residentBlocks(DeviceKernel kernel,
                                   const LaunchShape &shape) {
  enter();
  CUfunction function = functionOf(kernel);
  reserveShared(function, shape);
  int count = 0;
  if (shape.clusterSize == 1) {
    driver.check(driver.maxActiveBlocks(&count, function,
                                        static_cast<int>(shape.blockSize),
                                        shape.sharedBytes),
                 "counting resident blocks");
    return static_cast<int64_t>(count) * facts.multiprocessors;
  }
  if (shape.clusterSize > maxClusterSize(kernel, shape))
    return 0;
  CUlaunchConfig config = configFor(shape, shape.clusterSize);
  CUlaunchAttribute attribute = clusterOf(shape);
  config.attrs = &attribute;
  config.numAttrs = 1;
  driver.check(driver.maxActiveClusters(&count, function, &config),
               "counting resident clusters");
  return count * shape.clusterSize;
}

int64_t CudaDevice::maxClusterSize(DeviceKernel kernel,
                                   const LaunchShape &shape) {
  if (!facts.hasClusters)
    return 1;
  enter();
  CUfunction function = functionOf(kernel);
  reserveShared(function, shape);
  // By default, a cluster has at most 8 blocks.
  driver.check(
      driver.funcSetAttribute(
          function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
      "allowing large clusters");
  // The grid of a kernel that was compiled for clusters must consist of whole
  // clusters.
  CUlaunchConfig config = configFor(shape, shape.clusterSize);
  int size = 1;
  driver.check(driver.maxPotentialClusterSize(&size, function, &config),
               "finding the largest cluster");
  return size;
}

void CudaDevice::launch(DeviceKernel kernel, const LaunchShape &shape,
                        const std::vector<uint64_t> &arguments,
                        DeviceStream stream) {
  enter();
  CUfunction function = functionOf(kernel);
  if (shape.clusterSize > 1 && !facts.hasClusters)
    raise(facts.name, " (", facts.chip,
          ") does not support clusters of blocks; recompile the model with "
          "--executor=device, or --level=device if it runs single instances");
  reserveShared(function, shape);
  CUlaunchConfig config = configFor(shape, shape.blocks);
  config.hStream = streamOf(stream);
  // Blocks that wait for each other must all be resident. The driver rejects
  // the launch if they do not fit.
  CUlaunchAttribute attributes[] = {cooperative(), clusterOf(shape)};
  config.attrs = attributes;
  config.numAttrs = shape.clusterSize > 1 ? 2 : 1;
  std::vector<void *> parameters;
  for (const uint64_t &argument : arguments)
    parameters.push_back(const_cast<uint64_t *>(&argument));
  CUresult result =
      driver.launchKernelEx(&config, function, parameters.data(), nullptr);
  std::string blocks =
      concat(shape.blocks, " blocks of ", shape.blockSize, " threads with ",
             shape.sharedBytes, " bytes of shared memory");
  switch (result) {
  case CUDA_SUCCESS:
    return;
  case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    raise(facts.name, " cannot run ", blocks, " at the same time (",
          driver.describe(result), "); it can run at most ",
          residentBlocks(kernel, shape),
          ", or fewer if other processes use it; choose fewer blocks");
  case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    raise(facts.name, " has too few registers for ", blocks, " (",
          driver.describe(result), "); recompile the model with ", ownChip());
  case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    raise(
        facts.name, " cannot run ", blocks, " in clusters of ",
        shape.clusterSize, " (", driver.describe(result),
        "); the cluster size must divide the number of blocks and be at most ",
        maxClusterSize(kernel, shape),
        "; recompile the model with --executor=device");
  default:
    driver.fail(result, concat("launching ", blocks));
  }
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

DeviceEvent CudaDevice::createEvent() {
  enter();
  CUevent event = nullptr;
  driver.check(driver.eventCreate(&event, CU_EVENT_DEFAULT),
               "creating an event");
  return number(event);
}

void CudaDevice::releaseEvent(DeviceEvent event) noexcept {
  if (!lost && driver.ctxSetCurrent(context) == CUDA_SUCCESS)
    driver.eventDestroy(eventOf(event));
}

void CudaDevice::record(DeviceEvent event, DeviceStream stream) {
  enter();
  driver.check(driver.eventRecord(eventOf(event), streamOf(stream)),
               "recording an event");
}

bool CudaDevice::hasHappened(DeviceEvent event) {
  enter();
  CUresult result = driver.eventQuery(eventOf(event));
  if (result == CUDA_ERROR_NOT_READY)
    return false;
  driver.check(result, "querying an event");
  return true;
}

double CudaDevice::microseconds(DeviceEvent begin, DeviceEvent end) {
  enter();
  float milliseconds = 0;
  driver.check(
      driver.eventElapsedTime(&milliseconds, eventOf(begin), eventOf(end)),
      "reading the time");
  return milliseconds * 1e3;
}
