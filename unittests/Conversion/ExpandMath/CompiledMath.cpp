//===- CompiledMath.cpp - Expanded functions as machine code --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledMath.h"
#include "Batch/Conversion/ExpandMath.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::batch;

void batch::replaceAll(std::string &text, StringRef from, StringRef to) {
  for (size_t at; (at = text.find(from)) != std::string::npos;)
    text.replace(at, from.size(), to);
}

std::string batch::vectorOf(StringRef type, int width) {
  return width == 1 ? type.str()
                    : ("vector<" + Twine(width) + "x" + type + ">").str();
}

std::string batch::symbol(StringRef function, StringRef element, int width) {
  return (function + "_" + element + "_" + Twine(width)).str();
}

std::string batch::loopSource(StringRef name, StringRef element, int width,
                              int count, StringRef arguments, StringRef body) {
  std::string source = R"(
    llvm.func @SYMBOL(ARGUMENTS) attributes {llvm.emit_c_interface} {
      %zero = llvm.mlir.constant(0 : i64) : i64
      %step = llvm.mlir.constant(WIDTH : i64) : i64
      %end = llvm.mlir.constant(COUNT : i64) : i64
      llvm.br ^loop(%zero : i64)
    ^loop(%i: i64):
      BODY
      %next = llvm.add %i, %step : i64
      %more = llvm.icmp "slt" %next, %end : i64
      llvm.cond_br %more, ^loop(%next : i64), ^done
    ^done:
      llvm.return
    })";
  auto replace = [&](StringRef from, StringRef to) {
    replaceAll(source, from, to);
  };
  replace("ARGUMENTS", arguments);
  replace("BODY", body);
  replace("SYMBOL", symbol(name, element, width));
  replace("WIDTH", std::to_string(width));
  replace("COUNT", std::to_string(count));
  replace("ELEMENT", element);
  replace("TYPE", vectorOf(element, width));
  return source;
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, math::MathDialect,
              scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  return registry;
}

CompiledMath::CompiledMath()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  // The patterns create ops of dialects that the sources do not use.
  context.loadAllAvailableDialects();
}

LogicalResult CompiledMath::expand(StringRef source) {
  module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    return failure();
  RewritePatternSet patterns(&context);
  populateExpandMathPatterns(patterns);
  walkAndApplyPatterns(*module, FrozenRewritePatternSet(std::move(patterns)));
  return success();
}

LogicalResult CompiledMath::compile() {
  PassManager pm(&context);
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  if (failed(pm.run(*module)))
    return failure();
  ExecutionEngineOptions options;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  auto made = ExecutionEngine::create(*module, options);
  if (!made) {
    ADD_FAILURE() << llvm::toString(made.takeError());
    return failure();
  }
  engine = std::move(*made);
  return success();
}

void *CompiledMath::lookup(StringRef name) const {
  auto found = engine->lookup(name);
  if (found)
    return *found;
  ADD_FAILURE() << llvm::toString(found.takeError());
  return nullptr;
}
