//===- Fragments.cpp - Factors of products, and tensor cores --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::uprog;
using batch::Precision;

/// Number of lanes of a group, which load the same rows and the same column.
static constexpr int64_t kGroup = 4;

Type uprog::getFactorType(CodeBuilder &b, const FactorFormat &format) {
  switch (format.precision) {
  case Precision::F32:
    return format.element;
  case Precision::TF32:
    return b.getI32Type();
  case Precision::BF16:
    return b.getIntegerType(16);
  }
  llvm_unreachable("no such precision");
}

static Value toTF32(CodeBuilder &b, Value element) {
  return NVVM::ConvertFloatToTF32Op::create(
      b, b.getI32Type(), element, NVVM::FPRoundingMode::RNA,
      NVVM::SaturationMode::NONE, /*relu=*/false);
}

/// Converts two elements to bf16 and packs them into 32 bits.
static Value toBF16(CodeBuilder &b, Value low, Value high) {
  Value pair = NVVM::ConvertF32x2ToBF16x2Op::create(
      b, VectorType::get({2}, b.getBF16Type()), high, low,
      /*random_bits=*/Value(), NVVM::FPRoundingMode::RN,
      NVVM::SaturationMode::NONE, /*relu=*/false);
  return LLVM::BitcastOp::create(b, b.getI32Type(), pair);
}

/// Converts `elements` to factors, and returns the words that contain them.
static SmallVector<Value> toWords(CodeBuilder &b, const FactorFormat &format,
                                  ArrayRef<Value> elements) {
  SmallVector<Value> words;
  if (format.precision == Precision::TF32)
    for (Value element : elements)
      words.push_back(toTF32(b, element));
  else
    for (size_t i = 0; i < elements.size(); i += 2)
      words.push_back(toBF16(b, elements[i], elements[i + 1]));
  return words;
}

static Value toVector(CodeBuilder &b, ArrayRef<Value> words) {
  Type type = VectorType::get({int64_t(words.size())}, b.getI32Type());
  Value vector = LLVM::UndefOp::create(b, type);
  for (auto [i, word] : llvm::enumerate(words))
    vector = LLVM::InsertElementOp::create(
        b, vector, word, arith::ConstantOp::create(b, b.getI32IntegerAttr(i)));
  return vector;
}

Value uprog::roundFactors(CodeBuilder &b, const FactorFormat &format,
                          Value elements) {
  if (!format.usesTensorCores())
    return elements;
  auto type = dyn_cast<VectorType>(elements.getType());
  if (!type && format.precision == Precision::TF32)
    return toTF32(b, elements);
  if (!type)
    return arith::TruncIOp::create(b, b.getIntegerType(16),
                                   toBF16(b, elements, elements));
  SmallVector<Value> scalars;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    scalars.push_back(
        vector::ExtractOp::create(b, elements, ArrayRef<int64_t>{i}));
  return toVector(b, toWords(b, format, scalars));
}

void uprog::unroll(Operation *loop, int64_t times) {
  // Conversions copy the annotation to the branch at the end of the loop.
  constexpr StringLiteral kAnnotation = "loop_annotation";
  if (loop->hasAttr(kAnnotation))
    return;
  Builder b(loop->getContext());
  auto unroll =
      LLVM::LoopUnrollAttr::get(loop->getContext(), /*disable=*/{},
                                b.getI32IntegerAttr(times), {}, {}, {}, {}, {});
  loop->setDiscardableAttr(
      kAnnotation,
      LLVM::LoopAnnotationAttr::get(loop->getContext(), {}, {}, {}, unroll, {},
                                    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

Fragments::Fragments(CodeBuilder &b, WordMath &m, Value lane)
    : b(b), m(m), group(m.div(lane, kGroup)), member(m.rem(lane, kGroup)) {}

Value Fragments::getRow(int64_t number) { return m.add(group, 8 * number); }

Value Fragments::getElement(int64_t sum) {
  Value row = m.mul(getRow(sum / 2), FactorFormat::kTileColumns);
  return m.add(row, m.add(m.mul(member, 2), sum % 2));
}

Value Fragments::pack(const FactorFormat &format, ArrayRef<Value> elements) {
  return toVector(b, toWords(b, format, elements));
}

// A 32-bit register holds E elements along k. In the rows' fragment, register r
// holds row `group` + 8 * (r % 2), beginning at E * `member` + 4 * E * (r / 2).
// In the columns' fragment, register r begins at E * `member` + 4 * E * r (PTX
// ISA, "Matrix Fragments for mma.m16n8k8" and the sections that follow). Any
// order of k is valid if rows and columns use the same order. Each instruction
// therefore takes the next elements of each lane's vectors.
CodeBuilder::Values Fragments::multiply(const FactorFormat &format,
                                        ArrayRef<Value> rows, Value column,
                                        ValueRange sums) {
  bool tf32 = format.precision == Precision::TF32;
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(sums.size(), b.getF32Type()));
  NVVM::MMATypes element = tf32 ? NVVM::MMATypes::tf32 : NVVM::MMATypes::bf16;
  auto word = [&](Value vector, int64_t i) -> Value {
    return vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{i});
  };
  CodeBuilder::Values next(sums);
  // An instruction uses two words of each row and two words of the column.
  for (int64_t r : {0, 2}) {
    Value left[] = {word(rows[0], r), word(rows[1], r), word(rows[0], r + 1),
                    word(rows[1], r + 1)};
    Value right[] = {word(column, r), word(column, r + 1)};
    Value product = NVVM::MmaOp::create(
        b, type, left, right, next, ArrayRef<int64_t>{16, 8, tf32 ? 8 : 16},
        /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
        std::array<NVVM::MMATypes, 2>{element, element},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (auto [i, sum] : llvm::enumerate(next))
      sum = LLVM::ExtractValueOp::create(b, product, i);
  }
  return next;
}
