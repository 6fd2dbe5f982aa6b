//===- Tuning.cpp - Measured choices for kernels --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::uprog;
namespace json = llvm::json;

LogicalResult Tuning::load(StringRef path, ModuleOp module) {
  if (path.empty())
    return success();
  auto error = [&](const Twine &message) {
    return module.emitError("tuning file '") << path << "' " << message;
  };
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return error("cannot be read: " + buffer.getError().message());
  llvm::Expected<json::Value> root = json::parse((*buffer)->getBuffer());
  if (!root)
    return error("is not valid JSON: " + llvm::toString(root.takeError()));
  const json::Object *object = root->getAsObject();
  const json::Object *entries = object ? object->getObject("kernels") : nullptr;
  if (!entries || object->getInteger("version") != 1)
    return error("was not written by 'batch-run --tune': it needs "
                 "\"version\": 1 and \"kernels\": {...}");
  llvm::StringSet<> names;
  for (auto op : module.getOps<OperatorOp>())
    if (std::optional<StringRef> kernel = op.getKernel())
      names.insert(*kernel);
  for (const auto &[key, value] : *entries) {
    StringRef kernel = key;
    if (kernel != "*" && !names.contains(kernel))
      return error("names kernel '" + kernel +
                   "', which the model does not have; tune again");
    const json::Object *choices = value.getAsObject();
    if (!choices)
      return error("has no object of choices for kernel '" + kernel + "'");
    KernelTuning tuning;
    for (const auto &[name, number] : *choices) {
      StringRef choice = name;
      if (choice == "row_block") // in files of version 0.1
        choice = "stage_rows";
      int64_t *field = choice == "tile_rows"     ? &tuning.tileRows
                       : choice == "row_split"   ? &tuning.rowSplit
                       : choice == "stage_rows"  ? &tuning.stageRows
                       : choice == "share_tasks" ? &tuning.shareTasks
                                                 : nullptr;
      if (!field)
        return error("has an unknown choice '" + choice + "' for kernel '" +
                     kernel +
                     "'; the choices are tile_rows, row_split, stage_rows and "
                     "share_tasks");
      std::optional<int64_t> chosen = number.getAsInteger();
      int64_t least = choice == "stage_rows" ? 0 : 1;
      if (!chosen || *chosen < least || *chosen > (int64_t(1) << 40))
        return error("needs a whole number of at least " + Twine(least) +
                     " for '" + choice + "' of kernel '" + kernel + "'");
      *field = *chosen;
    }
    (kernel == "*" ? others : kernels[kernel]) = tuning;
  }
  return success();
}

KernelTuning Tuning::get(OperatorOp op) const {
  auto found = kernels.find(op.getKernel().value_or(""));
  return found == kernels.end() ? others : found->second;
}
