//===- Results.cpp - Results in arrays of the caller ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results.h"
#include "../Formats/StridedCopy.h"

using namespace batchrt;

Target::Target(const BatchField &output, const BatchArray &array, int64_t rows)
    : type(elementType(array.type)),
      rowShape(output.shape, output.shape + output.rank),
      data(static_cast<char *>(array.data)) {
  std::vector<int64_t> wanted{rows};
  wanted.insert(wanted.end(), rowShape.begin(), rowShape.end());
  std::vector<int64_t> given;
  if (array.rank > 0 && array.shape)
    given.assign(array.shape, array.shape + array.rank);
  if (array.type != output.type || given != wanted)
    raiseInvalid("output '", output.name, "' has element type ",
                 typeName(elementType(output.type)), " and shape ",
                 shapeName(wanted), ", but the array has element type ",
                 typeName(type), " and shape ", shapeName(given));
  if (!data && elementCount(wanted) > 0)
    raiseInvalid("the array for output '", output.name, "' is null");
  if (array.strides)
    strides.assign(array.strides, array.strides + array.rank);
  else
    strides = denseStrides(wanted, byteSize(type));
}

void batchrt::copyDense(const BatchSession &session, int result,
                        const Target &target,
                        const std::vector<int64_t> &instances) {
  const Type &type = session.model->descriptor().results[result].type;
  const int64_t *cells = session.session.context().results[result];
  std::vector<RowSource> sources;
  sources.reserve(instances.size());
  for (int64_t i : instances)
    if (session.keepsPartial && !session.session.failure(i).empty())
      sources.push_back({nullptr, 0, 1});
    else
      sources.push_back({&type, cells[i], 1});
  target.copy(session.session, sources);
}
