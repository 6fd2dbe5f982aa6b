//===- Results.cpp - Results in arrays of the caller ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results.h"

#include <algorithm>

using namespace batchrt;

Target::Target(const BatchField &output, const BatchArray &array, int64_t rows)
    : rank(output.rank), shape(output.shape), type(elementType(array.type)),
      bytes(byteSize(type)), data(static_cast<char *>(array.data)) {
  std::vector<int64_t> wanted{rows};
  wanted.insert(wanted.end(), shape, shape + rank);
  std::vector<int64_t> given;
  if (array.rank > 0 && array.shape)
    given.assign(array.shape, array.shape + array.rank);
  if (array.type != output.type || given != wanted)
    raiseInvalid("output '", output.name, "' has elements of type ",
                 typeName(elementType(output.type)), " and shape ",
                 shapeName(wanted), ", but the array is of type ",
                 typeName(type), " and shape ", shapeName(given));
  if (!data && elementCount(wanted) > 0)
    raiseInvalid("the array for output '", output.name, "' is null");
  if (array.strides)
    strides.assign(array.strides, array.strides + array.rank);
  else
    strides = denseStrides(wanted, bytes);
}

void batchrt::copyDense(const BatchSession &session, int result,
                        const Target &target,
                        const std::vector<int64_t> &instances) {
  const Descriptor &info = session.model->descriptor();
  const Type &type = info.results[result].type;
  const int64_t *cells = session.session.context().results[result];
  const std::vector<int64_t> shape(target.shape, target.shape + target.rank);
  const std::vector<int64_t> dense = denseStrides(shape, target.bytes);
  const size_t rowBytes =
      std::max<int64_t>(elementCount(shape), 1) * target.bytes;
  const std::vector<char> zeros(session.keepsPartial ? rowBytes : 0);
  const bool isTensor = type.kind == Type::Tensor;
  const std::vector<int64_t> padded =
      isTensor ? paddedStrides(shape, type.dtype) : dense;
  const ElementLayout *layout =
      isTensor && type.table >= 0 ? &info.tables[type.table].elements : nullptr;
  const bool isLaidOut = layout && !layout->digits.empty();
  std::vector<char> unpadded(isLaidOut ? rowBytes : 0);
  for (size_t row = 0; row < instances.size(); ++row) {
    const int64_t i = instances[row];
    if (session.keepsPartial && !session.session.failure(i).empty()) {
      target.copyRow(row, zeros.data(), dense.data());
    } else if (!isTensor) {
      target.copyRow(row, reinterpret_cast<const char *>(&cells[i]),
                     dense.data());
    } else if (isLaidOut) {
      layout->unpad(shape, type.dtype, session.session.tensor(type, cells[i]),
                    unpadded.data());
      target.copyRow(row, unpadded.data(), dense.data());
    } else {
      target.copyRow(row, session.session.tensor(type, cells[i]),
                     padded.data());
    }
  }
}
