//===- FormatsTest.cpp - Tests of safetensors files -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "batch-runtime/OutputFile.h"
#include "batch-runtime/Tensors.h"

#include <cmath>

using namespace batchrt;

namespace {
std::string tensorFile(const std::string &header, const std::string &data) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + header + data;
}

std::string entry(const char *name, const char *type, const char *shape,
                  int begin, int end) {
  return concat("\"", name, "\":{\"dtype\":\"", type, "\",\"shape\":", shape,
                ",\"data_offsets\":[", begin, ",", end, "]}");
}
} // namespace

TEST(SafeTensors, RoundTrip) {
  TemporaryFolder folder;
  std::vector<float> a{1, 2, 3, 4, 5, 6};
  std::vector<int64_t> b{-1, 7};
  std::string path = folder.file("t.safetensors");
  writeTensorFile(
      path, {{"a", DType::F32, {2, 3}, reinterpret_cast<char *>(a.data())},
             {"b", DType::I64, {2}, reinterpret_cast<char *>(b.data())},
             {"none", DType::F32, {0, 4}, nullptr},
             {"scalar", DType::I64, {}, reinterpret_cast<char *>(b.data())}});
  TensorFile file = TensorFile::open(path);
  ASSERT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.find("a")->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(loadDouble(DType::F32, file.find("a")->data, 5), 6);
  EXPECT_EQ(loadInteger(DType::I64, file.find("b")->data, 0), -1);
  EXPECT_EQ(file.find("none")->count(), 0);
  EXPECT_EQ(file.find("scalar")->count(), 1);
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(SafeTensors, BadFiles) {
  TemporaryFolder folder;
  auto open = [&](const std::string &text) {
    return messageOf([&] { TensorFile::open(folder.write("f", text)); });
  };
  auto has = [&](const std::string &text, const char *part) {
    EXPECT_NE(open(text).find(part), std::string::npos) << open(text);
  };
  std::string four(4, 0);
  EXPECT_MESSAGE("cannot read", TensorFile::open(folder.file("absent")));
  EXPECT_MESSAGE("not a regular file", TensorFile::open(folder.file("")));
  EXPECT_MESSAGE("': Is a directory", readTextFile(folder.file("")));
  has("", "has 0 bytes");
  has("abc", "has 3 bytes");
  has(std::string(8, '\xff'), "truncated or not a safetensors file");
  has(tensorFile("{\"a\":", ""), "its header is not JSON");
  has(tensorFile(std::string("{}\0", 3), ""),
      "its header is not JSON (byte 2 is NUL)");
  has(tensorFile("[1]", ""), "is not a JSON object");
  has(tensorFile(std::string(100000, '['), ""), "its header is not JSON");
  has(tensorFile("{\"a\":3}", ""), "requires dtype, shape");
  has(tensorFile("{" + entry("a", "F8", "[1]", 0, 4) + "}", four),
      "type F8; store it as one of F64, F32, F16, BF16, I64, I32, I16, I8, U8, "
      "BOOL");
  has(tensorFile("{" + entry("a", "F32", "[-1]", 0, 4) + "}", four),
      "malformed shape");
  has(tensorFile("{" + entry("a", "F32", "[1.5]", 0, 4) + "}", four),
      "malformed shape");
  has(tensorFile("{" + entry("a", "F32", "[4611686018427387904,4]", 0, 4) + "}",
                 four),
      "is too large");
  has(tensorFile("{" + entry("a", "F32", "[2]", 0, 8) + "}", four),
      "only 4 bytes of data; it may be truncated");
  has(tensorFile("{" + entry("a", "F32", "[2]", 0, 4) + "}", four),
      "needs 8 bytes, but has 4");
  has(tensorFile("{" + entry("a", "F32", "[1]", -4, 0) + "}", four),
      "tensor 'a' has malformed data_offsets [-4,0]");
  has(tensorFile("{" + entry("a", "F32", "[1]", 4, 0) + "}", four),
      "is at bytes 4 to 0");
  has(tensorFile("{" + entry("a", "F32", "[1]", 0, 4) + "," +
                     entry("b", "F32", "[1]", 0, 4) + "}",
                 four),
      "'a' and 'b' overlap");
  has(tensorFile("{" + entry("a", "F32", "[1]", 4, 8) + "}", four + four),
      "bytes 0 to 4 of the data belong to no tensor");
  has(tensorFile("{" + entry("a", "F32", "[1]", 0, 4) + "}", four + four),
      "the last 4 bytes");
  has(tensorFile("{" + entry("a", "F32", "[1]", 0, 4) + "," +
                     entry("a", "F32", "[1]", 4, 8) + "}",
                 four + four),
      "names tensor 'a' twice");
}

TEST(SafeTensors, NoPartialFile) {
  TemporaryFolder folder;
  std::string path = folder.write("out", "old");
  EXPECT_MESSAGE("stop", writeFile(path, [](const auto &write) {
                   write("new", 3);
                   raise("stop");
                 }));
  EXPECT_EQ(readTextFile(path), "old");
  EXPECT_MESSAGE("cannot write",
                 writeTensorFile(folder.file("no/such/folder"), {}));
  const char element[4] = {};
  EXPECT_MESSAGE("two tensors are named 'a'",
                 writeTensorFile(path, {{"a", DType::F32, {1}, element},
                                        {"a", DType::F32, {1}, element}}));
}

TEST(DTypes, Conversions) {
  uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x3555};
  float out[5];
  ASSERT_TRUE(convertElements(DType::F16, reinterpret_cast<char *>(halves),
                              DType::F32, reinterpret_cast<char *>(out), 5));
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], -2.0f);
  EXPECT_EQ(out[2], std::ldexp(1.0f, -24));
  EXPECT_TRUE(std::isinf(out[3]));
  EXPECT_NEAR(out[4], 1 / 3.0, 1e-4);
  int64_t large = int64_t(1) << 40;
  char narrow[4];
  EXPECT_FALSE(convertElements(DType::I64, reinterpret_cast<char *>(&large),
                               DType::I32, narrow, 1));
  double huge = 1e300;
  EXPECT_FALSE(convertElements(DType::F64, reinterpret_cast<char *>(&huge),
                               DType::F32, narrow, 1));
  EXPECT_FALSE(canConvert(DType::I64, DType::F32));
}

TEST(DTypes, RowLayout) {
  RowLayout row({3, 5}, DType::F32);
  EXPECT_EQ(row.rowBytes(), 3 * 64);
  EXPECT_EQ(row.denseBytes(), 60);
  EXPECT_EQ(RowLayout({}, DType::I64).rowBytes(), 64);
  EXPECT_EQ(RowLayout({17}, DType::F32).rowBytes(), 128);
}

// Two rows of five elements, in pieces of four columns. A piece contains these
// columns of the first row, and then those of the second.
TEST(DTypes, ElementLayout) {
  ElementLayout layout;
  layout.digits = {{1, 4, 0, 32}, {1, 1, 4, 4}, {0, 1, 0, 16}};
  layout.run = 4;
  float row[16] = {0, 1, 2, 3, 5, 6, 7, 8, 4, -1, -1, -1, 9, -1, -1, -1};
  float dense[10];
  layout.unpad({2, 5}, DType::F32, reinterpret_cast<char *>(row),
               reinterpret_cast<char *>(dense));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(dense[i], i);
}

TEST(DTypes, StoresWhatItLoads) {
  // Loading and then storing a 16-bit number does not change it.
  for (DType type : {DType::F16, DType::BF16})
    for (int bits = 0; bits < 1 << 16; ++bits) {
      auto word = static_cast<uint16_t>(bits);
      double value = loadDouble(type, reinterpret_cast<const char *>(&word), 0);
      uint16_t stored = 0;
      ASSERT_TRUE(
          storeFloat(type, value, reinterpret_cast<char *>(&stored), 0));
      double back =
          loadDouble(type, reinterpret_cast<const char *>(&stored), 0);
      if (std::isnan(value))
        ASSERT_TRUE(std::isnan(back)) << bits;
      else
        ASSERT_EQ(stored, word) << bits;
    }
  char bytes[8] = {};
  EXPECT_TRUE(storeFloat(DType::F32, HUGE_VAL, bytes, 0));
  EXPECT_FALSE(storeFloat(DType::F32, 1e39, bytes, 0));
  EXPECT_FALSE(storeFloat(DType::F16, 65520, bytes, 0));
  EXPECT_TRUE(storeInteger(DType::U8, 255, bytes, 1));
  EXPECT_EQ(loadInteger(DType::U8, bytes, 1), 255);
  EXPECT_FALSE(storeInteger(DType::U8, -1, bytes, 1));
  EXPECT_FALSE(storeInteger(DType::I16, 32768, bytes, 0));
}
