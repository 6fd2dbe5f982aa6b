//===- Object.cpp - Opening compiled objects ------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Object.h"
#include "Seal.h"
#include "batch-runtime/Error.h"

#include <dlfcn.h>
#include <elf.h>
#include <fstream>

using namespace batchrt;

#if defined(__x86_64__)
static constexpr Elf64_Half ownArchitecture = EM_X86_64;
#elif defined(__aarch64__)
static constexpr Elf64_Half ownArchitecture = EM_AARCH64;
#else
static constexpr Elf64_Half ownArchitecture = EM_NONE; // not checked
#endif

static std::string architectureName(Elf64_Half architecture) {
  switch (architecture) {
  case EM_X86_64:
    return "x86_64";
  case EM_AARCH64:
    return "aarch64";
  default:
    return concat("an unknown architecture (ELF number ", architecture, ")");
  }
}

/// Reports an object of a different architecture. The loader would only report
/// a missing file.
static void checkArchitecture(const std::string &path) {
  Elf64_Ehdr header;
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char *>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return;
  if (ownArchitecture != EM_NONE && header.e_machine != ownArchitecture)
    raise("'", path, "' was compiled for ", architectureName(header.e_machine),
          ", but this machine is ", architectureName(ownArchitecture),
          "; run it on a host of that architecture, or compile the model "
          "for this machine (batch-compile without --target)");
}

/// Reports the reason why an object cannot be loaded.
[[noreturn]] static void raiseLoaderError(const std::string &path,
                                          const std::string &why) {
  struct Checked {
    const char *symbol, *option, *sanitizer, *preset;
  };
  for (const Checked &checked :
       {Checked{"symbol: __tsan_", "thread", "ThreadSanitizer", "tsan"},
        Checked{"symbol: __asan_", "address", "AddressSanitizer", "asan"}})
    if (why.find(checked.symbol) != std::string::npos)
      raise("'", path, "' was compiled with --sanitize=", checked.option,
            ", but this program was built without ", checked.sanitizer,
            "; run the object with a batch-run built with the CMake preset '",
            checked.preset, "', or compile the model without --sanitize");
  raise("cannot load '", path, "': ", why);
}

CompiledObject CompiledObject::open(const std::string &path) {
  checkSeal(path);
  // For a bare name, the loader would search the library path instead of the
  // current folder.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  checkArchitecture(path);
  CompiledObject result;
  void *handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    raiseLoaderError(path, ::dlerror());
  result.library = std::shared_ptr<void>(handle, ::dlclose);
  result.object =
      static_cast<const BatchObject *>(::dlsym(handle, BATCH_OBJECT_SYMBOL));
  if (!result.object)
    raise("'", path,
          "' is not a compiled object: it has no symbol "
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
          ", but this runtime has version ", BATCH_ABI_VERSION,
          "; recompile the model with the batch-compile of this version");
  if (!object->descriptor)
    raise(path, " is damaged: it has no descriptor; recompile the model");
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
    raise(
        path, " was compiled for ",
        parsed->cpu.empty() ? "another CPU" : "the CPU '" + parsed->cpu + "'",
        " and needs features that this machine lacks: ", names,
        "; compile the model for this machine (batch-compile --cpu=native) or "
        "for an older one (--cpu=x86-64-v3)");
  }
  if ((parsed->hasInspect && !object->inspect) ||
      (parsed->hasExecute && !object->execute) ||
      (parsed->hasUnbatched && !object->unbatched) ||
      (parsed->launch && !object->deviceCode && !object->emulate))
    raise(path, " is damaged: the descriptor names an entry point that is "
                "missing; recompile the model");
}
