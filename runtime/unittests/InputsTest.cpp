//===- InputsTest.cpp - Tests of instances and forests --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "batch-runtime/Forest.h"
#include "batch-runtime/Outputs.h"

#include <algorithm>
#include <cmath>

using namespace batchrt;

namespace {
const char treeModel[] = R"({
  "adts": [{"name": "Tree", "variants": [
      {"name": "leaf", "number": 0, "fields": [{"name": "word", "type": "index"}]},
      {"name": "node", "number": 1, "fields": [
        {"name": "left", "type": {"adt": "Tree"}},
        {"name": "right", "type": {"adt": "Tree"}}]},
      {"name": "many", "number": 2, "fields": [
        {"name": "kids", "type": {"list": {"adt": "Tree"}}}]}]}],
  "cellColumns": 2,
  "arguments": [{"name": "tree", "type": {"adt": "Tree"}}]})";

const char depModel[] = R"({
  "adts": [{"name": "Dep", "variants": [
      {"name": "leaf", "number": 0, "fields": [{"name": "word", "type": "index"}]},
      {"name": "node", "number": 1, "fields": [{"name": "word", "type": "index"},
        {"name": "kids", "type": {"list": {"adt": "Dep"}}}]}]}],
  "cellColumns": 2,
  "arguments": [{"name": "tree", "type": {"adt": "Dep"}}]})";

const char manyArguments[] = R"({
  "adts": [], "cellColumns": 0,
  "sources": [null, {"input": [2]}],
  "arguments": [{"name": "n", "type": "index"}, {"name": "f", "type": "f32"},
    {"name": "d", "type": "f64"}, {"name": "b", "type": "i1"},
    {"name": "s", "type": "i8"}, {"name": "ids", "type": {"list": {"list": "index"}}},
    {"name": "x", "type": {"tensor": [2], "dtype": "f32", "source": 1}},
    {"name": "xs", "type": {"list": {"tensor": [2], "dtype": "f32", "source": 1}}}]})";

/// Reads `text` as the inputs of a model.
struct Reader {
  TemporaryFolder folder;
  Descriptor descriptor;
  InputOptions options;
  std::unique_ptr<Inputs> inputs;

  explicit Reader(const char *model) : descriptor(model) {}
  Forest &read(const std::string &text) {
    options.inputs = folder.write("in", text);
    inputs = std::make_unique<Inputs>(descriptor, options);
    return *inputs->batches.front();
  }
  std::string error(const std::string &text) {
    std::string message = messageOf([&] { read(text); });
    std::string prefix = folder.file("in") + ":";
    return message.rfind(prefix, 0) == 0 ? message.substr(prefix.size())
                                         : message;
  }
};

/// Returns the tree of an instance as text. A shared node occurs several times.
std::string show(const Reader &reader, const Forest &forest, int64_t node) {
  const Variant &variant =
      *reader.descriptor.variantByNumber(forest.variants[node]);
  std::string text = variant.name;
  for (size_t f = 0; f < variant.fields.size(); ++f) {
    int64_t cell = forest.cells[f][node];
    const Type &type = variant.fields[f].type;
    if (type.kind == Type::Adt) {
      EXPECT_LT(cell, node);
      text += " (" + show(reader, forest, cell) + ")";
    } else if (type.kind == Type::List) {
      text += " [";
      for (int64_t i = 0; i < listLength(cell); ++i)
        text += "(" +
                show(reader, forest, forest.listPool[listFirst(cell) + i]) +
                ")";
      text += "]";
    } else {
      text += " " + std::to_string(cell);
    }
  }
  return text;
}

std::string show(const Reader &reader, const Forest &forest, int instance,
                 int argument) {
  return show(reader, forest, forest.arguments[argument][instance]);
}

#define EXPECT_INPUT_ERROR(reader, text, part)                                 \
  EXPECT_NE((reader).error(text).find(part), std::string::npos)                \
      << (reader).error(text)
} // namespace

TEST(JsonInputs, Trees) {
  Reader reader(treeModel);
  Forest &forest = reader.read(
      "[\"node\", [\"leaf\", 3], [\"leaf\", 5]]\n"
      "\n"
      "{\"tree\": [\"many\", [[\"leaf\", 1], [\"many\", []]]]}\r\n");
  ASSERT_EQ(forest.numInstances, 2);
  EXPECT_EQ(show(reader, forest, 0, 0), "node (leaf 3) (leaf 5)");
  EXPECT_EQ(show(reader, forest, 1, 0), "many [(leaf 1)(many [])]");
  EXPECT_EQ(forest.numNodes, 6);
  EXPECT_EQ(forest.lines, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(forest.instanceNodes, (std::vector<int64_t>{0, 3, 6}));
  EXPECT_EQ(reader.inputs->largestIndex, 5);
}

TEST(JsonInputs, SharedNodesInPostOrder) {
  Reader reader(treeModel);
  // Forward references, a dropped node, a shared node, nested values.
  Forest &forest = reader.read(
      R"({"nodes": [["node", {"ref": 3}, {"ref": 2}], ["leaf", 9], ["leaf", 7], )"
      R"(["node", {"ref": 2}, ["leaf", 8]]], "root": 0})"
      "\n"
      R"({"tree": {"root": 0, "nodes": [["leaf", 4]]}})");
  EXPECT_EQ(show(reader, forest, 0, 0),
            "node (node (leaf 7) (leaf 8)) (leaf 7)");
  EXPECT_EQ(show(reader, forest, 1, 0), "leaf 4");
  EXPECT_EQ(forest.numNodes, 5);
  EXPECT_EQ(forest.cells[0][0], 7);
  EXPECT_EQ(forest.cells[0][1], 8);
}

TEST(JsonInputs, DeepChains) {
  Reader reader(treeModel);
  constexpr int depth = 200000;
  std::string text;
  for (int i = 0; i < depth; ++i)
    text += "[\"node\",[\"leaf\",1],";
  text += "[\"leaf\",2]" + std::string(depth, ']');
  EXPECT_EQ(reader.read(text).numNodes, 2 * depth + 1);
  text = "{\"nodes\":[[\"leaf\",0]";
  for (int i = 0; i < depth; ++i)
    text += concat(",[\"node\",{\"ref\":", i, "},{\"ref\":", i, "}]");
  text += concat("],\"root\":", depth, "}");
  EXPECT_EQ(reader.read(text).numNodes, depth + 1);
  EXPECT_INPUT_ERROR(reader, std::string(depth, '['), "1:2: ");
  std::string brackets;
  for (int i = 0; i < depth; ++i)
    brackets += "(1 (2 a) ";
  brackets += "(3 b)" + std::string(depth, ')');
  EXPECT_EQ(reader.read(brackets).numNodes, 2 * depth + 1);
}

TEST(JsonInputs, Errors) {
  Reader reader(treeModel);
  EXPECT_INPUT_ERROR(reader, "", "contains no instances; give at least one");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", 3", "1:11: malformed JSON");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", 3]\n[\"leaf\" 3]",
                     "2:9: malformed JSON");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", 3] 4", "malformed JSON");
  std::string nul = "[\"leaf\", 3]?4";
  nul[nul.find('?')] = 0;
  EXPECT_INPUT_ERROR(reader, nul, "1:12: malformed JSON: a NUL byte");
  EXPECT_INPUT_ERROR(
      reader, "[\"twig\", 3]",
      "1:2: unknown variant 'twig' of ADT Tree; expected one of leaf, node, "
      "many");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\"]",
                     "expected 1 field for 'leaf', found 0");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", 1, 2]",
                     "1:13: expected 1 field for 'leaf', found more");
  EXPECT_INPUT_ERROR(reader, "[]",
                     "expected a value of ADT Tree, found an empty array");
  EXPECT_INPUT_ERROR(reader, "[3]",
                     "expected the name of a variant, found a number");
  EXPECT_INPUT_ERROR(reader, "3",
                     "1:1: argument 'tree': expected a value of ADT Tree");
  EXPECT_INPUT_ERROR(reader, "null", "found null");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", -1]",
                     "1:10: field 'word' of 'leaf': index -1 is out of range; "
                     "expected 0 to 2147483647");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", 2147483648]",
                     "index 2147483648 is out of range");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", 99999999999999999999999]",
                     "expected an index");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", 18446744073709551615]",
                     "index 18446744073709551615 is out of range");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", 1.5]",
                     "field 'word' of 'leaf': expected an index, found 1.5");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", NaN]",
                     "; write \"NaN\", \"Infinity\" or \"-Infinity\"");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", -Infinity]",
                     "; write \"NaN\", \"Infinity\" or \"-Infinity\"");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", true]", "expected an index");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", [3]]", "expected an index");
  EXPECT_INPUT_ERROR(reader, "[\"leaf\", {\"ref\": 3}]", "expected an index");
  EXPECT_INPUT_ERROR(reader, "[\"node\", {\"ref\": 0}, [\"leaf\", 1]]",
                     "only allowed within \"nodes\"");
  EXPECT_INPUT_ERROR(reader, "[\"node\", {}, [\"leaf\", 1]]", "empty object");
  EXPECT_INPUT_ERROR(reader, "{\"bush\": 3}",
                     "unknown argument 'bush'; the model takes tree");
  EXPECT_INPUT_ERROR(reader, "{}", "argument 'tree' is missing");
  EXPECT_INPUT_ERROR(reader, "{\"tree\": [\"leaf\",1], \"tree\": [\"leaf\",1]}",
                     "given twice");
  EXPECT_INPUT_ERROR(reader,
                     R"({"tree": {"nodes": [["leaf", 1]], "nodes": []}})",
                     "unexpected key 'nodes'; expected \"nodes\" and \"root\", "
                     "each once");
}

TEST(JsonInputs, SharedErrors) {
  Reader reader(treeModel);
  EXPECT_INPUT_ERROR(
      reader,
      R"({"nodes": [["node", {"ref": 1}, {"ref": 2}], ["node", {"ref": 2}, {"ref": 0}], ["leaf", 1]], "root": 0})",
      "nodes 0 -> 1 -> 0 (numbered from 0 in \"nodes\") form a cycle; ADT "
      "values must be acyclic");
  EXPECT_INPUT_ERROR(
      reader, R"({"nodes": [["many", [{"ref": 0}]]], "root": 0})",
      "nodes 0 -> 0 (numbered from 0 in \"nodes\") form a cycle");
  EXPECT_INPUT_ERROR(reader,
                     R"({"nodes": [["many", [{"ref": 5}]]], "root": 0})",
                     "1:31: {\"ref\": 5} is out of range: \"nodes\" has 1");
  EXPECT_INPUT_ERROR(reader, R"({"nodes": [["leaf", 1]], "root": 1})",
                     "\"root\" is 1, but \"nodes\" has only 1");
  EXPECT_INPUT_ERROR(reader, R"({"tree": {"nodes": [["leaf", 1]]}})",
                     "requires both");
  EXPECT_INPUT_ERROR(reader, R"({"tree": {"nodes": [{"ref": 0}], "root": 0}})",
                     "in \"nodes\", found an object");
  EXPECT_INPUT_ERROR(reader, R"({"tree": {"nodes": 3, "root": 0}})",
                     "expected an array of nodes in \"nodes\"");
  EXPECT_INPUT_ERROR(reader, R"({"tree": {"root": "a"}})",
                     "expected the number of a node in \"root\"");
  EXPECT_INPUT_ERROR(reader,
                     R"({"nodes": [["many", [{"ref": "a"}]]], "root": 0})",
                     "expected the number of a node in {\"ref\": ...}, found a "
                     "string");
  EXPECT_INPUT_ERROR(reader, R"(["many", [{"x": 1}]])",
                     "unexpected key 'x'; expected a value of ADT Tree such as "
                     "[\"leaf\", ...] or {\"nodes\": [...], \"root\": N}");
  EXPECT_INPUT_ERROR(reader, R"({"nodes": [["leaf", 1]], "root": -1})",
                     "node -1 is out of range; expected 0 to 2147483647");
  Reader two(R"({
    "adts": [{"name": "A", "variants": [{"name": "a", "number": 0,
        "fields": [{"name": "part", "type": {"adt": "B"}}]}]},
      {"name": "B", "variants": [{"name": "b", "number": 1, "fields": []}]}],
    "cellColumns": 1, "arguments": [{"name": "x", "type": {"adt": "A"}}]})");
  EXPECT_INPUT_ERROR(
      two, R"({"nodes": [["a", ["b"]], ["a", {"ref": 0}]], "root": 1})",
      "{\"ref\": 0} is of ADT A; expected ADT B");
  EXPECT_INPUT_ERROR(two, R"({"nodes": [["b"]], "root": 0})",
                     "the root {\"ref\": 0} is of ADT B; expected ADT A");
}

TEST(JsonInputs, AllTypes) {
  Reader reader(manyArguments);
  std::vector<float> rows{1, 2, 3, 4, 5, 6};
  reader.options.inputTensors = reader.folder.file("t.safetensors");
  writeTensorFile(
      reader.options.inputTensors,
      {{"one", DType::F32, {2}, reinterpret_cast<char *>(rows.data())},
       {"three", DType::F32, {3, 2}, reinterpret_cast<char *>(rows.data())}});
  std::string good = R"({"n": 3, "f": 0.5, "d": 2, "b": true, "s": -128,
    "ids": [[1, 2], [], [3]], "x": {"tensor": "one"}, "xs": {"tensor": "three"}})";
  good.erase(std::remove(good.begin(), good.end(), '\n'), good.end());
  Forest &forest = reader.read(
      good + "\n" +
      R"({"n": 0, "f": -1, "d": 1e300, "b": 0, "s": 127, "ids": [], )"
      R"("x": {"tensor": "one"}, "xs": [{"tensor": "one"}]})");
  ASSERT_EQ(forest.numInstances, 2);
  EXPECT_EQ(forest.arguments[0][0], 3);
  float f;
  std::memcpy(&f, &forest.arguments[1][0], 4);
  EXPECT_EQ(f, 0.5f);
  double d;
  std::memcpy(&d, &forest.arguments[2][0], 8);
  EXPECT_EQ(d, 2.0);
  EXPECT_EQ(forest.arguments[3][0], 1);
  EXPECT_EQ(forest.arguments[4][0], -128);
  EXPECT_EQ(listLength(forest.arguments[5][0]), 3);
  EXPECT_EQ(listLength(forest.arguments[7][0]), 3);
  EXPECT_EQ(forest.tensors.size(), 6u);
  EXPECT_EQ(reader.inputs->tensors.count(1), 4 + 0);
  const char *base = reader.inputs->tensors.base(1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(base) % 64, 0u);
  EXPECT_EQ(loadDouble(DType::F32, base + ptrdiff_t{3} * 64, 1), 6);

  auto replace = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_INPUT_ERROR(reader, replace("-128", "-129"),
                     "-129 is out of range for i8; expected -128 to 127");
  EXPECT_INPUT_ERROR(reader, replace("true", "2"),
                     "2 is out of range for i1; expected 0 to 1");
  EXPECT_INPUT_ERROR(reader, replace("0.5", "1e39"), "too large for f32");
  EXPECT_INPUT_ERROR(reader, replace("0.5", "-1e999"), "too large for f32");
  EXPECT_INPUT_ERROR(reader, replace("\"one\"", "\"two\""),
                     "has no tensor 'two'");
  EXPECT_INPUT_ERROR(
      reader, replace("\"one\"", "3"),
      "expected the name of a tensor in {\"tensor\": ...}, found "
      "a number");
  EXPECT_INPUT_ERROR(
      reader, replace("{\"tensor\": \"one\"}", "{\"tensor\": \"three\"}"),
      "has shape [3,2], but the model expects [2]");
  EXPECT_INPUT_ERROR(reader, replace("{\"tensor\": \"one\"}", "3"),
                     "argument 'x': expected an array of 2 elements or "
                     "{\"tensor\": \"NAME\"} (tensor<2xf32>), found a number");
  EXPECT_INPUT_ERROR(reader, "3", "the model has 8 arguments");
  reader.options.inputTensors.clear();
  EXPECT_INPUT_ERROR(reader, good, "add --input-tensors");
}

/// Returns a model with one argument 'x', a tensor.
std::string tensorModel(const std::string &shape, const std::string &dtype) {
  return R"({"adts": [], "cellColumns": 0, "sources": [null, {"input": )" +
         shape + R"(, "dtype": ")" + dtype +
         R"("}], "arguments": [{"name": "x", "type": {"tensor": )" + shape +
         R"(, "dtype": ")" + dtype + R"(", "source": 1}}]})";
}

/// Returns all elements of 'x' in a mini-batch of a tensorModel(), in order.
std::vector<double> elements(const Reader &reader) {
  const Type &type = reader.descriptor.arguments[0].type;
  RowLayout layout(type.shape, type.dtype);
  std::vector<double> values;
  for (int64_t row = 0; row < reader.inputs->tensors.count(1); ++row) {
    std::vector<char> dense(layout.denseBytes());
    layout.unpad(reader.inputs->tensors.base(1) + row * layout.rowBytes(),
                 dense.data());
    for (int64_t i = 0; i < elementCount(type.shape); ++i)
      values.push_back(loadDouble(type.dtype, dense.data(), i));
  }
  return values;
}

TEST(TensorInputs, AllRanks) {
  using Values = std::vector<double>;
  auto read = [](const char *shape, const std::string &text) {
    Reader reader(tensorModel(shape, "f32").c_str());
    reader.read(text);
    return elements(reader);
  };
  EXPECT_EQ(read("[]", "3\n{\"x\": -0.5}"), (Values{3, -0.5}));
  EXPECT_EQ(read("[1]", "[7]"), Values{7});
  EXPECT_EQ(read("[3]", "[1, 2.5, 3]\n{\"x\": [4, 5, 6e1]}"),
            (Values{1, 2.5, 3, 4, 5, 60}));
  EXPECT_EQ(read("[2,3]", "[[1,2,3],[4,5,6]]"), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read("[2,1,2]", "[[[1,2]],[[3,4]]]"), (Values{1, 2, 3, 4}));
  EXPECT_EQ(read("[1,2,2,1]", "[[[[1],[2]],[[3],[4]]]]"), (Values{1, 2, 3, 4}));
  EXPECT_EQ(read("[0]", "[]"), Values{});
  EXPECT_EQ(read("[2,0]", "[[],[]]"), Values{});
  // Rows of more than 64 bytes, each padded.
  std::string text;
  Values wanted;
  for (int i = 0; i < 3 * 37; ++i) {
    text += concat(i % 37 == 0 ? (i ? "],[" : "[[") : ",", i);
    wanted.push_back(i);
  }
  EXPECT_EQ(read("[3,37]", text + "]]"), wanted);
}

TEST(TensorInputs, ResultsThatAreNotFinite) {
  for (const char *dtype : {"f16", "bf16", "f32", "f64"}) {
    Reader reader(tensorModel("[3]", dtype).c_str());
    reader.read(R"(["NaN", "Infinity", "-Infinity"])");
    std::vector<double> values = elements(reader);
    ASSERT_EQ(values.size(), 3u);
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], HUGE_VAL);
    EXPECT_EQ(values[2], -HUGE_VAL);
    // Results have the same text as the inputs.
    Output output;
    output.name = "x";
    output.type = reader.descriptor.arguments[0].type.dtype;
    output.rowShape = {3};
    output.data.resize(3 * byteSize(output.type));
    for (int64_t i = 0; i < 3; ++i)
      storeFloat(output.type, values[i], output.data.data(), i);
    output.offsets = {0, 1};
    EXPECT_EQ(toJson({output}, 0), R"({"x":["NaN","Infinity","-Infinity"]})");
  }
  Reader number(R"({"adts": [], "cellColumns": 0, "sources": [null],
    "arguments": [{"name": "f", "type": "f32"}]})");
  number.read(R"({"f": "-Infinity"})");
  EXPECT_EQ(number.inputs->batches.size(), 1u);
  Reader integers(tensorModel("[3]", "i32").c_str());
  EXPECT_MESSAGE("found a string", integers.read(R"([1, "NaN", 2])"));
}

TEST(TensorInputs, AllElementTypes) {
  using Values = std::vector<double>;
  auto read = [](const char *dtype, const char *text) {
    Reader reader(tensorModel("[3]", dtype).c_str());
    reader.read(text);
    return elements(reader);
  };
  EXPECT_EQ(read("i1", "[true, 0, 1]"), (Values{1, 0, 1}));
  EXPECT_EQ(read("i8", "[-128, 0, 127]"), (Values{-128, 0, 127}));
  EXPECT_EQ(read("i16", "[-32768, 1, 32767]"), (Values{-32768, 1, 32767}));
  EXPECT_EQ(read("i32", "[-2147483648, 2, 2147483647]"),
            (Values{-2147483648.0, 2, 2147483647}));
  EXPECT_EQ(read("i64", "[-9007199254740992, 3, 9007199254740992]"),
            (Values{-9007199254740992.0, 3, 9007199254740992.0}));
  EXPECT_EQ(read("index", "[0, 4, 5]"), (Values{0, 4, 5}));
  EXPECT_EQ(read("f32", "[0.1, -1e-45, 18446744073709551615]"),
            (Values{0.1f, -1e-45f, 18446744073709551616.0}));
  EXPECT_EQ(read("f64", "[0.1, 1e300, -4]"), (Values{0.1, 1e300, -4}));
  // Ties to even; the smallest and largest numbers.
  EXPECT_EQ(read("f16", "[1.00048828125, 5.9604644775390625e-8, 65519]"),
            (Values{1, 5.9604644775390625e-8, 65504}));
  EXPECT_EQ(read("f16", "[1.00146484375, 2.98e-8, -65504]"),
            (Values{1.001953125, 0, -65504}));
  EXPECT_EQ(read("bf16", "[1.00390625, 1.01171875, -3.3895e38]"),
            (Values{1, 1.015625, -3.3895313892515355e38}));
  Reader largest(tensorModel("[2]", "i64").c_str());
  largest.read("[9223372036854775807, -9223372036854775808]");
  const char *base = largest.inputs->tensors.base(1);
  EXPECT_EQ(loadInteger(DType::I64, base, 0), INT64_MAX);
  EXPECT_EQ(loadInteger(DType::I64, base, 1), INT64_MIN);
}

TEST(TensorInputs, Errors) {
  auto expect = [](const char *shape, const char *dtype, const char *text,
                   const std::string &message) {
    Reader reader(tensorModel(shape, dtype).c_str());
    EXPECT_EQ(reader.error(text), message);
  };
  expect("[2,4]", "f32", "[[1,2,3,4],[1,2,3]]",
         "1:18: argument 'x'[1] has 3 elements; expected 4 "
         "(tensor<2x4xf32>)");
  expect("[2,2]", "f32", "\n{\"x\": [[1,2,3],[1,2]]}",
         "2:14: argument 'x'[0] has 3 elements; expected 2 "
         "(tensor<2x2xf32>)");
  expect("[1,2]", "f32", "[[1,2],[3,4],[5,6]]",
         "1:19: argument 'x' has 3 arrays; expected 1 (tensor<1x2xf32>)");
  expect("[2,2,2]", "f32", "[[[1,2],[3,4]],[[5,6]]]",
         "1:22: argument 'x'[1] has 1 array; expected 2 "
         "(tensor<2x2x2xf32>)");
  expect("[3]", "f32", "[]",
         "1:2: argument 'x' has 0 elements; expected 3 (tensor<3xf32>)");
  expect("[2,2]", "f32", "[[1,2],3]",
         "1:8: argument 'x'[1]: expected an array of 2 elements, found a "
         "number (tensor<2x2xf32>)");
  expect("[2,2]", "f32", "[[1,2],[3,[4]]]",
         "1:11: argument 'x'[1][1]: expected a number, found an array "
         "(tensor<2x2xf32>)");
  expect("[2]", "f32", "[1,\"a\"]",
         "1:4: argument 'x'[1]: expected a number, found a string "
         "(tensor<2xf32>)");
  expect("[2]", "f32", "[1,null]",
         "1:4: argument 'x'[1]: expected a number, found null (tensor<2xf32>)");
  expect("[2]", "f32", "[1,{\"tensor\": \"a\"}]",
         "1:4: argument 'x'[1]: expected a number, found an object "
         "(tensor<2xf32>)");
  expect("[2]", "f32", "[1,true]",
         "1:4: argument 'x'[1]: expected a number, found a boolean "
         "(tensor<2xf32>)");
  expect("[]", "f32", "[1]",
         "1:1: argument 'x': expected a number or {\"tensor\": \"NAME\"} "
         "(tensor<f32>), found an array");
  expect("[2,2]", "f32", "5",
         "1:1: argument 'x': expected an array of 2 arrays or {\"tensor\": "
         "\"NAME\"} (tensor<2x2xf32>), found a number");
  expect("[2]", "i32", "[1,2.0]",
         "1:4: argument 'x'[1]: expected an integer of type i32, found 2.0 "
         "(tensor<2xi32>)");
  expect("[2]", "i8", "[1,128]",
         "1:4: argument 'x'[1]: 128 is out of range for i8; expected -128 to "
         "127");
  expect("[1,1]", "i1", "[[2]]",
         "1:3: argument 'x'[0][0]: 2 is out of range for i1; expected 0 to 1");
  expect("[]", "i64", "9223372036854775808",
         "1:1: argument 'x': 9223372036854775808 is out of range for i64; "
         "expected -9223372036854775808 to 9223372036854775807");
  expect("[1]", "i64", "[-99999999999999999999999]",
         "1:2: argument 'x'[0]: -99999999999999999999999 is out of range for "
         "i64; expected -9223372036854775808 to 9223372036854775807");
  expect("[1]", "f32", "[1e39]",
         "1:2: argument 'x'[0]: 1e39 is too large for f32");
  expect("[1]", "f16", "[65520]",
         "1:2: argument 'x'[0]: 65520 is too large for f16");
  expect("[1]", "bf16", "[-3.4e38]",
         "1:2: argument 'x'[0]: -3.4e38 is too large for bf16");
  Reader reader(tensorModel("[2]", "f32").c_str());
  EXPECT_INPUT_ERROR(reader, "[1,1e999]",
                     "1:4: argument 'x'[1]: 1e999 is too large for f32");
  EXPECT_INPUT_ERROR(reader, "[1,2", "malformed JSON");
  EXPECT_INPUT_ERROR(reader, "[1,2]]", "malformed JSON");
  EXPECT_INPUT_ERROR(reader, std::string(100000, '['),
                     "1:2: argument 'x'[0]: expected a number, found an array");
  Reader files(tensorModel("[1]", "i32").c_str());
  files.options.inputTensors = files.folder.file("t.safetensors");
  const int64_t large = int64_t(1) << 40;
  const auto *bytes = reinterpret_cast<const char *>(&large);
  writeTensorFile(
      files.options.inputTensors,
      {{"large", DType::I64, {1}, bytes}, {"real", DType::F32, {1}, bytes}});
  EXPECT_INPUT_ERROR(files, R"({"tensor": "large"})",
                     "has values that do not fit in i32");
  EXPECT_INPUT_ERROR(files, R"({"tensor": "real"})",
                     "has type F32, but the model expects I32 here");
  Reader none(R"({"adts": [], "cellColumns": 0, "sources": [null],
    "arguments": [{"name": "x", "type": {"tensor": [2], "dtype": "f32"}}]})");
  EXPECT_INPUT_ERROR(none, "[1,2]",
                     "the model was compiled without input tensors of type "
                     "tensor<2xf32>");
}

TEST(TensorInputs, FieldsAndLists) {
  Reader reader(R"({
    "adts": [{"name": "T", "variants": [
        {"name": "leaf", "number": 0, "fields": [
          {"name": "word", "type": "index"},
          {"name": "v", "type": {"tensor": [2], "dtype": "f32", "source": 1}},
          {"name": "vs", "type": {"list": {"list":
            {"tensor": [2], "dtype": "f32", "source": 1}}}}]}]}],
    "cellColumns": 3, "sources": [null, {"input": [2]}, {"input": []}],
    "arguments": [{"name": "t", "type": {"adt": "T"}},
      {"name": "s", "type": {"list": {"tensor": [], "dtype": "f32", "source": 2}}}]})");
  reader.read(R"({"t": ["leaf", 1, [2, 3], [[[4, 5], [6, 7]], []]], )"
              R"("s": [8, 9.5]})");
  const InputTensors &tensors = reader.inputs->tensors;
  ASSERT_EQ(tensors.count(1), 3);
  EXPECT_EQ(loadDouble(DType::F32, tensors.base(1) + ptrdiff_t{2} * 64, 1), 7);
  ASSERT_EQ(tensors.count(2), 2);
  EXPECT_EQ(loadDouble(DType::F32, tensors.base(2) + 64, 0), 9.5);
  EXPECT_EQ(reader.error(R"({"t": ["leaf", 1, [2], []], "s": []})"),
            "1:21: field 'v' of 'leaf' has 1 element; expected 2 "
            "(tensor<2xf32>)");
  EXPECT_EQ(reader.error(R"({"t": ["leaf", 1, [2, 3], [[], [[4, 5], [6]]]]})"),
            "1:43: field 'vs' of 'leaf'[1][1] has 1 element; expected 2 "
            "(tensor<2xf32>)");
  EXPECT_EQ(reader.error(R"({"s": [1, 2, [3]]})"),
            "1:14: argument 's'[2]: expected a number or {\"tensor\": "
            "\"NAME\"} (tensor<f32>), found an array");
}

TEST(TreeInputs, Brackets) {
  Reader reader(treeModel);
  Forest &forest = reader.read("(3 (2 It) (4 (2 is) (3 It)))\n(1 a)\n\n"
                               "((1 a) (1 b)\n  (1 c))\n(0 (1 x))");
  ASSERT_EQ(forest.numInstances, 4);
  EXPECT_EQ(show(reader, forest, 0, 0),
            "node (leaf 0) (node (leaf 1) (leaf 0))");
  EXPECT_EQ(show(reader, forest, 1, 0), "leaf 2");
  EXPECT_EQ(show(reader, forest, 2, 0), "many [(leaf 2)(leaf 3)(leaf 4)]");
  EXPECT_EQ(show(reader, forest, 3, 0), "many [(leaf 5)]");
  EXPECT_EQ(forest.lines[2], 4);
}

TEST(TreeInputs, LabelsAndVocabulary) {
  Reader reader(depModel);
  Forest &forest = reader.read("(NP (DT the) (VP (NP cat)))\n(7 (1 a) (NP b))");
  EXPECT_EQ(show(reader, forest, 0, 0), "node 0 [(leaf 0)(node 1 [(leaf 1)])]");
  EXPECT_EQ(show(reader, forest, 1, 0), "node 7 [(leaf 2)(leaf 3)]");
  reader.options.vocabulary =
      reader.folder.write("vocab", "a\nthe\r\nb c\n\nd");
  EXPECT_EQ(show(reader, reader.read("(1 d)"), 0, 0), "leaf 4");
  EXPECT_INPUT_ERROR(reader, "(1 the)", "vocab'; add the word or '<unk>'");
  reader.options.vocabulary = reader.folder.write("vocab", "");
  EXPECT_MESSAGE("vocab' is empty", reader.read("(1 cat)"));
  reader.options.vocabulary = reader.folder.write("vocab", "<pad>\n<unk>\nthe");
  EXPECT_EQ(show(reader, reader.read("(1 cat)"), 0, 0), "leaf 1");
  EXPECT_EQ(show(reader, reader.read("[\"leaf\", \"the\"]"), 0, 0), "leaf 2");
}

TEST(TreeInputs, Errors) {
  Reader reader(treeModel);
  EXPECT_INPUT_ERROR(
      reader, "(1 (2 a) (3 b)",
      "1:15: the bracket opened at line 1, column 1 is not closed");
  EXPECT_INPUT_ERROR(reader, "(1 a))", "1:6: unexpected ')' without '('");
  EXPECT_INPUT_ERROR(reader, "(1 a) b",
                     "1:7: expected '(' at the beginning of a tree");
  EXPECT_INPUT_ERROR(reader, "(1 a b)", "unexpected second word");
  EXPECT_INPUT_ERROR(reader, "(1 (2 a) b)", "unexpected word after a bracket");
  EXPECT_INPUT_ERROR(reader, "(1 a (2 b))", "unexpected bracket after a word");
  EXPECT_INPUT_ERROR(reader, "\n(1)", "2:3: the bracket contains neither");
  EXPECT_INPUT_ERROR(reader, "()", "neither");
  Reader labeled(depModel);
  EXPECT_INPUT_ERROR(labeled, "((1 a) (2 b))",
                     "the bracket has no label, but its variant requires one");
  EXPECT_INPUT_ERROR(labeled, "(2147483648 (1 a) (2 b))",
                     "the label 2147483648 is too large");
  Reader numbers(manyArguments);
  EXPECT_INPUT_ERROR(numbers, "(1 a)",
                     "contains bracketed trees, which require a model with "
                     "exactly one argument, an ADT value; give the model's "
                     "arguments as JSON lines");
}

TEST(Inputs, BatchesAndLimit) {
  Reader reader(treeModel);
  reader.options.batch = 2;
  reader.options.limit = 5;
  reader.read("(1 a)(1 b)(1 c)(1 d)(1 e)(1 f)(1 g)");
  ASSERT_EQ(reader.inputs->batches.size(), 3u);
  EXPECT_EQ(reader.inputs->numInstances, 5);
  EXPECT_EQ(reader.inputs->batches[2]->firstInstance, 4);
  EXPECT_EQ(reader.inputs->batches[2]->cells[0][0], 4);
}

TEST(Inputs, Random) {
  for (const char *model : {treeModel, depModel, manyArguments}) {
    Descriptor descriptor(model);
    InputOptions options;
    options.inputs = "random:7,50";
    Inputs a(descriptor, options), b(descriptor, options);
    const Forest &forest = *a.batches[0];
    EXPECT_EQ(a.numInstances, 50);
    EXPECT_LT(a.largestIndex, 1000);
    EXPECT_EQ(forest.cells, b.batches[0]->cells);
    EXPECT_EQ(forest.arguments, b.batches[0]->arguments);
    int64_t leaves = 0;
    for (int64_t i = 0; i < forest.numNodes; ++i)
      leaves += forest.variants[i] == 0;
    if (model != manyArguments) {
      EXPECT_GT(leaves, 50 * 10);
      EXPECT_LT(leaves, 50 * 31);
    }
  }
  Reader reader(treeModel);
  for (const char *bad : {"random:", "random:1", "random:1,0", "random:1,x"}) {
    reader.options.inputs = bad;
    EXPECT_MESSAGE("expected random:SEED,COUNT, such as random:1,64",
                   Inputs(reader.descriptor, reader.options));
  }
  Reader endless(R"({
    "adts": [{"name": "T", "variants": [{"name": "node", "number": 0,
      "fields": [{"name": "next", "type": {"adt": "T"}}]}]}],
    "cellColumns": 1, "arguments": [{"name": "t", "type": {"adt": "T"}}]})");
  endless.options.inputs = "random:1,1";
  EXPECT_MESSAGE(
      "cannot generate random inputs of ADT T, because it has no finite value",
      Inputs(endless.descriptor, endless.options));
  Reader nested(R"({
    "adts": [{"name": "T", "variants": [
        {"name": "leaf", "number": 0, "fields": []},
        {"name": "node", "number": 1, "fields": [
          {"name": "kids", "type": {"list": {"list": {"adt": "T"}}}}]}]}],
    "cellColumns": 1, "arguments": [{"name": "t", "type": {"adt": "T"}}]})");
  nested.options.inputs = "random:1,20";
  EXPECT_MESSAGE("random inputs do not support lists of lists of ADT values",
                 Inputs(nested.descriptor, nested.options));
}

TEST(InputReader, OneInstanceAtATime) {
  Reader model(treeModel);
  InputReader reader(model.descriptor);
  InputTensors tensors(model.descriptor);
  Forest forest(model.descriptor);
  reader.read("(0 (0 b) (0 a))", "request", 1, tensors, forest);
  reader.read(R"(["leaf", 7])", "request", 2, tensors, forest);
  reader.read("(0 (0 c) (0 b))\n", "request", 3, tensors, forest);
  ASSERT_EQ(forest.numInstances, 3);
  EXPECT_EQ(show(model, forest, 0, 0), "node (leaf 0) (leaf 1)");
  EXPECT_EQ(show(model, forest, 1, 0), "leaf 7");
  EXPECT_EQ(show(model, forest, 2, 0), "node (leaf 2) (leaf 0)");
  EXPECT_EQ(forest.lines, (std::vector<int64_t>{1, 2, 3}));
}

TEST(InputReader, AnErrorLeavesTheTensorsAsTheyWere) {
  Descriptor descriptor(manyArguments);
  InputReader reader(descriptor);
  InputTensors tensors(descriptor);
  Forest forest(descriptor);
  std::string good =
      R"({"n": 3, "f": 0.5, "d": 2, "b": true, "s": 1, "ids": [],)"
      R"( "x": [1, 2], "xs": [[3, 4], [5, 6]]})";
  reader.read(good, "request", 1, tensors, forest);
  std::string bad = good;
  bad.replace(bad.find("6]"), 2, "]");
  EXPECT_MESSAGE("malformed JSON",
                 reader.read(bad, "request", 2, tensors, forest));
  EXPECT_EQ(tensors.count(1), 3);
  reader.read(good, "request", 3, tensors, forest);
  EXPECT_EQ(tensors.count(1), 6);
  EXPECT_EQ(loadDouble(DType::F32, tensors.base(1) + ptrdiff_t{5} * 64, 1), 6);
  tensors.clear();
  EXPECT_EQ(tensors.count(1), 0);
}

TEST(InputReader, AnErrorLeavesTheForestAsItWas) {
  Reader model(treeModel);
  InputReader reader(model.descriptor);
  InputTensors tensors(model.descriptor);
  Forest forest(model.descriptor);
  auto read = [&](const std::string &text) {
    reader.read(text, "request", 5, tensors, forest);
  };
  read(R"(["leaf", 1])");
  EXPECT_MESSAGE("request:5: expected a value", read(" \n"));
  EXPECT_MESSAGE("request:5:", read(R"(["node", ["leaf", 1]])"));
  EXPECT_MESSAGE("request:5:9: the bracket opened", read("(0 (0 a)"));
  EXPECT_MESSAGE("request:5:11: expected one tree", read("(0 a) (0 b)"));
  EXPECT_MESSAGE("form a cycle", read(R"({"nodes": [["leaf", 1], )"
                                      R"(["node", {"ref": 0}, {"ref": 1}]], )"
                                      R"("root": 1})"));
  EXPECT_EQ(forest.numNodes, 1);
  read(R"(["node", ["leaf", 2], ["leaf", 3]])");
  ASSERT_EQ(forest.numInstances, 2);
  EXPECT_EQ(show(model, forest, 1, 0), "node (leaf 2) (leaf 3)");
}
