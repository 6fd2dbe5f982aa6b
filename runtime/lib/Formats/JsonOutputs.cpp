//===- JsonOutputs.cpp - Results as JSON ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorText.h"
#include "batch-runtime/Outputs.h"

#include <cmath>
#include <nlohmann/json.hpp>

using namespace batchrt;
using nlohmann::ordered_json;

static ordered_json rowOf(const Output &output, int64_t row) {
  ordered_json elements = ordered_json::array();
  int64_t count = output.rowElements();
  for (int64_t e = row * count; e < (row + 1) * count; ++e) {
    const char *data = output.data.data();
    if (!isFloat(output.type))
      elements.push_back(loadInteger(output.type, data, e));
    else if (double value = loadDouble(output.type, data, e);
             std::isfinite(value))
      elements.push_back(value);
    else
      elements.push_back(NonFinite{value}.name());
  }
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
