//===- PlanImage.cpp - Plans with device addresses ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/PlanImage.h"
#include "batch-runtime/DeviceArena.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Watchdog.h"

#include <algorithm>
#include <cstring>

using namespace batchrt;

static_assert(sizeof(void *) == 8, "structs have 64-bit addresses");

static const KernelInfo &kernelOf(const ImageInput &input,
                                  const BatchStep &step) {
  return (*input.kernels)[step.kernel];
}

void batchrt::layOutImage(const ImageInput &input, ImageLayout &layout) {
  size_t steps = 0, operands = 0, results = 0;
  for (const BatchPlan &plan : input.plans) {
    steps += plan.numSteps;
    for (int64_t s = 0; s < plan.numSteps; ++s) {
      const KernelInfo &kernel = kernelOf(input, plan.steps[s]);
      operands += kernel.operands.size();
      results += kernel.results.size();
    }
  }
  RegionLayout placed(layout.deviceRegions, 256);
  layout.plans = placed.add(input.plans.size() * sizeof(BatchPlan), "plans");
  layout.steps = placed.add(steps * sizeof(BatchStep), "steps");
  layout.operands = placed.add(operands * sizeof(BatchOperand), "operands");
  layout.results = placed.add(results * sizeof(char *), "addresses of results");

  layout.regions.assign(input.regions.size(), 0);
  auto place = [&](ImageRegion::Kind kind) {
    for (size_t r = 0; r < input.regions.size(); ++r)
      if (input.regions[r].kind == kind)
        layout.regions[r] =
            placed.add(input.regions[r].bytes, input.regions[r].what);
  };
  place(ImageRegion::CopiedIn);
  layout.control = placed.add(controlBytes(input.blocks), "control words");
  layout.inEnd = placed.end();
  place(ImageRegion::CopiedOut);
  layout.outEnd = placed.end();
  place(ImageRegion::DeviceOnly);
  layout.bytes = placed.end();
}

namespace {
/// Finds the region that contains an address. Tries the most recently found
/// regions first.
class Regions {
public:
  Regions(const ImageInput &input, const ImageLayout &layout, uint64_t device) {
    for (size_t r = 0; r < input.regions.size(); ++r) {
      const ImageRegion &region = input.regions[r];
      if (region.bytes == 0)
        continue;
      bool resident = region.kind == ImageRegion::Resident;
      uint64_t host = reinterpret_cast<uint64_t>(region.host);
      uint64_t to = resident ? region.device : device + layout.regions[r];
      list.push_back({host, region.bytes, to - host,
                      region.kind == ImageRegion::CopiedIn});
    }
    std::sort(list.begin(), list.end(),
              [](auto &a, auto &b) { return a.host < b.host; });
    for (size_t i = 1; i < list.size(); ++i)
      if (list[i - 1].has(list[i].host))
        raise("two regions of the device image overlap");
  }

  /// Returns the device address of `bytes` bytes at a host address, or 0 if
  /// they are not all in one region. If `copiedIn` is true, the region must be
  /// one that is copied in.
  uint64_t find(const void *address, size_t bytes, bool copiedIn = false) {
    uint64_t host = reinterpret_cast<uint64_t>(address);
    if (!last.has(host) && !lookUp(host))
      return 0;
    if (bytes > last.bytes - (host - last.host) || (copiedIn && !last.copiedIn))
      return 0;
    return host + last.distance;
  }

  /// Finds the device addresses of many rows. Returns false if a row is not in
  /// any region. Rows of a table and of a source mix unpredictably, so the code
  /// does not branch on the region of a row.
  bool findRows(const void *const *rows, int64_t count, uint64_t *out) {
    for (int64_t done = 0;;) {
      done += findInLast(rows + done, count - done, out + done);
      if (done == count)
        return true;
      if (!lookUp(reinterpret_cast<uint64_t>(rows[done])))
        return false;
    }
  }

private:
  struct Entry {
    uint64_t host = 0, bytes = 0;
    uint64_t distance = 0; ///< device address minus host address
    bool copiedIn = false;

    bool has(uint64_t address) const { return address - host < bytes; }
  };

  /// Finds rows up to the first one that is in neither of the last two regions.
  /// Returns their number.
  int64_t findInLast(const void *const *rows, int64_t count,
                     uint64_t *out) const {
    // Use local copies, because the stores to `out` might alias the members.
    const Entry a = last, b = before;
    const uint64_t distances[] = {b.distance, a.distance};
    int64_t i = 0;
    for (; i < count; ++i) {
      uint64_t host = reinterpret_cast<uint64_t>(rows[i]);
      bool isA = a.has(host);
      out[i] = host + distances[isA];
      if (!(isA | b.has(host)))
        break;
    }
    return i;
  }

  /// Makes `last` the region of an address. Returns false if no region contains
  /// the address.
  bool lookUp(uint64_t host) {
    auto next = std::upper_bound(
        list.begin(), list.end(), host,
        [](uint64_t value, auto &region) { return value < region.host; });
    if (next == list.begin() || !std::prev(next)->has(host))
      return false;
    before = last;
    last = *std::prev(next);
    return true;
  }

  std::vector<Entry> list; ///< sorted by `host`
  Entry last, before;
};

class ImageWriter {
public:
  ImageWriter(const ImageInput &input, const ImageLayout &layout, char *staging,
              uint64_t device)
      : input(input), layout(layout), staging(staging), device(device),
        regions(input, layout, device),
        operand(at<BatchOperand>(layout.operands)),
        result(at<uint64_t>(layout.results)) {}

  void write();

private:
  template <class T>
  T *at(size_t offset) const {
    return reinterpret_cast<T *>(staging + offset);
  }
  template <class T>
  static T *pointer(uint64_t address) {
    return reinterpret_cast<T *>(address);
  }
  uint64_t addressOf(const void *staged) const {
    return device + (static_cast<const char *>(staged) - staging);
  }
  void writeStep(const BatchStep &from, BatchStep &to);
  void writeOperand(const BatchStep &step, const BatchOperand &from,
                    const OperandInfo &info);
  /// Returns the device address of `bytes` bytes at `address`, or 0 if
  /// `address` is null. Errors refer to these bytes as `what`.
  uint64_t translate(const void *address, size_t bytes, const char *what,
                     bool copiedIn = false);
  uint64_t translateScratch(const char *scratch);
  [[noreturn]] void fail(const char *what) const;

  const ImageInput &input;
  const ImageLayout &layout;
  char *const staging;
  const uint64_t device;
  Regions regions;
  BatchOperand *operand; ///< next operand to write
  uint64_t *result;      ///< next result to write
  int64_t number = 0;    ///< number of the step
  const KernelInfo *kernel = nullptr;
};
} // namespace

void ImageWriter::write() {
  for (size_t r = 0; r < input.regions.size(); ++r) {
    const ImageRegion &region = input.regions[r];
    if (region.kind == ImageRegion::CopiedIn && region.bytes)
      std::memcpy(staging + layout.regions[r], region.host, region.bytes);
  }
  std::memset(staging + layout.control, 0, layout.inEnd - layout.control);
  BatchPlan *plans = at<BatchPlan>(layout.plans);
  BatchStep *step = at<BatchStep>(layout.steps);
  for (const BatchPlan &plan : input.plans) {
    *plans = plan;
    plans++->steps = pointer<const BatchStep>(addressOf(step));
    for (number = 0; number < plan.numSteps; ++number)
      writeStep(plan.steps[number], *step++);
  }
}

void ImageWriter::writeStep(const BatchStep &from, BatchStep &to) {
  kernel = &kernelOf(input, from);
  to = from;
  to.operands = pointer<const BatchOperand>(addressOf(operand));
  to.results = pointer<char *const>(addressOf(result));
  to.scratch = pointer<char>(translateScratch(from.scratch));
  for (size_t o = 0; o < kernel->operands.size(); ++o)
    writeOperand(from, from.operands[o], kernel->operands[o]);
  for (size_t r = 0; r < kernel->results.size(); ++r)
    // A null address means that the result is in the row of an operand.
    *result++ = from.results[r]
                    ? translate(from.results[r], 0, "a table of results")
                    : 0;
}

void ImageWriter::writeOperand(const BatchStep &step, const BatchOperand &from,
                               const OperandInfo &info) {
  BatchOperand &to = *operand++;
  to = {};
  int64_t entries = step.count;
  if (from.offsets) {
    entries = from.offsets[step.count];
    to.offsets = pointer<const int32_t>(
        translate(from.offsets, (step.count + 1) * sizeof(int32_t),
                  "an array of offsets", true));
  }
  if (entries == 0)
    return; // nothing is read, so the addresses may be past the end of the
            // memory
  to.base = pointer<const char>(translate(from.base, 0, "the base of a table"));
  size_t bytes =
      entries * (info.kind == OperandInfo::Gather ? sizeof(int32_t)
                                                  : sizeof(const char *));
  uint64_t rows = translate(from.rows, bytes, "an index array", true);
  to.rows = pointer<const void>(rows);
  if (info.kind != OperandInfo::Rows)
    return;
  if (!regions.findRows(static_cast<const void *const *>(from.rows), entries,
                        at<uint64_t>(rows - device)))
    fail("an operand row");
}

uint64_t ImageWriter::translate(const void *address, size_t bytes,
                                const char *what, bool copiedIn) {
  if (!address)
    return 0;
  uint64_t found = regions.find(address, bytes, copiedIn);
  if (!found)
    fail(what);
  return found;
}

/// Returns the device address of scratch memory. Steps that need no scratch
/// memory may point to the end of a region.
uint64_t ImageWriter::translateScratch(const char *scratch) {
  if (scratch)
    if (uint64_t before = regions.find(scratch - 1, 1))
      return before + 1;
  return translate(scratch, 0, "scratch memory");
}

void ImageWriter::fail(const char *what) const {
  raise("step ", number, " (kernel '", kernel->name, "'): ", what,
        " of this step is outside all regions of the device image");
}

void batchrt::writeImage(const ImageInput &input, const ImageLayout &layout,
                         char *staging, uint64_t device) {
  ImageWriter(input, layout, staging, device).write();
}

void batchrt::readImage(const ImageInput &input, const ImageLayout &layout,
                        const char *staging) {
  for (size_t r = 0; r < input.regions.size(); ++r) {
    const ImageRegion &region = input.regions[r];
    if (region.kind == ImageRegion::CopiedOut && region.bytes)
      std::memcpy(const_cast<void *>(region.host), staging + layout.regions[r],
                  region.bytes);
  }
}
