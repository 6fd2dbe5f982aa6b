//===- ObjectSealTest.cpp - Damaged objects -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/ObjectSeal.h"
#include "Support.h"
#include "batch-runtime/Object.h"

#include <cstddef>
#include <elf.h>
#include <iterator>
#include <random>

using namespace batchrt;

static uint64_t checksumOf(const std::string &text, size_t piece) {
  ObjectChecksum checksum;
  for (size_t begin = 0; begin < text.size(); begin += piece)
    checksum.add(text.data() + begin, std::min(piece, text.size() - begin));
  return checksum.value();
}

static std::string sealedObject() {
  std::ifstream file(std::string(FAKE_FOLDER) + "/fake_plain.so",
                     std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Values from the reference implementation.
TEST(ObjectSeal, ChecksumIsXXH64) {
  EXPECT_EQ(checksumOf("", 1), 0xef46db3751d8e999u);
  const std::string letters = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (size_t piece : {1, 3, 31, 32, 33, 36}) {
    EXPECT_EQ(checksumOf("a", piece), 0xd24ec4f1a98c6e5bu);
    EXPECT_EQ(checksumOf("foo", piece), 0x33bf00a859c4ba3fu);
    EXPECT_EQ(checksumOf(letters, piece), 0x69196c1b3af0bff9u);
  }
}

TEST(ObjectSeal, CutObjectsAreErrors) {
  TemporaryFolder folder;
  const std::string object = sealedObject();
  ASSERT_GT(object.size(), 5000u);
  EXPECT_MESSAGE("no error", CompiledObject::open(folder.write("o", object)));
  std::vector<size_t> lengths = {0,  1,   3,    4,    16,   63,  64,
                                 65, 100, 4095, 4096, 4097, 5000};
  for (size_t cut : {1, 7, 8, 9, 16, 23, 24, 25, 64, 4096})
    lengths.push_back(object.size() - cut);
  for (size_t length : lengths) {
    SCOPED_TRACE(length);
    EXPECT_MESSAGE(
        "' is damaged: it has no checksum at its end; it was truncated, "
        "rewritten by another program such as strip, or written by "
        "an earlier version of batch-compile; recompile the model",
        CompiledObject::open(folder.write("cut.so", object.substr(0, length))));
  }
  // Bytes are missing in the middle.
  std::string shorter = object;
  shorter.erase(1000, 4096);
  EXPECT_MESSAGE(concat("' is damaged: it has ", shorter.size() - 24,
                        " bytes before its checksum instead of ",
                        object.size() - 24, "; recompile the model"),
                 CompiledObject::open(folder.write("short.so", shorter)));
}

TEST(ObjectSeal, ChangedBitsAreErrors) {
  TemporaryFolder folder;
  const std::string object = sealedObject();
  std::mt19937_64 random(52);
  for (int trial = 0; trial < 200; ++trial) {
    std::string changed = object;
    // The last trials change the seal itself.
    const size_t place =
        trial < 176 ? random() % object.size() : object.size() - 200 + trial;
    changed[place] ^= char(1 << random() % 8);
    SCOPED_TRACE(place);
    EXPECT_MESSAGE("is damaged: it",
                   CompiledObject::open(folder.write("flip.so", changed)));
  }
  std::string changed = object;
  changed[object.size() / 2] ^= 1;
  EXPECT_MESSAGE("is damaged: its checksum does not match; recompile the model",
                 CompiledObject::open(folder.write("flip.so", changed)));
}

TEST(ObjectSeal, OtherFilesAreErrors) {
  TemporaryFolder folder;
  EXPECT_MESSAGE("' is not a compiled object; make one with batch-compile "
                 "MODEL.mlir -o FILE.so",
                 CompiledObject::open(folder.write("text.so", "hello")));
  EXPECT_MESSAGE("it is not a regular file",
                 CompiledObject::open(folder.file("")));
  // A valid seal does not imply that the contents can be loaded.
  EXPECT_MESSAGE("cannot load", CompiledObject::open(folder.write(
                                    "text.so", "hello" + sealOf("hello", 5))));
  // This library is not an object.
  std::ifstream cuda(std::string(FAKE_FOLDER) + "/fake_cuda.so",
                     std::ios::binary);
  std::string library(std::istreambuf_iterator<char>(cuda), {});
  auto seal = [&] { return library + sealOf(library.data(), library.size()); };
  EXPECT_MESSAGE("' is not a compiled object: it has no symbol 'batch_object'",
                 CompiledObject::open(folder.write("cuda.so", seal())));
  library[offsetof(Elf64_Ehdr, e_machine)] = char(EM_RISCV);
  library[offsetof(Elf64_Ehdr, e_machine) + 1] = 0;
  EXPECT_MESSAGE("' was compiled for an unknown architecture (ELF number 243), "
                 "but this machine is ",
                 CompiledObject::open(folder.write("riscv.so", seal())));
  BatchObject object = {};
  object.abiVersion = BATCH_ABI_VERSION;
  EXPECT_MESSAGE("the object is damaged: it has no descriptor; recompile the "
                 "model",
                 CompiledObject::adopt(object));
  object.descriptor = R"({"has": {"execute": true}})";
  EXPECT_MESSAGE("the object is damaged: the descriptor names an entry point "
                 "that is missing; recompile the model",
                 CompiledObject::adopt(object));
}
