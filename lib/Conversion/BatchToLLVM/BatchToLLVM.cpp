//===- BatchToLLVM.cpp - Lower host code and create the object ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Sharedness.h"
#include "Batch/Conversion/BatchToLLVM/Passes.h"
#include "Batch/Conversion/RecToLLVM/RecToLLVM.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/EntryAttrs.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "Elements.h"
#include "InsertRows.h"
#include "ObjectLayout.h"
#include "Patterns.h"
#include "ReleaseRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTBATCHTOLLVMPASS
#include "Batch/Conversion/BatchToLLVM/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Attribute of the arguments that distinguish calls of a memoized function.
static constexpr StringLiteral kKeyAttr = "batch.key";
/// Attribute of parameters of the entry. Its value is the number of the source
/// that provides the whole parameter, or 0 if there is none.
static constexpr StringLiteral kWholeSourceAttr = "batch.whole_source";

/// Attribute of recursive functions that are not memoized.
static constexpr StringLiteral kGuardedAttr = "batch.guarded";
/// Attribute of loops and recursive functions whose rounds are counted. Its
/// value is the number of the loop or function.
static constexpr StringLiteral kCountedAttr = "batch.counted";

/// Names that are reserved for the object, like BATCH_OBJECT_SYMBOL.
static constexpr StringLiteral kInspectPoint = "batch.inspect";
static constexpr StringLiteral kExecutePoint = "batch.execute";
static constexpr StringLiteral kUnbatchedPoint = "batch.unbatched";
static constexpr StringLiteral kEmulatePoint = "batch.emulate";
static constexpr StringLiteral kDescriptor = "batch.descriptor";
static constexpr StringLiteral kDeviceCode = "batch.device_code";

namespace {

class ObjectBuilder {
public:
  explicit ObjectBuilder(ModuleOp module)
      : module(module), builder(module.getContext()), layout(module),
        program(module), sharedness(program) {}

  LogicalResult build(const ObjectLayout::Target &target);

private:
  void collectFunctions();
  LogicalResult checkFunctions();
  void markProgram();
  void numberCounted();
  LogicalResult convertFunctions();
  void guard(func::FuncOp function);
  void memoize(func::FuncOp function, int64_t number);
  LLVM::LLVMFuncOp makeEntryPoint(StringRef name, unsigned extraArguments);
  void makeInspect();
  void makeUnbatched();
  void makeExecute();
  void makeEmulate();
  void makeObject(StringRef descriptor);
  void cleanUp();

  ModuleOp module;
  OpBuilder builder;
  ObjectLayout layout;
  InstanceProgram program;
  Sharedness sharedness;
  func::FuncOp inspector, traversal, executor, emulated;
  SmallVector<func::FuncOp> hostFunctions;
  LLVM::LLVMFuncOp inspectPoint, executePoint, unbatchedPoint, emulatePoint;
};

} // namespace

/// Returns the type of the rows of `type` if it contains tensors, and null
/// otherwise.
static RankedTensorType getRow(Type type) {
  while (auto list = dyn_cast<rec::ListType>(type))
    type = list.getElementType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && rec::isRaggedTensor(tensor))
    return RankedTensorType::get(tensor.getShape().drop_front(),
                                 tensor.getElementType());
  return tensor;
}

/// Creates the sources of input tensors and marks the arguments and fields with
/// them. In linearized modules, the sources are created with the tables.
static void makeInputSources(ModuleOp module, func::FuncOp entry,
                             SymbolTable &symbols) {
  auto getSource = [&](RankedTensorType row) {
    return FlatSymbolRefAttr::get(
        getOrCreateSource(module, symbols, row, /*parameter=*/-1));
  };
  for (BlockArgument argument : entry.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (RankedTensorType row = getRow(argument.getType());
        row && !entry.getArgAttr(number, kSharedAttr))
      entry.setArgAttr(number, kSourceAttr, getSource(row));
  }
  for (auto adt : module.getOps<rec::AdtOp>())
    for (rec::VariantOp variant : adt.getVariants()) {
      NamedAttrList sources;
      for (unsigned field = 0; field < variant.getNumFields(); ++field)
        if (RankedTensorType row = getRow(variant.getFieldType(field)))
          sources.set(variant.getFieldName(field), getSource(row));
      if (!sources.empty())
        variant->setAttr(kSourceAttr,
                         sources.getDictionary(module.getContext()));
    }
}

/// Returns true if `use` requires the parameter to be a row, as results and
/// loops do. Kernels, views, and reads of an element or an extent do not.
/// Neither do functions that always receive the same parameter.
static bool isRowOfParameter(OpOperand &use, const InstanceProgram &program,
                             const Sharedness &sharedness) {
  Operation *op = use.getOwner();
  if (auto call = dyn_cast<func::CallOp>(op))
    if (func::FuncOp callee = program.getCallee(call);
        callee && !callee.isExternal())
      return !sharedness.getParameter(
          callee.getArgument(use.getOperandNumber()));
  return !isa<InvokeOp, tensor::ExtractSliceOp, tensor::ExtractOp,
              tensor::DimOp>(op);
}

/// Creates the sources that the linearizer did not create. The unbatched code
/// reads row views and row counts of parameters through sources. It also needs
/// a source of the whole parameter if it reads elements of the parameter, or
/// uses it where a row is required.
static void makeSources(ModuleOp module) {
  InstanceProgram program(module);
  Sharedness sharedness(program);
  SymbolTable symbols(module);
  for (func::FuncOp function : program.getFunctions()) {
    function.walk([&](tensor::ExtractSliceOp slice) {
      if (auto parameter = sharedness.getParameter(slice.getSource());
          parameter && isRowView(slice))
        getOrCreateSource(module, symbols, slice.getType(), *parameter);
    });
    function.walk([&](tensor::ExtractOp extract) {
      RankedTensorType row = getReadRow(extract.getTensor().getType());
      if (auto parameter = sharedness.getParameter(extract.getTensor());
          parameter && row)
        getOrCreateSource(module, symbols, row, *parameter);
    });
    function.walk([&](tensor::DimOp dim) {
      RankedTensorType row = getCountedRow(dim);
      if (auto parameter = sharedness.getParameter(dim.getSource());
          parameter && row)
        getOrCreateSource(module, symbols, row, *parameter);
    });
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      auto parameter = sharedness.getParameter(argument);
      if (parameter && type && type.hasStaticShape() &&
          llvm::any_of(argument.getUses(), [&](OpOperand &use) {
            return isRowOfParameter(use, program, sharedness);
          }))
        getOrCreateSource(module, symbols, type, *parameter);
    }
  }
  bool isLinearized =
      llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
        return function->hasAttr(kInspectorAttr);
      });
  if (program.getEntry() && !isLinearized)
    makeInputSources(module, program.getEntry(), symbols);
}

/// Marks ops whose space is already reserved, ops that read parameters through
/// a source, recursive functions, and arguments that distinguish calls.
/// Patterns cannot find these facts locally.
void ObjectBuilder::markProgram() {
  layout.forEachReserved([&](Operation *op) {
    op->setAttr(kReservedAttr, builder.getUnitAttr());
  });
  SymbolTable symbols(module);
  func::FuncOp entry = program.getEntry();
  for (BlockArgument argument : entry.getArguments())
    if (std::optional<int64_t> parameter = sharedness.getParameter(argument))
      entry.setArgAttr(argument.getArgNumber(), kWholeSourceAttr,
                       builder.getI64IntegerAttr(
                           layout.getSource(*parameter, argument.getType())));
  for (func::FuncOp function : program.getFunctions()) {
    function.walk([&](tensor::ExtractSliceOp slice) {
      std::optional<int64_t> parameter =
          sharedness.getParameter(slice.getSource());
      if (!parameter || !isRowView(slice))
        return;
      if (int64_t source = layout.getSource(*parameter, slice.getType()))
        slice->setAttr(kViewSourceAttr, builder.getI64IntegerAttr(source));
    });
    function.walk([&](tensor::ExtractOp extract) {
      RankedTensorType type = extract.getTensor().getType();
      RankedTensorType row = getReadRow(type);
      auto parameter = sharedness.getParameter(extract.getTensor());
      if (parameter && row && row != type)
        extract->setAttr(
            kViewSourceAttr,
            builder.getI64IntegerAttr(layout.getSource(*parameter, row)));
    });
    function.walk([&](tensor::DimOp dim) {
      if (auto parameter = sharedness.getParameter(dim.getSource()))
        dim->setAttr(kViewSourceAttr,
                     builder.getI64IntegerAttr(
                         layout.getSource(*parameter, getCountedRow(dim))));
    });
    if (program.isRecursive(function)) {
      // Only calls that take nodes are memoized. All calls without a node are
      // treated as distinct.
      function->setAttr(rec::takesNode(function) ? kMemoizedAttr : kGuardedAttr,
                        builder.getUnitAttr());
      auto inspector =
          symbols.lookup<func::FuncOp>(getInspectorName(function.getSymName()));
      if (layout.hasWaits() && inspector && !inspector->hasAttr(kMemoizedAttr))
        inspector->setAttr(kGuardedAttr, builder.getUnitAttr());
    }
    // Even a shared value may be a different constant in each call.
    for (BlockArgument argument : function.getArguments())
      if (!sharedness.getParameter(argument))
        function.setArgAttr(argument.getArgNumber(), kKeyAttr,
                            builder.getUnitAttr());
  }
}

/// Marks the loops and recursions of the program and of its inspectors, because
/// computed numbers may determine how often they run. The recursion of a
/// traversed function needs no mark: the function runs once for each node of
/// the input.
void ObjectBuilder::numberCounted() {
  SymbolTable symbols(module);
  auto mark = [&](Operation *op) {
    op->setAttr(kCountedAttr,
                builder.getI64IntegerAttr(layout.numberCounted(op)));
  };
  for (func::FuncOp function : program.getFunctions()) {
    auto inspector =
        symbols.lookup<func::FuncOp>(getInspectorName(function.getSymName()));
    bool isTraversed =
        inspector && layout.getMemo(inspector.getSymNameAttr()) >= 0;
    for (func::FuncOp code : {function, inspector}) {
      if (!code)
        continue;
      code.walk([&](Operation *op) {
        if (isa<scf::WhileOp, scf::ForOp>(op))
          mark(op);
      });
      if (program.isRecursive(function) && !isTraversed)
        mark(code);
    }
  }
}

/// Counts a step, and ends the run if the instance has no steps left.
static void countStep(OpBuilder &builder, Location loc, IntegerAttr place) {
  ContextBuilder cb(builder, loc);
  Value left = cb.loadField(ContextField::stepsLeft);
  Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                     left, cb.constant(0));
  scf::IfOp::create(builder, loc, none, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, cb.getContext());
    inner.fail(BATCH_ERROR_TOO_MANY_STEPS, inner.constant(place.getInt()),
               inner.constant(0));
    scf::YieldOp::create(then, loc);
  });
  cb.storeField(ContextField::stepsLeft,
                arith::SubIOp::create(builder, loc, left, cb.constant(1)));
}

/// Counts a step in each round of a marked loop and in each call of a marked
/// function.
static void countSteps(func::FuncOp function) {
  function.walk([&](Operation *op) {
    auto place = op->getAttrOfType<IntegerAttr>(kCountedAttr);
    if (!place)
      return;
    // The last region of a while loop is its body, which runs once per round.
    Region &body = op->getRegions().back();
    OpBuilder builder = OpBuilder::atBlockBegin(&body.front());
    countStep(builder, op->getLoc(), place);
    op->removeAttr(kCountedAttr);
  });
}

/// Makes each round of a loop check whether the run has been canceled, and end
/// the run if so. Traversals need no check, because they take about as long as
/// a copy of their input.
static void endLoopsIfCancelled(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (!isa<scf::WhileOp, scf::ForOp>(op))
      return;
    OpBuilder builder =
        OpBuilder::atBlockBegin(&op->getRegions().back().front());
    ContextBuilder(builder, op->getLoc()).endIfCancelled();
  });
}

/// Emits an error and fails if code cannot be lowered.
LogicalResult ObjectBuilder::checkFunctions() {
  for (func::FuncOp function : hostFunctions)
    if (failed(checkRecToLLVM(function)) ||
        failed(checkInspectorPatterns(function, layout)) ||
        failed(checkInstancePatterns(function)))
      return failure();
  return success();
}

LogicalResult ObjectBuilder::convertFunctions() {
  if (failed(addContextArgument(module, hostFunctions)))
    return failure();
  // The new arguments are the first node and the node after the last one.
  for (unsigned i = 1; traversal && i <= 2; ++i)
    if (failed(traversal.insertArgument(i, builder.getI64Type(), {},
                                        traversal.getLoc())))
      return failure();
  for (func::FuncOp function : hostFunctions) {
    countSteps(function);
    if (function != traversal)
      endLoopsIfCancelled(function);
  }
  // In a layout that is not row-major, a row is longer than its type implies.
  bool isRowMajor = llvm::all_of(module.getOps<TableOp>(), [](TableOp table) {
    return table.getOwnLayout().isRowMajor();
  });
  for (func::FuncOp function : hostFunctions)
    if (isRowMajor)
      placeInserts(function);
  if (ownsItsRows(module, hostFunctions))
    for (func::FuncOp function : hostFunctions)
      releaseRows(function);
  MLIRContext *context = module.getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  populateRecToLLVMTypeConversions(converter);
  converter.addConversion([](HandleType type) -> Type {
    return IntegerType::get(type.getContext(), 64);
  });

  RewritePatternSet patterns(context);
  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, arith::ArithDialect,
                         math::MathDialect, scf::SCFDialect>();
  populateRecToLLVMConversionPatterns(converter, layout.getVariants(),
                                      patterns);
  populateInspectorPatterns(converter, layout, patterns);
  populateInstancePatterns(converter, layout, patterns);
  populateFunctionConversionsAndLegality(converter, patterns, target);
  target.addIllegalDialect<rec::RecDialect, BatchDialect>();
  target.addDynamicallyLegalOp<ConcurrentOp, KeepOp, YieldOp>(
      [&](Operation *op) { return converter.isLegal(op); });
  target
      .addIllegalOp<tensor::DimOp, tensor::ExtractOp, tensor::ExtractSliceOp>();
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>(
      [&](Operation *op) { return converter.isLegal(op); });
  SmallVector<Operation *> ops(hostFunctions.begin(), hostFunctions.end());
  if (failed(applyPartialConversion(ops, target, std::move(patterns))))
    return failure();
  for (func::FuncOp function : hostFunctions)
    lowerConcurrent(function, layout.hasTransientTables());
  for (auto function : module.getOps<FunctionOpInterface>())
    lowerKeepOps(function);
  return success();
}

/// Ends the run if recursion is too deep or if the run has been canceled.
/// `here` is an address on the stack.
static void checkCall(OpBuilder &builder, Location loc, Value here) {
  ContextBuilder cb(builder, loc);
  cb.endIfCancelled();
  Value address =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), here);
  Value deep =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, address,
                            cb.loadField(ContextField::stackLimit));
  scf::IfOp::create(builder, loc, deep, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, cb.getContext());
    inner.fail(BATCH_ERROR_STACK_OVERFLOW, inner.constant(0),
               inner.constant(0));
    scf::YieldOp::create(then, loc);
  });
}

/// Makes `function` end the run if its recursion is too deep or if the run has
/// been canceled.
void ObjectBuilder::guard(func::FuncOp function) {
  Location loc = function.getLoc();
  builder.setInsertionPointToStart(&function.getBody().front());
  Value one = ContextBuilder(builder, loc).constant(1);
  Value here = LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      builder.getI64Type(), one, 8);
  checkCall(builder, loc, here);
}

/// Wraps a function with code that returns memoized results for repeated calls.
/// The code also ends the run on cancellation, or if recursion is too deep.
void ObjectBuilder::memoize(func::FuncOp function, int64_t number) {
  Location loc = function.getLoc();
  SmallVector<unsigned> keys;
  bool marked = false;
  for (unsigned i = 1; i < function.getNumArguments(); ++i)
    marked |= static_cast<bool>(function.getArgAttr(i, kKeyAttr));
  for (unsigned i = 1; i < function.getNumArguments(); ++i)
    if (!marked || function.getArgAttr(i, kKeyAttr))
      keys.push_back(i);

  builder.setInsertionPoint(function);
  auto wrapper = func::FuncOp::create(builder, loc, function.getSymName(),
                                      function.getFunctionType());
  wrapper.setPrivate();
  function.setSymName((function.getSymName() + ".body").str());
  Block *body = wrapper.addEntryBlock();
  builder.setInsertionPointToStart(body);
  ContextBuilder cb(builder, loc, body->getArgument(0));
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto allocate = [&](int64_t cells) -> Value {
    return LLVM::AllocaOp::create(builder, loc, pointer, builder.getI64Type(),
                                  cb.constant(std::max<int64_t>(1, cells)), 8);
  };
  Value key = allocate(keys.size());
  Value results = allocate(function.getNumResults());
  checkCall(builder, loc, key);
  for (auto [position, index] : llvm::enumerate(keys))
    cb.storeCell(key, cb.constant(position),
                 cb.toCell(body->getArgument(index)));
  SmallVector<Value> keyArguments = {cb.constant(number), key,
                                     cb.constant(keys.size()), results,
                                     cb.constant(function.getNumResults())};
  Value found = cb.call(RuntimeFunction::memoFind, keyArguments);
  Value isNew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      found, cb.constant(0));
  scf::IfOp::create(builder, loc, isNew, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, cb.getContext());
    auto call = func::CallOp::create(then, loc, function, body->getArguments());
    for (auto [position, result] : llvm::enumerate(call.getResults()))
      inner.storeCell(results, inner.constant(position), inner.toCell(result));
    inner.call(RuntimeFunction::memoStore, keyArguments);
    scf::YieldOp::create(then, loc);
  });
  SmallVector<Value> values;
  for (auto [position, type] : llvm::enumerate(function.getResultTypes()))
    values.push_back(
        cb.fromCell(cb.loadCell(results, cb.constant(position)), type));
  func::ReturnOp::create(builder, loc, values);
}

/// Creates an empty function that takes the context and `extraArguments` i64
/// values. Moves the insertion point into its body.
LLVM::LLVMFuncOp ObjectBuilder::makeEntryPoint(StringRef name,
                                               unsigned extraArguments) {
  SmallVector<Type> types = {LLVM::LLVMPointerType::get(builder.getContext())};
  types.append(extraArguments, builder.getI64Type());
  builder.setInsertionPointToEnd(module.getBody());
  auto function = LLVM::LLVMFuncOp::create(
      builder, module.getLoc(), name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  types),
      LLVM::Linkage::Internal);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

/// Creates the function that traverses the nodes of each instance in a range
/// and calls the inspector for each instance.
void ObjectBuilder::makeInspect() {
  Location loc = module.getLoc();
  inspectPoint = makeEntryPoint(kInspectPoint, 2);
  ContextBuilder cb(builder, loc);
  Value begin = inspectPoint.getArgument(1), end = inspectPoint.getArgument(2);
  Value arguments = cb.loadField(ContextField::arguments);
  Value results = cb.loadField(ContextField::results);
  scf::ForOp::create(
      builder, loc, begin, end, cb.constant(1), ValueRange(),
      [&](OpBuilder &loop, Location loc, Value instance, ValueRange) {
        ContextBuilder inner(loop, loc, cb.getContext());
        if (traversal) {
          Value nodes = inner.loadField(ContextField::instanceNodes);
          Value next =
              arith::AddIOp::create(loop, loc, instance, inner.constant(1));
          func::CallOp::create(
              loop, loc, traversal,
              {cb.getContext(),
               inner.loadCell(nodes, instance, MemoryKind::Base),
               inner.loadCell(nodes, next, MemoryKind::Base)});
        }
        SmallVector<Value> values = {cb.getContext()};
        ArrayRef<Type> types = inspector.getArgumentTypes();
        for (auto [index, type] : llvm::enumerate(types.drop_front())) {
          Value cell =
              inner.loadCell(inner.loadPointer(arguments, index), instance);
          values.push_back(inner.fromCell(cell, type));
        }
        auto call = func::CallOp::create(loop, loc, inspector, values);
        for (auto [index, result] : llvm::enumerate(call.getResults()))
          inner.storeCell(inner.loadPointer(results, index), instance,
                          inner.toCell(result));
        scf::YieldOp::create(loop, loc);
      });
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

void ObjectBuilder::makeUnbatched() {
  Location loc = module.getLoc();
  func::FuncOp entry = program.getEntry();
  unbatchedPoint = makeEntryPoint(kUnbatchedPoint, 1);
  ContextBuilder cb(builder, loc);
  Value instance = unbatchedPoint.getArgument(1);
  Value arguments = cb.loadField(ContextField::arguments);
  SmallVector<Value> values = {cb.getContext()};
  int64_t position = 0;
  for (unsigned i = 1; i < entry.getNumArguments(); ++i) {
    Type type = entry.getArgumentTypes()[i];
    if (auto source =
            entry.getArgAttrOfType<IntegerAttr>(i, kWholeSourceAttr)) {
      // Kernels read parameters from packings. A parameter needs an address
      // only if its elements are read, or if it is used as a row.
      Value address = cb.constant(0);
      if (source.getInt() != 0)
        address = cb.loadCell(cb.loadField(ContextField::sources),
                              cb.constant(source.getInt() * abi::kSourceCells +
                                          abi::kSourceBase.cell()));
      values.push_back(address);
      continue;
    }
    Value cell = cb.loadCell(cb.loadPointer(arguments, position++), instance);
    values.push_back(cb.fromCell(cell, type));
  }
  auto call = func::CallOp::create(builder, loc, entry, values);
  Value results = cb.loadField(ContextField::results);
  for (auto [index, result] : llvm::enumerate(call.getResults()))
    cb.storeCell(cb.loadPointer(results, index), instance, cb.toCell(result));
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

void ObjectBuilder::makeExecute() {
  executePoint = makeEntryPoint(kExecutePoint, 2);
  func::CallOp::create(builder, module.getLoc(), executor,
                       executePoint.getArguments());
  LLVM::ReturnOp::create(builder, module.getLoc(), ValueRange());
}

void ObjectBuilder::makeEmulate() {
  Location loc = module.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  emulatePoint = LLVM::LLVMFuncOp::create(
      builder, loc, kEmulatePoint,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()),
                                  {pointer, pointer}));
  builder.setInsertionPointToStart(emulatePoint.addEntryBlock(builder));
  func::CallOp::create(builder, loc, emulated, emulatePoint.getArguments());
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// Creates the global that an object exports (BatchObject in ABI.h).
void ObjectBuilder::makeObject(StringRef descriptor) {
  Location loc = module.getLoc();
  MLIRContext *context = module.getContext();
  auto makeString = [&](StringRef name, StringRef text) {
    builder.setInsertionPointToEnd(module.getBody());
    return LLVM::GlobalOp::create(
        builder, loc,
        LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        builder.getStringAttr(text), /*alignment=*/64);
  };
  std::string text = descriptor.str();
  text.push_back('\0');
  LLVM::GlobalOp string = makeString(kDescriptor, text), code;
  uint64_t codeSize = 0;
  for (auto binary :
       llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>())) {
    std::string bytes =
        cast<gpu::ObjectAttr>(binary.getObjects()[0]).getObject().str();
    codeSize = bytes.size();
    bytes.push_back('\0'); // terminates PTX, which is text
    code = makeString(kDeviceCode, bytes);
    binary.erase();
  }
  builder.setInsertionPointToEnd(module.getBody());
  constexpr abi::Field fields[] = {
      abi::kObjectABIVersion,     abi::kObjectDescriptor,
      abi::kObjectInspect,        abi::kObjectExecute,
      abi::kObjectUnbatched,      abi::kObjectDeviceCode,
      abi::kObjectDeviceCodeSize, abi::kObjectEmulate};
  Type pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> types(abi::countCells<BatchObject>(), builder.getI64Type());
  for (abi::Field field : fields)
    if (field.isPointer)
      types[field.cell()] = pointer;
  auto type = LLVM::LLVMStructType::getLiteral(context, types);
  auto object = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                       LLVM::Linkage::External,
                                       BATCH_OBJECT_SYMBOL, Attribute());
  builder.createBlock(&object.getInitializerRegion());
  Value value = LLVM::UndefOp::create(builder, loc, type);
  auto insert = [&](abi::Field field, Value cell) {
    value =
        LLVM::InsertValueOp::create(builder, loc, value, cell, field.cell());
  };
  auto insertNumber = [&](abi::Field field, uint64_t number) {
    insert(field, LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                           builder.getI64IntegerAttr(number)));
  };
  auto insertAddress = [&](abi::Field field, auto symbol) {
    if (symbol)
      insert(field, LLVM::AddressOfOp::create(builder, loc, symbol));
    else
      insert(field, LLVM::ZeroOp::create(builder, loc, pointer));
  };
  for (int64_t cell : abi::listOtherCells<BatchObject>(fields))
    insertNumber({cell * abi::kCellBytes, /*isPointer=*/false}, 0);
  insertNumber(abi::kObjectABIVersion, BATCH_ABI_VERSION);
  insertAddress(abi::kObjectDescriptor, string);
  insertAddress(abi::kObjectInspect, inspectPoint);
  insertAddress(abi::kObjectExecute, executePoint);
  insertAddress(abi::kObjectUnbatched, unbatchedPoint);
  insertAddress(abi::kObjectDeviceCode, code);
  insertNumber(abi::kObjectDeviceCodeSize, codeSize);
  insertAddress(abi::kObjectEmulate, emulatePoint);
  LLVM::ReturnOp::create(builder, loc, value);
}

/// Finds the functions that the object contains: functions of the program, and
/// functions created from it. Erases all other functions.
void ObjectBuilder::collectFunctions() {
  DenseSet<StringAttr> names;
  for (func::FuncOp function : program.getFunctions()) {
    names.insert(function.getSymNameAttr());
    names.insert(
        builder.getStringAttr(getInspectorName(function.getSymName())));
  }
  module.walk([&](TraverseOp traverse) {
    for (auto name : traverse.getFunctions().getAsRange<FlatSymbolRefAttr>())
      names.insert(name.getAttr());
  });
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (function->hasAttr(kExecutorAttr)) {
      executor = function;
      continue;
    }
    // The runtime launches kernels itself, without a host function.
    if (function->hasAttr(kLaunchAttr)) {
      function.erase();
      continue;
    }
    if (function->hasAttr(kEmulatedAttr)) {
      emulated = function;
      continue;
    }
    if (function->hasAttr(uprog::kCodeAttr) ||
        function->hasAttr("llvm.linkage"))
      continue;
    if (function->hasAttr(kTraversalAttr))
      traversal = function;
    else if (!names.contains(function.getSymNameAttr())) {
      function.erase();
      continue;
    }
    if (function->hasAttr(kInspectorAttr))
      inspector = function;
    hostFunctions.push_back(function);
  }
}

LogicalResult ObjectBuilder::build(const ObjectLayout::Target &target) {
  func::FuncOp entry = program.getEntry();
  if (!entry)
    return emitMissingEntry(module);
  numberIndices(module);
  numberCounted();
  FailureOr<llvm::json::Value> descriptor = layout.describe(program, target);
  if (failed(descriptor))
    return failure();
  markProgram();
  collectFunctions();
  if (failed(checkFunctions()) || failed(convertFunctions()))
    return failure();

  int64_t number = 0;
  for (func::FuncOp function : hostFunctions)
    if (function->hasAttr(kMemoizedAttr))
      memoize(function, number++);
    else if (function->hasAttr(kGuardedAttr))
      guard(function);
  if (inspector)
    makeInspect();
  if (executor)
    makeExecute();
  if (emulated)
    makeEmulate();
  makeUnbatched();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream(text) << *descriptor;
  makeObject(text);
  cleanUp();
  return success();
}

/// Returns only the argument or result attributes that belong to LLVM.
static ArrayAttr keepLLVM(ArrayAttr all) {
  Builder builder(all.getContext());
  SmallVector<Attribute> kept;
  for (auto attrs : all.getAsRange<DictionaryAttr>())
    kept.push_back(builder.getDictionaryAttr(
        llvm::to_vector(llvm::make_filter_range(attrs, [](NamedAttribute attr) {
          return attr.getName().strref().starts_with("llvm.");
        }))));
  return builder.getArrayAttr(kept);
}

/// Erases ops and attributes that the code and the descriptor already express.
void ObjectBuilder::cleanUp() {
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<KernelOp, TableOp, SourceOp, MachineOp, rec::AdtOp>(op))
      op.erase();
  for (auto function : module.getOps<func::FuncOp>()) {
    function.setPrivate();
    if (ArrayAttr attrs = function.getArgAttrsAttr())
      function.setArgAttrsAttr(keepLLVM(attrs));
    if (ArrayAttr attrs = function.getResAttrsAttr())
      function.setResAttrsAttr(keepLLVM(attrs));
    for (StringRef name :
         {kEntryAttr, kInspectorAttr, kTraversalAttr, kExecutorAttr,
          kMemoizedAttr, kGuardedAttr, kStrategyAttr, kPerUnitAttr,
          kNotBatchedAttr, uprog::kCodeAttr})
      function->removeAttr(name);
  }
  module->removeAttr(uprog::kPackingsAttr);
  module->removeAttr(uprog::kIndicesAttr);
  module->removeAttr(uprog::kInstancesAttr);
  module->removeAttr(kPolicyAttr);
  module->removeAttr(kSizesAttr);
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
}

namespace {
class ConvertBatchToLLVMPass
    : public batch::impl::ConvertBatchToLLVMPassBase<ConvertBatchToLLVMPass> {
  using ConvertBatchToLLVMPassBase::ConvertBatchToLLVMPassBase;

  /// Renames a function, and its inspector and executor.
  static void rename(SymbolTable &symbols, Operation *function,
                     StringRef name) {
    if (failed(symbols.renameToUnique(function, {})))
      return;
    StringRef unique = SymbolTable::getSymbolName(function).getValue();
    for (auto getName : {getInspectorName, getExecutorName})
      if (Operation *made = symbols.lookup(getName(name)))
        (void)symbols.rename(made, getName(unique));
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    // A module with an object is already lowered.
    Operation *object = symbols.lookup(BATCH_OBJECT_SYMBOL);
    if (object && !isa<func::FuncOp>(object))
      return;
    // Rename functions of the model whose names are reserved for the object.
    for (StringRef name : {StringRef(BATCH_OBJECT_SYMBOL),
                           StringRef(kInspectPoint), StringRef(kExecutePoint),
                           StringRef(kUnbatchedPoint), StringRef(kEmulatePoint),
                           StringRef(kDescriptor), StringRef(kDeviceCode)})
      if (Operation *function = symbols.lookup(name))
        rename(symbols, function, name);
    makeSources(getOperation());
    SmallVector<std::string> features(targetFeatures.begin(),
                                      targetFeatures.end());
    if (failed(ObjectBuilder(getOperation())
                   .build({targetTriple, targetCPU, features})))
      signalPassFailure();
  }
};
} // namespace
