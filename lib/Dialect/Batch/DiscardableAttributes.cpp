//===- DiscardableAttributes.cpp - Attributes on other dialects' ops ------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every attribute with the prefix of the dialect must be listed here, so
// misspelled names are detected. Each entry checks the attribute and the op
// that has it.
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/EntryAttrs.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Attribute of this dialect. Ops of any dialect may have it.
struct KnownAttribute {
  StringLiteral name;
  bool (*isValid)(Operation *, Attribute);
  StringLiteral what; ///< description, as in "must be ..."
};

} // namespace

static bool isUnitOfFunction(Operation *op, Attribute attr) {
  return isa<FunctionOpInterface>(op) && isa<UnitAttr>(attr);
}
static bool isBytesOfFunction(Operation *op, Attribute attr) {
  return isa<FunctionOpInterface>(op) && isa<IntegerAttr>(attr);
}
static bool isLaunchOfFunction(Operation *op, Attribute attr) {
  auto launch = dyn_cast<DictionaryAttr>(attr);
  return isa<FunctionOpInterface>(op) && launch &&
         launch.getAs<StringAttr>("kernel") &&
         launch.getAs<StringAttr>("executor") &&
         launch.getAs<IntegerAttr>("block_size") &&
         launch.getAs<IntegerAttr>("cluster_size") &&
         launch.getAs<IntegerAttr>("shared_bytes");
}
static bool isDictionaryOfVariant(Operation *op, Attribute attr) {
  auto names = dyn_cast<DictionaryAttr>(attr);
  return isa<rec::VariantOp>(op) && names &&
         llvm::all_of(names, [](NamedAttribute entry) {
           return isa<FlatSymbolRefAttr>(entry.getValue());
         });
}
static bool isPolicyOfModule(Operation *op, Attribute attr) {
  return isa<ModuleOp>(op) && isa<PolicyAttr>(attr);
}
static bool isStrategyOfEntry(Operation *op, Attribute attr) {
  return op->hasAttr(kEntryAttr) && isa<StrategyAttr>(attr);
}
static bool isStringOfEntry(Operation *op, Attribute attr) {
  return op->hasAttr(kEntryAttr) && isa<StringAttr>(attr);
}
static bool isUnitOfReplicated(Operation *op, Attribute attr) {
  auto strategy = op->getAttrOfType<StrategyAttr>(kStrategyAttr);
  return op->hasAttr(kEntryAttr) && isa<UnitAttr>(attr) && strategy &&
         strategy.getValue() == Strategy::Replicate;
}
static bool isBytesOfDevice(Operation *op, Attribute attr) {
  return op->getName().getStringRef() == "gpu.module" && isa<IntegerAttr>(attr);
}
static bool isBytesOfKernel(Operation *op, Attribute attr) {
  return isa<KernelOp>(op) && isa<IntegerAttr>(attr);
}
static bool isOrderOfLoop(Operation *op, Attribute attr) {
  return isa<LoopLikeOpInterface>(op) && isa<OrderAttr>(attr);
}
static bool isUnitOfMap(Operation *op, Attribute attr) {
  return isa<rec::MapOp>(op) && isa<UnitAttr>(attr);
}
/// Accepts any attribute of a module, because `batch-specialize-sizes` reports
/// errors in sizes.
static bool isOfModule(Operation *op, Attribute) { return isa<ModuleOp>(op); }

static const KnownAttribute kOperationAttributes[] = {
    {kEntryAttr, isUnitOfFunction, "a unit attribute of a function"},
    {kInspectorAttr, isUnitOfFunction, "a unit attribute of a function"},
    {kTraversalAttr, isUnitOfFunction, "a unit attribute of a function"},
    {kExecutorAttr, isUnitOfFunction,
     "a unit attribute of a function or a program"},
    {kMemoizedAttr, isUnitOfFunction, "a unit attribute of a function"},
    {kConcurrentAttr, isUnitOfMap, "a unit attribute of a rec.map"},
    {kTableAttr, isDictionaryOfVariant,
     "a dictionary that maps fields of a variant to tables"},
    {kSourceAttr, isDictionaryOfVariant,
     "a dictionary that maps fields of a variant to sources"},
    {kLaunchAttr, isLaunchOfFunction,
     "a dictionary on a function, with the strings 'kernel' and 'executor' and "
     "the integers 'block_size', 'cluster_size' and 'shared_bytes'"},
    {kEmulatedAttr, isBytesOfFunction, "an integer on a function"},
    {kAddedBytesAttr, isBytesOfDevice, "an integer on a gpu.module"},
    {kPolicyAttr, isPolicyOfModule, "a #batch.policy attribute on a module"},
    {kStrategyAttr, isStrategyOfEntry,
     "a #batch.strategy attribute on the entry"},
    {kNotBatchedAttr, isStringOfEntry, "a string on the entry"},
    {kPerUnitAttr, isUnitOfReplicated,
     "a unit attribute of an entry with strategy 'replicate'"},
    {kOrderAttr, isOrderOfLoop, "a #batch.order attribute on a loop"},
    {kSizesAttr, isOfModule, "an attribute of a module"},
    {kCopiedBytesAttr, isBytesOfKernel, "an integer on a kernel"},
};

LogicalResult BatchDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  const auto *known =
      llvm::find_if(kOperationAttributes, [&](const KnownAttribute &entry) {
        return attr.getName() == entry.name;
      });
  if (known == std::end(kOperationAttributes))
    return op->emitOpError("attribute '")
           << attr.getName().getValue() << "' is not supported on operations";
  if (!known->isValid(op, attr.getValue()))
    return op->emitOpError("'") << known->name << "' must be " << known->what;
  if (known->name != kEntryAttr)
    return success();
  auto module = op->getParentOfType<ModuleOp>();
  if (!module)
    return success();
  for (auto other : module.getOps<FunctionOpInterface>())
    if (other.getOperation() != op && other->hasAttr(kEntryAttr) &&
        op->isBeforeInBlock(other))
      return other->emitOpError("is a second entry; a module can only have one")
                 .attachNote(op->getLoc())
             << "the first entry is here";
  return success();
}

static bool isNumber(Attribute attr) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getType().isInteger(64) && number.getInt() >= 0;
}

static bool isOperandOfType(KernelOp kernel, int64_t number, Type type) {
  return number < static_cast<int64_t>(kernel.getNumArguments()) &&
         !kernel.isShared(number) && kernel.getArgumentTypes()[number] == type;
}

LogicalResult BatchDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned argIndex,
                                                     NamedAttribute attr) {
  bool onKernel = isa<KernelOp>(op);
  Attribute value = attr.getValue();
  auto error = [&]() {
    return op->emitOpError("argument #") << argIndex << ": ";
  };
  if (attr.getName() == kSharedAttr) {
    if (onKernel && !isa<UnitAttr>(value))
      return error()
             << "'batch.shared' of a kernel must be a unit attribute; specify "
                "the parameter name on the entry function";
    if (!onKernel && !isa<StringAttr>(value))
      return error()
             << "'batch.shared' of a function must be a string, the name of "
                "the parameter";
    return success();
  }
  if (attr.getName() == kNameAttr) {
    if (!isa<StringAttr>(value))
      return error() << "'batch.name' must be a string";
    return success();
  }
  if (attr.getName() == kReadAttr) {
    if (!onKernel || !isa<ReadAttr>(value))
      return error() << "'batch.read' must be a #batch.read attribute on a "
                        "kernel argument";
    return success();
  }
  if (attr.getName() == kSourceAttr) {
    if (!isa<FlatSymbolRefAttr>(value))
      return error() << "'batch.in_source' must be the name of a source";
    return success();
  }
  if (attr.getName() == kParameterAttr) {
    if (!isNumber(value) || !onKernel || !cast<KernelOp>(op).isShared(argIndex))
      return error()
             << "'batch.parameter' must be a non-negative i64, the number of a "
                "parameter, on a kernel argument with 'batch.shared'";
    return success();
  }
  if (attr.getName() == kRaggedAttr) {
    if (!isNumber(value) || !onKernel || !cast<KernelOp>(op).isRagged(argIndex))
      return error() << "'batch.ragged' must be a non-negative i64, the number "
                        "of a domain, on a ragged kernel argument";
    return success();
  }
  return error() << "attribute '" << attr.getName().getValue()
                 << "' is not supported on arguments";
}

/// Returns the type of the result named `name`. Returns null unless exactly one
/// result has this name.
static Type findResult(FunctionOpInterface function, StringAttr name) {
  Type found;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    if (function.getResultAttr(i, kNameAttr) != name)
      continue;
    if (found)
      return {};
    found = function.getResultTypes()[i];
  }
  return found;
}

/// Checks that a result has rows, and that another result specifies their
/// number.
static LogicalResult verifyRows(FunctionOpInterface function,
                                unsigned resultIndex, Attribute rows) {
  auto error = [&]() {
    return function->emitOpError("result #") << resultIndex << ": ";
  };
  if (!function->hasAttr(kEntryAttr))
    return error() << "'batch.rows' is only supported on results of the entry";
  auto name = dyn_cast<StringAttr>(rows);
  Type count = name ? findResult(function, name) : Type();
  if (!count || !count.isSignlessIntOrIndex())
    return error() << "'batch.rows' must be the 'batch.name' of exactly one "
                      "result, of type index or signless integer";
  auto type =
      dyn_cast<RankedTensorType>(function.getResultTypes()[resultIndex]);
  if (!type || type.getRank() == 0 || !type.hasStaticShape())
    return error() << "'batch.rows' requires a tensor of static shape and rank "
                      "at least 1, got "
                   << function.getResultTypes()[resultIndex];
  return success();
}

LogicalResult BatchDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                        unsigned resultIndex,
                                                        NamedAttribute attr) {
  auto error = [&]() {
    return op->emitOpError("result #") << resultIndex << ": ";
  };
  if (attr.getName() == kNameAttr) {
    if (!isa<StringAttr>(attr.getValue()))
      return error() << "'batch.name' must be a string";
    return success();
  }
  if (attr.getName() == kRowsAttr)
    return verifyRows(cast<FunctionOpInterface>(op), resultIndex,
                      attr.getValue());
  if (attr.getName() == kTableAttr || attr.getName() == kSourceAttr) {
    if (!isa<FlatSymbolRefAttr>(attr.getValue()))
      return error() << "'" << attr.getName().getValue()
                     << "' must be the name of a table or source";
    return success();
  }
  if (attr.getName() == kRowListAttr) {
    if (!isa<KernelOp>(op) || !isa<UnitAttr>(attr.getValue()))
      return error()
             << "'batch.row_list' must be a unit attribute on a kernel result";
    return success();
  }
  if (attr.getName() == kInPlaceAttr) {
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel || !isNumber(attr.getValue()) ||
        !isOperandOfType(kernel, cast<IntegerAttr>(attr.getValue()).getInt(),
                         kernel.getResultTypes()[resultIndex]))
      return error()
             << "'batch.in_place' must be an i64, the number of a kernel "
                "argument that is not shared and has the result's type";
    return success();
  }
  return error() << "attribute '" << attr.getName().getValue()
                 << "' is not supported on results";
}
