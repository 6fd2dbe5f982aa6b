//===- FakeModel.cpp - A compiled object written by hand ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The object that batch-compile would generate for a model that sums the rows
// of the leaves of a tree. It is written by hand against ABI.h and has views of
// parameter rows, ragged operands, constant kernels, several results in one
// table, and ADT results.
//
//   h(leaf w) = E[w];  h(node l r) = h(l) + h(r);  h(many kids) = sum of h(kid)
//   out = W h(root) + count * 2b (+ x), root = 2 out + 3 out
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/ABI.h"
#include "batch-runtime/EmulatorABI.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

// Configuration of the object.
#ifdef WITH_X
static constexpr bool withX = true;
#else
static constexpr bool withX = false;
#endif
#ifdef EXECUTOR
static const bool allBlocks = std::string(EXECUTOR) == "device";
#else
static const bool allBlocks = false;
#endif
#ifdef SILENT
static constexpr bool reportsProgress = false;
#else
static constexpr bool reportsProgress = true;
#endif
#ifndef CLUSTER_SIZE
#define CLUSTER_SIZE 1
#endif

/// Number of groups of blocks that had work, summed over all emulated launches.
extern "C" {
__attribute__((visibility("default"))) int64_t fakeGroups = 0;
}

namespace {
constexpr int64_t H = 20, rowBytes = 128, width = 16;

const char descriptor[] = R"({
  "abi": 9, "name": "fake", "target": {"cpu": "generic", "features": []},
  "parameters": [{"name": "E", "shape": [-1, 20], "dtype": "f32"},
                 {"name": "b", "shape": [20], "dtype": "f32"},
                 {"name": "W", "shape": [20, 20], "dtype": "f32"}],
  "packings": [{"parameter": 0, "packing": "rows"}, {"parameter": 1, "packing": "rows"},
            {"parameter": 2, "packing": "panels", "n": 20, "k": 20,
             "transposed": true, "width": 16}],
  "adts": [
    {"name": "Tree", "variants": [
      {"name": "leaf", "number": 0, "fields": [{"name": "word", "type": "index"}]},
      {"name": "node", "number": 1, "fields": [
        {"name": "left", "type": {"adt": "Tree"}},
        {"name": "right", "type": {"adt": "Tree"}}]},
      {"name": "many", "number": 2, "fields": [
        {"name": "kids", "type": {"list": {"adt": "Tree"}}}]}]},
    {"name": "States", "variants": [
      {"name": "state_leaf", "number": 3, "fields": [
        {"name": "h", "type": {"tensor": [20], "dtype": "f32", "table": 0, "source": 1}},
        {"name": "size", "type": "index"}]},
      {"name": "state_node", "number": 4, "fields": [
        {"name": "left", "type": {"adt": "States"}},
        {"name": "h", "type": {"tensor": [20], "dtype": "f32", "table": 0, "source": 1}},
        {"name": "right", "type": {"adt": "States"}}]},
      {"name": "state_many", "number": 5, "fields": [
        {"name": "kids", "type": {"list": {"adt": "States"}}},
        {"name": "h", "type": {"tensor": [20], "dtype": "f32", "table": 0, "source": 1}}]}]}],
  "cellColumns": 3,
  "arguments": [{"name": "tree", "type": {"adt": "Tree"}}
#x , {"name": "x", "type": {"tensor": [20], "dtype": "f32", "source": 2}}
  ],
  "results": [{"name": "states", "type": {"adt": "States"}},
              {"name": "root", "type": {"tensor": [20], "dtype": "f32", "table": 1}},
              {"name": "count", "type": "index"}],
  "tables": [{"name": "h", "rowBytes": 128, "group": 0},
             {"name": "out", "rowBytes": 128, "group": 1},
             {"name": "pair", "rowBytes": 128, "group": 2},
             {"name": "bias", "rowBytes": 128, "group": 3}],
  "groups": 4,
  "sources": [null, {"parameter": 0, "packing": 0}
#x , {"input": [20]}
  ],
  "kernels": [
    {"name": "sum2", "phase": 0, "operands": [{"cell": 1, "kind": "rows", "table": 0},
                                              {"cell": 2, "kind": "rows", "table": 0}],
     "results": [{"table": 0, "position": 0, "siblings": 1}], "taskScratch": 64},
    {"name": "sum_many", "phase": 0,
     "operands": [{"cell": 1, "kind": "rows", "table": 0, "ragged": true}],
     "results": [{"table": 0, "position": 0, "siblings": 1}],
     "raggedScratch": [{"operand": 0, "bytes": 64}],
     "workerScratch": [64, 32, 256]},
    {"name": "bias", "phase": 0, "constant": true, "operands": [],
     "results": [{"table": 3, "position": 0, "siblings": 1}]},
    {"name": "final", "phase": 1, "operands": [
       {"cell": 1, "kind": "rows", "table": 0}, {"cell": 2, "kind": "scalar"},
       {"cell": 3, "kind": "gather", "table": 3}
#x , {"cell": 4, "kind": "gather", "source": 2}
     ],
     "results": [{"table": 1, "position": 0, "siblings": 1}]},
    {"name": "split", "phase": 1, "operands": [{"cell": 1, "kind": "gather", "table": 1}],
     "results": [{"table": 2, "position": 0, "siblings": 2},
                 {"table": 2, "position": 1, "siblings": 2}]},
    {"name": "merge", "phase": 1, "operands": [{"cell": 1, "kind": "gather", "table": 2},
                                               {"cell": 2, "kind": "gather", "table": 2}],
     "results": [{"table": 1, "position": 0, "siblings": 1}]}],
  "memo": 3, "separable": true,
#device
  "has": {"inspect": true, "execute": true, "unbatched": true}
})";

/// Returns the descriptor with or without the input tensor, for a device or the
/// CPU.
const char *makeDescriptor() {
  static std::string text = descriptor;
  for (size_t at; (at = text.find("#x")) != std::string::npos;)
    text.erase(at, withX ? 2 : text.find('\n', at) - at);
  std::string device;
#ifdef EXECUTOR
  device = R"("device": {"kernel": "fake", "executor": ")" EXECUTOR
           R"(", "blockSize": 32, "clusterSize": )" +
           std::to_string(CLUSTER_SIZE) + "},";
#endif
  text.replace(text.find("#device"), std::strlen("#device"), device);
  return text.c_str();
}

enum { Sum2, SumMany, Bias, Final, Split, Merge };
enum { Leaf, Node, Many, StateLeaf, StateNode, StateMany };

int64_t depthAfter(int64_t handle) { return (handle >> 32) & 0xffffff; }

int64_t record(BatchContext *context, int64_t kernel, int64_t depth,
               const int64_t *cells, int64_t count) {
  BatchQueue &queue = context->queues[kernel];
  if (queue.end == queue.limit)
    context->runtime->growQueue(context, kernel, 8);
  int64_t task = context->numTasks++;
  *queue.end++ = depth << 32 | task;
  for (int64_t i = 0; i < count; ++i)
    *queue.end++ = cells[i];
  return (depth + 1) << 32 | task;
}

int64_t construct(BatchContext *context, uint8_t variant, const int64_t *cells,
                  int64_t count) {
  if (context->numNodes == context->nodeCapacity)
    context->runtime->growNodes(context, 1);
  int64_t node = context->numNodes++;
  context->variants[node] = variant;
  for (int64_t i = 0; i < count; ++i)
    context->cells[i][node] = cells[i];
  return node;
}

int64_t beginList(BatchContext *context, int64_t count) {
  if (context->listSize + count > context->listCapacity)
    context->runtime->growList(context, count);
  int64_t first = context->listSize;
  context->listSize += count;
  return count << 32 | first;
}

int64_t length(int64_t list) { return list >> 32; }
int64_t first(int64_t list) { return list & 0xffffffff; }

void checkWord(BatchContext *context, int64_t word) {
  if (static_cast<uint64_t>(word) >=
      static_cast<uint64_t>(context->sources[1].rows))
    context->runtime->fail(context, BATCH_ERROR_ROW_OUT_OF_BOUNDS, word, 1);
}

void traverse(BatchContext *context, int64_t begin, int64_t end) {
  int64_t *h = context->memo[0], *state = context->memo[1];
  int64_t *size = context->memo[2];
  for (int64_t node = begin; node < end; ++node) {
    int64_t field = context->cells[0][node];
    switch (context->variants[node]) {
    case Leaf: {
      checkWord(context, field);
      h[node] = static_cast<int64_t>(uint64_t(129) << 56 | field);
      size[node] = 1;
      int64_t cells[] = {h[node], 1};
      state[node] = construct(context, StateLeaf, cells, 2);
      break;
    }
    case Node: {
      int64_t right = context->cells[1][node];
      int64_t operands[] = {h[field], h[right]};
      h[node] = record(context, Sum2,
                       std::max(depthAfter(h[field]), depthAfter(h[right])),
                       operands, 2);
      size[node] = 1 + size[field] + size[right];
      int64_t cells[] = {state[field], h[node], state[right]};
      state[node] = construct(context, StateNode, cells, 3);
      break;
    }
    case Many: {
      int64_t count = length(field), depth = 0;
      int64_t rows = beginList(context, count);
      int64_t kids = beginList(context, count);
      size[node] = 1;
      for (int64_t i = 0; i < count; ++i) {
        int64_t kid = context->listPool[first(field) + i];
        context->listPool[first(rows) + i] = h[kid];
        context->listPool[first(kids) + i] = state[kid];
        depth = std::max(depth, depthAfter(h[kid]));
        size[node] += size[kid];
      }
      h[node] = record(context, SumMany, depth, &rows, 1);
      int64_t cells[] = {kids, h[node]};
      state[node] = construct(context, StateMany, cells, 2);
      break;
    }
    }
    size[node] &= 0xffff;
  }
}

void inspect(BatchContext *context, int64_t begin, int64_t end) {
  int64_t *h = context->memo[0], *state = context->memo[1];
  int64_t *size = context->memo[2];
  for (int64_t i = begin; i < end; ++i) {
    traverse(context, context->instanceNodes[i], context->instanceNodes[i + 1]);
    int64_t tree = context->arguments[0][i];
    if (context->constants[Bias] < 0)
      context->constants[Bias] = record(context, Bias, 0, nullptr, 0);
    int64_t bias = context->constants[Bias];
    int64_t operands[] = {h[tree], size[tree], bias,
                          withX ? context->arguments[1][i] : 0};
    int64_t depth = std::max(depthAfter(h[tree]), depthAfter(bias));
    int64_t out = record(context, Final, depth, operands, 3 + withX);
    int64_t pair = record(context, Split, depth + 1, &out, 1);
    int64_t pairs[] = {pair, pair | int64_t(1) << 56};
    context->results[0][i] = state[tree];
    context->results[1][i] = record(context, Merge, depth + 2, pairs, 2);
    context->results[2][i] = size[tree];
  }
}

// The kernels' arithmetic, which is the same in batched and unbatched code.
void add(const float *a, const float *b, float *out) {
  for (int64_t i = 0; i < H; ++i)
    out[i] = a[i] + b[i];
}

void finalRow(BatchContext *context, const float *h, int64_t count,
              const float *bias, const float *x, float *out) {
  const float *panels = reinterpret_cast<const float *>(context->packings[2]);
  for (int64_t n = 0; n < H; ++n) {
    const float *panel = panels + n / width * width * H;
    float sum = 0;
    for (int64_t k = 0; k < H; ++k)
      sum = std::fma(h[k], panel[k * width + n % width], sum);
    out[n] = std::fma(static_cast<float>(count), bias[n], sum);
    if (x)
      out[n] += x[n];
  }
}

const float *floats(const void *row) { return static_cast<const float *>(row); }

const float *operand(const BatchOperand &o, int64_t t, bool gather) {
  if (gather)
    return floats(o.base + static_cast<const int32_t *>(o.rows)[t] * rowBytes);
  return floats(static_cast<const char *const *>(o.rows)[t]);
}

void runTask(BatchContext *context, const BatchStep &step, int64_t t) {
  auto out = [&](int64_t r, int64_t siblings) {
    return reinterpret_cast<float *>(step.results[r] + t * rowBytes * siblings);
  };
  const BatchOperand *o = step.operands;
  switch (step.kernel) {
  case Sum2:
    add(operand(o[0], t, false), operand(o[1], t, false), out(0, 1));
    break;
  case SumMany: {
    float *sum = out(0, 1);
    std::fill(sum, sum + H, 0.0f);
    for (int64_t i = o[0].offsets[t]; i < o[0].offsets[t + 1]; ++i)
      add(sum, operand(o[0], i, false), sum);
    break;
  }
  case Bias: {
    const float *b = floats(context->packings[1]);
    add(b, b, out(0, 1));
    break;
  }
  case Final:
    finalRow(context, operand(o[0], t, false),
             static_cast<const int64_t *>(o[1].rows)[t], operand(o[2], t, true),
             withX ? operand(o[3], t, true) : nullptr, out(0, 1));
    break;
  case Split: {
    const float *v = operand(o[0], t, true);
    for (int64_t i = 0; i < H; ++i) {
      out(0, 2)[i] = 2 * v[i];
      out(1, 2)[i] = 3 * v[i];
    }
    break;
  }
  case Merge:
    add(operand(o[0], t, true), operand(o[1], t, true), out(0, 1));
    break;
  }
}

void execute(BatchContext *context, int64_t worker, int64_t workers) {
  for (int64_t s = 0; s < context->numSteps; ++s) {
    const BatchStep &step = context->steps[s];
    for (int64_t t = step.count * worker / workers,
                 end = step.count * (worker + 1) / workers;
         t < end; ++t)
      runTask(context, step, t);
    context->runtime->barrier(context, worker);
  }
}

/// Does all the work of a group in its first block. The first thread of each
/// block reports the progress of the block if `reportsProgress` is true.
[[maybe_unused]] void emulate(BatchEmulatorThread *thread,
                              void *const *arguments) {
  auto argument = [&](int number) {
    return *static_cast<const uint64_t *>(arguments[number]);
  };
  if (thread->thread)
    return;
  BatchContext context{};
  context.packings = reinterpret_cast<const char **>(argument(2));
  auto *plans = reinterpret_cast<const BatchPlan *>(argument(0));
  auto *control = reinterpret_cast<BatchDeviceControl *>(argument(3));
  BatchBlockControl &own = control->ofBlocks[thread->block];
  const int64_t blocks = allBlocks ? thread->blocks : thread->clusterBlocks;
  const uint64_t group = thread->block / blocks;
  const uint64_t groups = thread->blocks / blocks;
  const bool works = thread->block % blocks == 0;
  if (works && group < argument(1) && plans[group].numSteps)
    ++fakeGroups;
  for (uint64_t p = group; p < argument(1); p += groups)
    for (int64_t s = 0; s < plans[p].numSteps; ++s) {
      if (reportsProgress)
        own.progress = static_cast<int64_t>(p + 1) << 32 | s;
      for (int64_t t = 0; works && t < plans[p].steps[s].count; ++t)
        runTask(&context, plans[p].steps[s], t);
    }
  own.ended = 1;
}

float *allocate(BatchContext *context) {
  if (context->arenaLimit - context->arenaTop < rowBytes)
    return static_cast<float *>(context->runtime->growArena(context, rowBytes));
  float *row = reinterpret_cast<float *>(context->arenaTop);
  context->arenaTop += rowBytes;
  return row;
}

struct Value {
  int64_t h, state, size;
};

Value encode(BatchContext *context, int64_t node) {
  char here;
  if (reinterpret_cast<int64_t>(&here) < context->stackLimit)
    context->runtime->fail(context, BATCH_ERROR_STACK_OVERFLOW, 0, 0);
  int64_t known[3];
  if (context->runtime->memoFind(context, 0, &node, 1, known, 3))
    return {known[0], known[1], known[2]};
  Value value{0, 0, 1};
  int64_t field = context->cells[0][node];
  switch (context->variants[node]) {
  case Leaf: {
    checkWord(context, field);
    value.h = reinterpret_cast<int64_t>(context->sources[1].base +
                                        field * context->sources[1].rowBytes);
    int64_t cells[] = {value.h, 1};
    value.state = construct(context, StateLeaf, cells, 2);
    break;
  }
  case Node: {
    Value l = encode(context, field);
    Value r = encode(context, context->cells[1][node]);
    float *h = allocate(context);
    add(reinterpret_cast<float *>(l.h), reinterpret_cast<float *>(r.h), h);
    value.h = reinterpret_cast<int64_t>(h);
    value.size += l.size + r.size;
    int64_t cells[] = {l.state, value.h, r.state};
    value.state = construct(context, StateNode, cells, 3);
    break;
  }
  case Many: {
    float *h = allocate(context);
    std::fill(h, h + H, 0.0f);
    int64_t kids = beginList(context, length(field));
    for (int64_t i = 0; i < length(field); ++i) {
      Value kid = encode(context, context->listPool[first(field) + i]);
      context->listPool[first(kids) + i] = kid.state;
      add(h, reinterpret_cast<float *>(kid.h), h);
      value.size += kid.size;
    }
    value.h = reinterpret_cast<int64_t>(h);
    int64_t cells[] = {kids, value.h};
    value.state = construct(context, StateMany, cells, 2);
    break;
  }
  }
  value.size &= 0xffff;
  int64_t results[] = {value.h, value.state, value.size};
  context->runtime->memoStore(context, 0, &node, 1, results, 3);
  return value;
}

void unbatched(BatchContext *context, int64_t instance) {
  Value tree = encode(context, context->arguments[0][instance]);
  const float *b = floats(context->packings[1]);
  float *bias = allocate(context), *out = allocate(context);
  float *two = allocate(context), *three = allocate(context);
  add(b, b, bias);
  finalRow(context, reinterpret_cast<float *>(tree.h), tree.size, bias,
           withX ? reinterpret_cast<float *>(context->arguments[1][instance])
                 : nullptr,
           out);
  for (int64_t i = 0; i < H; ++i) {
    two[i] = 2 * out[i];
    three[i] = 3 * out[i];
  }
  float *root = allocate(context);
  add(two, three, root);
#ifdef BREAK_UNBATCHED
  if (instance == 1)
    root[2] = std::nextafter(root[2], 1e9f);
#endif
  context->results[0][instance] = tree.state;
  context->results[1][instance] = reinterpret_cast<int64_t>(root);
  context->results[2][instance] = tree.size;
}

// Code for a device.
#ifdef PTX
constexpr const char *deviceCode = PTX;
constexpr int64_t deviceBytes = sizeof(PTX);
constexpr auto launchEmulated = static_cast<decltype(&emulate)>(nullptr);
#else
constexpr const char *deviceCode = nullptr;
constexpr int64_t deviceBytes = 0;
constexpr auto launchEmulated = &emulate;
#endif
} // namespace

extern "C" {
__attribute__((visibility("default"))) BatchObject batch_object = {
    BATCH_ABI_VERSION, makeDescriptor(), inspect,     execute,
    unbatched,         deviceCode,       deviceBytes, launchEmulated};
}
