//===- HostCpu.cpp - Features of this host --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Object.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

using namespace batchrt;

/// Removes the punctuation of a name. For most names, LLVM and Linux differ
/// only in punctuation.
static std::string normalize(const std::string &name) {
  std::string result;
  for (char c : name)
    if (c != '_' && c != '-' && c != '.')
      result += c;
  return result;
}

/// Names that LLVM and Linux spell differently: the LLVM name, then the Linux
/// name.
static const char *const aliases[][2] = {
    {"sse3", "pni"},         {"pclmul", "pclmulqdq"}, {"lzcnt", "abm"},
    {"sha", "shani"},        {"rdrnd", "rdrand"},     {"crc32", "sse42"},
    {"neon", "asimd"},       {"dotprod", "asimddp"},  {"lse", "atomics"},
    {"fullfp16", "asimdhp"},
};

/// Returns true for features that generated code uses and that the Linux kernel
/// lists. Other names in a target (tuning flags, features for the Linux kernel
/// only) do not matter here.
static bool matters(const std::string &feature) {
  static const char *const prefixes[] = {
      "avx",    "sse",      "ssse3", "fma",   "f16c", "bmi",  "lzcnt",
      "popcnt", "movbe",    "amx",   "vaes",  "aes",  "gfni", "vpcl",
      "pclm",   "adx",      "sha",   "crc32", "cx16", "neon", "dotprod",
      "lse",    "fullfp16", "sve",   "bf16",  "i8mm"};
  // Features without a separate flag in /proc/cpuinfo.
  static const std::set<std::string> unlisted = {"evex512", "sha512"};
  if (unlisted.count(feature) || feature.rfind("avx10", 0) == 0)
    return false;
  return std::any_of(
      std::begin(prefixes), std::end(prefixes),
      [&](const char *prefix) { return feature.rfind(prefix, 0) == 0; });
}

static std::set<std::string> readHostFeatures() {
  // Under an emulator of a different architecture, /proc/cpuinfo describes the
  // emulator's host, which has a different key.
#ifdef __aarch64__
  const char key[] = "Features";
#else
  const char key[] = "flags";
#endif
  std::set<std::string> features;
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(key, 0) != 0)
      continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    std::string word;
    while (words >> word)
      features.insert(normalize(word));
    break;
  }
  return features;
}

std::vector<std::string>
batchrt::missingCpuFeatures(const std::vector<std::string> &features) {
  static const std::set<std::string> host = readHostFeatures();
  std::vector<std::string> missing;
  if (host.empty()) // the features of the host are unknown
    return missing;
  for (std::string feature : features) {
    if (!feature.empty() && feature[0] == '-')
      continue;
    if (!feature.empty() && feature[0] == '+')
      feature.erase(0, 1);
    if (!matters(feature))
      continue;
    std::string name = normalize(feature);
    bool found = host.count(name);
    for (auto &alias : aliases)
      found |= name == alias[0] && host.count(alias[1]);
    if (!found)
      missing.push_back(feature);
  }
  return missing;
}
