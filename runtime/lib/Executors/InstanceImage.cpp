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
/// State of a block. No other block writes its cache lines or their neighbors.
struct alignas(128) BlockUnit : BatchUnit {};
} // namespace

/// Returns the source of an input tensor that is a list element or a field.
static const BatchSource &sourceOf(const MiniBatch &batch,
                                   const TensorCell &cell) {
  return batch.sources()[(cell.handle >> 56) & 127];
}

void InstanceImage::layOut(const MiniBatch &batch, int64_t newUnits) {
  const ReplicateInfo &info = *descriptor.replicate;
  units = newUnits;
  numInstances = batch.numInstances();
  nodes = batch.forest().numNodes;
  allNodes = nodes * (1 + info.nodeValues);
  size_t rowBytes = 0;
  for (const TensorCell &cell : batch.forest().tensors)
    if (cell.place != TensorCell::Argument)
      rowBytes += sourceOf(batch, cell).rowBytes;
  RegionLayout layout(parts, 128);
  contextAt = layout.add(sizeof(BatchContext), "the context");
  unitList = layout.add(units * sizeof(BatchUnit *), "addresses of units");
  columns.placeArguments(layout, numInstances);
  lists = layout.add(batch.forest().listSize * 8, "lists");
  rowsOfCells = layout.add(rowBytes, "rows of lists and fields");
  instanceNodesAt = layout.add((numInstances + 1) * 8, "nodes of instances");
  columnList =
      layout.add(descriptor.cellColumns * sizeof(int64_t *), "cells of nodes");
  sourcesAt = layout.add(descriptor.sources.size() * sizeof(BatchSource),
                         "places of parameters");
  controlAt = layout.add(controlBytes(units), "control words");
  unitsAt = layout.add(units * sizeof(BlockUnit), "units");
  endsAt = layout.add(numInstances * 8, "ends of instances");
  variantsAt = layout.add(allNodes, "variants of nodes");
  cellsAt =
      layout.add(descriptor.cellColumns * allNodes * 8, "fields of nodes");
  columns.placeResultCells(layout, numInstances);
  endOfIn = layout.end();
  columns.placeResultRows(layout, numInstances);
  nodeRowsAt = layout.add(nodes * info.nodeBytes, "tensors of nodes");
  endOfOut = layout.end();
  const size_t bytes = info.bytes;
  const int64_t before = info.bytesBefore(numInstances);
  common = before + layout.add(before + info.commonBytes(numInstances),
                               "tensors of instances that run together");
  own.assign(units, 0);
  for (size_t &memory : own)
    memory = layout.add(bytes, "tensors of an instance of one block");
  nodeResults.assign(units, 0);
  for (size_t &memory : nodeResults)
    memory = layout.add(nodes * info.nodeCells * 8, "results of nodes");
  size = layout.end();
}

/// Writes the lists. Copies the tensors in lists and fields, and stores the
/// addresses of the copies in the cells of the tensors.
void InstanceImage::writeTensors(const MiniBatch &batch,
                                 const ImagePlaces &places) const {
  const Forest &forest = batch.forest();
  int64_t *entries = places.here<int64_t>(lists);
  std::copy_n(forest.listPool.begin(), forest.listSize, entries);
  size_t row = rowsOfCells;
  for (const TensorCell &cell : forest.tensors) {
    if (cell.place == TensorCell::Argument)
      continue;
    const BatchSource &source = sourceOf(batch, cell);
    std::memcpy(places.here<char>(row),
                source.base +
                    static_cast<uint32_t>(cell.handle) * source.rowBytes,
                source.rowBytes);
    int64_t *column =
        cell.place == TensorCell::List
            ? entries
            : places.here<int64_t>(cellsAt) + cell.column * allNodes;
    column[cell.position] = static_cast<int64_t>(places.address + row);
    row += source.rowBytes;
  }
}

/// The variant of a node that the run has not created.
static constexpr uint8_t noVariant = 255;

void InstanceImage::writeNodes(const MiniBatch &batch,
                               const ImagePlaces &places,
                               BatchContext &context) const {
  const Forest &forest = batch.forest();
  std::copy_n(forest.instanceNodes.begin(), numInstances + 1,
              places.here<int64_t>(instanceNodesAt));
  uint8_t *variants = places.here<uint8_t>(variantsAt);
  std::copy_n(forest.variants.begin(), nodes, variants);
  std::fill_n(variants + nodes, allNodes - nodes, noVariant);
  for (int64_t c = 0; c < descriptor.cellColumns; ++c) {
    std::copy_n(forest.cells[c].begin(), nodes,
                places.here<int64_t>(cellsAt) + c * allNodes);
    places.here<int64_t *>(columnList)[c] =
        places.there<int64_t>(cellsAt) + c * allNodes;
  }
  context.instanceNodes = places.there<int64_t>(instanceNodesAt);
  context.numNodes = context.nodeCapacity = allNodes;
  context.variants = places.there<uint8_t>(variantsAt);
  context.cells = places.there<int64_t *>(columnList);
}

/// Writes the sources with device addresses, because control flow reads rows of
/// parameters on the device.
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
    states[u].nodeRows = places.there<char>(nodeRowsAt);
    states[u].nodeResults = places.there<int64_t>(nodeResults[u]);
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
  writeNodes(batch, places, context);
  writeTensors(batch, places);
  writeSources(batch, parameters, places.here<BatchSource>(sourcesAt));
  writeUnits(batch, places);
  std::memset(staging + controlAt, 0, controlBytes(units));
}

BatchUnit InstanceImage::unit(int64_t number, const char *staging) const {
  return reinterpret_cast<const BlockUnit *>(staging + unitsAt)[number];
}

/// Returns the host address that corresponds to a device address, in the image
/// or in a parameter.
static int64_t toHost(int64_t address,
                      const std::vector<ImageRegion> &parameters,
                      const ImagePlaces &places, size_t size) {
  const auto place = static_cast<uint64_t>(address);
  if (place >= places.address && place - places.address < size)
    return reinterpret_cast<int64_t>(places.staging + (place - places.address));
  for (const ImageRegion &region : parameters)
    if (place >= region.device && place - region.device < region.bytes)
      return reinterpret_cast<int64_t>(static_cast<const char *>(region.host) +
                                       (place - region.device));
  raise("the tensor of a node has the invalid address ", place);
}

/// Copies to the forest the nodes that the run has created.
void InstanceImage::readNodes(const MiniBatch &batch,
                              const std::vector<ImageRegion> &parameters,
                              char *staging, uint64_t address) const {
  Forest &forest = batch.forest();
  const ImagePlaces places{staging, address};
  const uint8_t *variants = places.here<uint8_t>(variantsAt);
  for (int64_t node = nodes; node < allNodes; ++node) {
    const Variant *variant = variants[node] == noVariant
                                 ? nullptr
                                 : descriptor.variantByNumber(variants[node]);
    if (!variant)
      continue;
    forest.variants[node] = variants[node];
    for (size_t c = 0; c < variant->fields.size(); ++c) {
      const int64_t cell = places.here<int64_t>(cellsAt)[c * allNodes + node];
      forest.cells[c][node] = variant->fields[c].type.kind == Type::Tensor
                                  ? toHost(cell, parameters, places, endOfOut)
                                  : cell;
    }
  }
}

void InstanceImage::readResults(const MiniBatch &batch,
                                const std::vector<ImageRegion> &parameters,
                                char *staging, uint64_t address) const {
  columns.readResults(batch.context(), numInstances, ends(staging), staging);
  readNodes(batch, parameters, staging, address);
}
