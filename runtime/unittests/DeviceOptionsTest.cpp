//===- DeviceOptionsTest.cpp - Options of devices, and their names --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include "Support.h"
#include "Trial.h"
#include "batch-runtime/CAPI.h"
#include "batch-runtime/OptionNames.h"
#include "batch-runtime/Watchdog.h"

using namespace batchrt;
using namespace batchrt::test;

TEST(DeviceOptions, NamesOfCompilerOptions) {
  EXPECT_EQ(compilerOption(OptionNames::Tools, "device", "cpu"),
            "--device=cpu");
  EXPECT_EQ(compilerOption(OptionNames::C, "strategy", "lazy"),
            "--strategy=lazy");
  EXPECT_EQ(compilerOption(OptionNames::Python, "device", "cpu"),
            "device='cpu'");
  EXPECT_EQ(compilerOption(OptionNames::Python, "strategy", "lazy"),
            "strategy='lazy'");
  EXPECT_EQ(compilerOption(OptionNames::Python, "chip", "sm_80"),
            "options=['--chip=sm_80']");
}

TEST(DeviceOptions, PythonNamesInMessages) {
  FakeDriver driver;
  auto open = [] { openCudaDevice(0, OptionNames::Python); };
  FakeDriver::use("no_such_file.so");
  EXPECT_MESSAGE("; install the GPU driver, or use device='cpu' or "
                 "device='emulator'",
                 open());
  FakeDriver::use("fake_cuda.so");
  driver.cuda->cooperative = 0;
  EXPECT_MESSAGE("; use a newer GPU, or use device='cpu' or device='emulator'",
                 open());
  driver.cuda->cooperative = 1;

  const auto device = openCudaDevice(0, OptionNames::Python);
  EXPECT_MESSAGE("compile the model with device='cuda'", device->load({}));
  driver.cuda->results["cuModuleLoadDataEx"] = 209; // no binary for the GPU
  const char code[] = ".version 8.0";
  EXPECT_MESSAGE("; recompile it with options=['--chip=sm_90']",
                 device->load({code, sizeof(code), "main", "sm_80"}));
  const std::string message =
      messageOf([&] { device->allocate(size_t(1) << 40, "the mini-batch"); });
  EXPECT_NE(message.find("bytes free); use a smaller batch"),
            std::string::npos);
  EXPECT_EQ(message.find("--batch"), std::string::npos);
  for (int result : {700, 719}) {
    driver.cuda->results["cuStreamSynchronize"] = result;
    EXPECT_MESSAGE("; run with device='emulator' to find the ",
                   device->synchronize());
  }
  driver.cuda->results["cuStreamSynchronize"] = 702; // time limit of displays
  EXPECT_MESSAGE("use a GPU without a display, or use a smaller batch",
                 device->synchronize());
}

TEST(DeviceOptions, RemediesOfTheWatchdog) {
  FakeDriver driver;
  const auto device = openCudaDevice();
  const char code[] = ".version 8.0";
  const auto kernel =
      device->load({code, sizeof(code), "main.execute", "sm_80"});
  const std::vector<uint64_t> arguments(5);
  device->launch(kernel, {}, arguments);
  driver.cuda->busy = -1;
  Watchdog watchdog;
  watchdog.seconds = watchdog.margin = 0.001;
  watchdog.names = OptionNames::Python;
  const std::string message = messageOf([&] { device->wait(watchdog); });
  EXPECT_NE(message.find("; find the cause with device='emulator'"),
            std::string::npos)
      << message;
  EXPECT_EQ(message.find("watchdog"), std::string::npos) << message;
}

namespace {
/// A session of the C API that runs an empty mini-batch of a GPU object.
struct GpuSession {
  explicit GpuSession(int32_t number) {
    EXPECT_EQ(batchModelOpen(fake("gpu").c_str(), &model), BATCH_STATUS_OK);
    const std::string file = folder.write(
        "parameters.json", R"({"E": [)" + row() + R"(], "b": )" + row() +
                               R"(, "W": [)" + rows() + "]}");
    EXPECT_EQ(batchParametersRead(model, file.c_str(), &parameters),
              BATCH_STATUS_OK)
        << batchLastError();
    BatchSessionOptions options;
    batchSessionDefaults(&options);
    EXPECT_EQ(options.deviceNumber, 0);
    options.deviceNumber = number;
    EXPECT_EQ(batchSessionMake(model, parameters, &options, &session),
              BATCH_STATUS_OK);
  }
  ~GpuSession() {
    batchSessionFree(session);
    batchParametersFree(parameters);
    batchModelFree(model);
  }

  static std::string row() {
    std::string text = "[0";
    for (int i = 1; i < 20; ++i)
      text += ", 0";
    return text + "]";
  }
  static std::string rows() {
    std::string text = row();
    for (int i = 1; i < 20; ++i)
      text += ", " + row();
    return text;
  }
  BatchStatus run() {
    const int64_t none = 0;
    const int64_t begin = 0;
    const int32_t variant = 0;
    const BatchValues *const fields[6] = {};
    BatchValues trees = {};
    trees.elements = {nullptr, BATCH_TYPE_I64, 1, &none, nullptr};
    const BatchNodes nodes = {0, &begin, &variant, fields};
    const BatchInputs inputs = {0, &trees, &nodes};
    return batchSessionRun(session, &inputs, nullptr);
  }

  TemporaryFolder folder;
  BatchModel *model = nullptr;
  BatchParameters *parameters = nullptr;
  BatchSession *session = nullptr;
};
} // namespace

TEST(DeviceOptions, NumberReachesTheDriver) {
  FakeDriver driver;
  driver.cuda->kernelName = "fake";
  driver.cuda->numArguments = 6;
  driver.cuda->devices = 3;
  for (int number : {0, 2}) {
    GpuSession session(number);
    EXPECT_EQ(session.run(), BATCH_STATUS_OK) << batchLastError();
    EXPECT_EQ(driver.cuda->opened, number);
  }
  GpuSession missing(7);
  EXPECT_EQ(missing.run(), BATCH_STATUS_FAILED);
  EXPECT_STREQ(batchLastError(),
               "GPU 7 does not exist; this machine has 3, numbered from 0");
}
