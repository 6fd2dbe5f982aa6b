//===- OutputsTest.cpp - Tests of outputs and their comparison ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Outputs.h"
#include "Trial.h"

#include <cstring>

using namespace batchrt;
using namespace batchrt::test;

TEST(Session, ComparisonNamesTheInstance) {
  Trial run("broken", "random:3,5");
  EXPECT_NE(run.difference().find("output 'root' of instance 1, element 2: "),
            std::string::npos)
      << run.difference();
  Difference difference = compareOutputs(run.batched(), run.unbatched(), 1e-5);
  EXPECT_FALSE(difference.first);
  EXPECT_GT(difference.largestError, 0);
  EXPECT_LT(difference.largestError, 1e-5);
}

TEST(Session, Expected) {
  Trial run("plain", "(1 (2 a) (3 b))\n(1 a)");
  std::vector<Output> outputs = run.batched();
  TemporaryFolder folder;
  const Output &h = named(outputs, "h"), &count = named(outputs, "count");
  std::string path = folder.file("e.safetensors");
  std::vector<char> changed = h.data;
  auto compare = [&](const std::vector<NamedTensor> &entries) {
    writeTensorFile(path, entries);
    int64_t compared = 0;
    Difference difference =
        compareExpected(outputs, TensorFile::open(path), 1e-4, 1e-5, &compared);
    return difference.first.value_or(concat(compared, " good"));
  };
  NamedTensor h0{"0.h", DType::F32, {3, 20}, h.data.data()};
  NamedTensor c1{"1.count", DType::I64, {}, count.data.data() + 8};
  EXPECT_EQ(compare({h0, c1, {"7.h", DType::F32, {1, 1}, h.data.data()}}),
            "2 good");
  EXPECT_EQ(compare({{"7.h", DType::F32, {1, 1}, h.data.data()}}),
            "no entry of '" + path + "' belongs to an output");
  EXPECT_EQ(
      messageOf([&] { compare({{"h", DType::F32, {1}, h.data.data()}}); }),
      "'" + path +
          "': invalid entry name 'h'; expected INSTANCE.OUTPUT, "
          "such as '0.h'");
  EXPECT_NE(compare({{"0.h", DType::F32, {2, 20}, h.data.data()}})
                .find("has shape [3,20]; expected [2,20]"),
            std::string::npos);
  EXPECT_NE(compare({{"0.q", DType::F32, {1}, h.data.data()}})
                .find("unknown output 'q'; expected one of h"),
            std::string::npos);
  float wrong = at(h, 1, 0) + 0.01f;
  std::memcpy(changed.data() + 80, &wrong, 4);
  EXPECT_NE(compare({{"0.h", DType::F32, {3, 20}, changed.data()}})
                .find("output 'h' of instance 0, row 1, element 0: "),
            std::string::npos);
  EXPECT_NE(compare({{"0.count", DType::I64, {}, count.data.data() + 8}})
                .find("3; expected 1"),
            std::string::npos);
}

TEST(Session, WritesOutputs) {
  Trial run("plain", "(1 (2 a) (3 b))\n(1 a)");
  OutputCollector collector(run.object.descriptor());
  run.session->load(*run.inputs->batches[0]);
  run.session->inspect();
  run.session->schedule();
  run.session->execute();
  collector.collect(*run.session, 0);
  collector.collect(*run.session, 1);
  collector.write(run.folder.file("out"));
  TensorFile file = TensorFile::open(run.folder.file("out"));
  EXPECT_EQ(file.find("h")->shape, (std::vector<int64_t>{4, 20}));
  const TensorView *offsets = file.find("h.offsets");
  ASSERT_TRUE(offsets);
  EXPECT_EQ(offsets->type, DType::I64);
  EXPECT_EQ(loadInteger(DType::I64, offsets->data, 1), 3);
  EXPECT_EQ(loadInteger(DType::I64, offsets->data, 2), 4);
  EXPECT_EQ(file.find("root")->shape, (std::vector<int64_t>{2, 20}));
  EXPECT_EQ(file.find("root.offsets"), nullptr);
  EXPECT_EQ(file.find("count")->shape, (std::vector<int64_t>{2}));
}

TEST(Session, CollectsAgain) {
  Trial run("plain", "(1 (2 a) (3 b))\n(1 a)");
  OutputCollector again(run.object.descriptor()),
      single(run.object.descriptor());
  run.session->load(*run.inputs->batches[0]);
  run.session->inspect();
  run.session->schedule();
  run.session->execute();
  again.collect(*run.session, 0);
  again.collect(*run.session, 1);
  again.clear();
  again.collect(*run.session, 1);
  single.collect(*run.session, 1);
  for (size_t i = 0; i < single.outputs().size(); ++i) {
    EXPECT_EQ(again.outputs()[i].data, single.outputs()[i].data);
    EXPECT_EQ(again.outputs()[i].offsets, single.outputs()[i].offsets);
  }
}

// find() locates rows without storing them. Copying them from their locations
// yields the collected rows.
TEST(Session, FindsRows) {
  Trial run("plain", "(1 (2 a) (3 b))\n(1 a)");
  OutputCollector found(run.object.descriptor()),
      collected(run.object.descriptor());
  run.session->load(*run.inputs->batches[0]);
  run.session->inspect();
  run.session->schedule();
  run.session->execute();
  for (int64_t i : {0, 1}) {
    found.find(*run.session, i);
    collected.collect(*run.session, i);
  }
  for (size_t o = 0; o < found.outputs().size(); ++o) {
    const Output &output = found.outputs()[o], &wanted = collected.outputs()[o];
    EXPECT_TRUE(output.data.empty());
    EXPECT_TRUE(collected.found(o).empty());
    EXPECT_EQ(output.offsets, wanted.offsets);
    // Copy the rows to memory in reverse order, with 12 bytes per element.
    const int64_t bytes = byteSize(output.type), gap = 12, rows = output.rows(),
                  elements = output.rowElements();
    ASSERT_LE(output.rowShape.size(), 1u);
    std::vector<int64_t> strides = {-gap * elements, gap};
    strides.resize(output.rowShape.size() + 1);
    std::vector<char> memory(rows * elements * gap, 'x');
    copyRows(*run.session, found.found(o), output.type, output.rowShape,
             memory.data() + (rows - 1) * elements * gap, strides.data());
    for (int64_t e = 0; e < rows * elements; ++e) {
      const int64_t row = rows - 1 - e / elements;
      const char *at = &memory[(row * elements + e % elements) * gap];
      EXPECT_EQ(std::memcmp(at, &wanted.data[e * bytes], bytes), 0);
      EXPECT_EQ(at[bytes], 'x');
    }
  }
}
