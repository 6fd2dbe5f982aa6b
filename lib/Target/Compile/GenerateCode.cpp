//===- GenerateCode.cpp - Object files of an LLVM module ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenerateCode.h"

#include "Optimize.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::batch;

/// Approximate number of instructions in a piece. The whole module is read for
/// each piece, so smaller pieces do not pay off.
constexpr unsigned pieceSize = 4096;
constexpr unsigned mostPieces = 32;

/// Appends the object file of a module to `object`. Returns false if the target
/// cannot emit one.
static bool emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                       ObjectFile &object) {
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return false;
  passes.run(module);
  return true;
}

/// Creates a copy of `machine` for another thread.
static std::unique_ptr<llvm::TargetMachine>
copyMachine(const llvm::TargetMachine &machine) {
  return std::unique_ptr<llvm::TargetMachine>(
      machine.getTarget().createTargetMachine(
          machine.getTargetTriple(), machine.getTargetCPU(),
          machine.getTargetFeatureString(), machine.Options,
          machine.getRelocationModel(), std::nullopt, machine.getOptLevel()));
}

namespace {

/// Assignment of functions to pieces, which depends only on the module.
struct Pieces {
  explicit Pieces(llvm::Module &module) {
    std::vector<llvm::Function *> functions;
    unsigned total = 0;
    for (llvm::Function &function : module) {
      if (function.isDeclaration())
        continue;
      functions.push_back(&function);
      total += function.getInstructionCount();
    }
    count = std::min({total / pieceSize + 1, mostPieces,
                      std::max<unsigned>(functions.size(), 1)});
    // Assign the largest functions first, each to the smallest piece so far.
    llvm::stable_sort(functions, [](llvm::Function *a, llvm::Function *b) {
      return a->getInstructionCount() > b->getInstructionCount();
    });
    std::vector<unsigned> sizes(count, 0);
    for (llvm::Function *function : functions) {
      unsigned piece = llvm::min_element(sizes) - sizes.begin();
      sizes[piece] += function->getInstructionCount();
      of[function->getName()] = piece;
    }
  }

  unsigned count;
  llvm::StringMap<unsigned> of; ///< piece of each function, by name
};

} // namespace

/// Makes `symbol` visible to other pieces, but not to other shared objects.
static void shareAmongPieces(llvm::GlobalValue &symbol) {
  if (!symbol.hasLocalLinkage())
    return;
  if (!symbol.hasName())
    symbol.setName("batch.unnamed");
  symbol.setLinkage(llvm::GlobalValue::ExternalLinkage);
  symbol.setVisibility(llvm::GlobalValue::HiddenVisibility);
}

/// Moves the functions of `module` to bitcode, in which variables are only
/// declared. The variables remain in `module`.
static llvm::SmallVector<char, 0> takeFunctions(llvm::Module &module) {
  llvm::SmallVector<std::pair<llvm::GlobalVariable *, llvm::Constant *>> values;
  for (llvm::GlobalVariable &variable : module.globals())
    if (variable.hasInitializer())
      values.emplace_back(&variable, variable.getInitializer());
  for (auto [variable, value] : values) {
    shareAmongPieces(*variable);
    variable->setInitializer(nullptr);
  }
  for (llvm::Function &function : module)
    shareAmongPieces(function);
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.deleteBody();
  for (auto [variable, value] : values)
    variable->setInitializer(value);
  return bitcode;
}

FailureOr<std::vector<ObjectFile>>
mlir::batch::generateCode(Location loc, llvm::Module &module,
                          llvm::TargetMachine &machine, unsigned level,
                          Sanitizer sanitizer) {
  Pieces pieces(module);
  // Do not split the module for a sanitizer, whose passes add variables and a
  // constructor to each module.
  bool whole = pieces.count == 1 || sanitizer != Sanitizer::None;
  std::vector<ObjectFile> objects(whole ? 1 : pieces.count + 1);
  LogicalResult result = success();
  if (whole) {
    optimizeFunctions(module, machine, level, sanitizer);
    result = success(emitObject(module, machine, objects.front()));
  } else {
    llvm::SmallVector<char, 0> bitcode = takeFunctions(module);
    llvm::MemoryBufferRef buffer(StringRef(bitcode.data(), bitcode.size()),
                                 module.getModuleIdentifier());
    auto compilePiece = [&](size_t number) {
      if (number == pieces.count)
        return success(emitObject(module, machine, objects[number]));
      llvm::LLVMContext context;
      std::unique_ptr<llvm::Module> piece =
          llvm::cantFail(llvm::getLazyBitcodeModule(buffer, context));
      for (llvm::Function &function : *piece)
        if (!function.isDeclaration() &&
            pieces.of.lookup(function.getName()) != number)
          function.deleteBody();
      llvm::cantFail(piece->materializeAll());
      std::unique_ptr<llvm::TargetMachine> own = copyMachine(machine);
      optimizeFunctions(*piece, *own, level, sanitizer);
      return success(emitObject(*piece, *own, objects[number]));
    };
    result = failableParallelForEachN(loc.getContext(), 0, objects.size(),
                                      compilePiece);
  }
  if (failed(result))
    return emitError(loc) << "cannot emit object files for '"
                          << machine.getTargetTriple().str() << "'";
  return objects;
}
