//===- FragmentEmitter.cpp - Products on tensor cores ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentEmitter.h"

#include "../Stages/ReductionLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::uprog;
using batch::Precision;

/// Lanes of a group, which load the same rows and column, four of k each.
static constexpr int64_t kGroup = 4;
static constexpr int64_t kStep = kGroup * 4;
/// Steps whose loads are in flight at the same time.
static constexpr int64_t kUnroll = 2;
/// Sums of a tile per lane.
static constexpr int64_t kSums = 4;
/// Contractions that share loaded rows; more would need too many registers.
static constexpr size_t kTogether = 4;

void FragmentEmitter::beginStage(Value lane) {
  group = b.div(lane, b.constant(kGroup));
  member = b.rem(lane, b.constant(kGroup));
}

SmallVector<Value> FragmentEmitter::getRows() {
  return {group, b.add(group, b.constant(kRows / 2))};
}

SmallVector<Value> FragmentEmitter::getColumns() {
  Value first = b.mul(member, b.constant(2));
  return {first, b.add(first, b.constant(1))};
}

/// Makes LLVM unroll a loop: an assembler would unroll until it has no
/// registers left.
static void unroll(Operation *loop) {
  Builder b(loop->getContext());
  auto unroll = LLVM::LoopUnrollAttr::get(loop->getContext(), /*disable=*/{},
                                          b.getI32IntegerAttr(kUnroll), {}, {},
                                          {}, {}, {});
  // Conversions pass it on to the branch at the end of the loop.
  loop->setDiscardableAttr(
      "loop_annotation",
      LLVM::LoopAnnotationAttr::get(loop->getContext(), {}, {}, {}, unroll, {},
                                    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

/// True if two contractions multiply the same rows, element by element.
static bool readSameRows(const Reduction &a, const Reduction &b) {
  linalg::LinalgOp first = a.op, second = b.op;
  OpOperand *left = first.getDpsInputOperand(a.left);
  OpOperand *other = second.getDpsInputOperand(b.left);
  return left->get() == other->get() &&
         first.getMatchingIndexingMap(left) ==
             second.getMatchingIndexingMap(other) &&
         first.getIndexingMapMatchingResult(a.op->getResult(0)) ==
             second.getIndexingMapMatchingResult(b.op->getResult(0)) &&
         a.depth == b.depth && a.breaks == b.breaks;
}

std::vector<CodeBuilder::Values>
FragmentEmitter::emit(ArrayRef<Product> products, ArrayRef<Indices> rows) {
  std::vector<CodeBuilder::Values> sums(products.size());
  for (size_t i = 0; i < products.size(); ++i) {
    if (!sums[i].empty())
      continue;
    SmallVector<Product> together;
    SmallVector<size_t> positions;
    for (size_t j = i; j < products.size() && together.size() < kTogether; ++j)
      if (sums[j].empty() &&
          readSameRows(*products[i].reduction, *products[j].reduction)) {
        together.push_back(products[j]);
        positions.push_back(j);
      }
    CodeBuilder::Values all = emitTogether(together, rows);
    for (auto [n, position] : llvm::enumerate(positions))
      sums[position].assign(all.begin() + n * kSums,
                            all.begin() + (n + 1) * kSums);
  }
  return sums;
}

CodeBuilder::Values FragmentEmitter::emitTogether(ArrayRef<Product> products,
                                                  ArrayRef<Indices> rows) {
  const Reduction &reduction = *products.front().reduction;
  linalg::LinalgOp op = reduction.op;
  OpOperand *left = op.getDpsInputOperand(reduction.left);
  ReductionLoops loops(reduction);
  SmallVector<Indices> dims; // of each row; the column does not matter
  for (const Indices &row : rows) {
    Indices out(row);
    out.push_back({group});
    dims.push_back(evaluator.loopIndices(op, out));
  }

  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  CodeBuilder::Values sums(products.size() * kSums, zero);
  for (auto [begin, end] : loops.pieces) {
    bool vector = true;
    for (const Product &product : products)
      vector &=
          readsVectors(*product.reduction, begin, end, evaluator.getLanes());
    bool whole = (end - begin) % kStep == 0;
    auto loadRow = [&, begin = begin, end = end](Indices &row, Value k) {
      row[loops.dims.back()] = {k, vector, vector ? 0 : -1, begin, end};
      return evaluator.eval(
          left->get(),
          evaluator.operandIndices(op.getMatchingIndexingMap(left), row));
    };
    auto loadColumn = [&](Value parameters, Value k) {
      Type type = b.getF32Type();
      if (vector)
        type = evaluator.vectorOf(type);
      return b.load(type, b.offset(parameters, b.mul(k, b.constant(4))),
                    vector ? 16 : 4);
    };
    // This lane's four of k. Beyond the end it loads the last ones again, and
    // uses zeros instead.
    auto loadFour = [&, end = end](Value first,
                                   llvm::function_ref<Value(Value)> load) {
      Four four;
      int64_t width = vector ? 4 : 1;
      Value loaded, inside;
      for (int64_t i = 0; i < 4; ++i) {
        if (i % width == 0) {
          Value k = b.add(first, b.constant(i));
          loaded = load(whole ? k : b.min(k, b.constant(end - width)));
          if (!loaded) // an error was emitted
            return four;
          if (!whole)
            inside = b.less(k, b.constant(end));
        }
        four[i] = loaded;
        if (isa<VectorType>(loaded.getType()))
          four[i] = vector::ExtractOp::create(b, loaded, ArrayRef<int64_t>{i});
        if (inside)
          four[i] = arith::SelectOp::create(b, inside, four[i], zero);
      }
      return four;
    };
    sums = b.loop(b.constant(begin), b.constant(end), kStep, sums,
                  [&](Value k, ValueRange partials) {
                    Value first = b.add(k, b.mul(member, b.constant(4)));
                    SmallVector<Registers> left, right;
                    for (Indices &row : dims)
                      left.push_back(pack(loadFour(
                          first, [&](Value k) { return loadRow(row, k); })));
                    for (const Product &product : products)
                      right.push_back(pack(loadFour(first, [&](Value k) {
                        return loadColumn(product.parameters, k);
                      })));
                    CodeBuilder::Values next;
                    for (size_t n = 0; n < products.size(); ++n)
                      llvm::append_range(
                          next, multiply(left, right[n],
                                         partials.slice(n * kSums, kSums)));
                    return next;
                  });
    unroll(sums[0].getDefiningOp());
  }
  return sums;
}

FragmentEmitter::Registers FragmentEmitter::pack(const Four &elements) {
  Registers registers;
  if (evaluator.hasFailed())
    return registers;
  if (precision == Precision::TF32)
    for (Value element : elements)
      registers.push_back(toTF32(element));
  else
    for (int64_t i : {0, 2})
      registers.push_back(toBF16(elements[i], elements[i + 1]));
  return registers;
}

// With E elements in a register of 32 bits, register r of the rows' fragment
// holds row `group` + 8 * (r % 2), and, of an instruction's k, those from
// E * `member` + 4 * E * (r / 2) on; register r of the columns' fragment those
// from E * `member` + 4 * E * r on (PTX ISA, "Matrix Fragments for
// mma.m16n8k8" and following). Any of k may be used if they are the same for
// rows and columns: an instruction takes the next of those that each lane has.
CodeBuilder::Values FragmentEmitter::multiply(ArrayRef<Registers> rows,
                                              const Registers &column,
                                              ValueRange sums) {
  bool tf32 = precision == Precision::TF32;
  Type f32 = b.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                               SmallVector<Type>(kSums, f32));
  NVVM::MMATypes element = tf32 ? NVVM::MMATypes::tf32 : NVVM::MMATypes::bf16;
  CodeBuilder::Values next(sums);
  // An instruction takes two registers of each row and of the column.
  for (size_t r = 0; r < column.size(); r += 2) {
    Value left[] = {rows[0][r], rows[1][r], rows[0][r + 1], rows[1][r + 1]};
    Value right[] = {column[r], column[r + 1]};
    Value product =
        NVVM::MmaOp::create(b, type, left, right, next,
                            ArrayRef<int64_t>{kRows, kColumns, tf32 ? 8 : 16},
                            /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
                            std::array<NVVM::MMATypes, 2>{element, element},
                            std::array<NVVM::MMALayout, 2>{
                                NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (auto [i, sum] : llvm::enumerate(next))
      sum = LLVM::ExtractValueOp::create(b, product, i);
  }
  return next;
}

Value FragmentEmitter::toTF32(Value element) {
  return NVVM::ConvertFloatToTF32Op::create(
      b, b.getI32Type(), element, NVVM::FPRoundingMode::RNA,
      NVVM::SaturationMode::NONE, /*relu=*/false);
}

Value FragmentEmitter::toBF16(Value low, Value high) {
  Value pair = NVVM::ConvertF32x2ToBF16x2Op::create(
      b, VectorType::get({2}, b.getBF16Type()), high, low,
      /*random_bits=*/Value(), NVVM::FPRoundingMode::RN,
      NVVM::SaturationMode::NONE, /*relu=*/false);
  return LLVM::BitcastOp::create(b, b.getI32Type(), pair);
}
