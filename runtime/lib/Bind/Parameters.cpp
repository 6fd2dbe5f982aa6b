//===- Parameters.cpp - Binding parameters --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Parameters.h"
#include "../Formats/JsonTensors.h"
#include "batch-runtime/ABI.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Schedule/Random.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

using namespace batchrt;

/// Returns the key of a random parameter, which determines its values.
static uint64_t randomKey(uint64_t seed, const std::string &name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3u;
  return mixBits(seed * goldenRatio + hash);
}

/// Returns 24 random bits.
static uint64_t randomBits(uint64_t key, int64_t index) {
  return mixBits(key + (static_cast<uint64_t>(index) + 1) * goldenRatio) >> 40;
}

static double randomValue(uint64_t key, int64_t index, double bound) {
  return (static_cast<double>(randomBits(key, index)) * 0x1p-23 - 1.0) * bound;
}

double batchrt::randomParameter(uint64_t seed, const std::string &name,
                                int64_t index, double bound) {
  return randomValue(randomKey(seed, name), index, bound);
}

namespace {
class ParameterReader {
public:
  ParameterReader(const Descriptor &descriptor, const ParameterOptions &options)
      : descriptor(descriptor), options(options) {
    const std::string &text = options.parameters;
    if (text.rfind("random:", 0) == 0) {
      const char *digits = text.c_str() + 7;
      char *end = nullptr;
      errno = 0;
      seed = std::strtoull(digits, &end, 10);
      if (end == digits || *end || errno || *digits == '-')
        raise("invalid random parameters '", text,
              "'; expected random:SEED, such as random:1");
      return;
    }
    if (JsonTensors::isJson(text))
      json = JsonTensors::open(text);
    else if (!text.empty())
      file = TensorFile::open(text);
  }

  ParameterValue load(const ParameterInfo &parameter) const {
    ParameterValue loaded = seed   ? makeRandom(parameter)
                            : json ? readJson(parameter)
                                   : read(parameter);
    if (options.reportNan && isFloat(parameter.dtype))
      for (int64_t i = 0, n = elementCount(loaded.shape); i < n; ++i)
        if (std::isnan(loadDouble(parameter.dtype, loaded.data, i)))
          raise("parameter '", parameter.name, "' is NaN at element ", i);
    return loaded;
  }

private:
  ParameterValue makeRandom(const ParameterInfo &parameter) const {
    ParameterValue loaded;
    loaded.shape = parameter.shape;
    for (size_t i = 0; i < loaded.shape.size(); ++i) {
      if (loaded.shape[i] >= 0)
        continue;
      if (i != 0)
        raise("parameter '", parameter.name, "' has shape ",
              shapeName(parameter.shape),
              ", but with random:SEED, only the first extent may be unknown; "
              "use a file");
      loaded.shape[0] = options.largestIndex + 1;
    }
    int64_t count = elementCount(loaded.shape);
    int64_t fanIn = loaded.shape.empty() ? 1 : loaded.shape.back();
    double bound =
        std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(fanIn, 1)));
    uint64_t key = randomKey(*seed, parameter.name);
    loaded.owned.resize(count * byteSize(parameter.dtype));
    // Integers have the same range as in random inputs.
    const int64_t integers = parameter.dtype == DType::I1 ? 2 : 10;
    for (int64_t i = 0; i < count; ++i)
      if (isFloat(parameter.dtype))
        storeFloat(parameter.dtype, randomValue(key, i, bound),
                   loaded.owned.data(), i);
      else
        storeInteger(parameter.dtype,
                     static_cast<int64_t>(randomBits(key, i)) % integers,
                     loaded.owned.data(), i);
    loaded.data = loaded.owned.data();
    return loaded;
  }

  [[noreturn]] static void missing(const ParameterInfo &parameter,
                                   const std::string &path,
                                   const std::vector<std::string> &found) {
    std::string names;
    for (const std::string &name : found)
      if (names.size() < 200)
        names += (names.empty() ? "" : ", ") + name;
    raise("parameter '", parameter.name, "' of shape ",
          shapeName(parameter.shape), " is missing from '", path,
          "'; the file contains ", names.empty() ? "no tensors" : names);
  }

  ParameterValue readJson(const ParameterInfo &parameter) const {
    if (!json->contains(parameter.name))
      missing(parameter, json->path(), json->names());
    Type type;
    type.kind = Type::Tensor;
    type.dtype = parameter.dtype;
    type.shape = parameter.shape;
    ParameterValue loaded;
    loaded.owned = json->read(descriptor, parameter.name, type);
    loaded.shape = type.shape;
    loaded.data = loaded.owned.data();
    return loaded;
  }

  ParameterValue read(const ParameterInfo &parameter) const {
    if (!file)
      raise("parameter '", parameter.name,
            "' is not given; add --params=FILE.safetensors, "
            "--params=FILE.json or --params=random:SEED");
    const TensorView *view = file->find(parameter.name);
    if (!view) {
      std::vector<std::string> names;
      for (const auto &entry : file->tensors())
        names.push_back(entry.first);
      missing(parameter, file->path(), names);
    }
    bool fits = view->shape.size() == parameter.shape.size();
    for (size_t i = 0; fits && i < view->shape.size(); ++i)
      fits = parameter.shape[i] < 0 || parameter.shape[i] == view->shape[i];
    if (!fits)
      raise("parameter '", parameter.name, "' has shape ",
            shapeName(view->shape), " in '", file->path(),
            "', but the model expects ", shapeName(parameter.shape),
            "; give a tensor of this shape, or compile for another size "
            "(--size)");
    if (!canConvert(view->type, parameter.dtype))
      raise("parameter '", parameter.name, "' has type ", fileName(view->type),
            " in '", file->path(), "', but the model expects ",
            fileName(parameter.dtype));
    ParameterValue loaded;
    loaded.shape = view->shape;
    loaded.data = view->data;
    if (view->type != parameter.dtype) {
      loaded.owned.resize(view->count() * byteSize(parameter.dtype));
      if (!convertElements(view->type, view->data, parameter.dtype,
                           loaded.owned.data(), view->count()))
        raise("parameter '", parameter.name, "' has values in '", file->path(),
              "' that do not fit in ", typeName(parameter.dtype));
      loaded.data = loaded.owned.data();
    }
    return loaded;
  }

  const Descriptor &descriptor;
  const ParameterOptions &options;
  std::optional<uint64_t> seed;
  std::optional<TensorFile> file;
  std::optional<JsonTensors> json;
};

/// Order of the elements of a parameter: element (k, n) of group g has the
/// index groups[g] + ks[k] + ns[n].
struct ElementOrder {
  std::vector<int64_t> groups{0}, ks{0}, ns{0};
};

/// Returns the order of the elements in `columns` columns, or in all columns if
/// the packing has its own order.
ElementOrder findElements(const PackingInfo &packing, int64_t columns) {
  std::vector<int64_t> extents{packing.k, columns};
  std::vector<int> order{0, 1};
  if (packing.transposed) {
    std::swap(extents[0], extents[1]);
    std::swap(order[0], order[1]);
  }
  if (!packing.extents.empty()) {
    extents = packing.extents;
    order = packing.order;
  }
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;)
    strides[d - 1] = strides[d] * extents[d];
  ElementOrder elements;
  // Adds `dim` as the next outer dimension of `offsets`.
  auto extend = [&](std::vector<int64_t> &offsets, int dim) {
    const size_t inner = offsets.size();
    for (int64_t i = 1; i < extents[dim]; ++i)
      for (size_t j = 0; j < inner; ++j)
        offsets.push_back(offsets[j] + i * strides[dim]);
  };
  for (size_t i = order.size(); i-- > 0;) {
    const auto ns = static_cast<int64_t>(elements.ns.size());
    const auto ks = static_cast<int64_t>(elements.ks.size());
    extend(ns < columns     ? elements.ns
           : ks < packing.k ? elements.ks
                            : elements.groups,
           order[i]);
  }
  return elements;
}

/// Packs columns `begin` to `end` of B into panels of `width`:
/// P[p][k][j] = B[k][p * width + j], group after group. `data` contains only
/// these columns.
template <class T>
void packPanels(const PackingInfo &packing, int64_t begin, int64_t end,
                const char *data, char *target) {
  T *out = reinterpret_cast<T *>(target);
  const ElementOrder elements = findElements(packing, end - begin);
  const int64_t panels = (packing.n + packing.width - 1) / packing.width;
  for (int64_t group : elements.groups) {
    for (int64_t p = begin / packing.width; p * packing.width < end; ++p) {
      const int64_t first = std::max(begin, p * packing.width);
      const int64_t last = std::min(end, (p + 1) * packing.width);
      for (int64_t k = 0; k < packing.k; ++k)
        for (int64_t n = first; n < last; ++n) {
          int64_t from = group + elements.ks[k] + elements.ns[n - begin];
          std::memcpy(
              &out[(p * packing.k + k) * packing.width + n % packing.width],
              data + from * static_cast<int64_t>(sizeof(T)), sizeof(T));
        }
    }
    out += panels * packing.k * packing.width;
  }
}

/// Packs the columns that parameter `p` contributes to a packing.
void packColumns(const PackingInfo &packing, const Descriptor &descriptor,
                 int p, const ParameterValue &loaded, char *target) {
  int64_t columns = 0;
  auto pack = [&](int parameter) {
    const ParameterInfo &info = descriptor.parameters[parameter];
    // Stacked parameters have static shapes; other parameters may have dynamic
    // ones.
    int64_t begin = columns;
    columns += packing.stacked.empty() ? packing.n : info.shape[0];
    if (parameter != p)
      return;
    int64_t size = byteSize(info.dtype);
    if (size == 4)
      packPanels<uint32_t>(packing, begin, columns, loaded.data, target);
    else if (size == 8)
      packPanels<uint64_t>(packing, begin, columns, loaded.data, target);
    else if (size == 2)
      packPanels<uint16_t>(packing, begin, columns, loaded.data, target);
    else
      packPanels<uint8_t>(packing, begin, columns, loaded.data, target);
  };
  pack(packing.parameter);
  for (int parameter : packing.stacked)
    pack(parameter);
}

bool hasParameter(const PackingInfo &packing, int p) {
  return packing.parameter == p ||
         std::find(packing.stacked.begin(), packing.stacked.end(), p) !=
             packing.stacked.end();
}
} // namespace

BoundParameters::BoundParameters(const Descriptor &descriptor,
                                 const ParameterOptions &options)
    : BoundParameters(
          [reader = ParameterReader(descriptor, options)](
              const ParameterInfo &parameter) {
            return reader.load(parameter);
          },
          descriptor) {}

BoundParameters::BoundParameters(const Loader &load,
                                 const Descriptor &descriptor)
    : buffers(descriptor.packings.size()), layouts(descriptor.packings.size()) {
  // Parameters are bound one by one, so that converted copies are short-lived.
  for (size_t p = 0; p < descriptor.parameters.size(); ++p) {
    const ParameterInfo &parameter = descriptor.parameters[p];
    ParameterValue loaded = load(parameter);
    for (size_t f = 0; f < descriptor.packings.size(); ++f) {
      const PackingInfo &packing = descriptor.packings[f];
      if (!hasParameter(packing, static_cast<int>(p)))
        continue;
      std::string what = "parameter '" + parameter.name + "'";
      if (packing.panels) {
        if (packing.stacked.empty() &&
            packing.groups() * packing.n * packing.k !=
                elementCount(loaded.shape))
          raise("parameter '", parameter.name, "' of shape ",
                shapeName(loaded.shape), " does not fit its panels of ",
                packing.k, " by ", packing.n);
        int64_t panels = packing.groups() *
                         ((packing.n + packing.width - 1) / packing.width);
        if (!buffers[f].data()) {
          layouts[f].bytes =
              panels * packing.width * packing.k * byteSize(parameter.dtype);
          std::memset(buffers[f].reserve(layouts[f].bytes, what.c_str()), 0,
                      layouts[f].bytes);
        }
        packColumns(packing, descriptor, static_cast<int>(p), loaded,
                    buffers[f].data());
        continue;
      }
      const std::vector<int64_t> &shape = loaded.shape;
      size_t skip = shape.size() > 1 ? 1 : 0; // a vector is one row
      RowLayout row(shape.data() + skip, shape.data() + shape.size(),
                    parameter.dtype);
      int64_t rows = skip ? shape[0] : 1;
      // Generated code reads row 0 in place of a row that does not exist.
      size_t bytes = std::max<int64_t>(rows, 1) * row.rowBytes();
      layouts[f] = {rows, row.rowBytes(), bytes, BATCH_ROWS_PREFIX};
      char *target =
          buffers[f].reserve(BATCH_ROWS_PREFIX + bytes, what.c_str());
      std::memset(target, 0, BATCH_ROWS_PREFIX + bytes);
      if (!shape.empty())
        std::memcpy(target, shape.data(), sizeof(int64_t));
      target += BATCH_ROWS_PREFIX;
      for (int64_t i = 0; i < rows; ++i)
        row.pad(loaded.data + i * row.denseBytes(),
                target + i * row.rowBytes());
    }
  }
}

size_t BoundParameters::bytes() const {
  size_t sum = 0;
  for (const Buffer &buffer : buffers)
    sum += buffer.capacity();
  return sum;
}
