//===- PlanImageTest.cpp - Tests of plans with device addresses -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An interpreter runs the same plan with host addresses and with the addresses
// in the image. The "device" of the image is other host memory.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/PlanImage.h"
#include "FakeDriver.h"
#include "batch-runtime/DeviceArena.h"
#include "batch-runtime/Memory.h"
#include "batch-runtime/Watchdog.h"

#include <cstring>
#include <deque>
#include <random>

using namespace batchrt;

namespace {
constexpr int64_t rowBytes = 64, rowFloats = 16;

/// Sums the rows and scalars of all operands, including all rows of ragged
/// operands.
void runStep(const BatchStep &step, const KernelInfo &kernel) {
  for (int64_t t = 0; t < step.count; ++t) {
    float sums[rowFloats] = {};
    for (size_t o = 0; o < kernel.operands.size(); ++o) {
      const BatchOperand &operand = step.operands[o];
      int64_t begin = operand.offsets ? operand.offsets[t] : t;
      int64_t end = operand.offsets ? operand.offsets[t + 1] : t + 1;
      for (int64_t i = begin; i < end; ++i) {
        const char *row = nullptr;
        switch (kernel.operands[o].kind) {
        case OperandInfo::Gather:
          row = operand.base +
                static_cast<const int32_t *>(operand.rows)[i] * rowBytes;
          break;
        case OperandInfo::Rows:
          row = static_cast<const char *const *>(operand.rows)[i];
          break;
        case OperandInfo::Scalar:
          sums[0] += float(static_cast<const int64_t *>(operand.rows)[i]);
          continue;
        }
        for (int64_t f = 0; f < rowFloats; ++f)
          sums[f] += reinterpret_cast<const float *>(row)[f] * 0.5F;
      }
    }
    for (size_t r = 0; r < kernel.results.size(); ++r) {
      sums[0] += float(r);
      std::memcpy(step.results[r] + t * rowBytes, sums, rowBytes);
    }
    if (kernel.taskScratch)
      std::memcpy(step.scratch + t * kernel.taskScratch, sums, rowBytes);
  }
}

void runPlan(const BatchStep *steps, int64_t numSteps,
             const std::vector<KernelInfo> &kernels) {
  for (int64_t s = 0; s < numSteps; ++s)
    runStep(steps[s], kernels[steps[s].kernel]);
}

/// Runs the plans of an image in the same way as a persistent kernel.
void runImage(uint64_t plans, int64_t numPlans,
              const std::vector<KernelInfo> &kernels) {
  auto *plan = reinterpret_cast<const BatchPlan *>(plans);
  for (int64_t p = 0; p < numPlans; ++p)
    runPlan(plan[p].steps, plan[p].numSteps, kernels);
}

/// Plans with random operands, their memory, and the image of this memory.
class Model {
public:
  explicit Model(unsigned seed) : random(seed) {
    auto operand = [](OperandInfo::Kind kind, bool ragged = false) {
      OperandInfo info;
      info.kind = kind;
      info.ragged = ragged;
      return info;
    };
    kernels.resize(3);
    kernels[0].name = "leaf";
    kernels[0].operands = {operand(OperandInfo::Gather),
                           operand(OperandInfo::Scalar)};
    kernels[0].results.resize(1);
    kernels[1].name = "node";
    kernels[1].operands = {operand(OperandInfo::Rows),
                           operand(OperandInfo::Rows),
                           operand(OperandInfo::Gather)};
    kernels[1].results.resize(2);
    kernels[1].taskScratch = rowBytes;
    kernels[2].name = "fold";
    kernels[2].operands = {operand(OperandInfo::Rows, /*ragged=*/true),
                           operand(OperandInfo::Gather, /*ragged=*/true),
                           operand(OperandInfo::Scalar, /*ragged=*/true)};
    kernels[2].results.resize(1);
    input.kernels = &kernels;
    input.blocks = 132;

    parameters = rowsOf(ImageRegion::Resident, 50);
    inputs = rowsOf(ImageRegion::CopiedIn, 20);
    tables[0] = rowsOf(ImageRegion::CopiedOut, 4000);
    tables[1] = rowsOf(ImageRegion::DeviceOnly, 4000);
    tables[2] = rowsOf(ImageRegion::CopiedOut, 4000);
    scratch = rowsOf(ImageRegion::DeviceOnly, 100);
    indexCapacity = 1 << 20;
    index = region(ImageRegion::CopiedIn, indexCapacity);
  }

  void addPlan(int64_t numSteps) {
    steps.emplace_back();
    for (int64_t s = 0; s < numSteps; ++s)
      steps.back().push_back(makeStep());
    input.plans.push_back({steps.back().data(), numSteps});
  }

  void run() {
    for (const BatchPlan &plan : input.plans)
      runPlan(plan.steps, plan.numSteps, kernels);
  }

  /// Returns the contents of the tables that are copied out.
  std::string outputs() const {
    return std::string(tables[0], 4000 * rowBytes) +
           std::string(tables[2], 4000 * rowBytes);
  }
  void clearTables() {
    for (char *table : tables)
      std::memset(table, 0, 4000 * rowBytes);
  }

  /// Overwrites all memory that a run with the image must not read.
  void spoil() {
    for (auto &list : operands)
      std::fill(list.begin(), list.end(),
                BatchOperand{nullptr, nullptr, nullptr});
    for (auto &list : results)
      std::fill(list.begin(), list.end(), nullptr);
    for (auto &list : steps)
      std::fill(list.begin(), list.end(), BatchStep{});
    std::memset(index, 0x7f, indexCapacity);
    std::memset(inputs, 0x7f, 20 * rowBytes);
    std::memset(parameters, 0x7f, 50 * rowBytes);
  }

  std::vector<KernelInfo> kernels;
  ImageInput input;
  ImageLayout layout;
  std::deque<std::vector<BatchStep>> steps;
  std::deque<std::vector<BatchOperand>> operands;
  std::deque<std::vector<char *>> results;
  char *parameters, *inputs, *tables[3], *scratch, *index;
  size_t indexUsed = 0, indexCapacity = 0;

private:
  char *region(ImageRegion::Kind kind, size_t bytes) {
    buffers.emplace_back();
    char *memory = buffers.back().reserve(bytes, "a test");
    std::memset(memory, 0, bytes);
    input.regions.push_back({memory, bytes, kind});
    return memory;
  }
  char *rowsOf(ImageRegion::Kind kind, int64_t rows) {
    char *memory = region(kind, rows * rowBytes);
    if (kind == ImageRegion::Resident || kind == ImageRegion::CopiedIn)
      for (int64_t i = 0; i < rows * rowFloats; ++i)
        reinterpret_cast<float *>(memory)[i] = float(pick(1000)) / 1000;
    return memory;
  }
  int64_t pick(int64_t limit) { return int64_t(random() % uint64_t(limit)); }

  /// Returns a random row of a table, the parameters or the inputs.
  char *anyRow() {
    switch (pick(3)) {
    case 0:
      return parameters + pick(50) * rowBytes;
    case 1:
      return inputs + pick(20) * rowBytes;
    default:
      return tables[pick(3)] + pick(written + 1) * rowBytes;
    }
  }
  char *entries(size_t bytes) {
    char *at = index + indexUsed;
    indexUsed += (bytes + 7) / 8 * 8;
    EXPECT_LE(indexUsed, indexCapacity);
    return at;
  }

  BatchStep makeStep() {
    int64_t kernel = pick(3), count = 1 + pick(15);
    const KernelInfo &info = kernels[kernel];
    operands.emplace_back();
    results.emplace_back();
    for (const OperandInfo &kind : info.operands) {
      BatchOperand operand{nullptr, nullptr, nullptr};
      int64_t number = count;
      if (kind.ragged) {
        auto *offsets = reinterpret_cast<int32_t *>(entries((count + 1) * 4));
        for (int64_t t = 0; t < count; ++t)
          offsets[t + 1] = offsets[t] + int32_t(pick(4));
        operand.offsets = offsets;
        number = offsets[count];
      }
      switch (kind.kind) {
      case OperandInfo::Gather: {
        operand.base = inputs;
        char *rows = entries(number * 4);
        for (int64_t i = 0; i < number; ++i)
          reinterpret_cast<int32_t *>(rows)[i] = int32_t(pick(20));
        operand.rows = rows;
        break;
      }
      case OperandInfo::Rows: {
        char *rows = entries(number * 8);
        for (int64_t i = 0; i < number; ++i)
          reinterpret_cast<char **>(rows)[i] = anyRow();
        operand.rows = rows;
        break;
      }
      case OperandInfo::Scalar: {
        char *rows = entries(number * 8);
        for (int64_t i = 0; i < number; ++i)
          reinterpret_cast<int64_t *>(rows)[i] = pick(100);
        operand.rows = rows;
        break;
      }
      }
      operands.back().push_back(operand);
    }
    int64_t first = written + 1;
    for (size_t r = 0; r < info.results.size(); ++r)
      results.back().push_back(tables[pick(3)] + first * rowBytes);
    written += count;
    EXPECT_LT(written, 4000);
    return {kernel,
            count,
            operands.back().data(),
            results.back().data(),
            scratch + pick(80) * rowBytes,
            pick(2)};
  }

  std::mt19937 random;
  std::deque<Buffer> buffers;
  int64_t written = 0;
};

/// A buffer that represents the memory of a device.
struct Copied {
  explicit Copied(Model &model) {
    layOutImage(model.input, model.layout);
    const ImageLayout &layout = model.layout;
    char *in = staging.reserve(layout.outEnd, "a test");
    char *memory = device.reserve(layout.bytes, "a test");
    std::memset(in, 0x55, layout.outEnd);
    std::memset(memory, 0x55, layout.bytes);
    // Resident rows may be anywhere, so copy them to a separate buffer.
    for (ImageRegion &region : model.input.regions)
      if (region.kind == ImageRegion::Resident) {
        char *to = resident.reserve(region.bytes, "a test");
        std::memcpy(to, region.host, region.bytes);
        region.device = reinterpret_cast<uint64_t>(to);
      }
    writeImage(model.input, layout, in, reinterpret_cast<uint64_t>(memory));
    std::memcpy(memory, in, layout.inEnd);
  }

  Buffer staging, device, resident;
};
} // namespace

TEST(PlanImage, RunsLikeThePlan) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Model model(seed);
    model.addPlan(40);
    model.addPlan(0);
    model.addPlan(17);
    model.run();
    std::string wanted = model.outputs();
    model.clearTables();

    Copied image(model);
    const ImageLayout &layout = model.layout;
    // The interpreter may read rows that no step has written.
    std::memset(image.device.data() + layout.inEnd, 0,
                layout.bytes - layout.inEnd);
    model.spoil();
    runImage(reinterpret_cast<uint64_t>(image.device.data() + layout.plans),
             model.input.plans.size(), model.kernels);
    std::memcpy(image.staging.data() + layout.control,
                image.device.data() + layout.control,
                layout.outEnd - layout.control);
    readImage(model.input, layout, image.staging.data());
    EXPECT_EQ(model.outputs(), wanted) << "seed " << seed;
  }
}

TEST(PlanImage, Layout) {
  Model model(1);
  model.addPlan(30);
  layOutImage(model.input, model.layout);
  const ImageLayout &layout = model.layout;
  // Regions do not overlap. Their order: structs, in, control, out, device
  // only.
  EXPECT_EQ(layout.plans, 0U);
  EXPECT_EQ(layout.steps, 256U);
  EXPECT_GE(layout.operands, layout.steps + 30 * sizeof(BatchStep));
  EXPECT_LT(layout.operands, layout.results);
  size_t end = layout.results;
  for (ImageRegion::Kind kind :
       {ImageRegion::CopiedIn, ImageRegion::CopiedOut, ImageRegion::DeviceOnly})
    for (size_t r = 0; r < layout.regions.size(); ++r)
      if (model.input.regions[r].kind == kind) {
        EXPECT_EQ(layout.regions[r] % 256, 0U);
        EXPECT_GE(layout.regions[r], end);
        end = layout.regions[r] + model.input.regions[r].bytes;
        EXPECT_EQ(kind == ImageRegion::CopiedIn, end <= layout.control);
        EXPECT_EQ(kind == ImageRegion::DeviceOnly, end > layout.outEnd);
      }
  // There is a gap after each region.
  ASSERT_EQ(layout.deviceRegions.size(), 5 + layout.regions.size() - 1);
  for (size_t i = 0; i < layout.deviceRegions.size(); ++i) {
    size_t next = i + 1 < layout.deviceRegions.size()
                      ? layout.deviceRegions[i + 1].offset
                      : layout.bytes;
    EXPECT_GT(next,
              layout.deviceRegions[i].offset + layout.deviceRegions[i].bytes);
  }
  EXPECT_GE(layout.inEnd, layout.control + controlBytes(132));
  EXPECT_GE(layout.bytes, end);
}

TEST(PlanImage, ControlWordsAreZero) {
  Model model(1);
  model.addPlan(1);
  Copied image(model);
  const char *control = image.device.data() + model.layout.control;
  EXPECT_EQ(std::string(control, controlBytes(132)),
            std::string(controlBytes(132), '\0'));
}

TEST(PlanImage, KeepsWhatIsNoAddress) {
  Model model(3);
  model.addPlan(5);
  Copied image(model);
  auto *steps = reinterpret_cast<const BatchStep *>(image.device.data() +
                                                    model.layout.steps);
  for (int s = 0; s < 5; ++s) {
    EXPECT_EQ(steps[s].kernel, model.steps[0][s].kernel);
    EXPECT_EQ(steps[s].count, model.steps[0][s].count);
    EXPECT_EQ(steps[s].barrier, model.steps[0][s].barrier);
  }
}

// Operands without rows, and steps without scratch memory, may point past the
// end of the image's memory.
TEST(PlanImage, EmptyOperands) {
  Model model(4);
  char *end = model.index + model.indexCapacity;
  auto *offsets = reinterpret_cast<int32_t *>(model.index);
  BatchOperand operands[] = {{nullptr, end, offsets},
                             {nullptr, end, offsets},
                             {nullptr, end, offsets}};
  char *results[] = {model.tables[0]};
  BatchStep step{2, 3, operands, results, model.scratch + 100 * rowBytes, 1};
  model.input.plans = {{&step, 1}};
  Copied image(model);
  auto *copy = reinterpret_cast<const BatchStep *>(image.device.data() +
                                                   model.layout.steps);
  EXPECT_EQ(copy->operands[0].rows, nullptr);
  EXPECT_EQ(copy->operands[0].offsets[3], 0);
  EXPECT_NE(copy->scratch, nullptr);
  step.scratch = nullptr;
  Copied again(model);
  copy = reinterpret_cast<const BatchStep *>(again.device.data() +
                                             model.layout.steps);
  EXPECT_EQ(copy->scratch, nullptr);
}

TEST(PlanImage, AddressesOutside) {
  Model model(5);
  char *rows = model.index;
  char other[64];
  std::memcpy(rows, &model.inputs, 8);
  BatchOperand operands[] = {{nullptr, rows, nullptr},
                             {nullptr, rows, nullptr},
                             {model.inputs, rows + 64, nullptr}};
  char *results[] = {model.tables[0], model.tables[1]};
  BatchStep step{1, 1, operands, results, model.scratch, 1};
  model.input.plans = {{&step, 1}};
  auto message = [&] { return messageOf([&] { Copied image(model); }); };
  auto outsideOfRegions = [](const std::string &what) {
    return "step 0 (kernel 'node'): " + what +
           " of this step is outside all regions of the device image";
  };
  EXPECT_EQ(message(), "no error");

  results[1] = other;
  EXPECT_EQ(message(), outsideOfRegions("a table of results"));
  results[1] = model.tables[1];
  step.scratch = other;
  EXPECT_EQ(message(), outsideOfRegions("scratch memory"));
  step.scratch = nullptr;
  char *outside = model.inputs + 20 * rowBytes;
  std::memcpy(rows, &outside, 8);
  EXPECT_EQ(message(), outsideOfRegions("an operand row"));
  char *null = nullptr;
  std::memcpy(rows, &null, 8);
  EXPECT_EQ(message(), outsideOfRegions("an operand row"));
  std::memcpy(rows, &model.inputs, 8);
  // Index arrays must be copied in completely.
  operands[2].rows = model.tables[0];
  EXPECT_EQ(message(), outsideOfRegions("an index array"));
  operands[2].rows = model.index + model.indexCapacity - 2;
  EXPECT_EQ(message(), outsideOfRegions("an index array"));
  operands[2].rows = rows + 64;
  EXPECT_EQ(message(), "no error");

  model.input.regions.push_back(
      {model.tables[0] + 64, 64, ImageRegion::DeviceOnly, 0});
  EXPECT_EQ(message(), "two regions of the device image overlap");
}

// One copy in, one launch, one copy out.
TEST(PlanImage, OnADevice) {
  FakeDriver driver;
  FakeCuda &cuda = *driver.cuda;
  Model model(6);
  model.addPlan(25);
  model.addPlan(25);
  model.run();
  std::string wanted = model.outputs();
  model.clearTables();

  auto device = openCudaDevice();
  std::string ptx = "// PTX";
  DeviceKernel kernel =
      device->load({ptx.data(), ptx.size(), "main.execute", "sm_90"});
  DeviceArena bound(*device, "parameters"), arena(*device, "a mini-batch");
  for (ImageRegion &region : model.input.regions)
    if (region.kind == ImageRegion::Resident) {
      bound.reset(region.bytes, region.bytes);
      std::memcpy(bound.staging(), region.host, region.bytes);
      bound.copyIn(0, region.bytes);
      region.device = bound.address();
    }

  int64_t transfers =
      cuda.count("cuMemcpyHtoDAsync_v2") + cuda.count("cuMemcpyDtoHAsync_v2");
  const ImageLayout &layout = model.layout;
  layOutImage(model.input, model.layout);
  arena.reset(layout.bytes, layout.outEnd);
  writeImage(model.input, layout, arena.staging(), arena.address());
  cuda.kernel = [&](const FakeLaunch &launch) {
    std::memset(reinterpret_cast<char *>(arena.address(layout.inEnd)), 0,
                layout.bytes - layout.inEnd);
    runImage(launch.arguments[0], int64_t(launch.arguments[1]), model.kernels);
  };
  cuda.busy = 3;

  Watchdog watchdog;
  watchdog.seconds = 60;
  watchdog.control = arena.address(layout.control);
  LaunchShape shape;
  shape.blocks = watchdog.blocks = model.input.blocks;
  arena.copyIn(0, layout.inEnd);
  device->launch(kernel, shape,
                 {arena.address(layout.plans), model.input.plans.size(),
                  /*packings=*/0, watchdog.control, watchdog.nanoseconds()});
  arena.copyOut(layout.control, layout.outEnd);
  device->wait(watchdog);
  checkControl(arena.staging(layout.control), watchdog);
  readImage(model.input, layout, arena.staging());
  EXPECT_EQ(model.outputs(), wanted);
  EXPECT_EQ(arena.counts().copiesIn, 1);
  EXPECT_EQ(arena.counts().copiesOut, 1);
  EXPECT_EQ(cuda.count("cuMemcpyHtoDAsync_v2") +
                cuda.count("cuMemcpyDtoHAsync_v2") - transfers,
            2);
  EXPECT_EQ(cuda.launches.size(), 1U);
}
