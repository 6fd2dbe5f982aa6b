//===- CudaDeviceTest.cpp - Tests of the CUDA device, without a GPU -------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include "batch-runtime/DeviceArena.h"
#include "batch-runtime/Watchdog.h"

#include <cstring>
#include <functional>
#include <tuple>

using namespace batchrt;
using namespace batchrt::cuda;

namespace {
class Cuda : public testing::Test {
protected:
  /// Opens the GPU and loads the kernel.
  void open() {
    device = openCudaDevice();
    kernel = device->load(code);
  }

  FakeDriver driver;
  FakeCuda &cuda = *driver.cuda;
  std::unique_ptr<Device> device;
  DeviceKernel kernel = 0;
  std::string ptx = ".version 8.0\n.target sm_90\n";
  DeviceCode code{ptx.data(), ptx.size(), "main.execute", "sm_90"};
  std::vector<uint64_t> arguments{1, 2, 3, 4, 5};
};

/// Control words of a run, as the kernel leaves them.
struct Control {
  /// Creates the words of blocks that are all at the same step.
  explicit Control(const std::vector<uint32_t> &arrivals)
      : words(controlBytes(arrivals.size()) / 8, 0), blocks(arrivals.size()) {
    for (size_t b = 0; b < arrivals.size(); ++b)
      ofBlock(b) = {arrivals[b], 0, makeProgress(1, 4)};
  }
  /// Creates the words of blocks that have not begun.
  static Control idle(int64_t blocks) {
    Control control(std::vector<uint32_t>(blocks, 0));
    for (int64_t b = 0; b < blocks; ++b)
      control.ofBlock(b).progress = 0;
    return control;
  }
  BatchDeviceControl &all() {
    return *reinterpret_cast<BatchDeviceControl *>(words.data());
  }
  BatchBlockControl &ofBlock(int64_t block) { return all().ofBlocks[block]; }
  Control &record(uint32_t step, uint32_t barrier, uint32_t block) {
    all().timedOut = 1;
    all().step = step;
    all().barrier = barrier;
    all().block = block;
    return *this;
  }
  Control &at(int64_t block, int64_t high, int64_t low) {
    ofBlock(block).progress = makeProgress(high, low);
    return *this;
  }
  Control &ended(int64_t block) {
    ofBlock(block).ended = 1;
    return *this;
  }
  void check(Watchdog watchdog = {}) const {
    watchdog.seconds = 5;
    watchdog.blocks = blocks;
    checkControl(reinterpret_cast<const char *>(words.data()), watchdog);
  }
  void checkEnded(int64_t wanted) const {
    batchrt::checkEnded(reinterpret_cast<const char *>(words.data()), blocks,
                        [&](int64_t) { return wanted; });
  }
  /// Returns a watchdog with very short limits, and copies these words to the
  /// device.
  Watchdog on(Device &device) const {
    Watchdog watchdog;
    watchdog.seconds = watchdog.margin = 0.001;
    watchdog.blocks = blocks;
    watchdog.control = device.allocate(words.size() * 8, "control words");
    device.copyIn(watchdog.control, words.data(), words.size() * 8);
    return watchdog;
  }
  /// Returns the words of a block on the device.
  static BatchBlockControl &there(const Watchdog &watchdog, int64_t block) {
    return reinterpret_cast<BatchDeviceControl *>(watchdog.control)
        ->ofBlocks[block];
  }

  std::vector<uint64_t> words;
  int64_t blocks;
};
} // namespace

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

TEST_F(Cuda, NoDriver) {
  FakeDriver::use("no_such_file.so");
  std::string message = messageOf([] { openCudaDevice(); });
  EXPECT_NE(message.find("no NVIDIA driver found ("), std::string::npos);
  EXPECT_NE(message.find("no_such_file.so: cannot open shared object file"),
            std::string::npos);
  EXPECT_NE(message.find("use --device=cpu or --device=emulator"),
            std::string::npos);
}

TEST_F(Cuda, NotADriver) {
  FakeDriver::use("fake_plain.so");
  EXPECT_MESSAGE("fake_plain.so' is not an NVIDIA driver", openCudaDevice());
}

TEST_F(Cuda, OldDriver) {
  FakeDriver::use("fake_cuda_old.so");
  EXPECT_MESSAGE("the NVIDIA driver is too old: it supports CUDA 12.4, but "
                 "cuOccupancyMaxPotentialClusterSize needs 11.8; install a "
                 "newer driver, or use --device=cpu",
                 openCudaDevice());
}

TEST_F(Cuda, NoDevice) {
  cuda.devices = 0;
  EXPECT_MESSAGE("no NVIDIA GPU found (CUDA_ERROR_NO_DEVICE", openCudaDevice());
  cuda.results["cuInit"] = CUDA_ERROR_NO_DEVICE;
  EXPECT_MESSAGE("use --device=cpu or --device=emulator", openCudaDevice());
}

TEST_F(Cuda, DriverDoesNotStart) {
  cuda.results["cuInit"] = CUDA_ERROR_STUB_LIBRARY;
  EXPECT_MESSAGE("is the driver's stub library from the CUDA toolkit",
                 openCudaDevice());
  cuda.results["cuInit"] = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
  EXPECT_MESSAGE("the NVIDIA driver does not work (CUDA error 803",
                 openCudaDevice());
  cuda.results["cuInit"] = CUDA_ERROR_UNKNOWN;
  EXPECT_MESSAGE("the GPU failed while starting the driver (CUDA error 999",
                 openCudaDevice());
}

TEST_F(Cuda, NumberOfTheGpu) {
  EXPECT_MESSAGE("GPU 1 does not exist; this machine has 1", openCudaDevice(1));
  EXPECT_MESSAGE("GPU -1 does not exist", openCudaDevice(-1));
  cuda.devices = 2;
  openCudaDevice(1);
}

TEST_F(Cuda, GpuIsTaken) {
  cuda.results["cuDevicePrimaryCtxRetain"] = CUDA_ERROR_DEVICE_UNAVAILABLE;
  EXPECT_MESSAGE("the GPU is in use by another process", openCudaDevice());
}

TEST_F(Cuda, GpuWithoutCooperativeLaunch) {
  cuda.cooperative = 0;
  cuda.major = 5;
  EXPECT_MESSAGE("Fake GPU (sm_50) does not support cooperative launches",
                 openCudaDevice());
}

TEST_F(Cuda, GivesTheContextBackIfOpeningFails) {
  cuda.hostMemory = 0;
  EXPECT_MESSAGE("out of pinned memory", openCudaDevice());
  EXPECT_EQ(cuda.contexts, 0);
}

TEST_F(Cuda, Facts) {
  open();
  const DeviceInfo &info = device->info();
  EXPECT_EQ(info.name, "Fake GPU");
  EXPECT_EQ(info.chip, "sm_90");
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.maxSharedPerBlock, 232448);
  EXPECT_EQ(info.maxThreadsPerBlock, 1024);
  EXPECT_EQ(info.memory, size_t(1) << 30);
  EXPECT_TRUE(info.hasClusters);
  cuda.clusters = 0;
  EXPECT_FALSE(openCudaDevice()->info().hasClusters);
}

TEST_F(Cuda, ReleasesEverything) {
  open();
  uint64_t memory = device->allocate(100, "a test");
  char *staging = device->allocateStaging(100, "a test");
  DeviceStream stream = device->createStream();
  DeviceEvent event = device->createEvent();
  EXPECT_EQ(cuda.allocations.size(), 1U);
  EXPECT_EQ(cuda.streams, 3);
  device->release(memory);
  device->releaseStaging(staging);
  device->releaseStream(stream);
  device->releaseEvent(event);
  device.reset();
  EXPECT_TRUE(cuda.allocations.empty());
  EXPECT_TRUE(cuda.hostAllocations.empty());
  EXPECT_EQ(cuda.streams, 0);
  EXPECT_EQ(cuda.events, 0);
  EXPECT_EQ(cuda.modules, 0);
  EXPECT_EQ(cuda.contexts, 0);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(Cuda, OutOfMemory) {
  open();
  uint64_t memory = device->allocate(1 << 20, "a test");
  EXPECT_MESSAGE("out of memory on Fake GPU: cannot allocate 2147483648 bytes "
                 "for tables (1072693248 of 1073741824 bytes free); use a "
                 "smaller batch",
                 device->allocate(size_t(2) << 30, "tables"));
  EXPECT_MESSAGE("out of pinned memory on the host: cannot allocate "
                 "2147483648 bytes to copy tables to Fake GPU",
                 device->allocateStaging(size_t(2) << 30, "tables"));
  device->release(memory);
}

TEST_F(Cuda, Copies) {
  open();
  char text[] = "one two", back[8] = "";
  uint64_t memory = device->allocate(8, "a test");
  EXPECT_EQ(memory % 256, 0U);
  device->copyIn(memory, text, 8);
  device->copyOut(back, memory, 8, device->createStream());
  device->synchronize();
  EXPECT_STREQ(back, "one two");
  EXPECT_MESSAGE("the GPU failed while copying to the GPU",
                 device->copyIn(memory + 4, text, 8));
  device->release(memory);
}

TEST_F(Cuda, ArenaGrowsSeldom) {
  open();
  DeviceArena arena(*device, "a test");
  EXPECT_EQ(arena.counts().growths, 0);
  arena.reset(1000, 100);
  EXPECT_EQ(arena.capacity(), 1024U);
  EXPECT_EQ(arena.stagingCapacity(), 256U);
  EXPECT_EQ(arena.counts().growths, 2);
  arena.reset(1024, 256);
  EXPECT_EQ(arena.counts().growths, 2);
  arena.reset(1025, 0); // grows to 1.5 times the size
  EXPECT_EQ(arena.capacity(), 1536U);
  EXPECT_EQ(arena.counts().growths, 3);
  for (size_t bytes = 1; bytes <= 1 << 20; bytes += 1 << 10)
    arena.reset(bytes, bytes);
  EXPECT_LT(arena.counts().growths, 40);
  // A growing arena releases its old memory.
  EXPECT_EQ(cuda.allocations.size(), 1U);
}

TEST_F(Cuda, ArenaGivesOutAlignedMemory) {
  open();
  DeviceArena arena(*device, "a test");
  arena.reset(700, 256);
  EXPECT_EQ(arena.allocate(1), 0U);
  EXPECT_EQ(arena.allocate(200), 256U);
  EXPECT_EQ(arena.allocate(188), 512U);
  EXPECT_EQ(arena.used(), 700U);
  EXPECT_MESSAGE("the arena for a test has 700 bytes, but 769 are needed",
                 arena.allocate(1));
  arena.reset(700, 256);
  EXPECT_EQ(arena.allocate(700), 0U);
}

TEST_F(Cuda, ArenaCountsCopies) {
  open();
  DeviceArena arena(*device, "a test");
  arena.reset(1024, 512);
  std::memset(arena.staging(), 7, 512);
  arena.copyIn(0, 300);
  std::memset(arena.staging(), 0, 512);
  arena.copyOut(100, 150);
  arena.copyOut(150, 150); // copies nothing
  EXPECT_EQ(arena.staging()[99], 0);
  EXPECT_EQ(arena.staging()[100], 7);
  EXPECT_EQ(arena.staging()[149], 7);
  EXPECT_EQ(arena.staging()[150], 0);
  EXPECT_EQ(arena.counts().copiesIn, 1);
  EXPECT_EQ(arena.counts().bytesIn, 300U);
  EXPECT_EQ(arena.counts().copiesOut, 1);
  EXPECT_EQ(arena.counts().bytesOut, 50U);
  EXPECT_EQ(cuda.count("cuMemcpyHtoDAsync_v2"), 1);
  EXPECT_EQ(cuda.count("cuMemcpyDtoHAsync_v2"), 1);
  EXPECT_MESSAGE("have no staging memory", arena.copyIn(512, 513));
}

TEST_F(Cuda, ArenaWithoutMemory) {
  open();
  DeviceArena arena(*device, "result tables");
  arena.reset(1000, 0);
  EXPECT_MESSAGE("bytes for result tables", arena.reset(size_t(2) << 30, 0));
  EXPECT_EQ(arena.capacity(), 0U);
  arena.reset(1000, 0);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST_F(Cuda, LoadsEqualCodeOnce) {
  open();
  EXPECT_EQ(cuda.image, ptx); // ends with a NUL character
  std::string copy = ptx;
  EXPECT_EQ(device->load({copy.data(), copy.size(), "main.execute", ""}),
            kernel);
  EXPECT_EQ(cuda.count("cuModuleLoadDataEx"), 1);
  copy[0] = '\n';
  EXPECT_NE(device->load({copy.data(), copy.size(), "main.execute", ""}),
            kernel);
  EXPECT_EQ(cuda.count("cuModuleLoadDataEx"), 2);
}

TEST_F(Cuda, CodeThatDoesNotLoad) {
  device = openCudaDevice();
  EXPECT_MESSAGE("the object has no code for a GPU",
                 device->load({nullptr, 0, "k", ""}));
  cuda.kernelName = "other";
  EXPECT_MESSAGE("has no kernel 'main.execute'", device->load(code));

  cuda.jitLog = "ptxas error: line 7\n";
  cuda.results["cuModuleLoadDataEx"] = CUDA_ERROR_INVALID_PTX;
  ptx += "garbage";
  code.size = ptx.size();
  code.data = ptx.data();
  EXPECT_MESSAGE("the NVIDIA driver for CUDA 12.4 rejected the "
                 "model's PTX for sm_90 (CUDA error 218: not known to this "
                 "driver):\nptxas error: line 7\ninstall a newer driver",
                 device->load(code));
  cuda.jitLog = std::string(20000, 'x'); // longer than the log buffer
  EXPECT_MESSAGE("xxx\ninstall a newer driver", device->load(code));
  cuda.jitLog.clear();

  cuda.results["cuModuleLoadDataEx"] = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  EXPECT_MESSAGE("the NVIDIA driver is too old for the model's PTX: it "
                 "supports CUDA 12.4",
                 device->load(code));
  cuda.results["cuModuleLoadDataEx"] = CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
  EXPECT_MESSAGE("libnvidia-ptxjitcompiler.so.1", device->load(code));

  std::string cubin = "\x7f"
                      "ELF...";
  DeviceCode other{cubin.data(), cubin.size(), "main.execute", "sm_80"};
  cuda.results["cuModuleLoadDataEx"] = CUDA_ERROR_NO_BINARY_FOR_GPU;
  EXPECT_MESSAGE("Fake GPU (sm_90) cannot run the model, which was compiled to "
                 "machine code for sm_80; recompile it with --chip=sm_90",
                 device->load(other));
  cuda.results["cuModuleLoadDataEx"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_MESSAGE("the GPU failed while loading the model's machine code",
                 device->load(other));
}

TEST_F(Cuda, SharedMemoryOnRequest) {
  open();
  LaunchShape shape;
  device->launch(kernel, shape, arguments);
  EXPECT_EQ(cuda.count("cuFuncSetAttribute"), 0);
  shape.sharedBytes = 200000;
  device->launch(kernel, shape, arguments);
  EXPECT_EQ(
      cuda.functionAttributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES],
      200000);
  shape.sharedBytes = 100000; // the reserved memory is enough
  device->launch(kernel, shape, arguments);
  EXPECT_EQ(cuda.count("cuFuncSetAttribute"), 1);
  EXPECT_EQ(cuda.launches.back().sharedBytes, 100000U);
  shape.sharedBytes = 232448 - 1024 + 1;
  EXPECT_MESSAGE("the kernel needs 232449 bytes of shared memory per block, "
                 "but Fake GPU has 232448",
                 device->residentBlocks(kernel, shape));
}

TEST_F(Cuda, ResidentBlocks) {
  open();
  LaunchShape shape;
  EXPECT_EQ(device->residentBlocks(kernel, shape), 264);
  shape.clusterSize = 16;
  EXPECT_EQ(device->residentBlocks(kernel, shape), 256); // 16 clusters
  cuda.maxCluster = 8;
  EXPECT_EQ(device->residentBlocks(kernel, shape), 0);
  cuda.blocksPerMultiprocessor = 0;
  shape.clusterSize = 1;
  EXPECT_EQ(device->residentBlocks(kernel, shape), 0);
}

TEST_F(Cuda, LargestCluster) {
  open();
  EXPECT_EQ(device->maxClusterSize(kernel, {}), 16);
  EXPECT_EQ(cuda.functionAttributes
                [CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED],
            1);
  // The NVIDIA driver requires whole clusters if the kernel specifies its own
  // cluster size.
  cuda.kernelCluster = 8;
  LaunchShape shape;
  shape.clusterSize = 8;
  EXPECT_EQ(device->maxClusterSize(kernel, shape), 16);
  EXPECT_EQ(device->residentBlocks(kernel, shape), 264);
  cuda.clusters = 0;
  open();
  EXPECT_EQ(device->maxClusterSize(kernel, {}), 1);
}

TEST_F(Cuda, Launch) {
  open();
  LaunchShape shape;
  shape.blocks = 264;
  shape.blockSize = 512;
  DeviceStream stream = device->createStream();
  device->launch(kernel, shape, arguments, stream);
  const FakeLaunch &plain = cuda.launches.back();
  EXPECT_EQ(plain.blocks, 264U);
  EXPECT_EQ(plain.blockSize, 512U);
  EXPECT_EQ(plain.clusterSize, 0U);
  EXPECT_TRUE(plain.cooperative);
  EXPECT_EQ(plain.arguments, arguments);
  EXPECT_EQ(plain.stream, reinterpret_cast<void *>(stream));

  shape.clusterSize = 8;
  device->launch(kernel, shape, arguments);
  EXPECT_EQ(cuda.launches.back().clusterSize, 8U);
  EXPECT_TRUE(cuda.launches.back().cooperative);
  EXPECT_NE(cuda.launches.back().stream, reinterpret_cast<void *>(stream));
}

TEST_F(Cuda, LaunchesThatFail) {
  open();
  LaunchShape shape;
  shape.blocks = 265;
  EXPECT_MESSAGE(
      "Fake GPU cannot run 265 blocks of 256 threads with 0 bytes of shared "
      "memory at the same time (CUDA error 720: not known to this driver); it "
      "can run at most 264, or fewer if other processes use it",
      device->launch(kernel, shape, arguments));
  shape.clusterSize = 2;
  EXPECT_MESSAGE(
      "in clusters of 2 (CUDA error 912: not known to this driver); "
      "the cluster size must divide the number of blocks and be at most 16",
      device->launch(kernel, shape, arguments));
  cuda.results["cuLaunchKernelEx"] = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  EXPECT_MESSAGE("has too few registers for 265 blocks",
                 device->launch(kernel, shape, arguments));
  cuda.results["cuLaunchKernelEx"] = CUDA_ERROR_INVALID_VALUE;
  EXPECT_MESSAGE("the GPU failed while launching 265 blocks",
                 device->launch(kernel, shape, arguments));
  cuda.clusters = 0;
  open();
  EXPECT_MESSAGE("Fake GPU (sm_90) does not support clusters",
                 device->launch(kernel, shape, arguments));
}

TEST_F(Cuda, KernelsThatFail) {
  open();
  cuda.results["cuStreamSynchronize"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_MESSAGE(
      "the GPU kernel accessed an invalid address, as detected while running "
      "the kernel (CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was "
      "encountered); run with --device=emulator to find the access",
      device->synchronize());
  cuda.results["cuStreamQuery"] = CUDA_ERROR_MISALIGNED_ADDRESS;
  EXPECT_MESSAGE("the GPU kernel failed, as detected while running the kernel",
                 device->isDone());
  cuda.results["cuStreamQuery"] = CUDA_ERROR_LAUNCH_TIMEOUT;
  EXPECT_MESSAGE("on a GPU that drives a display", device->isDone());
}

TEST_F(Cuda, ErrorsNameTheOperation) {
  auto fails = [&](const char *function, const char *doing, const auto &call) {
    SCOPED_TRACE(function);
    cuda.results[function] = CUDA_ERROR_UNKNOWN;
    EXPECT_MESSAGE(concat("the GPU failed while ", doing, " (CUDA error 999"),
                   call());
    cuda.results.erase(function);
  };
  const std::pair<const char *, const char *> opening[] = {
      {"cuDeviceGetCount", "counting GPUs"},
      {"cuDeviceGet", "opening the GPU"},
      {"cuDeviceGetName", "reading the GPU's name"},
      {"cuDeviceTotalMem_v2", "reading the size of the GPU's memory"},
      {"cuDeviceGetAttribute", "reading the GPU's properties"},
      {"cuDevicePrimaryCtxRetain", "opening the GPU"},
      {"cuCtxSetCurrent", "choosing the GPU"},
      {"cuStreamCreate", "creating a stream"},
      {"cuMemHostAlloc", "allocating pinned memory"}};
  for (auto [function, doing] : opening)
    fails(function, doing, [] { openCudaDevice(); });

  open();
  LaunchShape plain, shared, clusters;
  shared.sharedBytes = 100000;
  clusters.clusterSize = 2;
  char bytes[8];
  const uint64_t memory = device->allocate(8, "a test");
  const DeviceEvent event = device->createEvent();
  const std::tuple<const char *, const char *, std::function<void()>> calls[] =
      {{"cuMemAlloc_v2", "allocating memory",
        [&] { device->allocate(8, "a test"); }},
       {"cuMemcpyDtoHAsync_v2", "copying from the GPU",
        [&] { device->copyOut(bytes, memory, 8); }},
       {"cuStreamCreate", "creating a stream", [&] { device->createStream(); }},
       {"cuModuleGetFunction", "looking up the kernel",
        [&] { device->load(code); }},
       {"cuFuncGetAttribute", "reading the kernel's properties",
        [&] { device->residentBlocks(kernel, shared); }},
       {"cuFuncSetAttribute", "reserving shared memory",
        [&] { device->residentBlocks(kernel, shared); }},
       {"cuOccupancyMaxActiveBlocksPerMultiprocessor",
        "counting resident blocks",
        [&] { device->residentBlocks(kernel, plain); }},
       {"cuOccupancyMaxActiveClusters", "counting resident clusters",
        [&] { device->residentBlocks(kernel, clusters); }},
       {"cuFuncSetAttribute", "allowing large clusters",
        [&] { device->maxClusterSize(kernel, plain); }},
       {"cuOccupancyMaxPotentialClusterSize", "finding the largest cluster",
        [&] { device->maxClusterSize(kernel, plain); }},
       {"cuEventCreate", "creating an event", [&] { device->createEvent(); }},
       {"cuEventRecord", "recording an event", [&] { device->record(event); }},
       {"cuEventQuery", "querying an event",
        [&] { device->hasHappened(event); }},
       {"cuEventElapsedTime", "reading the time",
        [&] { device->microseconds(event, event); }}};
  for (const auto &[function, doing, call] : calls)
    fails(function, doing, call);
}

TEST_F(Cuda, Events) {
  open();
  DeviceEvent begin = device->createEvent(), end = device->createEvent();
  device->record(begin);
  device->record(end);
  EXPECT_EQ(device->microseconds(begin, end), 1500);
  EXPECT_EQ(cuda.count("cuEventRecord"), 2);
  device->releaseEvent(begin);
  device->releaseEvent(end);
}

//===----------------------------------------------------------------------===//
// Kernels that do not finish
//===----------------------------------------------------------------------===//

TEST_F(Cuda, WaitsWithoutAWatchdog) {
  open();
  device->wait({});
  EXPECT_EQ(cuda.count("cuStreamSynchronize"), 1);
  EXPECT_EQ(cuda.count("cuStreamQuery"), 0);
}

TEST_F(Cuda, WaitsUntilTheKernelIsDone) {
  open();
  device->launch(kernel, {}, arguments);
  cuda.busy = 100;
  Watchdog watchdog;
  watchdog.seconds = 60;
  EXPECT_EQ(watchdog.nanoseconds(), 60000000000U);
  device->wait(watchdog);
  EXPECT_EQ(cuda.busy, 0);
  EXPECT_EQ(cuda.count("cuStreamQuery"), 101);
}

TEST_F(Cuda, GivesUpOnAKernel) {
  open();
  uint64_t memory = device->allocate(100, "a test");
  device->launch(kernel, {}, arguments);
  cuda.busy = -1;
  Watchdog watchdog;
  watchdog.seconds = 0.01;
  watchdog.margin = 0.01;
  EXPECT_MESSAGE(
      "the kernel on Fake GPU has not finished and has made no progress for "
      "0.02 s; find the cause with --device=emulator",
      device->wait(watchdog));
  // After the failed wait, no call waits for the kernel.
  cuda.calls.clear();
  device->release(memory);
  device.reset();
  EXPECT_TRUE(cuda.calls.empty());
}

TEST_F(Cuda, NamesTheBlocksThatAreBehind) {
  open();
  Watchdog watchdog = Control({4, 4, 3, 4, 2, 3, 3, 4}).on(*device);
  device->launch(kernel, {}, arguments);
  cuda.busy = -1;
  EXPECT_MESSAGE(": blocks 2, 4-6 of 8 did not arrive where the others wait, "
                 "after 3 barriers: blocks 2, 4-6 are in step 4; find the "
                 "cause",
                 device->wait(watchdog));

  open();
  watchdog = Control({1, 1, 1}).on(*device);
  device->launch(kernel, {}, arguments);
  EXPECT_MESSAGE(": all 3 blocks have arrived at 1 barrier: blocks 0-2 are in "
                 "step 4; find the cause",
                 device->wait(watchdog));
}

// Some blocks are in steps of different plans, some have not begun, and some
// have ended.
TEST_F(Cuda, NamesTheStepsThatBlocksAreIn) {
  open();
  Control control = Control::idle(12);
  for (int64_t block : {0, 1, 4, 5})
    control.at(block, 1 + block / 2, 7);
  for (int64_t block : {2, 6, 7, 8, 9})
    control.at(block, 1, 1).ended(block);
  Watchdog watchdog = control.on(*device);
  watchdog.executor = "cluster";
  watchdog.describe = [](int64_t progress) {
    return "step " + std::to_string(lowOf(progress)) + " of plan " +
           std::to_string(highOf(progress));
  };
  device->launch(kernel, {}, arguments);
  cuda.busy = -1;
  EXPECT_MESSAGE(
      "executor cluster: the kernel on Fake GPU has not finished and has made "
      "no progress for 0.002 s: blocks 0-1 are in step 7 of plan 1; blocks 3, "
      "10-11 are before the first step; blocks 4-5 are in step 7 of plan 3; "
      "find the cause with --device=emulator, or use a longer --watchdog",
      device->wait(watchdog));

  // If there are many blocks, messages list only some of them.
  open();
  Control many = Control::idle(9);
  for (int64_t block = 0; block < 9; ++block)
    many.at(block, 1, block);
  watchdog = many.on(*device);
  device->launch(kernel, {}, arguments);
  EXPECT_MESSAGE("block 3 is in step 3; 5 more elsewhere; find the cause",
                 device->wait(watchdog));
}

// A run may take any length of time if blocks begin steps, arrive at barriers
// or exit.
TEST_F(Cuda, AnyWordIsProgress) {
  using Change = std::function<void(BatchBlockControl &, int)>;
  const Change changes[] = {
      [](BatchBlockControl &block, int) { ++block.arrivals; },
      [](BatchBlockControl &block, int) { ++block.progress; },
      [](BatchBlockControl &block, int turn) { block.ended = turn & 1; }};
  for (const Change &change : changes) {
    open();
    Watchdog watchdog = Control({1, 1}).on(*device);
    cuda.calls.clear();
    device->launch(kernel, {}, arguments);
    cuda.busy = -1;
    int last = 0;
    cuda.whenAsked = [&] {
      int looks = cuda.count("cuMemcpyDtoHAsync_v2");
      if (looks > last)
        change(Control::there(watchdog, 1), last = looks);
      // This takes much longer than the limit. Within the limit, wait() checks
      // the words four times.
      if (looks == 40)
        cuda.busy = 0;
    };
    device->wait(watchdog);
    EXPECT_GE(cuda.count("cuMemcpyDtoHAsync_v2"), 40);
    cuda.whenAsked = nullptr;
  }
}

// Other processes may use the GPU. Other work in the stream, before or after
// the kernel, does not count toward the kernel's limit.
TEST_F(Cuda, WaitsForItsTurn) {
  const Control idle = Control::idle(2);
  const Control done = Control({3, 3}).ended(0).ended(1);
  for (const Control &control : {idle, done}) {
    open();
    Watchdog watchdog = control.on(*device);
    cuda.calls.clear();
    device->launch(kernel, {}, arguments);
    cuda.busy = -1;
    cuda.whenAsked = [&] {
      if (cuda.count("cuMemcpyDtoHAsync_v2") == 40)
        cuda.busy = 0;
    };
    device->wait(watchdog);
    cuda.whenAsked = nullptr;
  }

  // Before the words are copied, their memory contains the words of an earlier
  // run.
  open();
  Watchdog watchdog = Control({3, 2}).on(*device);
  DeviceEvent begin = device->createEvent();
  watchdog.begin = begin;
  cuda.results["cuEventQuery"] = CUDA_ERROR_NOT_READY;
  cuda.calls.clear();
  device->launch(kernel, {}, arguments);
  cuda.busy = -1;
  cuda.whenAsked = [&] {
    if (cuda.count("cuEventQuery") == 40)
      cuda.results.clear();
  };
  EXPECT_MESSAGE("block 1 of 2 did not arrive", device->wait(watchdog));
  EXPECT_GT(cuda.count("cuEventQuery"), 40);
  cuda.whenAsked = nullptr;
}

// If the control words cannot be read, the watchdog still times out, but its
// message names no blocks.
TEST_F(Cuda, MayBeUnableToLook) {
  open();
  Watchdog watchdog = Control({3, 2}).on(*device);
  device->launch(kernel, {}, arguments);
  cuda.busy = -1;
  cuda.results["cuMemcpyDtoHAsync_v2"] = CUDA_ERROR_UNKNOWN;
  EXPECT_MESSAGE("made no progress for 0.002 s; find the cause",
                 device->wait(watchdog));
}

TEST(Control, FineUnlessTheRecordSaysSo) { Control({1, 2, 3}).check(); }

TEST(Control, NamesStepBarrierAndBlocks) {
  std::vector<uint32_t> arrivals(132, 7);
  for (int block : {3, 7, 8, 9})
    arrivals[block] = 6;
  Watchdog watchdog;
  watchdog.executor = "device";
  watchdog.describe = [](int64_t progress) {
    EXPECT_EQ(highOf(progress), 1);
    return lowOf(progress) == 12 ? "step 12 (kernel 'cell', 340 tasks)"
                                 : "step 4 (kernel 'leaf', 2 tasks)";
  };
  EXPECT_MESSAGE(
      "executor device: block 1 waited more than 5 s at barrier 6, in step 12 "
      "(kernel 'cell', 340 tasks): blocks 3, 7-9 of 132 did not arrive: blocks "
      "3, 7-9 are in step 4 (kernel 'leaf', 2 tasks); find the cause with "
      "--device=emulator, or use a longer --watchdog",
      Control(arrivals).record(12, 6, 1).check(watchdog));
}

TEST(Control, NamesOneBlockOrAFewOfMany) {
  EXPECT_MESSAGE("in step 2: block 1 of 3 did not arrive: block 1 is in step 4",
                 Control({1, 0, 1}).record(2, 0, 0).check());
  EXPECT_MESSAGE("in step 2: all 3 blocks arrived, but too late; find",
                 Control({1, 1, 1}).record(2, 0, 0).check());
  std::vector<uint32_t> arrivals(100, 1);
  for (int block = 0; block < 100; block += 2)
    arrivals[block] = 0;
  EXPECT_MESSAGE("blocks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and 38 more "
                 "of 100 did not arrive",
                 Control(arrivals).record(2, 0, 1).check());
  // A malformed record does not cause a crash.
  EXPECT_MESSAGE("block 77 waited", Control({1}).record(2, 0, 77).check());
}

TEST(Control, DescribesSteps) {
  std::vector<KernelInfo> kernels(2);
  kernels[1].name = "cell";
  BatchStep steps[2] = {};
  steps[1].kernel = 1;
  steps[1].count = 340;
  const std::vector<BatchPlan> plans{{steps, 1}, {steps, 2}};
  EXPECT_EQ(describeStep(plans, kernels, makeProgress(2, 1)),
            "step 1 (kernel 'cell', 340 tasks)");
  // Malformed words do not cause a crash.
  EXPECT_EQ(describeStep(plans, kernels, makeProgress(1, 1)), "step 1");
  EXPECT_EQ(describeStep(plans, kernels, makeProgress(3, 5)), "step 5");
  EXPECT_EQ(describeStep(plans, kernels, 6), "step 6");

  LockstepInfo info;
  info.blocks.resize(1);
  info.blocks[0].name = "fib.0";
  EXPECT_EQ(describeLanes(info, makeProgress(1234, 0)),
            "step 1234 (lanes run fib.0)");
  EXPECT_EQ(describeLanes(info, makeProgress(7, 1)), "step 7");
}

TEST(Control, LastStepOfAGroup) {
  const std::vector<BatchPlan> plans{{nullptr, 3}, {nullptr, 5}, {nullptr, 0}};
  EXPECT_EQ(lastProgress(plans, 1, 0), makeProgress(2, 4));
  EXPECT_EQ(lastProgress(plans, 2, 0), makeProgress(1, 2));
  EXPECT_EQ(lastProgress(plans, 2, 1), makeProgress(2, 4));
  EXPECT_EQ(lastProgress(plans, 4, 3), 0);
}

TEST(Control, AllBlocksSayThatTheyEnded) {
  Control control = Control::idle(2);
  control.at(0, 2, 5).ended(0).at(1, 2, 5).ended(1);
  control.checkEnded(makeProgress(2, 5));
  control.checkEnded(makeProgress(2, anyLow));
  EXPECT_MESSAGE(
      "block 0 has ended and is at step 2.5; expected the end of step 2.6",
      control.checkEnded(makeProgress(2, 6)));
  EXPECT_MESSAGE(
      "at step 2.5; expected the end of step 3; this is a compiler bug",
      control.checkEnded(makeProgress(3, anyLow)));
  control.ofBlock(1).ended = 0;
  EXPECT_MESSAGE("block 1 has not ended and is at step 2.5",
                 control.checkEnded(makeProgress(2, 5)));
}
