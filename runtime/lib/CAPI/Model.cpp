//===- Model.cpp - Models and parameters of the C API ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Formats/StridedCopy.h"
#include "Handles.h"

#include <algorithm>
#include <map>

using namespace batchrt;

static thread_local std::string lastError;

BatchStatus batchrt::setLastError(BatchStatus status,
                                  const char *message) noexcept {
  try {
    lastError = message;
  } catch (const std::bad_alloc &) {
    lastError.clear();
    return BATCH_STATUS_NO_MEMORY;
  }
  return status;
}

const char *batchLastError(void) { return lastError.c_str(); }

int32_t batchAbiVersion(void) { return BATCH_ABI_VERSION; }

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

BatchElementType batchrt::elementType(DType type) {
  return static_cast<BatchElementType>(type);
}
// The C API guarantees the values of its enum, so DType must have the same
// values.
static_assert(static_cast<int>(DType::I1) == BATCH_TYPE_I1 &&
              static_cast<int>(DType::I64) == BATCH_TYPE_I64 &&
              static_cast<int>(DType::U8) == BATCH_TYPE_U8 &&
              static_cast<int>(DType::F16) == BATCH_TYPE_F16 &&
              static_cast<int>(DType::BF16) == BATCH_TYPE_BF16 &&
              static_cast<int>(DType::F32) == BATCH_TYPE_F32 &&
              static_cast<int>(DType::F64) == BATCH_TYPE_F64);

DType batchrt::elementType(BatchElementType type) {
  const auto number = static_cast<int>(type);
  if (number < 0 || number > BATCH_TYPE_F64)
    raiseInvalid("unknown element type ", number);
  return static_cast<DType>(number);
}

BatchField Model::makeField(const std::string &name, std::string description,
                            DType type, const std::vector<int64_t> &shape) {
  const std::vector<int64_t> &kept = shapes.emplace_back(shape);
  BatchField field = {};
  field.name = keep(name);
  field.description = keep(std::move(description));
  field.type = elementType(type);
  field.rank = static_cast<int32_t>(kept.size());
  field.shape = kept.data();
  return field;
}

/// Returns a type such as "tensor<?x4xf32>" or "f32".
static std::string describeTensor(DType type,
                                  const std::vector<int64_t> &shape) {
  if (shape.empty())
    return typeName(type);
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  return text + typeName(type) + ">";
}

BatchField Model::describeField(const Field &field) {
  const Type &inner = innermost(field.type);
  const bool isNumber = inner.kind != Type::Adt && inner.kind != Type::Index;
  BatchField result = makeField(
      field.name, describe(descriptor(), field.type),
      isNumber ? inner.dtype : DType::I64,
      inner.kind == Type::Tensor ? inner.shape : std::vector<int64_t>());
  for (const Type *type = &field.type; type != &inner; type = &type->element())
    ++result.lists;
  result.isIndex = inner.kind == Type::Index;
  if (inner.kind == Type::Adt)
    result.dataType = descriptor().adts[inner.adt].name.c_str();
  return result;
}

Model::Model(CompiledObject opened) : object(std::move(opened)) {
  const Descriptor &info = descriptor();
  for (const ParameterInfo &parameter : info.parameters)
    parameters.push_back(makeField(
        parameter.name, describeTensor(parameter.dtype, parameter.shape),
        parameter.dtype, parameter.shape));
  for (const Field &argument : info.arguments)
    arguments.push_back(describeField(argument));
  const OutputCollector collector(info);
  const std::vector<Output> &list = collector.outputs();
  for (size_t o = 0; o < list.size(); ++o) {
    const Output &output = list[o];
    outputs.push_back(makeField(output.name,
                                describeTensor(output.type, output.rowShape),
                                output.type, output.rowShape));
    outputs.back().isRagged = output.ragged;
    dense.push_back(output.ragged ? -1 : collector.resultOf(o));
  }
  int last = -1;
  for (const AdtInfo &adt : info.adts)
    for (const Variant &variant : adt.variants)
      last = std::max(last, variant.number);
  variants.resize(last + 1);
  for (int number = 0; number <= last; ++number)
    if (const Variant *variant = info.variantByNumber(number))
      for (const Field &field : variant->fields)
        variants[number].push_back(describeField(field));
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Raises Invalid if a pointer is null, because its use would crash.
template <class T>
static void checkGiven(const T *pointer, const char *what) {
  if (!pointer)
    raiseInvalid(what, " is null");
}

BatchStatus batchModelOpenVersion(int32_t version, const char *path,
                                  BatchModel **model) {
  return guarded([&] {
    checkGiven(path, "the path");
    checkGiven(model, "the output pointer for the model");
    if (version != BATCH_ABI_VERSION)
      raiseInvalid("the program was compiled with version ", version,
                   " of batch-runtime/CAPI.h, but the library has version ",
                   BATCH_ABI_VERSION, "; compile it with the library's header");
    *model = new BatchModel{
        std::make_shared<const Model>(CompiledObject::open(path))};
  });
}

BatchStatus batchModelAdopt(const BatchObject *object, BatchModel **model) {
  return guarded([&] {
    checkGiven(object, "the object");
    checkGiven(model, "the output pointer for the model");
    *model = new BatchModel{
        std::make_shared<const Model>(CompiledObject::adopt(*object))};
  });
}

void batchModelFree(BatchModel *model) { delete model; }

const char *batchModelDescriptor(const BatchModel *model) {
  return model->state->object.entry().descriptor;
}

static const std::vector<BatchField> &fieldsOf(const BatchModel &model,
                                               BatchFieldKind kind) {
  static const std::vector<BatchField> none;
  switch (kind) {
  case BATCH_PARAMETER:
    return model.state->parameters;
  case BATCH_ARGUMENT:
    return model.state->arguments;
  case BATCH_OUTPUT:
    return model.state->outputs;
  }
  return none;
}

static void readField(const std::vector<BatchField> &fields, int64_t number,
                      BatchField *field) {
  checkGiven(field, "the output pointer for the field");
  if (number < 0 || number >= static_cast<int64_t>(fields.size()))
    raiseInvalid("field ", number, " is out of range for ", fields.size(),
                 fields.size() == 1 ? " field" : " fields");
  *field = fields[number];
}

int64_t batchModelCount(const BatchModel *model, BatchFieldKind kind) {
  return static_cast<int64_t>(fieldsOf(*model, kind).size());
}

BatchStatus batchModelField(const BatchModel *model, BatchFieldKind kind,
                            int64_t number, BatchField *field) {
  return guarded([&] {
    checkGiven(model, "the model");
    readField(fieldsOf(*model, kind), number, field);
  });
}

int64_t batchModelVariants(const BatchModel *model) {
  return static_cast<int64_t>(model->state->variants.size());
}

static const Variant &findVariant(const BatchModel *model, int64_t number) {
  checkGiven(model, "the model");
  const bool isThere = number >= 0 && number < batchModelVariants(model);
  const Variant *variant =
      isThere
          ? model->state->descriptor().variantByNumber(static_cast<int>(number))
          : nullptr;
  if (!variant)
    raiseInvalid("unknown variant ", number);
  return *variant;
}

BatchStatus batchModelVariant(const BatchModel *model, int64_t variant,
                              BatchVariant *result) {
  return guarded([&] {
    const Variant &found = findVariant(model, variant);
    checkGiven(result, "the output pointer for the variant");
    *result = {found.name.c_str(),
               model->state->descriptor().adts[found.adt].name.c_str(),
               static_cast<int64_t>(found.fields.size())};
  });
}

BatchStatus batchModelVariantField(const BatchModel *model, int64_t variant,
                                   int64_t number, BatchField *field) {
  return guarded([&] {
    findVariant(model, variant);
    readField(model->state->variants[variant], number, field);
  });
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Returns the elements of an array, copied if the array is not dense.
static ParameterValue readArray(const ParameterInfo &parameter,
                                const BatchArray &array) {
  ParameterValue value;
  const DType type = elementType(array.type);
  if (array.rank > 0) {
    checkGiven(array.shape, "the shape of a parameter");
    value.shape.assign(array.shape, array.shape + array.rank);
  }
  bool fits =
      type == parameter.dtype && value.shape.size() == parameter.shape.size();
  for (size_t d = 0; fits && d < value.shape.size(); ++d)
    fits = parameter.shape[d] < 0 ? value.shape[d] >= 0
                                  : parameter.shape[d] == value.shape[d];
  if (!fits)
    raiseInvalid("parameter '", parameter.name, "' is ",
                 describeTensor(parameter.dtype, parameter.shape),
                 ", but the array is ", describeTensor(type, value.shape));
  const int64_t bytes = byteSize(type);
  // Rows are padded to 64 bytes, which can multiply the size by up to 64.
  int64_t count = 64 * bytes;
  for (int64_t extent : value.shape)
    if (__builtin_mul_overflow(count, std::max<int64_t>(extent, 1), &count))
      raiseInvalid("parameter '", parameter.name, "' of shape ",
                   shapeName(value.shape), " is too large to fit in memory");
  count = elementCount(value.shape);
  if (count > 0)
    checkGiven(array.data, "the data of a parameter");
  const std::vector<int64_t> strides = denseStrides(value.shape, bytes);
  value.data = static_cast<const char *>(array.data);
  if (count == 0 || !array.strides ||
      std::equal(strides.begin(), strides.end(), array.strides))
    return value;
  value.owned.resize(count * bytes);
  copyStrided(value.shape.size(), value.shape.data(), bytes, value.data,
              array.strides, value.owned.data(), strides.data());
  value.data = value.owned.data();
  return value;
}

BatchStatus batchParametersBind(const BatchModel *model, int64_t count,
                                const char *const *names,
                                const BatchArray *arrays,
                                BatchParameters **parameters) {
  return guarded([&] {
    checkGiven(model, "the model");
    checkGiven(parameters, "the output pointer for the parameters");
    const Descriptor &info = model->state->descriptor();
    if (count > 0) {
      checkGiven(names, "the list of names");
      checkGiven(arrays, "the list of arrays");
    }
    std::map<std::string, const BatchArray *> given;
    for (int64_t i = 0; i < count; ++i) {
      const std::string name = names[i];
      if (std::none_of(info.parameters.begin(), info.parameters.end(),
                       [&](auto &known) { return known.name == name; }))
        raiseInvalid("the model has no parameter '", name, "'");
      if (!given.emplace(name, &arrays[i]).second)
        raiseInvalid("parameter '", name, "' is given twice");
    }
    auto load = [&](const ParameterInfo &parameter) {
      auto found = given.find(parameter.name);
      if (found == given.end())
        raiseInvalid("parameter '", parameter.name, "' of type ",
                     describeTensor(parameter.dtype, parameter.shape),
                     " is missing");
      return readArray(parameter, *found->second);
    };
    *parameters = new BatchParameters{model->state,
                                      std::make_shared<const BoundParameters>(
                                          BoundParameters::make(info, load))};
  });
}

BatchStatus batchParametersRead(const BatchModel *model, const char *path,
                                BatchParameters **parameters) {
  return guarded([&] {
    checkGiven(model, "the model");
    checkGiven(path, "the path");
    checkGiven(parameters, "the output pointer for the parameters");
    ParameterOptions options;
    options.parameters = path;
    *parameters = new BatchParameters{model->state,
                                      std::make_shared<const BoundParameters>(
                                          model->state->descriptor(), options)};
  });
}

void batchParametersFree(BatchParameters *parameters) { delete parameters; }

//===----------------------------------------------------------------------===//
// Cancellations
//===----------------------------------------------------------------------===//

BatchStatus batchCancellationMake(BatchCancellation **result) {
  return guarded([&] {
    checkGiven(result, "the output pointer for the cancellation");
    *result = new BatchCancellation();
  });
}

void batchCancellationFree(BatchCancellation *cancellation) {
  delete cancellation;
}

void batchCancellationRequest(BatchCancellation *cancellation) {
  cancellation->state.request();
}

void batchCancellationReset(BatchCancellation *cancellation) {
  cancellation->state.reset();
}
