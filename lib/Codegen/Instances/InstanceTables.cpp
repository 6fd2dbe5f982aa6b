//===- InstanceTables.cpp - Memory of single instances --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceCode.h"

#include "Batch/Dialect/Batch/TableLayout.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "TaskStep.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

int64_t InstanceTables::take(int64_t size) {
  int64_t offset = bytes;
  bytes += llvm::alignTo(size, 64);
  return offset;
}

void InstanceTables::placeBuffers(ModuleOp module) {
  bufferBegin = bytes;
  for (auto buffer : module.getOps<uprog::BufferOp>())
    buffers[buffer.getSymNameAttr()] =
        take(buffer.getCopies() *
             getRowBytes(cast<RankedTensorType>(buffer.getType())));
  bufferBytes = bytes - bufferBegin;
}

void InstanceTables::findCapacity(ModuleOp module) {
  module.walk([&](uprog::CellsOp op) {
    capacity = std::max<int64_t>(capacity, op.getCapacity());
  });
}

namespace {
/// Memory that programs share for their n-th sites of the same kernel. Programs
/// for sets share memory only with each other.
struct SiteNeeds {
  int64_t scratch = 0, cells = 0; ///< sizes in bytes
  int64_t scratchOffset = 0, cellsOffset = 0;
};
} // namespace

bool batch::runsSets(uprog::ProgramOp program) {
  return !program.getBody().getOps<uprog::CellsOp>().empty();
}

void InstanceTables::placeSites(ModuleOp module, bool onDevice) {
  // Key of a SiteNeeds: whether the programs run sets, the kernel, and n.
  using Place = std::tuple<int, StringRef, size_t>;
  llvm::MapVector<Place, SiteNeeds> places;
  SmallVector<std::pair<Operation *, Place>> sites;
  for (auto program : module.getOps<uprog::ProgramOp>()) {
    const bool ofSets = runsSets(program);
    llvm::StringMap<size_t> numbers;
    auto need = [&](Operation *op, StringRef name, int64_t bytes,
                    int64_t count) {
      Place place{ofSets, name, numbers[name]++};
      SiteNeeds &needs = places[place];
      needs.scratch = std::max(needs.scratch, bytes);
      needs.cells = std::max(needs.cells, onDevice ? count * kCellBytes : 0);
      sites.emplace_back(op, place);
    };
    program.walk([&](Operation *op) {
      if (auto own = dyn_cast<uprog::CellsOp>(op))
        return need(op, "cells", /*bytes=*/0, own.getCapacity());
      if (auto own = dyn_cast<uprog::MembersOp>(op))
        return need(op, "cells", /*bytes=*/0, own.getCapacity());
      auto tasks = dyn_cast<uprog::TasksOp>(op);
      if (auto batch = dyn_cast<uprog::BatchOp>(op))
        tasks = batch.getTasks().getDefiningOp<uprog::TasksOp>();
      auto site = dyn_cast<uprog::SiteOp>(op);
      if (!site && !tasks)
        return;
      StringRef name = site ? site.getKernel() : tasks.getKernel();
      auto kernel = module.lookupSymbol<KernelOp>(name);
      int64_t bytes = getCode(module, name).getTaskScratch();
      if (site)
        return need(op, name, bytes, TaskStep::countCells(kernel));
      int64_t most = tasks.getCapacity();
      mostTasks = std::max(mostTasks, most);
      if (isa<uprog::TasksOp>(op))
        return need(op, name, /*bytes=*/0, countTaskCells(kernel, most));
      need(op, name, most * bytes, countBatchCells(kernel, tasks));
    });
  }
  for (auto &[place, needs] : places) {
    needs.cellsOffset = take(needs.cells);
    if (!std::get<0>(place)) {
      needs.scratchOffset = take(needs.scratch);
      continue;
    }
    setBytes += llvm::alignTo(needs.scratch, 64);
    needs.scratchOffset = -setBytes;
  }
  for (auto [op, place] : sites) {
    scratch[op] = places[place].scratchOffset;
    cellsOf[op] = places[place].cellsOffset;
  }
}

void InstanceTables::numberIndices(ModuleOp module) {
  if (auto known = module->getAttrOfType<ArrayAttr>(uprog::kIndicesAttr))
    llvm::append_range(indices, known);
  DenseMap<std::pair<Location, Type>, int64_t> numbers;
  auto number = [&](Operation *op, StringRef parameter, Type type) {
    auto [it, isNew] =
        numbers.try_emplace({op->getLoc(), type}, indices.size() + 1);
    int64_t rank = cast<RankedTensorType>(type).getRank();
    for (int64_t dim = 0; isNew && dim < rank; ++dim)
      indices.push_back(StringAttr::get(
          op->getContext(), describeIndexError(describeDimension(
                                dim, parameter, type, op->getLoc()))));
    indexOf[op] = it->second;
  };
  module.walk([&](Operation *op) {
    if (auto load = dyn_cast<uprog::LoadOp>(op))
      return number(op, {}, load.getType());
    auto row = dyn_cast<uprog::ParameterRowOp>(op);
    if (!row)
      return;
    auto source = module.lookupSymbol<SourceOp>(row.getSource());
    auto type = cast<RankedTensorType>(source.getRow());
    SmallVector<int64_t> shape = {ShapedType::kDynamic};
    llvm::append_range(shape, type.getShape());
    number(op, getParameterName(module, *source.getParameter()),
           RankedTensorType::get(shape, type.getElementType()));
  });
}

void InstanceTables::numberLoops(ModuleOp module) {
  module.walk([&](uprog::NextRoundOp op) {
    auto known = llvm::find(loops, op.getLoopAttr());
    loopOf[op] = known - loops.begin() + 1;
    if (known == loops.end())
      loops.push_back(op.getLoopAttr());
  });
}

void InstanceTables::findLoopsOfKernels(ModuleOp module) {
  llvm::StringSet<> texts;
  module.walk([&](Operation *op) {
    auto loop = op->getParentOfType<LoopLikeOpInterface>();
    StringRef kernel;
    if (auto site = dyn_cast<uprog::SiteOp>(op))
      kernel = site.getKernel();
    else if (auto tasks = dyn_cast<uprog::TasksOp>(op))
      kernel = tasks.getKernel();
    if (!loop || kernel.empty() || !texts.insert(kernel).second)
      return;
    kernelLoops.emplace_back(
        StringAttr::get(op->getContext(), kernel),
        StringAttr::get(op->getContext(),
                        "a loop" + describePlace(loop->getLoc())));
  });
}

InstanceTables::InstanceTables(ModuleOp module, bool onDevice) {
  findCapacity(module);
  placeSites(module, onDevice);
  placeBuffers(module);
  placeNodes(module);
  numberIndices(module);
  numberLoops(module);
  findLoopsOfKernels(module);
}

void InstanceTables::addCopies(const IRMapping &copies) {
  for (auto [op, copy] : copies.getOperationMap())
    for (auto *table : {&scratch, &cellsOf, &indexOf, &loopOf, &valueOf})
      if (table->contains(op)) {
        int64_t known = table->lookup(op);
        (*table)[copy] = known;
      }
}

void InstanceTables::save(ModuleOp module) const {
  Builder builder(module.getContext());
  if (!indices.empty())
    module->setAttr(uprog::kIndicesAttr, builder.getArrayAttr(indices));
  auto runsInstances = module.walk([](Operation *op) {
    return isa<uprog::InstancesOp>(op) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  if (!runsInstances.wasInterrupted())
    return;
  const bool sharesInstances =
      llvm::any_of(module.getOps<uprog::ProgramOp>(), [](uprog::ProgramOp op) {
        return !op->hasAttr(kExecutorAttr) &&
               op.getLevel() == uprog::Level::Device;
      });
  NamedAttribute entries[] = {
      builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytes)),
      builder.getNamedAttr("tasks", builder.getI64IntegerAttr(mostTasks)),
      builder.getNamedAttr("capacity", builder.getI64IntegerAttr(
                                           sharesInstances ? capacity : 0)),
      builder.getNamedAttr("set_bytes", builder.getI64IntegerAttr(setBytes)),
      builder.getNamedAttr("member_bytes",
                           builder.getI64IntegerAttr(bufferBytes)),
      builder.getNamedAttr("loops", builder.getArrayAttr(loops)),
      builder.getNamedAttr("kernel_loops",
                           builder.getDictionaryAttr(kernelLoops)),
      builder.getNamedAttr("node_bytes", builder.getI64IntegerAttr(nodeBytes)),
      builder.getNamedAttr("node_cells", builder.getI64IntegerAttr(nodeCells)),
      builder.getNamedAttr("node_values",
                           builder.getI64IntegerAttr(nodeValues))};
  module->setAttr(uprog::kInstancesAttr, builder.getDictionaryAttr(entries));
}
