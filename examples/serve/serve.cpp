//===- serve.cpp - Answers requests with a compiled object ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests are lines, each an instance as batch-run reads it; answers are JSON
// lines tagged with the number of the request. Workers take what is waiting as
// one mini-batch, so that batches grow with the load.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Outputs.h"
#include "batch-runtime/Session.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <thread>

using namespace batchrt;
using nlohmann::ordered_json;

static const char usage[] =
    "usage: serve MODEL.so PARAMETERS VOCABULARY [THREADS [BATCH]] < requests\n"
    "  PARAMETERS  a safetensors file, or random:SEED\n"
    "  VOCABULARY  a file of words, numbered by line\n"
    "  THREADS     that run mini-batches (2)\n"
    "  BATCH       the most requests of a mini-batch (32)\n";

namespace {
struct Request {
  int64_t number;
  std::string text;
};

/// What has come and nobody has taken yet.
class RequestQueue {
public:
  void add(Request request) {
    std::lock_guard<std::mutex> guard(lock);
    waiting.push_back(std::move(request));
    changed.notify_one();
  }
  void close() {
    std::lock_guard<std::mutex> guard(lock);
    closed = true;
    changed.notify_all();
  }
  /// Waits for a request and takes those that are there; none once there will
  /// be no more.
  std::vector<Request> take(size_t most) {
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [&] { return closed || !waiting.empty(); });
    auto end = waiting.begin() + std::min(most, waiting.size());
    std::vector<Request> taken(std::make_move_iterator(waiting.begin()),
                               std::make_move_iterator(end));
    waiting.erase(waiting.begin(), end);
    return taken;
  }

private:
  std::mutex lock;
  std::condition_variable changed;
  std::deque<Request> waiting;
  bool closed = false;
};

/// Where answers go, in any order.
class Answers {
public:
  void add(int64_t request, const char *key, const ordered_json &value) {
    ordered_json line{{"request", request}, {key, value}};
    // Messages may quote what is no UTF-8.
    std::string text =
        line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    std::lock_guard<std::mutex> guard(lock);
    std::cout << text << std::endl;
  }

  std::atomic<int64_t> miniBatches{0};

private:
  std::mutex lock;
};

/// One thread with a session of its own. The object, the parameters and the
/// reader are everybody's.
class Worker {
public:
  Worker(const CompiledObject &object, const BoundParameters &parameters,
         InputReader &reader, Answers &answers)
      : descriptor(object.descriptor()), reader(reader), answers(answers),
        tensors(descriptor),
        session(object, parameters, tensors, SessionOptions()) {}

  /// Answers all requests, as one mini-batch if nothing is wrong with any.
  void answer(const std::vector<Request> &requests) {
    Forest forest(descriptor);
    std::vector<Request> good;
    for (const Request &request : requests) {
      try {
        reader.read(request.text, "request", request.number, tensors, forest);
        good.push_back(request);
      } catch (const Error &error) {
        answers.add(request.number, "error", error.what());
      }
    }
    if (good.empty())
      return;
    OutputCollector collector(descriptor);
    try {
      session.run(forest);
      for (size_t i = 0; i < good.size(); ++i)
        collector.collect(session, i);
    } catch (const Error &error) {
      if (good.size() == 1)
        answers.add(good[0].number, "error", error.what());
      else // one is wrong, say with a word that the model does not have
        for (const Request &request : good)
          answer({request});
      return;
    }
    ++answers.miniBatches;
    for (size_t i = 0; i < good.size(); ++i)
      answers.add(good[i].number, "outputs", outputsOf(collector, i));
  }

private:
  /// {"NAME": [element, ...]} of one instance: the last row of each output,
  /// which is the root's where a model gives a row for every node.
  static ordered_json outputsOf(const OutputCollector &collector, size_t i) {
    ordered_json result = ordered_json::object();
    for (const Output &output : collector.outputs()) {
      ordered_json &row = result[output.name] = ordered_json::array();
      int64_t elements = output.rowElements(), end = output.offsets[i + 1];
      if (output.offsets[i] == end)
        continue;
      for (int64_t e = (end - 1) * elements; e < end * elements; ++e)
        if (isFloat(output.type))
          row.push_back(loadDouble(output.type, output.data.data(), e));
        else
          row.push_back(loadInteger(output.type, output.data.data(), e));
    }
    return result;
  }

  const Descriptor &descriptor;
  InputReader &reader;
  Answers &answers;
  InputTensors tensors;
  Session session;
};
} // namespace

/// Answers the lines of standard input; returns their number.
static int64_t serve(const CompiledObject &object, const std::string &params,
                     const Vocabulary &words, int threads, size_t most,
                     Answers &answers) {
  BoundParameters parameters(object.descriptor(), {params, words.size() - 1});
  InputReader reader(object.descriptor(), words);
  RequestQueue queue;
  std::deque<Worker> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back(object, parameters, reader, answers);
  std::vector<std::thread> running;
  for (Worker &worker : workers)
    running.emplace_back([&] {
      for (auto taken = queue.take(most); !taken.empty();
           taken = queue.take(most))
        worker.answer(taken);
    });
  std::string line;
  int64_t number = 0;
  while (std::getline(std::cin, line))
    queue.add({++number, line});
  queue.close();
  for (std::thread &thread : running)
    thread.join();
  return number;
}

int main(int argc, char **argv) {
  int threads = argc > 4 ? std::atoi(argv[4]) : 2;
  int most = argc > 5 ? std::atoi(argv[5]) : 32;
  if (argc < 4 || argc > 6 || threads < 1 || most < 1) {
    std::cerr << usage;
    return 1;
  }
  try {
    CompiledObject object = CompiledObject::open(argv[1]);
    Vocabulary words = Vocabulary::open(argv[3]);
    Answers answers;
    auto start = std::chrono::steady_clock::now();
    int64_t requests = serve(object, argv[2], words, threads, most, answers);
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    std::cerr << requests << " requests in " << answers.miniBatches
              << " mini-batches on " << threads
              << " threads: " << requests / time.count()
              << " requests per second\n";
  } catch (const Error &error) {
    std::cerr << "serve: error: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
