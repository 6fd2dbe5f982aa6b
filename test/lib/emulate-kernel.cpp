//===- emulate-kernel.cpp - Runs a kernel of an object on the emulator ----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// emulate-kernel OBJECT.so KERNEL BLOCKS THREADS [OPTION=NUMBER]... ARGUMENT...
//
// Arguments: i64:VALUE, or an array: TYPE:COUNT=VALUE, TYPE:COUNT=iota, or
// TYPE:COUNT for an output that is not initialized; TYPE is i32 or f32. Prints
// the outputs, which must be the same with all seeds. Options: cluster
// (blocks), shared (bytes), seeds.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Emulator.h"
#include "batch-runtime/Error.h"

#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <iostream>
#include <map>
#include <vector>

using namespace batchrt;

namespace {
struct Argument {
  bool isFloat = false, isOutput = false;
  std::vector<int32_t> array; ///< the bits of the elements
  void *pointer = nullptr;
  int64_t number = 0;
};

Argument parse(const std::string &text) {
  size_t colon = text.find(':'), equal = text.find('=');
  if (colon == std::string::npos)
    raise("argument '", text,
          "' has no type; expected i64:VALUE or TYPE:COUNT[=VALUE]");
  std::string type = text.substr(0, colon);
  Argument argument;
  argument.number = std::stoll(text.substr(colon + 1));
  if (type == "i64")
    return argument;
  argument.isFloat = type == "f32";
  argument.isOutput = equal == std::string::npos;
  argument.array.resize(argument.number);
  std::string value = argument.isOutput ? "0" : text.substr(equal + 1);
  for (size_t i = 0; i < argument.array.size(); ++i) {
    double element = value == "iota" ? double(i) : std::stod(value);
    auto single = static_cast<float>(element);
    argument.array[i] = static_cast<int32_t>(element);
    if (argument.isFloat)
      std::memcpy(&argument.array[i], &single, 4);
  }
  return argument;
}

using Outputs = std::vector<std::vector<int32_t>>;

Outputs run(EmulatedLaunch launch, std::deque<Argument> arguments) {
  Emulator emulator;
  std::vector<void *> addresses;
  for (Argument &argument : arguments) {
    size_t bytes = 4 * argument.array.size();
    argument.pointer = argument.array.data();
    addresses.push_back(bytes ? static_cast<void *>(&argument.pointer)
                              : &argument.number);
    if (!bytes)
      continue;
    emulator.addRegion(argument.pointer, bytes,
                       concat("argument ", addresses.size() - 1));
    if (!argument.isOutput)
      emulator.markWritten(argument.pointer, bytes);
  }
  launch.arguments = addresses.data();
  emulator.launch(launch);
  Outputs outputs;
  for (Argument &argument : arguments)
    if (argument.isOutput) {
      emulator.checkWritten(argument.pointer, 4 * argument.array.size());
      outputs.push_back(argument.array);
    }
  return outputs;
}

void print(const std::deque<Argument> &arguments, const Outputs &outputs) {
  auto output = outputs.begin();
  for (const Argument &argument : arguments) {
    if (!argument.isOutput)
      continue;
    for (int32_t bits : *output++) {
      float single;
      std::memcpy(&single, &bits, 4);
      argument.isFloat ? std::cout << single : std::cout << bits;
      std::cout << ' ';
    }
    std::cout << '\n';
  }
}

void emulate(const std::vector<std::string> &words) {
  if (words.size() < 4)
    raise("usage: emulate-kernel OBJECT.so KERNEL BLOCKS THREADS "
          "[OPTION=NUMBER]... ARGUMENT...");
  void *object = dlopen(words[0].c_str(), RTLD_NOW);
  if (!object)
    raise(dlerror());
  EmulatedLaunch launch;
  launch.kernel = words[1];
  launch.entry = reinterpret_cast<BatchEmulatedKernel>(
      dlsym(object, (words[1] + BATCH_EMULATED_SUFFIX).c_str()));
  if (!launch.entry)
    raise(dlerror());
  launch.blocks = std::stoll(words[2]);
  launch.threads = std::stoll(words[3]);
  std::map<std::string, int64_t> options = {
      {"cluster", 1}, {"shared", 0}, {"seeds", 10}};
  std::deque<Argument> arguments;
  for (size_t i = 4; i < words.size(); ++i) {
    size_t equal = words[i].find('=');
    auto option = options.find(words[i].substr(0, equal));
    if (option != options.end())
      option->second = std::stoll(words[i].substr(equal + 1));
    else
      arguments.push_back(parse(words[i]));
  }
  launch.clusterBlocks = options["cluster"];
  launch.sharedBytes = options["shared"];
  Outputs first;
  for (int64_t seed = 0; seed < options["seeds"]; ++seed) {
    launch.seed = seed;
    launch.accessPeriod = seed % 3 == 0 ? 1 : 64;
    Outputs outputs = run(launch, arguments);
    if (seed == 0)
      print(arguments, first = outputs);
    else if (outputs != first)
      raise("the results of seed ", seed, " differ from those of seed 0");
  }
}
} // namespace

int main(int count, char **words) {
  try {
    emulate(std::vector<std::string>(words + 1, words + count));
  } catch (const std::exception &error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
