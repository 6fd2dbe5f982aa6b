//===- serve.cpp - Answers requests with a compiled object ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests are lines of standard input. Each is an instance in the input format
// of batch-run. An answer is also a line: the number of the request, then the
// outputs as JSON or "error: MESSAGE". Each thread takes the pending requests,
// up to LARGEST-BATCH, as one mini-batch, so batches grow with the load. The
// bytes and the steps of each request are limited. A request that exceeds a
// limit gets an error, and the other requests of its mini-batch get their
// answers.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Outputs.h"
#include "batch-runtime/Session.h"

#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

using namespace batchrt;

namespace {
struct Request {
  int64_t number;
  std::string text;
};

/// Limits of a request.
struct Limits {
  int64_t steps = 1000000; ///< rounds of loops and recursive calls
  size_t bytes = 1 << 20;  ///< bytes of the request's line
};

/// State that the threads share.
class Server {
public:
  Server(const char *model, const char *params, const char *vocabulary,
         size_t most, const Limits &limits)
      : object(CompiledObject::open(model)),
        words(Vocabulary::open(vocabulary)),
        parameters(object.descriptor(), {params, words.size() - 1}),
        reader(object.descriptor(), words), most(most), limits(limits) {}

  /// Runs on each thread, with a separate session, until there are no more
  /// requests.
  void work() {
    InputTensors tensors(object.descriptor());
    SessionOptions options;
    options.lockstep.maxSteps = limits.steps;
    options.lockstep.partialResults = true;
    options.lockstep.names = OptionNames::C;
    Session session(object, parameters, tensors, options);
    for (auto taken = take(); !taken.empty(); taken = take()) {
      answer(session, tensors, taken);
      tensors.clear();
    }
  }

private:
  /// Reads a line and counts its bytes. Stores at most `limits.bytes` bytes of
  /// the line. Returns false at the end of the input.
  bool readLine(std::string &line, size_t &bytes) {
    constexpr int end = std::char_traits<char>::eof();
    std::streambuf &input = *std::cin.rdbuf();
    line.clear();
    bytes = 0;
    int next = input.sbumpc();
    if (next == end)
      return false;
    for (; next != end && next != '\n'; next = input.sbumpc())
      if (++bytes <= limits.bytes)
        line += static_cast<char>(next);
    return true;
  }

  /// Waits for a request and takes pending requests, at most `most`.
  /// Immediately answers requests that are too long.
  std::vector<Request> take() {
    std::lock_guard<std::mutex> guard(inputLock);
    std::vector<Request> taken;
    std::string line;
    size_t bytes;
    while (taken.size() < most &&
           (taken.empty() || std::cin.rdbuf()->in_avail() > 0) &&
           readLine(line, bytes)) {
      ++requests;
      if (bytes <= limits.bytes)
        taken.push_back({requests, line});
      else
        say(requests, concat("error: the request has ", bytes,
                             " bytes; send at most ", limits.bytes));
    }
    return taken;
  }

  void answer(Session &session, InputTensors &tensors,
              const std::vector<Request> &taken) {
    OutputCollector collector(object.descriptor());
    try {
      Forest forest(object.descriptor());
      for (const Request &request : taken)
        reader.read(request.text, "request", request.number, tensors, forest);
      session.run(forest);
      for (size_t i = 0; i < taken.size(); ++i)
        collector.collect(session, i);
    } catch (const Error &error) {
      if (taken.size() == 1)
        return say(taken[0].number, concat("error: ", error.what()));
      for (const Request &request : taken) // so that valid ones get answers
        answer(session, tensors, {request});
      return;
    }
    for (size_t i = 0; i < taken.size(); ++i) {
      const std::string why = session.failure(static_cast<int64_t>(i));
      say(taken[i].number, why.empty() ? toJson(collector.outputs(), i)
                                       : concat("error: ", why));
    }
  }

  void say(int64_t request, const std::string &text) {
    std::lock_guard<std::mutex> guard(outputLock);
    std::cout << request << ' ' << text << std::endl;
  }

  const CompiledObject object;
  const Vocabulary words;
  const BoundParameters parameters;
  InputReader reader;
  const size_t most;
  const Limits limits;
  std::mutex inputLock, outputLock;
  int64_t requests = 0;
};
} // namespace

int main(int argc, char **argv) {
  const bool isComplete = argc >= 6 && argc <= 8;
  int count = isComplete ? std::atoi(argv[4]) : 0;
  int most = isComplete ? std::atoi(argv[5]) : 0;
  Limits limits;
  if (argc > 6)
    limits.steps = std::atoll(argv[6]);
  if (argc > 7)
    limits.bytes = std::strtoull(argv[7], nullptr, 10);
  if (count < 1 || most < 1 || limits.steps < 1 || limits.bytes < 1) {
    std::cerr
        << "usage: serve MODEL.so FILE.safetensors|random:SEED VOCABULARY "
           "THREADS LARGEST-BATCH [MOST-STEPS [MOST-BYTES]]\n";
    return 1;
  }
  std::ios::sync_with_stdio(false); // otherwise in_avail() returns 0
  std::cin.tie(nullptr);            // reads do not flush std::cout
  try {
    Server server(argv[1], argv[2], argv[3], most, limits);
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back(&Server::work, &server);
    for (std::thread &thread : threads)
      thread.join();
  } catch (const Error &error) {
    std::cerr << "serve: error: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
