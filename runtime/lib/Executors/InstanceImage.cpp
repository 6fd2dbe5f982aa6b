//===- InstanceImage.cpp - Single instances on a device -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceImage.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Watchdog.h"

#include <algorithm>
#include <cstring>

using namespace batchrt;

namespace {
/// The state of a block, far from what others write.
struct alignas(128) BlockUnit : BatchUnit {};
} // namespace

/// The source of an input tensor that is an element of a list.
static const BatchSource &sourceOf(const MiniBatch &batch,
                                   const TensorCell &cell) {
  return batch.sources()[(cell.handle >> 56) & 127];
}

void InstanceImage::layOut(const MiniBatch &batch, int64_t newUnits) {
  units = newUnits;
  numInstances = batch.numInstances();
  size_t rowBytes = 0;
  for (const TensorCell &cell : batch.forest().tensors)
    if (cell.place == TensorCell::List)
      rowBytes += sourceOf(batch, cell).rowBytes;
  RegionLayout layout(parts, 128);
  contextAt = layout.add(sizeof(BatchContext), "the context");
  unitList = layout.add(units * sizeof(BatchUnit *), "addresses of units");
  columns.placeArguments(layout, numInstances);
  lists = layout.add(batch.forest().listSize * 8, "lists");
  rowsOfLists = layout.add(rowBytes, "rows of lists");
  sourcesAt = layout.add(descriptor.sources.size() * sizeof(BatchSource),
                         "places of parameters");
  controlAt = layout.add(controlBytes(units), "control words");
  unitsAt = layout.add(units * sizeof(BlockUnit), "units");
  endsAt = layout.add(numInstances * 8, "ends of instances");
  columns.placeResultCells(layout, numInstances);
  endOfIn = layout.end();
  columns.placeResultRows(layout, numInstances);
  endOfOut = layout.end();
  const size_t bytes = descriptor.replicate->bytes;
  common = layout.add(bytes, "tensors of an instance");
  own.assign(units, 0);
  for (size_t &memory : own)
    memory = layout.add(bytes, "tensors of an instance of one block");
  size = layout.end();
}

/// Entries of lists that are tensors become addresses of copies.
void InstanceImage::writeLists(const MiniBatch &batch,
                               const ImagePlaces &places) const {
  const Forest &forest = batch.forest();
  int64_t *entries = places.here<int64_t>(lists);
  std::copy_n(forest.listPool.begin(), forest.listSize, entries);
  size_t row = rowsOfLists;
  for (const TensorCell &cell : forest.tensors) {
    if (cell.place != TensorCell::List)
      continue;
    const BatchSource &source = sourceOf(batch, cell);
    std::memcpy(places.here<char>(row),
                source.base +
                    static_cast<uint32_t>(cell.handle) * source.rowBytes,
                source.rowBytes);
    entries[cell.position] = static_cast<int64_t>(places.address + row);
    row += source.rowBytes;
  }
}

/// Control reads rows of parameters where these lie on the device.
void InstanceImage::writeSources(const MiniBatch &batch,
                                 const std::vector<ImageRegion> &parameters,
                                 BatchSource *sources) const {
  for (size_t s = 0; s < descriptor.sources.size(); ++s) {
    sources[s] = batch.sources()[s];
    const char *base = sources[s].base;
    sources[s].base = nullptr;
    for (const ImageRegion &region : parameters) {
      const char *begin = static_cast<const char *>(region.host);
      if (base >= begin && base < begin + region.bytes)
        sources[s].base =
            reinterpret_cast<const char *>(region.device + (base - begin));
    }
  }
}

void InstanceImage::writeUnits(const MiniBatch &batch,
                               const ImagePlaces &places) const {
  BlockUnit *states = places.here<BlockUnit>(unitsAt);
  for (int64_t u = 0; u < units; ++u) {
    places.here<BatchUnit *>(unitList)[u] =
        places.there<BlockUnit>(unitsAt) + u;
    states[u] = {};
    states[u].own = places.there<char>(own[u]);
    states[u].common = places.there<char>(common);
    states[u].numInstances = numInstances;
    states[u].maxRounds = batch.options.lockstep.maxSteps;
    states[u].ends = places.there<int64_t>(endsAt);
  }
  std::fill_n(places.here<int64_t>(endsAt), numInstances, 0);
}

void InstanceImage::write(const MiniBatch &batch,
                          const std::vector<ImageRegion> &parameters,
                          uint64_t packings, char *staging,
                          uint64_t address) const {
  const ImagePlaces places{staging, address};
  BatchContext &context = *places.here<BatchContext>(contextAt);
  context = {};
  context.packings = reinterpret_cast<decltype(context.packings)>(packings);
  context.listPool = places.there<int64_t>(lists);
  context.sources = places.there<BatchSource>(sourcesAt);
  context.units = places.there<BatchUnit *>(unitList);
  context.indexError = places.there<BatchIndexError>(
      controlAt + offsetof(BatchDeviceControl, indexError));
  columns.write(batch.context(), numInstances, places, context);
  writeLists(batch, places);
  writeSources(batch, parameters, places.here<BatchSource>(sourcesAt));
  writeUnits(batch, places);
  std::memset(staging + controlAt, 0, controlBytes(units));
}

BatchUnit InstanceImage::unit(int64_t number, const char *staging) const {
  return reinterpret_cast<const BlockUnit *>(staging + unitsAt)[number];
}

void InstanceImage::readResults(const MiniBatch &batch,
                                const char *staging) const {
  columns.readResults(batch.context(), numInstances, ends(staging), staging);
}
