//===- KeptParameters.cpp - Parameters that blocks keep -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptParameters.h"

#include "WarpEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

/// The shared memory of a block that a launch adds.
static constexpr StringLiteral kMemory = "parameters";
static constexpr int64_t kVectorBytes = 16;
static constexpr int64_t kTileColumns = WarpEmitter::kPanelColumns;

ColumnShare::ColumnShare(CodeBuilder &b, Value unit, Value units,
                         int64_t numTiles)
    : tiles(b.constant(numTiles)), across(b.min(units, tiles)),
      first(b.rem(unit, across)) {}

int64_t KeptMatrix::stride() const {
  return llvm::alignTo(depth, kVectorBytes / elementBytes());
}

int64_t KeptMatrix::tileBytes() const {
  return std::min(columns, kTileColumns) * stride() * elementBytes();
}

/// True if two readers take the same bytes.
static bool isSame(const KeptMatrix &a, const KeptMatrix &b) {
  return a.packed.getPanels() == b.packed.getPanels() &&
         a.packed.getNOffset() == b.packed.getNOffset() &&
         a.packed.getKOffset() == b.packed.getKOffset() &&
         a.columns == b.columns && a.depth == b.depth;
}

void KeptParameters::add(const StagePlan &plan) {
  for (const Stage &stage : plan.getStages())
    for (const Reduction &reduction : stage.reductions) {
      if (!reduction.packed)
        continue;
      KeptMatrix matrix;
      matrix.packed = reduction.packed;
      matrix.columns = stage.space.columns();
      matrix.depth = reduction.depth;
      matrix.element = reduction.getElementType();
      matrix.tiles = llvm::divideCeil(matrix.columns, kTileColumns);
      matrix.share =
          llvm::divideCeil(matrix.tiles, std::min(units, matrix.tiles));
      auto known = llvm::find_if(matrices, [&](const KeptMatrix &other) {
        return isSame(other, matrix);
      });
      if (known == matrices.end())
        known = matrices.insert(known, matrix);
      matrixOf[&reduction] = known - matrices.begin();
      // A task has several ragged rows.
      if (stage.space.hasRows())
        known->heat +=
            stage.space.leading() * (stage.space.domain >= 0 ? 2 : 1);
    }
}

void KeptParameters::place() {
  SmallVector<KeptMatrix *> order;
  for (KeptMatrix &matrix : matrices)
    order.push_back(&matrix);
  llvm::stable_sort(order, [](const KeptMatrix *a, const KeptMatrix *b) {
    return a->heat > b->heat;
  });
  for (KeptMatrix *matrix : order) {
    int64_t bytes = matrix->tileBytes();
    matrix->kept = std::min(matrix->share, (room - used) / bytes);
    matrix->offset = used;
    used += matrix->kept * bytes;
    wanted += matrix->share * bytes;
  }
}

static remark::RemarkOpts remarkOptions() {
  return remark::RemarkOpts::name("Parameters").category("batch");
}

void KeptParameters::describe(const StagePlan &plan) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  bool once = false;
  for (auto [number, stage] : llvm::enumerate(plan.getStages())) {
    int64_t kept = 0, all = 0;
    for (const Reduction &reduction : stage.reductions) {
      if (!reduction.packed)
        continue;
      auto it = matrixOf.find(&reduction);
      if (it == matrixOf.end()) {
        once = true;
        continue;
      }
      const KeptMatrix &matrix = matrices[it->second];
      kept += matrix.kept * matrix.tileBytes();
      all += matrix.share * matrix.tileBytes();
    }
    if (all)
      os << (text.empty() ? "" : ", ") << kept << " of " << all
         << " bytes in stage " << number;
  }
  if (once)
    os << "none, because it runs at only one step of a plan";
  if (!text.empty())
    remark::analysis(plan.getOperator().getLoc(), remarkOptions())
        << ("parameters of @" + plan.getOperator().getSymName() +
            " that a block keeps in shared memory: " + text)
               .str();
}

void KeptParameters::describe(Location loc) const {
  if (wanted == 0)
    return;
  std::string text = (Twine(used) + " of " + Twine(wanted) +
                      " bytes of parameters stay in the " + Twine(room) +
                      " bytes of a block's shared memory")
                         .str();
  if (used < wanted)
    text += "; the others stream from the L2 cache at every step";
  if (used == 0)
    remark::missed(loc, remarkOptions()) << text;
  else
    remark::passed(loc, remarkOptions()) << text;
}

const KeptMatrix *KeptParameters::find(const Reduction &reduction) const {
  auto it = matrixOf.find(&reduction);
  if (it == matrixOf.end() || matrices[it->second].kept == 0)
    return nullptr;
  return &matrices[it->second];
}

Value KeptParameters::getTile(CodeBuilder &b, const KeptMatrix &matrix,
                              Value turn) {
  Value memory = LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), batch::kSharedMemory),
      kMemory);
  Value tile = b.mul(turn, b.constant(matrix.tileBytes()));
  return b.offset(memory, b.add(tile, b.constant(matrix.offset)));
}

void KeptParameters::emitWait(CodeBuilder &b, const Stage &stage) const {
  if (llvm::none_of(stage.reductions, [&](const Reduction &reduction) {
        return find(reduction);
      }))
    return;
  if (async)
    NVVM::CpAsyncWaitGroupOp::create(b, 0);
  gpu::BarrierOp::create(b);
}

/// Copies 4, 8 or 16 bytes from global to shared memory.
static void emitCopy(CodeBuilder &b, Value from, Value to, int64_t bytes,
                     bool async) {
  if (async) {
    auto cache = bytes == kVectorBytes ? NVVM::LoadCacheModifierKind::CG
                                       : NVVM::LoadCacheModifierKind::CA;
    NVVM::CpAsyncOp::create(b, to, from, bytes, cache, /*cpSize=*/Value());
    return;
  }
  Type type = b.getF32Type();
  if (bytes > 4)
    type = VectorType::get({bytes / 4}, type);
  b.store(b.load(type, from, bytes), to, bytes);
}

void KeptParameters::emitLoad(const KeptMatrix &matrix, CodeBuilder &b,
                              Value packing, Value unit, Value units,
                              Value thread, int64_t threads) const {
  PanelsAttr panels = matrix.packed.getPanels();
  int64_t kOffset = matrix.packed.getKOffset();
  int64_t elementBytes = matrix.elementBytes();
  int64_t vector = kVectorBytes / elementBytes;
  bool whole = matrix.depth % vector == 0 && panels.getK() % vector == 0 &&
               kOffset % vector == 0;
  int64_t bytes = whole ? kVectorBytes : elementBytes;
  Value pieces = b.constant(matrix.depth * elementBytes / bytes); // a column's
  Value fromColumn = b.constant(panels.getK() * elementBytes);
  Value toColumn = b.constant(matrix.stride() * elementBytes);
  packing = b.offset(packing, b.constant(kOffset * elementBytes));

  ColumnShare share(b, unit, units, matrix.tiles);
  Value kept = b.mul(share.across, b.constant(matrix.kept));
  Value end = b.min(b.add(share.first, kept), share.tiles);
  b.loop(share.first, end, share.across, b.constant(0),
         [&](Value tile, ValueRange turn) {
           Value column = b.mul(tile, b.constant(kTileColumns));
           Value columns = b.constant(kTileColumns);
           if (matrix.columns % kTileColumns)
             columns =
                 b.min(columns, b.sub(b.constant(matrix.columns), column));
           column = b.add(column, b.constant(matrix.packed.getNOffset()));
           Value source = b.offset(packing, b.mul(column, fromColumn));
           Value target = getTile(b, matrix, turn[0]);
           b.loop(thread, b.mul(columns, pieces), threads, [&](Value i) {
             Value column = b.div(i, pieces);
             Value piece = b.mul(b.rem(i, pieces), b.constant(bytes));
             Value from = b.offset(source, b.mul(column, fromColumn));
             Value to = b.offset(target, b.mul(column, toColumn));
             from = b.offset(from, piece);
             emitCopy(b, from, b.offset(to, piece), bytes, async);
           });
           return CodeBuilder::Values{b.add(turn[0], b.constant(1))};
         });
}

void KeptParameters::emitLoad(gpu::GPUModuleOp module, ModuleTables &tables,
                              CodeBuilder &b, int64_t threads,
                              Level level) const {
  if (used == 0)
    return;
  b.setInsertionPointToStart(module.getBody());
  LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External, kMemory,
                         Attribute(), kVectorBytes, batch::kSharedMemory);
  b.setInsertionPointToEnd(module.getBody());
  Type i64 = b.getI64Type();
  auto function = func::FuncOp::create(
      b, kLoad, b.getFunctionType({b.ptrType(), i64, i64}, {}));
  makeInternal(function);
  function->setAttr(batch::kKeptBytesAttr, b.getI64IntegerAttr(used));
  function->setAttr(kLevelAttr, b.getStringAttr(stringifyLevel(level)));
  b.beginFunction(function);
  Value packings = function.getArgument(0), unit = function.getArgument(1);
  Value units = function.getArgument(2);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  thread = arith::IndexCastOp::create(b, i64, thread);
  // Compute all addresses first, so that no load waits for the next address.
  SmallVector<Value> addresses;
  for (const KeptMatrix &matrix : matrices)
    addresses.push_back(
        matrix.kept ? b.loadPointer(packings,
                                    tables.getPanels(matrix.packed.getPanels()))
                    : Value());
  for (auto [matrix, address] : llvm::zip(matrices, addresses))
    if (matrix.kept)
      emitLoad(matrix, b, address, unit, units, thread, threads);
  if (async)
    NVVM::CpAsyncCommitGroupOp::create(b);
  func::ReturnOp::create(b);
}
