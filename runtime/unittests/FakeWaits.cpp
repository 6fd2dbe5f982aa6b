//===- FakeWaits.cpp - A compiled object that waits for tensors -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The object that batch-compile would generate for a loop that divides a row by
// four until its first element is at most 1. It is written by hand against
// ABI.h. The next row is computed before it is known whether control flow needs
// it, and no wait depends on the output.
//
//   h = start(x);
//   while (probe(h)[0] > 1) h = halve(halve(h));
//   y = head(h)
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/ABI.h"

namespace {
constexpr int64_t rowBytes = 64, width = 4;

const char descriptor[] = R"({
  "abi": 14, "name": "halve", "target": {"cpu": "generic", "features": []},
  "parameters": [], "packings": [], "adts": [], "cellColumns": 0,
  "arguments": [{"name": "x", "type": "index"}],
  "results": [{"name": "y", "type": {"tensor": [4], "dtype": "f32", "table": 2}},
              {"name": "count", "type": "index"}],
  "tables": [{"name": "h", "rowBytes": 64, "group": 0},
             {"name": "p", "rowBytes": 64, "group": 1},
             {"name": "y", "rowBytes": 64, "group": 2}],
  "groups": 3, "sources": [null],
  "kernels": [
    {"name": "start", "phase": 0, "operands": [{"cell": 1, "kind": "scalar"}],
     "results": [{"table": 0, "position": 0, "siblings": 1}]},
    {"name": "probe", "phase": 0, "operands": [{"cell": 1, "kind": "gather", "table": 0}],
     "results": [{"table": 1, "position": 0, "siblings": 1}]},
    {"name": "halve", "phase": 0, "operands": [{"cell": 1, "kind": "gather", "table": 0}],
     "results": [{"table": 0, "position": 0, "siblings": 1}]},
    {"name": "head", "phase": 1, "deferred": true,
     "operands": [{"cell": 1, "kind": "gather", "table": 0}],
     "results": [{"table": 2, "position": 0, "siblings": 1}]}],
  "memo": 0, "separable": true, "waits": true, "counted": ["the loop"],
  "has": {"inspect": true, "execute": true, "unbatched": true}
})";

enum { Start, Probe, Halve, Head };

/// Records a task that reads a result, or a scalar.
int64_t record(BatchContext *context, int64_t kernel, int64_t cell) {
  BatchQueue &queue = context->queues[kernel];
  if (queue.end == queue.limit)
    context->runtime->growQueue(context, kernel, 16);
  // Results of tasks that have already run count as inputs, with depth 0.
  const bool isInput =
      kernel == Start || (cell & 0xffffffff) < context->flushedTasks;
  const int64_t depth = isInput ? 0 : cell >> 32;
  const int64_t task =
      kernel == Head ? context->deferredTasks++ : context->numTasks++;
  *queue.end++ = depth << 32 | task;
  *queue.end++ = cell;
  return (depth + 1) << 32 | task;
}

void inspect(BatchContext *context, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t h = record(context, Start, context->arguments[0][i]), count = 0;
    for (;; ++count) {
      if (--context->stepsLeft < 0)
        context->runtime->fail(context, BATCH_ERROR_TOO_MANY_STEPS, 1, 0);
      int64_t probe = record(context, Probe, h);
      int64_t next = record(context, Halve, record(context, Halve, h));
      auto *row = reinterpret_cast<const float *>(
          context->runtime->await(context, probe, 1));
      if (!(row[0] > 1))
        break;
      h = next;
    }
    context->results[0][i] = record(context, Head, h);
    context->results[1][i] = count;
  }
}

// The kernels' arithmetic, which is the same in batched and unbatched code.
void start(int64_t x, float *out) {
  for (int64_t i = 0; i < width; ++i)
    out[i] = static_cast<float>(x + i);
}

void apply(int64_t kernel, const float *h, float *out) {
  for (int64_t i = 0; i < width; ++i)
    out[i] = kernel == Halve ? h[i] / 2 : kernel == Head ? h[i] + 3 : h[i];
}

void execute(BatchContext *context, int64_t worker, int64_t workers) {
  for (int64_t s = 0; s < context->numSteps; ++s) {
    const BatchStep &step = context->steps[s];
    for (int64_t t = step.count * worker / workers,
                 end = step.count * (worker + 1) / workers;
         t < end; ++t) {
      const BatchOperand &operand = step.operands[0];
      auto *out = reinterpret_cast<float *>(step.results[0] + t * rowBytes);
      if (step.kernel == Start) {
        start(static_cast<const int64_t *>(operand.rows)[t], out);
        continue;
      }
      const int64_t row = static_cast<const int32_t *>(operand.rows)[t];
      apply(step.kernel,
            reinterpret_cast<const float *>(operand.base + row * rowBytes),
            out);
    }
    if (step.barrier)
      context->runtime->barrier(context, worker);
  }
}

void unbatched(BatchContext *context, int64_t instance) {
  auto *row =
      static_cast<float *>(context->runtime->growArena(context, 2 * rowBytes));
  float *y = row + rowBytes / sizeof(float);
  int64_t count = 0;
  for (start(context->arguments[0][instance], row); row[0] > 1; ++count) {
    apply(Halve, row, row);
    apply(Halve, row, row);
  }
  apply(Head, row, y);
  context->results[0][instance] = reinterpret_cast<int64_t>(y);
  context->results[1][instance] = count;
}
} // namespace

extern "C" {
__attribute__((visibility("default"))) BatchObject batch_object = {
    BATCH_ABI_VERSION, descriptor, inspect, execute,
    unbatched,         nullptr,    0,       nullptr};
}
