//===- JsonOutputs.cpp - Results as JSON ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Outputs.h"

#include <nlohmann/json.hpp>

using namespace batchrt;
using nlohmann::ordered_json;

static ordered_json rowOf(const Output &output, int64_t row) {
  ordered_json elements = ordered_json::array();
  int64_t count = output.rowElements();
  for (int64_t e = row * count; e < (row + 1) * count; ++e)
    if (isFloat(output.type))
      elements.push_back(loadDouble(output.type, output.data.data(), e));
    else
      elements.push_back(loadInteger(output.type, output.data.data(), e));
  return elements;
}

std::string batchrt::toJson(const std::vector<Output> &outputs,
                            int64_t instance) {
  ordered_json object = ordered_json::object();
  for (const Output &output : outputs) {
    ordered_json rows = ordered_json::array();
    for (int64_t row = output.offsets[instance];
         row < output.offsets[instance + 1]; ++row)
      rows.push_back(rowOf(output, row));
    object[output.name] = output.ragged ? rows : rows.at(0);
  }
  return object.dump();
}
