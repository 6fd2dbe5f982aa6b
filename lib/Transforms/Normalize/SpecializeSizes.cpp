//===- SpecializeSizes.cpp - Change the values of named sizes -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Support/OptionError.h"
#include "Batch/Transforms/Normalize/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::batch {
#define GEN_PASS_DEF_SPECIALIZESIZESPASS
#include "Batch/Transforms/Normalize/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// A dimension follows a named size if it is 1 to `maxFactor` times the size.
constexpr int64_t maxFactor = 8;
/// A smaller size is invalid, because all dimensions from 1 to 8 would follow
/// it.
constexpr int64_t minSize = 2;
/// Larger sizes are rejected so that products of them do not overflow.
constexpr int64_t maxSize = std::numeric_limits<int32_t>::max();

struct Size {
  /// Number that represents the size in types: its default, unless the module
  /// specifies another number.
  int64_t written;
  int64_t value;
};
/// Sizes in the order of the `batch.sizes` dictionary, which is sorted by name.
using Sizes = llvm::MapVector<StringRef, Size>;

/// Maps every dimension that follows a size to its new value.
class DimensionMap {
public:
  explicit DimensionMap(const Sizes &sizes) {
    for (const auto &[name, size] : sizes)
      for (int64_t factor = 1; factor <= maxFactor; ++factor)
        entries[factor * size.written].push_back(
            {name, factor, factor * size.value});
  }

  /// Returns the new value of a dimension, or emits an error at `op` if two
  /// sizes disagree about it.
  FailureOr<int64_t> map(int64_t dimension, Operation *op) const {
    auto it = entries.find(dimension);
    if (it == entries.end())
      return dimension;
    const Entry &first = it->second.front();
    for (const Entry &other : it->second)
      if (other.value != first.value)
        return op->emitError("dimension ")
               << dimension << " matches both " << first.factor << " x size '"
               << first.name << "' and " << other.factor << " x size '"
               << other.name
               << "'; choose a different value for one of the sizes";
    return first.value;
  }

  FailureOr<SmallVector<int64_t>> map(ArrayRef<int64_t> dimensions,
                                      Operation *op) const {
    SmallVector<int64_t> result;
    for (int64_t dimension : dimensions) {
      FailureOr<int64_t> value = map(dimension, op);
      if (failed(value))
        return failure();
      result.push_back(*value);
    }
    return result;
  }

private:
  struct Entry {
    StringRef name;
    int64_t factor;
    int64_t value;
  };
  DenseMap<int64_t, SmallVector<Entry, 1>> entries;
};

/// Rewrites the types, constants and static index lists of one op at a time.
class SizeRewriter {
public:
  explicit SizeRewriter(const DimensionMap &dimensions)
      : dimensions(dimensions) {
    replacer.addReplacement([this](RankedTensorType type) {
      return std::make_pair(Type(rewrite(type)), WalkResult::skip());
    });
    replacer.addReplacement([this](ElementsAttr attr) {
      return std::make_pair(Attribute(rewrite(attr)), WalkResult::skip());
    });
  }

  LogicalResult rewrite(Operation *op) {
    current = op;
    hasFailed = false;
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
    // Names of upstream attributes that contain the static values of index
    // lists.
    for (StringRef name : {"static_offsets", "static_sizes", "static_strides",
                           "static_output_shape", "static_low", "static_high"})
      if (auto list = op->getAttrOfType<DenseI64ArrayAttr>(name)) {
        auto values = dimensions.map(list.asArrayRef(), op);
        if (failed(values))
          return failure();
        op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), *values));
      }
    return failure(hasFailed);
  }

private:
  RankedTensorType rewrite(RankedTensorType type) {
    auto shape = dimensions.map(type.getShape(), current);
    hasFailed |= failed(shape);
    return succeeded(shape) ? type.clone(*shape) : type;
  }

  ElementsAttr rewrite(ElementsAttr attr) {
    auto type = dyn_cast<RankedTensorType>(attr.getShapedType());
    // Arrays of integers implement ElementsAttr, too, but have no shape to
    // change.
    if (!type || isa<DenseArrayAttr>(attr))
      return attr;
    RankedTensorType newType = rewrite(type);
    if (newType == type)
      return attr;
    if (auto dense = dyn_cast<SplatElementsAttr>(attr))
      return cast<ElementsAttr>(dense.resizeSplat(newType));
    if (!hasFailed)
      current->emitError("constant of type ")
          << type << " cannot be resized to " << newType
          << ", because its elements differ; make it a parameter";
    hasFailed = true;
    return attr;
  }

  const DimensionMap &dimensions;
  AttrTypeReplacer replacer;
  Operation *current = nullptr;
  bool hasFailed = false;
};

} // namespace

/// Returns the value of an index attribute that is a valid size, or none.
static std::optional<int64_t> getSize(Attribute attr) {
  auto value = dyn_cast<IntegerAttr>(attr);
  if (!value || !value.getType().isIndex() || value.getInt() < minSize ||
      value.getInt() > maxSize)
    return std::nullopt;
  return value.getInt();
}

/// Reads a default, or a pair: the number that is written in types, and the
/// default.
static std::optional<Size> readDefault(Attribute attr) {
  Attribute written = attr, value = attr;
  if (auto pair = dyn_cast<ArrayAttr>(attr)) {
    if (pair.size() != 2)
      return std::nullopt;
    written = pair[0];
    value = pair[1];
  }
  std::optional<int64_t> first = getSize(written), second = getSize(value);
  if (!first || !second)
    return std::nullopt;
  return Size{*first, *second};
}

/// Reads `batch.sizes`.
static LogicalResult readDefaults(ModuleOp module, Sizes &sizes) {
  Attribute attr = module->getAttr(kSizesAttr);
  if (!attr)
    return success();
  auto dictionary = dyn_cast<DictionaryAttr>(attr);
  if (!dictionary)
    return module.emitError("attribute '")
           << kSizesAttr << "' must be a dictionary such as {H = 256 : index}";
  for (NamedAttribute entry : dictionary) {
    std::optional<Size> size = readDefault(entry.getValue());
    if (!size)
      return module.emitError("size '")
             << entry.getName().getValue()
             << "' must be an index from 2 to 2147483647, or an array of two "
                "such indices: the number that represents the size in types, "
                "and the default";
    sizes.insert({entry.getName().getValue(), *size});
  }
  return success();
}

/// Checks that no number that represents a size in types is a small multiple of
/// another one.
static LogicalResult checkWritten(ModuleOp module, const Sizes &sizes) {
  for (auto it = sizes.begin(), end = sizes.end(); it != end; ++it)
    for (auto other = std::next(it); other != end; ++other) {
      auto [small, large] =
          std::minmax(it->second.written, other->second.written);
      if (large % small == 0 && large / small <= maxFactor)
        return module.emitError("sizes '")
               << it->first << "' and '" << other->first
               << "' are ambiguous: their values in types are "
               << it->second.written << " and " << other->second.written
               << ", and one is 1 to 8 times the other; choose a different "
                  "value for one, such as {"
               << other->first << " = [1009 : index, " << other->second.written
               << " : index]}";
    }
  return success();
}

/// Parses NAME=NUMBER and sets the values of `defaults`.
static LogicalResult readValues(ModuleOp module, ArrayRef<std::string> values,
                                int64_t smallest, Sizes &defaults) {
  for (StringRef text : values) {
    auto [name, number] = text.split('=');
    int64_t value;
    if (number.getAsInteger(10, value) || value < smallest || value > maxSize)
      return emitOptionError(module.getContext(), "invalid size '")
             << text
             << "'; expected NAME=NUMBER with a number from 2 to 2147483647";
    auto it = defaults.find(name);
    if (it == defaults.end()) {
      InFlightDiagnostic diagnostic =
          emitOptionError(module.getContext(), "unknown size '")
          << name << "'; ";
      if (defaults.empty())
        return diagnostic << "add it to 'batch.sizes', such as {batch.sizes = "
                             "{H = 256 : index}}";
      return diagnostic << "expected one of '"
                        << llvm::join(llvm::make_first_range(defaults), "', '")
                        << "'";
    }
    it->second.value = value;
  }
  return success();
}

LogicalResult mlir::batch::specializeSizes(ModuleOp module,
                                           ArrayRef<std::string> values,
                                           bool isLast) {
  Sizes sizes;
  if (failed(readDefaults(module, sizes)) ||
      failed(readValues(module, values, isLast ? 1 : minSize, sizes)))
    return failure();
  if (llvm::all_of(sizes, [](const auto &entry) {
        return entry.second.value == entry.second.written;
      }))
    return success();
  // Sizes whose values in types are ambiguous are an error only if a value
  // changes.
  if (failed(checkWritten(module, sizes)))
    return failure();

  DimensionMap dimensions(sizes);
  SizeRewriter rewriter(dimensions);
  WalkResult result = module.walk([&](Operation *op) {
    return failed(rewriter.rewrite(op)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  Builder builder(module.getContext());
  SmallVector<NamedAttribute> attrs;
  for (const auto &[name, size] : sizes)
    attrs.push_back(
        builder.getNamedAttr(name, builder.getIndexAttr(size.value)));
  module->setAttr(kSizesAttr, builder.getDictionaryAttr(attrs));
  return success();
}

namespace {
struct SpecializeSizesPass
    : batch::impl::SpecializeSizesPassBase<SpecializeSizesPass> {
  using SpecializeSizesPassBase::SpecializeSizesPassBase;

  void runOnOperation() override {
    if (failed(batch::specializeSizes(getOperation(),
                                      llvm::to_vector_of<std::string>(sizes))))
      return signalPassFailure();
    getOperation().walk([](tensor::DimOp extent) {
      std::optional<int64_t> dim = extent.getConstantIndex();
      RankedTensorType type =
          dyn_cast<RankedTensorType>(extent.getSource().getType());
      if (!dim || !type || *dim >= type.getRank() || type.isDynamicDim(*dim))
        return;
      OpBuilder builder(extent);
      extent.replaceAllUsesWith(
          arith::ConstantIndexOp::create(builder, extent.getLoc(),
                                         type.getDimSize(*dim))
              .getResult());
      extent.erase();
    });
  }
};
} // namespace
