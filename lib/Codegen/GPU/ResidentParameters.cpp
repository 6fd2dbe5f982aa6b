//===- ResidentParameters.cpp - Parameters that blocks keep ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResidentParameters.h"

#include "Batch/Target/ABI/SymbolNames.h"
#include "Batch/Target/GPU/GPUTarget.h"
#include "Fragments.h"
#include "WordMath.h"
#include "WorkShare.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

/// Name of the dynamic shared memory of a block.
static constexpr StringLiteral kMemory = "block_memory";

int64_t ResidentMatrix::shareBytes() const {
  return std::min(columns, FactorFormat::kTileColumns) * stride();
}

int64_t ResidentMatrix::tileBytes() const {
  return llvm::divideCeil(depth, format.share()) * shareBytes();
}

/// Returns true if the readers of two matrices read the same bytes in the same
/// format.
static bool isSame(const ResidentMatrix &a, const ResidentMatrix &b) {
  return a.packed.getPanels() == b.packed.getPanels() &&
         a.packed.getFirstElement() == b.packed.getFirstElement() &&
         a.columns == b.columns && a.depth == b.depth && a.format == b.format;
}

void ResidentParameters::add(const StagePlan &plan) {
  for (const Stage &stage : plan.getStages())
    for (const Reduction &reduction : stage.reductions) {
      if (!reduction.packed)
        continue;
      ResidentMatrix matrix{reduction.packed, stage.space.columns(),
                            reduction.depth,
                            getFormat(plan, reduction, precision)};
      matrix.tiles =
          llvm::divideCeil(matrix.columns, FactorFormat::kTileColumns);
      matrix.share =
          llvm::divideCeil(matrix.tiles, std::min(units, matrix.tiles));
      auto known = llvm::find_if(matrices, [&](const ResidentMatrix &other) {
        return isSame(other, matrix);
      });
      if (known == matrices.end())
        known = matrices.insert(known, matrix);
      matrixOf[&reduction] = known - matrices.begin();
      if (stage.space.hasRows())
        known->rowsPerTask +=
            stage.space.leading() * (stage.space.domain >= 0 ? kRaggedRows : 1);
    }
}

int64_t ResidentParameters::place(int64_t newCapacity) {
  capacity = std::max<int64_t>(newCapacity, 0);
  SmallVector<ResidentMatrix *> order;
  for (ResidentMatrix &matrix : matrices)
    order.push_back(&matrix);
  llvm::stable_sort(order,
                    [](const ResidentMatrix *a, const ResidentMatrix *b) {
                      return a->rowsPerTask > b->rowsPerTask;
                    });
  for (ResidentMatrix *matrix : order) {
    int64_t bytes = matrix->tileBytes();
    matrix->residentTiles = std::min(matrix->share, (capacity - used) / bytes);
    matrix->offset = used;
    used += matrix->residentTiles * bytes;
    wanted += matrix->share * bytes;
  }
  return used;
}

static remark::RemarkOpts remarkOptions() {
  return remark::RemarkOpts::name("Parameters").category("batch");
}

void ResidentParameters::describe(const StagePlan &plan,
                                  StringRef reason) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  bool once = false;
  for (auto [number, stage] : llvm::enumerate(plan.getStages())) {
    int64_t resident = 0, all = 0;
    for (const Reduction &reduction : stage.reductions) {
      if (!reduction.packed)
        continue;
      auto it = matrixOf.find(&reduction);
      if (it == matrixOf.end()) {
        once = true;
        continue;
      }
      const ResidentMatrix &matrix = matrices[it->second];
      resident += matrix.residentTiles * matrix.tileBytes();
      all += matrix.share * matrix.tileBytes();
    }
    if (all)
      os << (text.empty() ? "" : ", ") << resident << " of " << all
         << " bytes in stage " << number;
  }
  if (once)
    os << "none, because " << reason;
  if (!text.empty())
    remark::analysis(plan.getOperator().getLoc(), remarkOptions())
        << ("parameters of @" + plan.getOperator().getSymName() +
            " that a block keeps in shared memory: " + text)
               .str();
}

void ResidentParameters::describe(Location loc) const {
  if (wanted == 0)
    return;
  std::string text = (Twine(used) + " of " + Twine(wanted) +
                      " bytes of parameters stay in the " + Twine(capacity) +
                      " bytes of a block's shared memory")
                         .str();
  if (used < wanted)
    text += "; the others stream from the L2 cache at every step";
  if (used == 0)
    remark::missed(loc, remarkOptions()) << text;
  else
    remark::passed(loc, remarkOptions()) << text;
}

const ResidentMatrix *
ResidentParameters::find(const Reduction &reduction) const {
  auto it = matrixOf.find(&reduction);
  if (it == matrixOf.end() || matrices[it->second].residentTiles == 0)
    return nullptr;
  return &matrices[it->second];
}

void ResidentParameters::addMemory(gpu::GPUModuleOp module, CodeBuilder &b,
                                   int64_t bytes) {
  b.setInsertionPointToStart(module.getBody());
  LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External, kMemory,
                         Attribute(), FactorFormat::kVectorBytes,
                         batch::kSharedMemory);
  module->setAttr(batch::kAddedBytesAttr, b.getI64IntegerAttr(bytes));
}

Value ResidentParameters::getMemory(CodeBuilder &b, int64_t offset) {
  Value memory = LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), batch::kSharedMemory),
      kMemory);
  return b.offset(memory, b.constant(offset));
}

bool ResidentParameters::hasAnyOf(const Stage &stage) const {
  return llvm::any_of(stage.reductions, [&](const Reduction &reduction) {
    return find(reduction) != nullptr;
  });
}

bool ResidentParameters::copiesRows(const Stage &stage) const {
  return async && (used == 0 || hasAnyOf(stage));
}

void ResidentParameters::emitCopy(CodeBuilder &b, Value from, Value to,
                                  int64_t bytes) {
  auto cache = bytes == FactorFormat::kVectorBytes
                   ? NVVM::LoadCacheModifierKind::CG
                   : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(b, to, from, bytes, cache, /*cpSize=*/Value());
}

void ResidentParameters::emitWait(CodeBuilder &b, const Stage &stage) const {
  if (!copiesRows(stage))
    return;
  NVVM::CpAsyncCommitGroupOp::create(b);
  NVVM::CpAsyncWaitGroupOp::create(b, 0);
}

void ResidentParameters::emitLoad(const ResidentMatrix &matrix, CodeBuilder &b,
                                  Value packing, Value unit, Value units,
                                  Value thread, int64_t threads) const {
  PanelsAttr panels = matrix.packed.getPanels();
  const FactorFormat &format = matrix.format;
  int64_t elementBytes = batch::elementBytes(format.element);
  int64_t vector = FactorFormat::kVectorBytes / elementBytes;
  bool whole = matrix.depth % vector == 0 && panels.getK() % vector == 0 &&
               matrix.packed.getKOffset() % vector == 0;
  int64_t width = whole ? vector : 1;
  int64_t padding = format.padded(matrix.depth) - matrix.depth;
  Value pieces = b.constant(matrix.depth / width); // pieces of a column
  Value fromColumn = b.constant(panels.getK() * elementBytes);
  packing = b.offset(
      packing, b.constant(matrix.packed.getFirstElement() * elementBytes));

  WordMath m(b);
  ColumnShare<WordMath> share(m, m.narrow(unit), m.narrow(units), matrix.tiles);
  Value count = m.min(share.count, m.constant(matrix.residentTiles));
  b.loop(m.constant(0), count, m.constant(1), [&](Value number) {
    Value turn = m.widen(number);
    Value tile = m.add(share.first, m.mul(number, share.across));
    Value column = m.widen(m.mul(tile, FactorFormat::kTileColumns));
    Value columns = b.constant(FactorFormat::kTileColumns);
    if (matrix.columns % FactorFormat::kTileColumns)
      columns = b.min(columns, b.sub(b.constant(matrix.columns), column));
    Value source = b.offset(packing, b.mul(column, fromColumn));
    Value target = b.offset(getMemory(b, matrix.offset),
                            b.mul(turn, b.constant(matrix.tileBytes())));
    // Returns the address of factor k of a column.
    auto placeOf = [&](Value column, Value k) {
      Value share = b.constant(format.share());
      Value at = b.mul(b.div(k, share), b.constant(matrix.shareBytes()));
      at = b.add(at, b.mul(column, b.constant(matrix.stride())));
      k = b.mul(b.rem(k, share), b.constant(format.bytes()));
      return b.offset(target, b.add(at, k));
    };
    b.loop(thread, b.mul(columns, pieces), threads, [&](Value i) {
      Value column = b.div(i, pieces);
      Value first = b.mul(b.rem(i, pieces), b.constant(width));
      Value from = b.offset(source, b.mul(column, fromColumn));
      from = b.offset(from, b.mul(first, b.constant(elementBytes)));
      Value to = placeOf(column, first);
      if (async && !format.usesTensorCores())
        return emitCopy(b, from, to, width * elementBytes);
      Type type = format.element;
      if (width > 1)
        type = VectorType::get({width}, type);
      Value factors =
          roundFactors(b, format, b.load(type, from, width * elementBytes));
      b.store(factors, to, width * format.bytes());
    });
    if (padding) {
      Value perColumn = b.constant(padding);
      Value zero =
          arith::ConstantOp::create(b, b.getZeroAttr(getFactorType(b, format)));
      b.loop(thread, b.mul(columns, perColumn), threads, [&](Value i) {
        Value k = b.add(b.rem(i, perColumn), b.constant(matrix.depth));
        b.store(zero, placeOf(b.div(i, perColumn), k), format.bytes());
      });
    }
  });
}

void ResidentParameters::emitLoad(gpu::GPUModuleOp module, ModuleTables &tables,
                                  CodeBuilder &b, int64_t threads,
                                  Level level) const {
  if (used == 0)
    return;
  b.setInsertionPointToEnd(module.getBody());
  Type i64 = b.getI64Type();
  auto function =
      func::FuncOp::create(b, batch::kLoadParameters,
                           b.getFunctionType({b.ptrType(), i64, i64}, {}));
  makeInternal(function);
  function->setAttr(kLevelAttr, b.getStringAttr(stringifyLevel(level)));
  b.beginFunction(function);
  Value packings = function.getArgument(0), unit = function.getArgument(1);
  Value units = function.getArgument(2);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  thread = arith::IndexCastOp::create(b, i64, thread);
  // Load all addresses first, so that copies do not wait for them one by one.
  SmallVector<Value> addresses;
  for (const ResidentMatrix &matrix : matrices)
    addresses.push_back(
        matrix.residentTiles
            ? b.loadPointer(packings,
                            tables.getPanels(matrix.packed.getPanels()))
            : Value());
  for (auto [matrix, address] : llvm::zip(matrices, addresses))
    if (matrix.residentTiles)
      emitLoad(matrix, b, address, unit, units, thread, threads);
  if (async)
    NVVM::CpAsyncCommitGroupOp::create(b);
  func::ReturnOp::create(b);
}
