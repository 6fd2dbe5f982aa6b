//===- ToolTest.cpp - Tests of batch-run as a program ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "batch-runtime/Tensors.h"

#include <cstdio>
#include <sys/wait.h>

using namespace batchrt;

namespace {
struct Outcome {
  int code;
  std::string text; ///< standard output and standard error
};

Outcome tool(const std::string &arguments, const std::string &program) {
  std::string command = program + " " + arguments + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe)
    return {-1, ""};
  std::string text;
  char block[4096];
  while (size_t count = fread(block, 1, sizeof(block), pipe))
    text.append(block, count);
  int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

class Tool : public testing::Test {
protected:
  void SetUp() override {
    if (access(BATCH_RUN, X_OK) != 0)
      GTEST_SKIP() << "batch-run is not built";
  }
  void fails(const std::string &arguments, const std::string &part,
             const std::string &program = BATCH_RUN) {
    Outcome outcome = tool(arguments, program);
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_NE(outcome.text.find("batch-run: error: "), std::string::npos)
        << outcome.text;
    EXPECT_NE(outcome.text.find(part), std::string::npos) << outcome.text;
  }
  void succeeds(const std::string &arguments, const std::string &part) {
    Outcome outcome = tool(arguments, BATCH_RUN);
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.text;
    EXPECT_NE(outcome.text.find(part), std::string::npos) << outcome.text;
  }

  TemporaryFolder folder;
  std::string model = std::string(FAKE_FOLDER) + "/fake_plain.so ";
  std::string broken = std::string(FAKE_FOLDER) + "/fake_broken.so ";
  std::string input = std::string(FAKE_FOLDER) + "/fake_input.so ";
  std::string random = "--params=random:1 --inputs=random:1,20 ";
};
} // namespace

TEST_F(Tool, Runs) {
  succeeds("--help", "EXAMPLES");
  succeeds("--version", "ABI version");
  succeeds(model + random, "20 instances in 1 mini-batch(es)");
  succeeds(model + random +
               "--batch=6 --threads=2 --check-unbatched --counters",
           "in 4 mini-batch(es)");
  succeeds(model + random + "--counters", "live_results ");
  succeeds(input + random + "--check-unbatched=1e-6", "unbatched: the same");
  succeeds(model + random + "--unbatched --bench=2", "unbatched ");
  succeeds(model + random + "--bench=3", "total");
  succeeds(model + random + "--json --check-unbatched --bench=2",
           "\"max_relative_error\": 0.0");
  succeeds(model + random + "--limit=3 --json", "\"instances\": 3,");
}

TEST_F(Tool, WritesFiles) {
  std::string out = folder.file("out"), trace = folder.file("trace"),
              dot = folder.file("dot"), unbatched = folder.file("alone");
  succeeds(model + random + "--outputs=" + out + " --trace=" + trace +
               " --dot=" + dot,
           "h f32 [");
  EXPECT_TRUE(TensorFile::open(out).find("h.offsets"));
  EXPECT_NE(readTextFile(trace).find("\"sum2\""), std::string::npos);
  EXPECT_NE(readTextFile(dot).find(" -> "), std::string::npos);
  succeeds(model + random + "--unbatched --outputs=" + unbatched, "unbatched");
  EXPECT_EQ(readTextFile(out), readTextFile(unbatched));
}

TEST_F(Tool, Policies) {
  for (const char *policy : {"depth", "agenda", "greedy", "fsm"})
    succeeds(model + random + "--check-unbatched --policy=" + policy,
             "unbatched: the same");
  std::string table = folder.file("table");
  succeeds(model + random + "--learn-policy=" + table,
           "learned a policy from the first 20 instances");
  EXPECT_NE(readTextFile(table).find("\nkernel sum_many\n"), std::string::npos);
  succeeds(model + random + "--check-unbatched --json --policy-table=" + table,
           "\"unknown_states\": 0");
  fails(model + random + "--policy=best",
        "invalid value 'best' for --policy; expected 'depth', "
        "'agenda', 'greedy' or 'fsm'");
  fails(model + random + "--policy=greedy --policy-table=" + table,
        "--policy-table and --learn-policy require --policy=fsm");
  fails(model + random + "--learn-policy=" + table + " --policy-table=" + table,
        "--learn-policy cannot be combined with --policy-table");
  fails(model + random + "--unbatched --policy=agenda",
        "a policy cannot be combined with --unbatched");
  fails(model + random + "--unbatched --dot=" + table,
        "--trace and --dot cannot be combined with --unbatched");
  fails(model + random + "--unbatched --check-unbatched",
        "--check-unbatched cannot be combined with --unbatched");
  fails(model + random + "--check-unbatched --partial-results",
        "--check-unbatched cannot be combined with --partial-results");
  fails(model + random + "--policy-table=none", "cannot read 'none'");
  fails(model + random + "--policy-table=" +
            folder.write("bad", "batch-policy 1\nencoding no\n"),
        "bad:2: unknown encoding 'no'");
}

TEST_F(Tool, FindsDifferences) {
  std::string out = folder.file("out");
  fails(broken + random + "--check-unbatched --outputs=" + out,
        "batched results differ from unbatched results: output 'root' of "
        "instance 1");
  EXPECT_NE(access(out.c_str(), F_OK), 0);
  succeeds(broken + random + "--check-unbatched=1e-5", "the same");
}

TEST_F(Tool, Expected) {
  std::string tree = folder.write("tree", "(1 (2 a) (3 b))");
  std::string given = "--params=random:1 --inputs=" + tree;
  int64_t three = 3, four = 4;
  std::string good = folder.file("good"), bad = folder.file("bad");
  writeTensorFile(good, {{"0.count", DType::I64, {}, (char *)&three}});
  writeTensorFile(bad, {{"0.count", DType::I64, {}, (char *)&four}});
  succeeds(model + given + " --expect=" + good + ",1e-3,1e-3",
           "1 entries, all within tolerance");
  fails(model + given + " --expect=" + bad,
        "results differ from the expected ones: output 'count' of instance 0, "
        "element 0: 3; expected 4");
}

TEST_F(Tool, Errors) {
  fails("", "no model is given");
  fails(model, "no inputs are given");
  fails(model + "--inputs=random:1,3", "is not given; add --params");
  fails(model + random + "--tread=2", "did you mean --threads?");
  fails(model + random + "--bananas", "see batch-run --help");
  fails(model + random + "--threads", "--threads requires a value");
  fails(model + random + "--threads=0",
        "invalid value '0' for --threads; expected an integer of at least 1");
  fails(model + random + "--threads=3000000000",
        "for --threads; expected an integer of at most 2147483647");
  fails(model + random + "--threads=99999999999999999999",
        "for --threads; expected an integer of at most 2147483647");
  fails(model + random + "--stack-size=9223372036854775807K",
        "--stack-size is too large");
  fails(model + random + "--watchdog=soon",
        "invalid value 'soon' for --watchdog; expected a non-negative number");
  fails(model + random + "--depths=none",
        "invalid value 'none' for --depths; expected 'inspector' or 'flush'");
  fails(model + random + "--expect=file,1e-4",
        "invalid value 'file,1e-4' for --expect; expected FILE or "
        "FILE,RTOL,ATOL");
  fails(model + random + "--json=1", "takes no value");
  fails(model + random + "--device=vulkan",
        "invalid value 'vulkan' for --device");
  fails(model + random + "--size=H=64", "pass the option to batch-compile");
  fails(model + "other.so", "expected one model");
  fails("no.so " + random, "cannot read 'no.so'");
  fails("no.mlir " + random, "cannot read 'no.mlir'");
  fails(folder.write("m.mlir", "") + " " + random, "batch-compile");
  fails(model +
            "--params=random:1 --inputs=" + folder.write("bad", "[\"leaf\"]"),
        "bad:1:8: expected 1 field for 'leaf', found 0");
  fails(model + random + "--outputs=" + folder.file("no/such"), "cannot write");
  fails(model + "--params=" + folder.write("p", "abc") + " --inputs=random:1,2",
        "has 3 bytes");
  fails(std::string(FAKE_FOLDER) +
            "/fake_lanes.so --inputs=random:1,3 --check-unbatched",
        "the object has no unbatched code, because it was compiled from a "
        "module whose instance functions had been removed; compare --outputs "
        "files instead");
  fails(std::string(FAKE_FOLDER) + "/fake_waits.so " + random +
            "--stack-size=4611686018427387904",
        "; 0 fibers already exist; use a smaller batch (--batch) or fewer "
        "fibers (--max-fibers)");
}

// batch-run runs the batch-compile in its own directory.
TEST_F(Tool, FindsTheCompiler) {
  const std::string program = folder.file("batch-run");
  const std::string compiler = folder.file("batch-compile");
  const std::string source = folder.write("m.mlir", "") + " " + random;
  std::filesystem::copy_file(BATCH_RUN, program);
  fails(source,
        "cannot find '" + compiler +
            "'; install batch-compile there, or pass a compiled .so",
        program);
  folder.write("batch-compile", "");
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  fails(source, "cannot start '" + compiler + "': Exec format error", program);
  folder.write("batch-compile", "#!/bin/sh\nkill -9 $$\n");
  fails(source, "batch-compile was terminated by signal 9", program);
}
