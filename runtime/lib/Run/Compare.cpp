//===- Compare.cpp - Comparing outputs ------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Outputs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace batchrt;

namespace {
/// Returns the root mean square of an array, ignoring NaNs and infinities.
double rootMeanSquare(DType type, const char *data, int64_t count) {
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < count; ++i) {
    double value = loadDouble(type, data, i);
    if (!std::isfinite(value))
      continue;
    sum += value * value;
    ++finite;
  }
  return finite ? std::sqrt(sum / static_cast<double>(finite)) : 0;
}

bool equal(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

double relativeError(double a, double b, double rms) {
  if (equal(a, b))
    return 0;
  double error = std::fabs(a - b) / std::max(std::fabs(b), rms);
  return std::isnan(error) ? INFINITY : error;
}

std::string number(DType type, const char *data, int64_t index) {
  if (!isFloat(type))
    return std::to_string(loadInteger(type, data, index));
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", loadDouble(type, data, index));
  return text;
}

/// Returns "row R, element C" for ragged outputs, and "element C" for others.
std::string elementName(const Output &output, int64_t index) {
  int64_t row = index / std::max<int64_t>(output.rowElements(), 1);
  int64_t column = index % std::max<int64_t>(output.rowElements(), 1);
  return output.ragged ? concat("row ", row, ", element ", column)
                       : concat("element ", column);
}
} // namespace

Difference batchrt::compareOutputs(const std::vector<Output> &outputs,
                                   const std::vector<Output> &reference,
                                   std::optional<double> tolerance) {
  Difference difference;
  int64_t firstInstance = INT64_MAX;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Output &a = outputs[o], &b = reference[o];
    int64_t width = a.rowElements();
    double rms = isFloat(b.type)
                     ? rootMeanSquare(b.type, b.data.data(), b.rows() * width)
                     : 0;
    for (int64_t i = 0; i < a.instances(); ++i) {
      std::string problem;
      int64_t rowsA = a.offsets[i + 1] - a.offsets[i];
      int64_t rowsB = b.offsets[i + 1] - b.offsets[i];
      if (rowsA != rowsB) {
        problem = concat("number of rows: ", rowsA, "; expected ", rowsB);
        difference.largestError = INFINITY;
      }
      for (int64_t e = 0; e < rowsA * width && rowsA == rowsB; ++e) {
        int64_t atA = a.offsets[i] * width + e, atB = b.offsets[i] * width + e;
        double error = 0;
        bool differs;
        if (isFloat(a.type)) {
          error = relativeError(loadDouble(a.type, a.data.data(), atA),
                                loadDouble(b.type, b.data.data(), atB), rms);
          // Without a tolerance, compare the values directly: the quotient can
          // be 0 although the values differ.
          differs = tolerance ? error > *tolerance
                              : !equal(loadDouble(a.type, a.data.data(), atA),
                                       loadDouble(b.type, b.data.data(), atB));
        } else {
          differs = loadInteger(a.type, a.data.data(), atA) !=
                    loadInteger(b.type, b.data.data(), atB);
          if (differs)
            error = INFINITY;
        }
        difference.largestError = std::max(difference.largestError, error);
        if (differs && problem.empty())
          problem = concat(elementName(a, e), ": ",
                           number(a.type, a.data.data(), atA), "; expected ",
                           number(b.type, b.data.data(), atB));
      }
      if (!problem.empty() && i < firstInstance) {
        firstInstance = i;
        difference.first =
            concat("output '", a.name, "' of instance ", i, ", ", problem);
      }
    }
  }
  return difference;
}

Difference batchrt::compareExpected(const std::vector<Output> &outputs,
                                    const TensorFile &expected, double relative,
                                    double absolute, int64_t *compared) {
  Difference difference;
  int64_t entries = 0;
  auto fail = [&](const std::string &message) {
    if (!difference.first)
      difference.first = message;
  };
  int64_t instances = outputs.empty() ? 0 : outputs[0].instances();
  for (const auto &[key, view] : expected.tensors()) {
    char *end = nullptr;
    long long instance = std::strtoll(key.c_str(), &end, 10);
    if (end == key.c_str() || *end != '.' || instance < 0)
      raise("'", expected.path(), "': invalid entry name '", key,
            "'; expected INSTANCE.OUTPUT, such as '0.h'");
    if (instance >= instances)
      continue;
    std::string name = end + 1;
    auto output = std::find_if(outputs.begin(), outputs.end(),
                               [&](auto &o) { return o.name == name; });
    if (output == outputs.end()) {
      std::string names;
      for (const Output &candidate : outputs)
        names += (names.empty() ? "" : ", ") + candidate.name;
      fail(concat("unknown output '", name, "'; expected one of ", names));
      continue;
    }
    ++entries;
    int64_t begin = output->offsets[instance];
    int64_t rows = output->offsets[instance + 1] - begin;
    std::vector<int64_t> shape = output->rowShape;
    if (output->ragged)
      shape.insert(shape.begin(), rows);
    if (shape != view.shape) {
      fail(concat("output '", name, "' of instance ", instance, " has shape ",
                  shapeName(shape), "; expected ", shapeName(view.shape)));
      difference.largestError = INFINITY;
      continue;
    }
    int64_t count = view.count(), first = begin * output->rowElements();
    double rms = rootMeanSquare(view.type, view.data, count);
    bool exact = !isFloat(view.type) || !isFloat(output->type);
    for (int64_t e = 0; e < count; ++e) {
      double a = loadDouble(output->type, output->data.data(), first + e);
      double b = loadDouble(view.type, view.data, e);
      difference.largestError =
          std::max(difference.largestError, relativeError(a, b, rms));
      bool close =
          equal(a, b) ||
          (!exact && std::fabs(a - b) <= absolute + relative * std::fabs(b));
      if (!close)
        fail(concat("output '", name, "' of instance ", instance, ", ",
                    elementName(*output, e), ": ",
                    number(output->type, output->data.data(), first + e),
                    "; expected ", number(view.type, view.data, e)));
    }
  }
  if (entries == 0)
    fail("no entry of '" + expected.path() + "' belongs to an output");
  if (compared)
    *compared = entries;
  return difference;
}
