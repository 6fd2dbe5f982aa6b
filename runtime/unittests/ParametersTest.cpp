//===- ParametersTest.cpp - Tests of descriptors and parameters -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Parameters.h"
#include "Support.h"

#include <cmath>
#include <set>

using namespace batchrt;

namespace {
const char model[] = R"({
  "parameters": [{"name": "E", "shape": [-1, 3], "dtype": "f32"},
                 {"name": "b", "shape": [3], "dtype": "f32"},
                 {"name": "W", "shape": [3, 2], "dtype": "f32"}],
  "packings": [{"parameter": 0, "packing": "rows"}, {"parameter": 1, "packing": "rows"},
    {"parameter": 2, "packing": "panels", "n": 3, "k": 2, "transposed": true, "width": 2},
    {"parameter": 2, "packing": "panels", "n": 2, "k": 3, "transposed": false, "width": 4},
    {"parameter": 2, "packing": "rows"}]})";

struct Files {
  TemporaryFolder folder;
  std::vector<float> floats{1, 2, 3, 4, 5, 6};
  std::vector<double> doubles{1, 2, 3, 4, 5, 6};

  std::string write(const std::vector<NamedTensor> &tensors) {
    writeTensorFile(folder.file("p.safetensors"), tensors);
    return folder.file("p.safetensors");
  }
  NamedTensor f32(const char *name, std::vector<int64_t> shape) {
    return {name, DType::F32, shape, reinterpret_cast<char *>(floats.data())};
  }
};

const float *floatsOf(const BoundParameters &bound, int packing) {
  return reinterpret_cast<const float *>(bound.packing(packing));
}
} // namespace

TEST(Parameters, Packings) {
  Files files;
  Descriptor descriptor(model);
  NamedTensor e{
      "E", DType::F64, {2, 3}, reinterpret_cast<char *>(files.doubles.data())};
  std::string path =
      files.write({e, files.f32("b", {3}), files.f32("W", {3, 2})});
  BoundParameters bound(descriptor, {path});
  EXPECT_EQ(bound.rows(0), 2);
  EXPECT_EQ(bound.rowBytes(0), 64);
  EXPECT_EQ(floatsOf(bound, 0)[16 + 2], 6);
  EXPECT_EQ(bound.rows(1), 1);
  EXPECT_EQ(floatsOf(bound, 1)[2], 3);
  // W = [[1 2] [3 4] [5 6]], B = W^T: panels of two columns of B.
  std::vector<float> transposed{1, 3, 2, 4, 5, 0, 6, 0};
  std::vector<float> straight{1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0};
  for (size_t i = 0; i < transposed.size(); ++i)
    EXPECT_EQ(floatsOf(bound, 2)[i], transposed[i]) << i;
  for (size_t i = 0; i < straight.size(); ++i)
    EXPECT_EQ(floatsOf(bound, 3)[i], straight[i]) << i;
  EXPECT_EQ(bound.rows(4), 3);
  EXPECT_EQ(floatsOf(bound, 4)[32 + 1], 6);
  for (int f = 0; f < 5; ++f)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bound.packing(f)) % 64, 0u);
}

TEST(Parameters, Stacked) {
  Files files;
  // B = [V; W]^T, in panels of two columns: the second panel has one column of
  // V and one of W. Parameters are read in their own order.
  Descriptor descriptor(R"({
    "parameters": [{"name": "W", "shape": [2, 2], "dtype": "f32"},
                   {"name": "V", "shape": [3, 2], "dtype": "f32"}],
    "packings": [{"parameter": 1, "stacked": [0], "packing": "panels", "n": 5, "k": 2,
               "transposed": true, "width": 2}]})");
  std::vector<float> w{7, 8, 9, 10};
  NamedTensor named{
      "W", DType::F32, {2, 2}, reinterpret_cast<char *>(w.data())};
  BoundParameters bound(descriptor,
                        {files.write({files.f32("V", {3, 2}), named})});
  std::vector<float> panels{1, 3, 2, 4, 5, 7, 6, 8, 9, 0, 10, 0};
  for (size_t i = 0; i < panels.size(); ++i)
    EXPECT_EQ(floatsOf(bound, 0)[i], panels[i]) << i;
}

TEST(Parameters, Groups) {
  Files files;
  // W[h][n][k] with a matrix for each h, in panels of two columns.
  Descriptor descriptor(R"({
    "parameters": [{"name": "W", "shape": [2, 3, 1], "dtype": "f32"},
                   {"name": "F", "shape": [1, 2, 3], "dtype": "f32"}],
    "packings": [{"parameter": 0, "packing": "panels", "n": 3, "k": 1, "width": 2,
                  "extents": [2, 3, 1], "order": [0, 2, 1]},
                 {"parameter": 1, "packing": "panels", "n": 1, "k": 6, "width": 1,
                  "extents": [1, 2, 3], "order": [2, 1, 0]}]})");
  BoundParameters bound(descriptor, {files.write({files.f32("W", {2, 3, 1}),
                                                  files.f32("F", {1, 2, 3})})});
  std::vector<float> panels{1, 2, 3, 0, 4, 5, 6, 0};
  for (size_t i = 0; i < panels.size(); ++i)
    EXPECT_EQ(floatsOf(bound, 0)[i], panels[i]) << i;
  // The dimensions of k in a different order.
  std::vector<float> reordered{1, 4, 2, 5, 3, 6};
  for (size_t i = 0; i < reordered.size(); ++i)
    EXPECT_EQ(floatsOf(bound, 1)[i], reordered[i]) << i;

  auto describe = [](const char *extents, const char *order) {
    std::string text = R"({
        "parameters": [{"name": "W", "shape": [2, 3, 1], "dtype": "f32"}],
        "packings": [{"parameter": 0, "packing": "panels", "n": 3, "k": 1, "width": 2,
                      "extents": )";
    text += std::string(extents) + R"(, "order": )" + order + "}]}";
    return messageOf([&] { Descriptor descriptor(text.c_str()); });
  };
  const std::string error = "the descriptor has a packing of panels whose "
                            "extents do not multiply to k x n";
  EXPECT_EQ(describe("[2, 3, 1]", "[0, 2, 1]"), "no error");
  EXPECT_EQ(describe("[2, 3, 1]", "[0, 2]"), error);
  EXPECT_EQ(describe("[2, 3, 1]", "[0, 2, 2]"), error);
  EXPECT_EQ(describe("[2, 3, 1]", "[1, 2, 0]"), error);
  EXPECT_EQ(describe("[2, 0, 1]", "[0, 2, 1]"), error);
}

TEST(Parameters, Errors) {
  Files files;
  Descriptor descriptor(model);
  auto bind = [&](const std::vector<NamedTensor> &tensors, bool nan = false) {
    return messageOf(
        [&] { BoundParameters(descriptor, {files.write(tensors), 0, nan}); });
  };
  NamedTensor e = files.f32("E", {2, 3}), b = files.f32("b", {3});
  EXPECT_NE(bind({e, b}).find("parameter 'W' of shape [3,2] is missing"),
            std::string::npos);
  EXPECT_NE(bind({e, b, files.f32("W", {2, 3})}).find("has shape [2,3] in"),
            std::string::npos);
  EXPECT_NE(bind({files.f32("E", {6})})
                .find("the model expects [?,3]; give a tensor of this shape"),
            std::string::npos);
  EXPECT_NE(bind({{"E", DType::I32, {2, 3}, e.data}}).find("has type I32"),
            std::string::npos);
  NamedTensor w = files.f32("W", {3, 2});
  EXPECT_EQ(bind({e, b, w}, true), "no error");
  files.floats[2] = NAN;
  EXPECT_EQ(bind({e, b, w}), "no error");
  EXPECT_EQ(bind({e, b, w}, true), "parameter 'E' is NaN at element 2");
  EXPECT_MESSAGE("parameter 'E' is not given", BoundParameters(descriptor, {}));
  EXPECT_MESSAGE("invalid random parameters 'random:x'; expected random:SEED",
                 BoundParameters(descriptor, {"random:x"}));
  Descriptor unknown(R"({"parameters": [{"name": "a", "shape": [2, -1]}]})");
  EXPECT_MESSAGE(
      "parameter 'a' has shape [2,?], but with random:SEED, only the "
      "first extent may be unknown",
      BoundParameters(unknown, {"random:1"}));
  Descriptor narrow(R"({
    "parameters": [{"name": "a", "shape": [1], "dtype": "i32"}]})");
  const int64_t large = int64_t(1) << 40;
  EXPECT_MESSAGE(
      "that do not fit in i32",
      BoundParameters(
          narrow, {files.write({{"a",
                                 DType::I64,
                                 {1},
                                 reinterpret_cast<const char *>(&large)}})}));
  Descriptor square(R"({
    "parameters": [{"name": "a", "shape": [2, 2]}],
    "packings": [{"parameter": 0, "packing": "panels", "n": 3, "k": 2,
                  "width": 2}]})");
  EXPECT_MESSAGE("parameter 'a' of shape [2,2] does not fit its panels of 2 by "
                 "3",
                 BoundParameters(square, {"random:1"}));
}

TEST(Parameters, Random) {
  Descriptor descriptor(model);
  BoundParameters small(descriptor, {"random:1", 4});
  BoundParameters large(descriptor, {"random:1", 9});
  BoundParameters other(descriptor, {"random:2", 9});
  EXPECT_EQ(small.rows(0), 5);
  EXPECT_EQ(large.rows(0), 10);
  // The values of a row do not depend on the number of rows.
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(floatsOf(small, 0)[i * 16 + j], floatsOf(large, 0)[i * 16 + j]);
      EXPECT_LE(std::fabs(floatsOf(small, 0)[i * 16 + j]), 1.0f);
    }
  EXPECT_NE(floatsOf(large, 0)[0], floatsOf(other, 0)[0]);
  EXPECT_NE(floatsOf(large, 0)[0], floatsOf(large, 1)[0]);
  EXPECT_EQ(floatsOf(large, 1)[2],
            static_cast<float>(randomParameter(1, "b", 2, 1.0)));
  double sum = 0, squares = 0;
  for (int i = 0; i < 10000; ++i) {
    double value = randomParameter(5, "x", i, 1.0);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 10000, 0, 0.03);
  EXPECT_NEAR(squares / 10000, 1 / 3.0, 0.02);
}

TEST(Parameters, RandomOfAllTypes) {
  Descriptor descriptor(R"({
    "parameters": [{"name": "h", "shape": [3], "dtype": "f16"},
                   {"name": "b", "shape": [3], "dtype": "bf16"},
                   {"name": "d", "shape": [3], "dtype": "f64"},
                   {"name": "n", "shape": [64], "dtype": "i8"},
                   {"name": "m", "shape": [64], "dtype": "i1"}],
    "packings": [{"parameter": 0, "packing": "rows"},
      {"parameter": 1, "packing": "rows"}, {"parameter": 2, "packing": "rows"},
      {"parameter": 3, "packing": "rows"}, {"parameter": 4, "packing": "rows"}]})");
  BoundParameters bound(descriptor, {"random:1"});
  const DType types[] = {DType::F16, DType::BF16, DType::F64};
  const char *names[] = {"h", "b", "d"};
  for (int p = 0; p < 3; ++p)
    for (int i = 0; i < 3; ++i) {
      char rounded[8];
      ASSERT_TRUE(storeFloat(types[p], randomParameter(1, names[p], i, 1.0),
                             rounded, 0));
      EXPECT_EQ(loadDouble(types[p], bound.packing(p), i),
                loadDouble(types[p], rounded, 0));
    }
  std::set<int64_t> bytes, bits;
  for (int i = 0; i < 64; ++i) {
    bytes.insert(loadInteger(DType::I8, bound.packing(3), i));
    bits.insert(loadInteger(DType::I8, bound.packing(4), i));
  }
  EXPECT_GE(*bytes.begin(), 0);
  EXPECT_LE(*bytes.rbegin(), 9);
  EXPECT_GT(bytes.size(), 5u);
  EXPECT_EQ(bits, (std::set<int64_t>{0, 1}));
}

TEST(Descriptor, Errors) {
  EXPECT_MESSAGE("malformed", Descriptor("{"));
  EXPECT_MESSAGE("malformed", Descriptor(R"({"name": 3})"));
  EXPECT_MESSAGE("lacks 'shape'",
                 Descriptor(R"({"parameters": [{"name": "a"}]})"));
  EXPECT_MESSAGE("a tensor type without a static shape",
                 Descriptor(R"({"arguments": [
      {"name": "a", "type": {"tensor": [-1]}}]})"));
  EXPECT_MESSAGE("a row count for result 'n', which has no rows",
                 Descriptor(R"({"results": [
      {"name": "n", "type": "index", "rows": 0}]})"));
  auto variants = [](const char *fields) {
    return concat(R"({"cellColumns": 0, "adts": [{"name": "T", "variants": [
      {"name": "a", "number": 1, "fields": [)",
                  fields, R"(]}, {"name": "b", "number": 1}]}]})");
  };
  EXPECT_MESSAGE("uses variant number 1 twice",
                 Descriptor(variants("").c_str()));
  EXPECT_MESSAGE(
      "variant 'a' has more fields than there are cell columns",
      Descriptor(variants(R"({"name": "x", "type": "index"})").c_str()));
  EXPECT_MESSAGE("unknown packing", Descriptor(R"({"parameters": [
      {"name": "a", "shape": []}], "packings": [{"parameter": 0, "packing": "x"}]})"));
  auto stack = [](const char *shape, const char *stacked) {
    return std::string(R"({"parameters": [{"name": "a", "shape": [3, 2]},
      {"name": "b", "shape": )") +
           shape + R"(}], "packings": [{"parameter": 0, "stacked": )" +
           stacked +
           R"(, "packing": "panels", "n": 4, "k": 2, "width": 4,
             "transposed": true}]})";
  };
  Descriptor(stack("[1, 2]", "[1]").c_str());
  EXPECT_MESSAGE("refers to parameter 2",
                 Descriptor(stack("[1, 2]", "[2]").c_str()));
  EXPECT_MESSAGE("'b', whose shape",
                 Descriptor(stack("[1, 3]", "[1]").c_str()));
  EXPECT_MESSAGE("stacks 5 rows", Descriptor(stack("[2, 2]", "[1]").c_str()));
  EXPECT_MESSAGE(
      "refers to parameter 3",
      Descriptor(R"({"packings": [{"parameter": 3, "packing": "rows"}]})"));
  EXPECT_MESSAGE(
      "unknown ADT",
      Descriptor(R"({"arguments": [{"name": "a", "type": {"adt": "T"}}]})"));
  EXPECT_MESSAGE(
      "unknown type",
      Descriptor(R"({"arguments": [{"name": "a", "type": {"thing": 3}}]})"));
  EXPECT_MESSAGE("unknown element type 'f12'", Descriptor(R"({"parameters": [
      {"name": "a", "shape": [], "dtype": "f12"}]})"));
  EXPECT_MESSAGE("the descriptor has an unknown policy 'x'",
                 Descriptor(R"({"policy": "x"})"));
  EXPECT_MESSAGE("a malformed packing of panels", Descriptor(R"({
    "parameters": [{"name": "a", "shape": [4, 2]}],
    "packings": [{"parameter": 0, "packing": "panels", "n": 4, "k": 2,
                  "width": 0}]})"));
  std::string sources = "null";
  for (int i = 0; i < 128; ++i)
    sources += ", null";
  EXPECT_MESSAGE("has 129 sources, but the limit is 128",
                 Descriptor((R"({"sources": [)" + sources + "]}").c_str()));
  EXPECT_MESSAGE("kernel 'k' has an operand without a table or a source",
                 Descriptor(R"({"kernels": [
      {"name": "k", "operands": [{"kind": "gather", "cell": 1}]}]})"));
  EXPECT_MESSAGE("unknown operand kind", Descriptor(R"({"kernels": [
      {"name": "k", "operands": [{"kind": "x"}]}]})"));
  EXPECT_MESSAGE("an operand in cell 2", Descriptor(R"({"kernels": [
      {"name": "k", "operands": [{"kind": "scalar", "cell": 2}]}]})"));
  EXPECT_MESSAGE("blocks of 6 slots", Descriptor(R"({"groups": 1, "tables": [
      {"name": "h", "rowBytes": 64, "block": 6}]})"));
  EXPECT_MESSAGE("malformed layout", Descriptor(R"({"groups": 1, "tables": [
      {"name": "h", "rowBytes": 64, "digits": [[0, 0, 16, 4]]}]})"));
  EXPECT_MESSAGE("'c' next to 'h', but their groups, blocks or row sizes "
                 "differ, or 'h' is itself next to a table",
                 Descriptor(R"({"groups": 1, "tables": [
      {"name": "h", "rowBytes": 64},
      {"name": "c", "rowBytes": 128, "nextTo": 0}]})"));
}
