//===- toy-run.cpp - Compiles a module in process and runs it -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: toy-run swish.mlir swish.so
//
// Compiles the model in swish.mlir to an object and runs it on three trees
// through the C API of the runtime.
//
//===----------------------------------------------------------------------===//

#include "Batch/InitAll.h"
#include "Batch/Target/Compile/Compile.h"
#include "Toy.h"
#include "batch-runtime/CAPI.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace mlir;

/// Compiles a file. The context's handler prints errors with their locations.
static LogicalResult compile(const char *source, const char *object) {
  DialectRegistry registry;
  batch::registerAllDialects(registry);
  registry.insert<toy::ToyDialect>();
  MLIRContext context(registry);
  auto module = parseSourceFile<ModuleOp>(source, &context);
  if (!module)
    return failure();
  return batch::compileToSharedObject(*module, object, {});
}

static void check(BatchStatus status) {
  if (status == BATCH_STATUS_OK)
    return;
  std::fprintf(stderr, "toy-run: error: %s\n", batchLastError());
  std::exit(1);
}

/// Returns a description of a row-major array without gaps.
static BatchArray dense(void *data, BatchElementType type,
                        const std::vector<int64_t> &shape) {
  return {data, type, int32_t(shape.size()), shape.data(), nullptr};
}

static void run(const char *object) {
  BatchModel *model;
  check(batchModelOpen(object, &model));

  // Row w of E is w in all columns; W is the identity.
  constexpr int64_t words = 4, width = 8;
  std::vector<float> e, w(width * width);
  for (int64_t i = 0; i < words * width; ++i)
    e.push_back(float(i / width));
  for (int64_t i = 0; i < width; ++i)
    w[i * width + i] = 1;
  const std::vector<int64_t> shapeOfE = {words, width},
                             shapeOfW = {width, width};
  const char *const names[] = {"E", "W"};
  const BatchArray arrays[] = {dense(e.data(), BATCH_TYPE_F32, shapeOfE),
                               dense(w.data(), BATCH_TYPE_F32, shapeOfW)};
  BatchParameters *parameters;
  check(batchParametersBind(model, 2, names, arrays, &parameters));

  BatchSessionOptions options;
  batchSessionDefaults(&options);
  BatchSession *session;
  check(batchSessionMake(model, parameters, &options, &session));

  // The trees (1 1), 3 and ((1 1) 2). Children precede their parents. Variants
  // are numbered as in the module: leaf(word), node(left, right).
  enum { LEAF, NODE };
  const int32_t variants[] = {LEAF, LEAF, NODE, LEAF, LEAF,
                              LEAF, NODE, LEAF, NODE};
  int32_t leaves[] = {1, 1, 3, 1, 1, 2};
  int64_t left[] = {0, 4, 6}, right[] = {1, 5, 7};
  const std::vector<int64_t> six = {6}, three = {3};
  const BatchValues ofLeaves[] = {
      {dense(leaves, BATCH_TYPE_I32, six), nullptr}};
  const BatchValues ofNodes[] = {
      {dense(left, BATCH_TYPE_I64, three), nullptr},
      {dense(right, BATCH_TYPE_I64, three), nullptr}};
  const BatchValues *const fields[] = {ofLeaves, ofNodes};
  const int64_t firstNodes[] = {0, 3, 4, 9};
  const BatchNodes nodes = {9, firstNodes, variants, fields};
  int64_t roots[] = {2, 3, 8};
  const BatchValues arguments[] = {
      {dense(roots, BATCH_TYPE_I64, three), nullptr}};
  const BatchInputs inputs = {3, arguments, &nodes};
  check(batchSessionRun(session, &inputs, nullptr));

  float h[3][width];
  const std::vector<int64_t> shapeOfH = {3, width};
  const BatchArray target = dense(h, BATCH_TYPE_F32, shapeOfH);
  check(batchSessionRead(session, 0, &target, nullptr));
  for (int i = 0; i < 3; ++i)
    std::printf("tree %d: %.4f\n", i, h[i][0]);

  batchSessionFree(session);
  batchParametersFree(parameters);
  batchModelFree(model);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: toy-run MODEL.mlir OBJECT.so\n");
    return 1;
  }
  if (failed(compile(argv[1], argv[2])))
    return 1;
  run(argv[2]);
  return 0;
}
