//===- Object.cpp - Opening compiled objects ------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Object.h"
#include "batch-runtime/Error.h"

#include <cerrno>
#include <dlfcn.h>
#include <unistd.h>

using namespace batchrt;

CompiledObject CompiledObject::open(const std::string &path) {
  if (::access(path.c_str(), R_OK) != 0)
    raise("cannot read '", path, "': ", std::strerror(errno));
  // A bare name would be searched in the library path instead.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  CompiledObject result;
  void *handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    raise("cannot load '", path, "': ", ::dlerror());
  result.library = std::shared_ptr<void>(handle, ::dlclose);
  result.object =
      static_cast<const BatchObject *>(::dlsym(handle, "batch_object"));
  if (!result.object)
    raise("'", path, "' is no compiled object: it has no symbol "
          "'batch_object'; make one with batch-compile MODEL.mlir -o FILE.so");
  result.check("'" + path + "'");
  return result;
}

CompiledObject CompiledObject::adopt(const BatchObject &object) {
  CompiledObject result;
  result.object = &object;
  result.check("the object");
  return result;
}

void CompiledObject::check(const std::string &path) {
  if (object->abiVersion != BATCH_ABI_VERSION)
    raise(path, " has ABI version ", object->abiVersion,
          ", this runtime has version ", BATCH_ABI_VERSION,
          "; compile the model again with the batch-compile of this version");
  if (!object->descriptor)
    raise(path, " has no descriptor");
  try {
    parsed = std::make_shared<const Descriptor>(object->descriptor);
  } catch (const Error &error) {
    raise(path, ": ", error.what());
  }
  std::vector<std::string> missing = missingCpuFeatures(parsed->features);
  if (!missing.empty()) {
    std::string names;
    for (const std::string &name : missing)
      names += (names.empty() ? "" : ", ") + name;
    raise(path, " was compiled for ",
          parsed->cpu.empty() ? "another CPU" : "the CPU '" + parsed->cpu + "'",
          " and needs features that this machine lacks: ", names,
          "; compile the model for this machine (batch-compile --cpu=native) or "
          "for an older one (--cpu=x86-64-v3)");
  }
  if ((parsed->hasInspect && !object->inspect) ||
      (parsed->hasExecute && !object->execute) ||
      (parsed->hasUnbatched && !object->unbatched))
    raise(path, ": the descriptor names an entry point that is not there");
}
