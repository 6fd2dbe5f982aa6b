//===- Specialize.cpp - Specialize code for structural tests --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseSplitter.h"

#include "Batch/Dialect/Rec/AdtLookup.h"
#include "Batch/Support/OptionError.h"
#include "Batch/Transforms/Recursion/Passes.h"
#include "mlir/IR/Remarks.h"

namespace mlir::batch {
#define GEN_PASS_DEF_SPECIALIZEPASS
#include "Batch/Transforms/Recursion/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Test of a value: `leaf` holds for a child that is a leaf, and `node(leaf,_)`
/// for a node whose first field is a leaf.
struct Test {
  std::string text;
  StringRef variant;
  /// Required variant of each field, or `_` for any variant. The list is empty
  /// for a test of children.
  SmallVector<StringRef> fields;
};

class Specializer {
public:
  Specializer(ModuleOp module, int64_t maxCopies)
      : module(module), maxCopies(maxCopies) {}

  LogicalResult run(const Test &test);

private:
  LogicalResult findVariants(const Test &test);
  std::string findMisfit(const Test &test, rec::VariantOp variant);
  rec::VariantOp getVariant(Type type, StringRef name);
  LogicalResult specializeChildren(CaseSplitter &splitter,
                                   func::FuncOp function, const Test &test);
  LogicalResult specializeCases(CaseSplitter &splitter, func::FuncOp function,
                                const Test &test);
  void report(const Test &test, Location loc);

  ModuleOp module;
  int64_t maxCopies;
  SymbolTableCollection symbols;
  /// Variants that the test names.
  SmallVector<rec::VariantOp> variants;
  bool changed = false;
};

} // namespace

/// Parses `name` or `name(name,_,...)`.
static FailureOr<Test> parseTest(MLIRContext *context, StringRef text) {
  Test test;
  test.text = text.str();
  StringRef rest = text.trim();
  bool hasFields = rest.consume_back(")");
  auto [variant, fields] = rest.split('(');
  test.variant = variant.trim();
  if (hasFields) {
    fields.split(test.fields, ',');
    for (StringRef &field : test.fields)
      field = field.trim();
  }
  auto isName = [](StringRef name) {
    return !name.empty() && !name.contains('(') && !name.contains(')');
  };
  if (hasFields != rest.contains('(') || !isName(test.variant) ||
      !llvm::all_of(test.fields, isName))
    return emitOptionError(context, "invalid test '")
           << text
           << "'; expected 'variant' or 'variant(field,...)' with a variant or "
              "'_' for each field";
  if (hasFields && llvm::all_equal(test.fields) && test.fields[0] == "_")
    return emitOptionError(context, "test '")
           << text
           << "' tests no field; name the variant of at least one field";
  return test;
}

rec::VariantOp Specializer::getVariant(Type type, StringRef name) {
  auto adt = dyn_cast<rec::AdtType>(type);
  if (!adt)
    return {};
  return rec::lookupAdt(module, adt.getName(), symbols)
      .getVariant(StringAttr::get(module.getContext(), name));
}

/// Returns the reason why the fields of `variant` cannot match the test, or an
/// empty string if they can.
std::string Specializer::findMisfit(const Test &test, rec::VariantOp variant) {
  if (test.fields.size() != variant.getNumFields())
    return "it has " + std::to_string(variant.getNumFields()) +
           " fields, but the test has " + std::to_string(test.fields.size());
  for (auto [i, name] : llvm::enumerate(test.fields))
    if (name != "_" && !getVariant(variant.getFieldType(i), name))
      return ("the type of field '" + variant.getFieldName(i) +
              "' has no variant '" + name + "'; write '_' for any value")
          .str();
  return {};
}

/// Finds the variants that the test names. Several ADTs may have a variant of
/// this name, and at least one of the variants must match the test.
LogicalResult Specializer::findVariants(const Test &test) {
  SmallVector<rec::VariantOp> named;
  for (auto adt : module.getOps<rec::AdtOp>())
    for (rec::VariantOp variant : adt.getVariants())
      if (variant.getSymName() == test.variant)
        named.push_back(variant);
  if (named.empty())
    return emitOptionError(module.getContext(), "unknown variant '")
           << test.variant << "' in test '" << test.text << "'";
  variants.clear();
  for (rec::VariantOp variant : named)
    if (test.fields.empty() || findMisfit(test, variant).empty())
      variants.push_back(variant);
  if (variants.empty())
    return named.front().emitError("this variant does not fit test '")
           << test.text << "': " << findMisfit(test, named.front());
  return success();
}

void Specializer::report(const Test &test, Location loc) {
  changed = true;
  remark::passed(loc, remark::RemarkOpts::name("Specialize").category("batch"))
      << "code specialized for '" + test.text + "'";
}

/// Returns true if `op` is in a match on `child`, so that the variant of
/// `child` is known there.
static bool isTested(Operation *op, Value child) {
  while (auto match = op->getParentOfType<rec::MatchOp>()) {
    if (match.getValue() == child)
      return true;
    op = match;
  }
  return false;
}

/// Specializes every recursive call on a child that may have the test's
/// variant, unless a match on the child encloses the call.
LogicalResult Specializer::specializeChildren(CaseSplitter &splitter,
                                              func::FuncOp function,
                                              const Test &test) {
  while (func::CallOp call = splitter.getSelected(function)) {
    BlockArgument child = CaseSplitter::getChild(call);
    if (!child || isTested(call, child) ||
        !getVariant(child.getType(), test.variant)) {
      splitter.deselect(call);
      continue;
    }
    report(test, call.getLoc());
    if (failed(splitter.split(call, [&](rec::VariantOp variant) {
          return variant.getSymName() == test.variant;
        })))
      return failure();
  }
  return success();
}

/// Specializes each case of the test's variant for values whose fields have the
/// variants that the test requires.
LogicalResult Specializer::specializeCases(CaseSplitter &splitter,
                                           func::FuncOp function,
                                           const Test &test) {
  SmallVector<Block *> cases;
  function.walk([&](rec::MatchOp match) {
    for (auto [number, region] : llvm::enumerate(match->getRegions())) {
      StringRef name = match.getCaseName(number).getValue();
      if (llvm::is_contained(variants,
                             getVariant(match.getValue().getType(), name)))
        cases.push_back(&region.front());
    }
  });
  for (Block *block : cases) {
    SmallVector<BlockArgument> fields(block->getArguments());
    for (auto [field, name] : llvm::zip_equal(fields, test.fields)) {
      auto isCall = [&, field = field](func::CallOp call) {
        return splitter.isSelected(call) &&
               CaseSplitter::getChild(call) == field;
      };
      auto calls =
          llvm::make_filter_range(block->getOps<func::CallOp>(), isCall);
      if (name == "_" || calls.empty())
        continue;
      func::CallOp call = *calls.begin();
      report(test, call.getLoc());
      FailureOr<rec::MatchOp> match =
          splitter.split(call, [&name = name](rec::VariantOp variant) {
            return variant.getSymName() == name;
          });
      if (failed(match))
        return failure();
      block =
          &match->getCase(StringAttr::get(module.getContext(), name))->front();
    }
  }
  return success();
}

LogicalResult Specializer::run(const Test &test) {
  if (failed(findVariants(test)))
    return failure();
  InstanceProgram program(module);
  CaseSplitter splitter(module, program, maxCopies);
  for (func::FuncOp function : program.getFunctions())
    for (func::CallOp call : program.getCallers(function))
      if (program.isRecursiveCall(call))
        splitter.select(call, /*levels=*/1);
  changed = false;
  for (func::FuncOp function : program.getFunctions())
    if (failed(test.fields.empty()
                   ? specializeChildren(splitter, function, test)
                   : specializeCases(splitter, function, test)))
      return failure();
  if (!changed)
    remark::missed(module.getLoc(),
                   remark::RemarkOpts::name("Specialize").category("batch"))
        << "no recursive call takes a child that '" + test.text + "' tests";
  return success();
}

/// Resolves matches inside a case of a match on the same value, because the
/// case determines the variant of the value.
static void decideKnownMatches(CaseSplitter &splitter, func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([&](rec::MatchOp match) {
    for (auto [number, region] : llvm::enumerate(match->getRegions()))
      splitter.decideMatches(region.front(), match.getValue(),
                             match.getCaseName(number).getAttr(),
                             region.getArguments());
  });
}

namespace {
class SpecializePass : public batch::impl::SpecializePassBase<SpecializePass> {
  using SpecializePassBase::SpecializePassBase;
  void runOnOperation() override {
    {
      InstanceProgram program(getOperation());
      CaseSplitter splitter(getOperation(), program, maxCopies);
      for (func::FuncOp function : program.getFunctions())
        decideKnownMatches(splitter, function);
    }
    for (const std::string &text : tests) {
      FailureOr<Test> test = parseTest(&getContext(), text);
      if (failed(test) ||
          failed(Specializer(getOperation(), maxCopies).run(*test)))
        return signalPassFailure();
    }
  }
};
} // namespace
