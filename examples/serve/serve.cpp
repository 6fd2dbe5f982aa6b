//===- serve.cpp - Answers requests with a compiled object ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests are lines of standard input, each an instance as batch-run reads it.
// An answer is a line too: the number of the request, then the outputs as JSON
// or "error: MESSAGE". Threads take what is waiting as one mini-batch, so that
// batches grow with the load.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Outputs.h"
#include "batch-runtime/Session.h"

#include <iostream>
#include <mutex>
#include <thread>

using namespace batchrt;

namespace {
struct Request {
  int64_t number;
  std::string text;
};

/// What the threads share.
class Server {
public:
  Server(const char *model, const char *params, const char *vocabulary,
         size_t most)
      : object(CompiledObject::open(model)),
        words(Vocabulary::open(vocabulary)),
        parameters(object.descriptor(), {params, words.size() - 1}),
        reader(object.descriptor(), words), most(most) {}

  /// What each thread does, with a session of its own, until there are no more
  /// requests.
  void work() {
    InputTensors tensors(object.descriptor());
    Session session(object, parameters, tensors, SessionOptions());
    for (auto taken = take(); !taken.empty(); taken = take()) {
      answer(session, tensors, taken);
      tensors.clear();
    }
  }

private:
  /// Waits for a request and takes all that are there.
  std::vector<Request> take() {
    std::lock_guard<std::mutex> guard(inputLock);
    std::vector<Request> taken;
    std::string line;
    while (taken.size() < most &&
           (taken.empty() || std::cin.rdbuf()->in_avail() > 0) &&
           std::getline(std::cin, line))
      taken.push_back({++requests, line});
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
      for (const Request &request : taken) // the others get their answers
        answer(session, tensors, {request});
      return;
    }
    for (size_t i = 0; i < taken.size(); ++i)
      say(taken[i].number, toJson(collector.outputs(), i));
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
  std::mutex inputLock, outputLock;
  int64_t requests = 0;
};
} // namespace

int main(int argc, char **argv) {
  int count = argc == 6 ? std::atoi(argv[4]) : 0;
  int most = argc == 6 ? std::atoi(argv[5]) : 0;
  if (count < 1 || most < 1) {
    std::cerr
        << "usage: serve MODEL.so FILE.safetensors|random:SEED VOCABULARY "
           "THREADS LARGEST-BATCH\n";
    return 1;
  }
  std::ios::sync_with_stdio(false); // or nothing is known to be waiting
  std::cin.tie(nullptr);            // readers leave std::cout to writers
  try {
    Server server(argv[1], argv[2], argv[3], most);
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
