//===- CompileTest.cpp - Tests of compiling in process --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Target/Compile/Compile.h"
#include "Batch/InitAll.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <csignal>
#include <sys/resource.h>

using namespace mlir;

static const char source[] = R"(
func.func @main(%x: tensor<8xf32> {batch.name = "x"})
    -> (tensor<8xf32> {batch.name = "y"}) attributes {batch.entry} {
  %y = math.tanh %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
)";

// Unlike batch-compile, this program registers no command-line options. The
// linker must work here, too, even after a failed write.
TEST(Compile, AfterAFailedWrite) {
  DialectRegistry registry;
  batch::registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("batch-compile", folder));
  std::string path = (folder + "/model.so").str();
  auto compile = [&] {
    auto module = parseSourceString<ModuleOp>(source, &context);
    return batch::compileToSharedObject(*module, path, {});
  };

  rlimit limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  for (rlim_t bytes : {0, 4096}) {
    rlimit small{bytes, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    LogicalResult result = compile();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_TRUE(failed(result));
    EXPECT_NE(message.find("File too large"), std::string::npos) << message;
    // No file remains.
    std::error_code error;
    EXPECT_EQ(llvm::sys::fs::directory_iterator(folder, error),
              llvm::sys::fs::directory_iterator());
  }
  EXPECT_TRUE(succeeded(compile())) << message;
  EXPECT_FALSE(llvm::sys::fs::remove(path, /*IgnoreNonExisting=*/false));
  EXPECT_FALSE(llvm::sys::fs::remove(folder));
}
