//===- JsonTensors.cpp - A JSON file of tensors ---------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonTensors.h"
#include "JsonLines.h"
#include "TensorText.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Tensors.h"

#include <algorithm>
#include <fstream>
#include <set>

using namespace batchrt;
using nlohmann::json;

bool JsonTensors::isJson(const std::string &path) {
  char begin[8];
  std::ifstream file(path, std::ios::binary);
  file.read(begin, sizeof(begin));
  const std::string text(begin, file.gcount());
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' &&
         text.find('\0') == std::string::npos;
}

JsonTensors JsonTensors::open(const std::string &path) {
  JsonTensors file;
  file.filePath = path;
  std::set<std::string> keys;
  auto checkKey = [&](int depth, json::parse_event_t event, json &value) {
    if (depth == 1 && event == json::parse_event_t::key &&
        !keys.insert(value.get<std::string>()).second)
      raise("'", path, "' contains ", value.dump(), " twice");
    return true;
  };
  const std::string text = readTextFile(path);
  try {
    file.object = json::parse(text, checkKey);
  } catch (const json::parse_error &error) {
    const size_t at =
        std::min(text.size(), std::max<size_t>(error.byte, 1) - 1);
    const size_t lineStart = text.rfind('\n', at ? at - 1 : 0) + 1;
    raise(path, ":",
          1 + std::count(text.begin(), text.begin() + lineStart, '\n'), ":",
          at - lineStart + 1,
          ": malformed JSON: ", jsonErrorText(error.what()));
  } catch (const json::exception &error) {
    raise("'", path, "': malformed JSON: ", jsonErrorText(error.what()));
  }
  return file;
}

std::vector<std::string> JsonTensors::names() const {
  std::vector<std::string> names;
  for (const auto &entry : object.items())
    names.push_back(entry.key());
  return names;
}

/// Passes a value within a tensor, or the value of a tensor of rank 0, to
/// `tensor`. `tensor` refuses arrays that are nested too deeply.
static void addValue(TensorText &tensor, const json &value) {
  switch (value.type()) {
  case json::value_t::array:
    tensor.open();
    for (const json &entry : value)
      addValue(tensor, entry);
    tensor.close();
    return;
  case json::value_t::boolean:
    return tensor.add(value.get<bool>());
  case json::value_t::number_unsigned:
    if (value.get<uint64_t>() > INT64_MAX)
      return tensor.add(value.get<double>(), value.dump().c_str());
    [[fallthrough]];
  case json::value_t::number_integer:
    return tensor.add(value.get<int64_t>());
  case json::value_t::number_float:
    return tensor.add(value.get<double>(), value.dump().c_str());
  case json::value_t::string:
    if (auto number = NonFinite::find(value.get<std::string>()))
      return tensor.add(*number);
    tensor.mismatch("a string");
  default:
    tensor.mismatch(value.is_object() ? "an object" : "null");
  }
}

std::vector<char> JsonTensors::read(const Descriptor &descriptor,
                                    const std::string &name, Type &type) const {
  const json &value = object.at(name);
  const json *first = &value;
  for (int64_t &extent : type.shape) {
    const bool hasEntries = first->is_array() && !first->empty();
    if (extent < 0)
      extent = hasEntries ? static_cast<int64_t>(first->size()) : 0;
    if (hasEntries)
      first = &first->front();
  }
  TensorText tensor(descriptor);
  tensor.begin(type);
  try {
    if (type.shape.empty())
      addValue(tensor, value);
    else if (!value.is_array())
      raise(": expected ", TensorText::expected(type), ", found ",
            value.type_name());
    else {
      for (const json &entry : value)
        addValue(tensor, entry);
      tensor.close();
    }
  } catch (const Error &error) {
    raise("'", filePath, "': tensor '", name, "'", error.what());
  }
  return {tensor.elements(),
          tensor.elements() + elementCount(type.shape) * byteSize(type.dtype)};
}
