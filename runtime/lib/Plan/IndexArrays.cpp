//===- IndexArrays.cpp - Index arrays of operands -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every pass here is a plain loop over the tasks of one kernel, because
// scheduling has a budget of 10 ns per task.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/IndexArrays.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Forest.h"

using namespace batchrt;

/// Returns the size in bytes of an entry of an index array: 4 for gathers, else
/// 8.
static int64_t entryBytes(const OperandInfo &operand) {
  return operand.kind == OperandInfo::Gather ? 4 : 8;
}

/// Returns, for each operand, the first operand with the same index array.
/// Gathers of the same cell share an array if their tables have the same slots.
static std::vector<size_t> findSameRows(const Descriptor &descriptor,
                                        const KernelInfo &kernel) {
  auto isSame = [&](const OperandInfo &a, const OperandInfo &b) {
    return a.kind == OperandInfo::Gather && b.kind == OperandInfo::Gather &&
           a.cell == b.cell && a.ragged == b.ragged && a.table >= 0 &&
           b.table >= 0 &&
           descriptor.tables[a.table].group == descriptor.tables[b.table].group;
  };
  std::vector<size_t> same;
  for (size_t o = 0; o < kernel.operands.size(); ++o) {
    size_t first = 0;
    while (first < o && !isSame(kernel.operands[first], kernel.operands[o]))
      ++first;
    same.push_back(first);
  }
  return same;
}

IndexArrays::IndexArrays(const Descriptor &descriptor)
    : descriptor(descriptor) {
  for (const KernelInfo &kernel : descriptor.kernels) {
    arrays.emplace_back(kernel.operands.size());
    sameRows.push_back(findSameRows(descriptor, kernel));
  }
}

void IndexArrays::begin(int64_t numParts) {
  while (static_cast<int64_t>(ragged.size()) < numParts)
    ragged.emplace_back();
}

void IndexArrays::countRaggedRows(const TaskOrder &order, int64_t number) {
  const TaskOrder::Part &part = order.part(number);
  std::vector<RaggedRows> &steps = ragged[number].steps;
  steps.clear();
  for (size_t k = 0; k < part.queues.size(); ++k) {
    const TaskQueue &queue = part.queues[k];
    for (size_t o = 0; o < arrays[k].size(); ++o) {
      const OperandInfo &operand = descriptor.kernels[k].operands[o];
      if (!operand.ragged || sameRows[k][o] != o)
        continue;
      for (int64_t s = part.sorter.kernelSteps(k);
           s < part.sorter.kernelSteps(k + 1); ++s) {
        const DepthStep &step = part.sorter.steps()[s];
        const int32_t *records = part.sorter.order() + step.begin;
        int64_t rows = 0;
        for (int64_t i = 0; i < step.count; ++i)
          rows += listLength(
              queue.records[records[i] * queue.recordCells + operand.cell]);
        steps.push_back({rows, 0});
      }
    }
  }
}

/// Lays out the arrays of each operand: the offsets of all steps if the operand
/// is ragged, and then the rows of all tasks.
void IndexArrays::layOut(const TaskOrder &order) {
  const DepthScheduler &schedule = order.schedule();
  int64_t bytes = 0;
  for (PartRows &part : ragged)
    part.next = part.steps.data();
  for (size_t k = 0; k < arrays.size(); ++k) {
    int64_t tasks = schedule.kernelBegin(k + 1) - schedule.kernelBegin(k);
    int64_t steps = schedule.kernelSteps(k + 1) - schedule.kernelSteps(k);
    for (size_t o = 0; o < arrays[k].size(); ++o) {
      const OperandInfo &operand = descriptor.kernels[k].operands[o];
      OperandArrays &array = arrays[k][o];
      if (sameRows[k][o] != o) {
        array = arrays[k][sameRows[k][o]];
        continue;
      }
      array.entries = tasks;
      if (operand.ragged) {
        array.entries = placeRaggedRows(order, k);
        if (array.entries > INT32_MAX)
          raise("the mini-batch has ", array.entries,
                " rows in an operand of kernel '", descriptor.kernels[k].name,
                "', but the limit is 2147483647; use a smaller batch "
                "(--batch)");
        array.offsets = bytes;
        bytes += align64((tasks + steps) * 4);
      }
      array.rows = bytes;
      bytes += align64(array.entries * entryBytes(operand));
    }
  }
  usedBytes = bytes;
  memory.reserve(bytes, "operand index arrays");
}

/// Converts row counts to positions of rows, for the next ragged operand of
/// `kernel`. Returns the sum of the counts.
int64_t IndexArrays::placeRaggedRows(const TaskOrder &order, int64_t kernel) {
  const DepthScheduler &schedule = order.schedule();
  for (int64_t p = 0; p < order.numParts(); ++p)
    ragged[p].nextStep = order.part(p).sorter.kernelSteps(kernel);
  int64_t rows = 0;
  for (int64_t s = schedule.kernelSteps(kernel);
       s < schedule.kernelSteps(kernel + 1); ++s) {
    const int64_t first = rows, plan = schedule.steps()[s].plan;
    for (int64_t p = order.firstPart(plan); p < order.firstPart(plan + 1);
         ++p) {
      PartRows &part = ragged[p];
      if (part.nextStep == order.part(p).sorter.kernelSteps(kernel + 1) ||
          order.places(p)[part.nextStep].step != s)
        continue;
      ++part.nextStep;
      int64_t count = part.next->begin;
      *part.next++ = {rows, rows - first};
      rows += count;
    }
  }
  return rows;
}

namespace {
/// Computes Tables::row() for many handles of one type and part. Handles of
/// tasks and of sources mix unpredictably, so the code does not branch on them.
/// `Slots` maps the index of a task in the part to its slot.
template <class Slots>
class RowFinder {
public:
  RowFinder(const Slots &slots, int64_t firstTask, const char *base,
            const TableInfo &info, const BatchSource *sources)
      : slots(slots), firstTask(firstTask), sources(sources),
        mask(info.block - 1), slotBytes(info.slotBytes) {
    table.base = base;
    table.rowBytes = info.rowBytes;
    while (info.block >> shift > 1)
      ++shift;
  }

  const char *operator()(int64_t handle) const {
    int64_t low = static_cast<uint32_t>(handle);
    int64_t isSource = handle >> 63; // all ones for a source, else zero
    int64_t slot = slots((low - firstTask) & ~isSource) + (handle >> 56);
    int64_t row = (low & isSource) | ((slot >> shift) & ~isSource);
    const BatchSource *from = &sources[(handle >> 56) & 127];
    from = handle < 0 ? from : &table;
    return from->base + row * from->rowBytes +
           (slot & mask & ~isSource) * slotBytes;
  }

private:
  Slots slots;
  int64_t firstTask;
  BatchSource table = {};
  const BatchSource *sources;
  int64_t shift = 0, mask, slotBytes;
};
template <class Slots>
RowFinder(const Slots &, int64_t, const char *, const TableInfo &,
          const BatchSource *) -> RowFinder<Slots>;
} // namespace

/// Writes the entries of one part's tasks.
class IndexArrays::PartWriter {
public:
  PartWriter(const Descriptor &descriptor, const TaskOrder &order,
             const Tables &tables, int64_t number)
      : descriptor(descriptor), schedule(order.schedule()), tables(tables),
        number(number), part(order.part(number)), places(order.places(number)) {
  }

  /// Writes an operand with one entry for each task.
  void write(int64_t kernel, const OperandInfo &info, char *rows) const {
    writeRows(kernel, info, rows,
              [&](auto entry) { forEachCell(kernel, info.cell, entry); });
  }
  /// Writes a ragged operand, and the ends of the tasks' rows. `where`
  /// specifies where the rows of each step begin.
  void write(int64_t kernel, const OperandInfo &info, char *rows,
             int32_t *offsets, const RaggedRows *where) const {
    writeRows(kernel, info, rows, [&](auto entry) {
      forEachEntry(kernel, info.cell, offsets, where, entry);
    });
  }

private:
  template <class Entry>
  void forEachCell(int64_t kernel, int64_t cell, Entry entry) const;
  template <class Entry>
  void forEachEntry(int64_t kernel, int64_t cell, int32_t *offsets,
                    const RaggedRows *where, Entry entry) const;
  template <class ForEach>
  void writeRows(int64_t kernel, const OperandInfo &info, char *rows,
                 const ForEach &forEach) const;
  template <class Body>
  void withSlots(int table, const Body &body) const;

  const Descriptor &descriptor;
  const DepthScheduler &schedule;
  const Tables &tables;
  const int64_t number;
  const TaskOrder::Part &part;
  const TaskOrder::Places &places;
};

/// Calls `entry(i, cell)` for the cells of one operand, in schedule order.
/// First copies fields to local variables, because the stores might alias the
/// fields.
template <class Entry>
void IndexArrays::PartWriter::forEachCell(int64_t kernel, int64_t cell,
                                          Entry entry) const {
  const TaskQueue &queue = part.queues[kernel];
  const int64_t *cells = queue.records;
  int64_t recordCells = queue.recordCells;
  const int64_t begin = schedule.kernelBegin(kernel);
  const int64_t end = part.sorter.kernelSteps(kernel + 1);
  const DepthStep *steps = part.sorter.steps().data();
  for (int64_t s = part.sorter.kernelSteps(kernel); s < end; ++s) {
    const int32_t *records = part.sorter.order() + steps[s].begin;
    const int64_t first = s, at = places[s].begin;
    // Include following steps as long as no tasks of other parts come in
    // between.
    while (s + 1 < end &&
           places[s + 1].begin - at == steps[s + 1].begin - steps[first].begin)
      ++s;
    const int64_t count = steps[s].begin + steps[s].count - steps[first].begin;
    for (int64_t i = 0; i < count; ++i)
      entry(at - begin + i, cells[records[i] * recordCells + cell]);
  }
}

/// Calls `body` with a function that maps the index of a task in the part to
/// its slot in a table. Without a table, the function returns 0.
template <class Body>
void IndexArrays::PartWriter::withSlots(int table, const Body &body) const {
  if (table < 0)
    return body([](int64_t) { return 0; });
  const SlotMap &map = tables.slotsOf(number, descriptor.tables[table].group);
  if (const int32_t *slots = map.allSlots())
    return body([slots](int64_t place) { return slots[place]; });
  body([&map](int64_t place) { return map.slot(place); });
}

/// Writes an operand's index array. `forEach` calls its argument with the
/// position and the cell of each entry.
template <class ForEach>
void IndexArrays::PartWriter::writeRows(int64_t kernel, const OperandInfo &info,
                                        char *rows,
                                        const ForEach &forEach) const {
  // Deferred kernels may read results of other kernels' tasks, whose numbers
  // belong to another part.
  const bool anyPart = descriptor.kernels[kernel].deferred;
  switch (info.kind) {
  case OperandInfo::Scalar: {
    int64_t *out = reinterpret_cast<int64_t *>(rows);
    return forEach([=](int64_t i, int64_t cell) { out[i] = cell; });
  }
  case OperandInfo::Gather: {
    int32_t *out = reinterpret_cast<int32_t *>(rows);
    if (info.table < 0)
      return forEach([=](int64_t i, int64_t cell) {
        out[i] = static_cast<int32_t>(cell);
      });
    if (anyPart)
      return forEach([&, out](int64_t i, int64_t cell) {
        out[i] = static_cast<int32_t>(tables.slot(cell, info.table));
      });
    const int64_t firstTask = part.base;
    return withSlots(info.table, [&](auto slots) {
      forEach([=](int64_t i, int64_t cell) {
        out[i] = slots(static_cast<uint32_t>(cell) - firstTask) +
                 static_cast<int32_t>(cell >> 56);
      });
    });
  }
  case OperandInfo::Rows: {
    const char **out = reinterpret_cast<const char **>(rows);
    if (anyPart)
      return forEach([&, out](int64_t i, int64_t cell) {
        out[i] = tables.row(cell, info.table, part.context->sources);
      });
    static const TableInfo none;
    const char *base = info.table < 0 ? nullptr : tables.data(info.table);
    const TableInfo &table =
        info.table < 0 ? none : descriptor.tables[info.table];
    return withSlots(info.table, [&](auto slots) {
      const RowFinder row(slots, part.base, base, table, part.context->sources);
      forEach([&row, out](int64_t i, int64_t cell) { out[i] = row(cell); });
    });
  }
  }
}

/// Calls `entry(i, cell)` for the entries of a ragged operand's lists, in
/// schedule order. Also writes where the rows of each task end.
template <class Entry>
void IndexArrays::PartWriter::forEachEntry(int64_t kernel, int64_t cell,
                                           int32_t *offsets,
                                           const RaggedRows *where,
                                           Entry entry) const {
  const TaskQueue &queue = part.queues[kernel];
  const int64_t *cells = queue.records;
  const int64_t *pool = part.context->listPool;
  const int64_t recordCells = queue.recordCells;
  for (int64_t s = part.sorter.kernelSteps(kernel);
       s < part.sorter.kernelSteps(kernel + 1); ++s, ++where) {
    const DepthStep &step = part.sorter.steps()[s];
    const int32_t *records = part.sorter.order() + step.begin;
    const DepthStep &whole = schedule.steps()[places[s].step];
    const int64_t count = step.count;
    int64_t at = where->begin, first = at - where->inStep;
    // Each earlier step has one more offset than it has tasks.
    int32_t *ends = offsets + (places[s].begin - schedule.kernelBegin(kernel)) +
                    (places[s].step - schedule.kernelSteps(kernel));
    if (places[s].begin == whole.begin)
      *ends = 0;
    for (int64_t i = 0; i < count; ++i) {
      int64_t list = cells[records[i] * recordCells + cell];
      const int64_t *begin = pool + listFirst(list);
      const int64_t length = listLength(list);
      for (int64_t e = 0; e < length; ++e)
        entry(at + e, begin[e]);
      at += length;
      *++ends = static_cast<int32_t>(at - first);
    }
  }
}

/// Returns true if an earlier part of the plan also has a record of this
/// kernel.
static bool hasEarlierRecord(const TaskOrder &order, int64_t part,
                             int64_t kernel) {
  for (int64_t p = order.firstPart(order.planOf(part)); p < part; ++p) {
    const DepthSorter &sorter = order.part(p).sorter;
    if (sorter.kernelSteps(kernel) != sorter.kernelSteps(kernel + 1))
      return true;
  }
  return false;
}

void IndexArrays::fill(const TaskOrder &order, const Tables &tables,
                       int64_t number) {
  const TaskOrder::Part &part = order.part(number);
  const PartWriter writer(descriptor, order, tables, number);
  const RaggedRows *next = ragged[number].steps.data();
  for (size_t k = 0; k < arrays.size(); ++k) {
    int64_t steps = part.sorter.kernelSteps(k + 1) - part.sorter.kernelSteps(k);
    // All records of a constant task share its entries. Only one part writes
    // them.
    if (descriptor.kernels[k].constant && hasEarlierRecord(order, number, k))
      continue;
    for (size_t o = 0; o < arrays[k].size() && steps != 0; ++o) {
      if (sameRows[k][o] != o)
        continue;
      char *base = memory.data();
      const OperandInfo &info = descriptor.kernels[k].operands[o];
      char *rows = base + arrays[k][o].rows;
      if (!info.ragged) {
        writer.write(k, info, rows);
        continue;
      }
      auto *offsets = reinterpret_cast<int32_t *>(base + arrays[k][o].offsets);
      writer.write(k, info, rows, offsets, next);
      next += steps;
    }
  }
}

void IndexArrays::makeOperand(const TaskOrder &order, const Tables &tables,
                              int64_t kernel, size_t number,
                              BatchOperand *to) const {
  const DepthScheduler &schedule = order.schedule();
  const std::vector<OperandInfo> &all = descriptor.kernels[kernel].operands;
  const OperandInfo &info = all[number];
  const OperandArrays &array = arrays[kernel][number];
  const int64_t bytes = entryBytes(info);
  const char *rows = memory.data() + array.rows;
  const auto *offsets =
      reinterpret_cast<const int32_t *>(memory.data() + array.offsets);
  const char *base = nullptr;
  if (info.kind == OperandInfo::Gather)
    base = info.table >= 0 ? tables.data(info.table)
                           : order.part(0).context->sources[info.source].base;
  const int64_t end = schedule.kernelSteps(kernel + 1);
  for (int64_t s = schedule.kernelSteps(kernel); s < end;
       ++s, to += all.size()) {
    const int64_t count = schedule.steps()[s].count;
    const int64_t entries = info.ragged ? offsets[count] : count;
    *to = {};
    to->base = base;
    to->rows = rows;
    to->offsets = info.ragged ? offsets : nullptr;
    // The entries of the kernel's next step follow.
    rows += entries * bytes;
    offsets += count + 1;
  }
}

size_t IndexArrays::bytes() const {
  size_t sum = memory.capacity();
  for (const PartRows &part : ragged)
    sum += part.steps.capacity() * sizeof(RaggedRows);
  return sum;
}
