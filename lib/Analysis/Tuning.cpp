//===- Tuning.cpp - Choices of a tuning file ------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Tuning.h"

#include "Batch/Support/OptionError.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::batch;
namespace json = llvm::json;

namespace {
/// Reads the entries of a tuning file and emits errors.
struct TuningReader {
  MLIRContext *context;
  StringRef path;

  InFlightDiagnostic error(const Twine &message) const {
    return emitOptionError(context, "tuning file '")
           << path << "': " << message;
  }

  LogicalResult readNumber(StringRef choice, const json::Value &value,
                           StringRef kernel, KernelTuning &tuning) const {
    int64_t *field = choice == "tile_rows"     ? &tuning.tileRows
                     : choice == "row_split"   ? &tuning.rowSplit
                     : choice == "stage_rows"  ? &tuning.stageRows
                     : choice == "share_tasks" ? &tuning.shareTasks
                                               : nullptr;
    if (!field)
      return error("unknown choice '" + choice + "' for kernel '" + kernel +
                   "'; expected 'tile_rows', 'row_split', 'stage_rows', "
                   "'share_tasks' or 'units'");
    std::optional<int64_t> chosen = value.getAsInteger();
    int64_t least = choice == "stage_rows" ? 0 : 1;
    if (!chosen || *chosen < least || *chosen > (int64_t(1) << 40))
      return error("invalid value for '" + choice + "' of kernel '" + kernel +
                   "'; expected a whole number of at least " + Twine(least));
    *field = *chosen;
    return success();
  }

  FailureOr<KernelTuning> readKernel(StringRef kernel,
                                     const json::Value &value) const {
    const json::Object *choices = value.getAsObject();
    if (!choices)
      return error("invalid choices for kernel '" + kernel +
                   "'; expected an object");
    KernelTuning tuning;
    for (const auto &[name, chosen] : *choices) {
      StringRef choice = name;
      if (choice == "row_block") // key in files of version 0.1
        choice = "stage_rows";
      if (choice != "units") {
        if (failed(readNumber(choice, chosen, kernel, tuning)))
          return failure();
        continue;
      }
      std::optional<StringRef> units = chosen.getAsString();
      if (units != "one" && units != "all")
        return error("invalid value for 'units' of kernel '" + kernel +
                     "'; expected \"one\" or \"all\"");
      tuning.onOneUnit = units == "one";
    }
    return tuning;
  }

  FailureOr<Order> readLoop(StringRef loop, const json::Value &value) const {
    const json::Object *choices = value.getAsObject();
    std::optional<StringRef> order =
        choices ? choices->getString("order") : std::nullopt;
    std::optional<Order> known = order ? symbolizeOrder(*order) : std::nullopt;
    if (!known || choices->size() != 1)
      return error("invalid choices for loop '" + loop +
                   "'; expected an object whose only entry is 'order', with "
                   "value \"rounds\", \"layers\" or \"wavefront\"");
    return *known;
  }
};
} // namespace

LogicalResult Tuning::load(StringRef file, MLIRContext *context) {
  path = file.str();
  if (path.empty())
    return success();
  TuningReader reader{context, path};
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return emitOptionError(context, "cannot read tuning file '")
           << path << "': " << buffer.getError().message();
  llvm::Expected<json::Value> root = json::parse((*buffer)->getBuffer());
  if (!root)
    return reader.error("invalid JSON: " + llvm::toString(root.takeError()));
  const json::Object *object = root->getAsObject();
  if (!object || object->getInteger("version") != 1 || object->size() < 2)
    return reader.error("expected \"version\": 1 and \"kernels\": {...}, as "
                        "written by 'batch-run --tune'");
  for (const auto &[key, value] : *object) {
    StringRef name = key;
    const json::Object *entries = value.getAsObject();
    if (name == "version")
      continue;
    if (name == "level") {
      level = uprog::symbolizeLevel(value.getAsString().value_or(""));
      if (!level)
        return reader.error(
            "invalid value for 'level'; expected \"block\", \"cluster\" or "
            "\"device\"");
      continue;
    }
    if (name != "kernels" && name != "loops")
      return reader.error("unknown entry '" + name +
                          "'; expected 'version', 'kernels', 'loops' or "
                          "'level'");
    if (!entries)
      return reader.error("invalid value for '" + name +
                          "'; expected an object");
    for (const auto &[entry, choices] : *entries) {
      if (name == "loops") {
        FailureOr<Order> order = reader.readLoop(entry, choices);
        if (failed(order))
          return failure();
        orders[entry] = *order;
        continue;
      }
      FailureOr<KernelTuning> kernel = reader.readKernel(entry, choices);
      if (failed(kernel))
        return failure();
      (StringRef(entry) == "*" ? others : kernels[entry]) = *kernel;
    }
  }
  return success();
}

LogicalResult Tuning::checkKernels(ModuleOp module) const {
  llvm::StringSet<> names;
  for (auto op : module.getOps<uprog::OperatorOp>())
    if (std::optional<StringRef> kernel = op.getKernel())
      names.insert(*kernel);
  for (StringRef kernel : kernels.keys())
    if (!names.contains(kernel))
      return TuningReader{module.getContext(), path}.error(
          "unknown kernel '" + kernel + "'; tune the model again");
  return success();
}

/// Returns the name of a loop in a tuning file (LINE:COLUMN). Returns an empty
/// string if the location of the loop is unknown.
static std::string getLoopName(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  return place ? (Twine(place.getLine()) + ":" + Twine(place.getColumn())).str()
               : "";
}

LogicalResult Tuning::checkLoops(ModuleOp module,
                                 ArrayRef<Location> loops) const {
  llvm::StringSet<> names;
  for (Location loop : loops)
    names.insert(getLoopName(loop));
  for (StringRef loop : orders.keys())
    if (loop != "*" && !names.contains(loop))
      return TuningReader{module.getContext(), path}.error(
          "unknown loop '" + loop +
          "'; no loop with layers begins at this line and column");
  return success();
}

KernelTuning Tuning::getKernel(StringRef name) const {
  auto found = kernels.find(name);
  return found == kernels.end() ? others : found->second;
}

std::optional<Order> Tuning::getOrder(Location loop) const {
  auto found = orders.find(getLoopName(loop));
  if (found == orders.end())
    found = orders.find("*");
  return found == orders.end() ? std::nullopt : std::optional(found->second);
}
