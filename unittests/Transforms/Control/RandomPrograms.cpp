//===- RandomPrograms.cpp - Random recursive programs ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomPrograms.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <random>

using namespace mlir::batch::test;

namespace {

class Generator {
public:
  explicit Generator(uint32_t seed) : random(seed) {}

  std::string run() {
    functions = 1 + pick(3);
    for (unsigned i = 0; i < functions; ++i)
      writeFunction(i);
    // The fuel bounds the depth of calls.
    text += "func.func @main(%a: i64, %b: i64) -> (i64, i64) "
            "attributes {batch.entry} {\n"
            "  %fuel = arith.constant 3 : i64\n"
            "  %r:2 = func.call @f0(%fuel, %b, %a) : (i64, i64, i64) -> (i64, "
            "i64)\n";
    text += pick(2) ? "  return %r#0, %r#1 : i64, i64\n}\n"
                    : "  %s = arith.addi %r#0, %a : i64\n"
                      "  return %r#1, %s : i64, i64\n}\n";
    return text;
  }

private:
  using Scope = llvm::SmallVector<std::string>;

  // Do not use distributions of the standard library, because they differ
  // between libraries.
  unsigned pick(unsigned count) { return random() % count; }
  std::string pick(const Scope &scope) {
    // Prefer newer values, to form chains.
    size_t size = scope.size();
    return scope[pick(2) ? pick(size)
                         : size - 1 - pick(std::min<size_t>(size, 3))];
  }
  std::string fresh() { return "%v" + std::to_string(next++); }
  void line(const std::string &code) {
    text += std::string(indent, ' ') + code + "\n";
  }

  void writeFunction(unsigned number) {
    next = 0;
    calls = 3;
    line("func.func private @f" + std::to_string(number) +
         "(%fuel: i64, %a: i64, %b: i64) -> (i64, i64) {");
    indent = 2;
    line("%one = arith.constant 1 : i64");
    line("%two = arith.constant 2 : i64");
    line("%zero_index = arith.constant 0 : index");
    line("%one_index = arith.constant 1 : index");
    line("%two_index = arith.constant 2 : index");
    line("%less = arith.subi %fuel, %one : i64");
    line("%stop = arith.cmpi slt, %fuel, %one : i64");
    line("%r:2 = scf.if %stop -> (i64, i64) {");
    line(pick(2) ? "  scf.yield %b, %a : i64, i64"
                 : "  scf.yield %a, %fuel : i64, i64");
    line("} else {");
    indent += 2;
    Scope scope = {"%a", "%b", "%fuel"};
    writeBody(scope, 2 + pick(5), /*depth=*/0, /*weight=*/1);
    writeYield("scf.yield", scope);
    indent -= 2;
    line("}");
    line("return %r#0, %r#1 : i64, i64");
    indent = 0;
    line("}");
  }

  void writeYield(const std::string &op, const Scope &scope) {
    std::string first = pick(scope), second = pick(scope);
    // Sometimes return both results of a call unchanged.
    if (!lastCall.empty() && scope.back() == lastCall + "#1" && pick(2)) {
      first = lastCall + "#0";
      second = lastCall + "#1";
    }
    line(op + " " + first + ", " + second + " : i64, i64");
  }

  /// Writes `count` pieces of code. `weight` is the largest number of times
  /// that the code runs in one activation.
  void writeBody(Scope &scope, unsigned count, unsigned depth,
                 unsigned weight) {
    for (unsigned i = 0; i < count; ++i) {
      unsigned kind = pick(depth < 2 ? 9 : 6);
      if (kind < 3)
        writeArithmetic(scope);
      else if (kind < 6)
        writeCall(scope, weight);
      else if (kind == 6)
        pick(3) ? writeIf(scope, depth, weight)
                : writeSwitch(scope, depth, weight);
      else
        kind == 7 ? writeFor(scope, depth, weight)
                  : writeWhile(scope, depth, weight);
    }
  }

  void writeArithmetic(Scope &scope) {
    const char *ops[] = {"addi", "subi", "muli", "xori"};
    std::string name = fresh();
    line(name + " = arith." + ops[pick(4)] + " " + pick(scope) + ", " +
         pick(scope) + " : i64");
    scope.push_back(name);
  }

  void writeCall(Scope &scope, unsigned weight) {
    if (calls < weight)
      return;
    calls -= weight;
    std::string name = fresh();
    // Swapped and unchanged arguments are the interesting cases.
    std::string first = pick(scope), second = pick(scope);
    if (pick(3) == 0) {
      first = pick(2) ? "%b" : "%a";
      second = "%a";
    }
    line(name + ":2 = func.call @f" + std::to_string(pick(functions)) +
         "(%less, " + first + ", " + second +
         ") : (i64, i64, i64) -> (i64, i64)");
    scope.push_back(name + "#0");
    scope.push_back(name + "#1");
    lastCall = name;
  }

  std::string writeCondition(const Scope &scope) {
    const char *predicates[] = {"slt", "eq", "sge"};
    std::string name = fresh();
    line(name + " = arith.cmpi " + predicates[pick(3)] + ", " + pick(scope) +
         ", " + pick(scope) + " : i64");
    return name;
  }

  /// Appends the body of a region to the text. The caller writes the braces.
  void writeRegion(Scope scope, unsigned depth, unsigned weight) {
    indent += 2;
    writeBody(scope, pick(4), depth + 1, weight);
    writeYield("scf.yield", scope);
    indent -= 2;
  }

  void addResults(Scope &scope, const std::string &name) {
    scope.push_back(name + "#0");
    scope.push_back(name + "#1");
  }

  void writeIf(Scope &scope, unsigned depth, unsigned weight) {
    std::string condition = writeCondition(scope), name = fresh();
    line(name + ":2 = scf.if " + condition + " -> (i64, i64) {");
    writeRegion(scope, depth, weight);
    line("} else {");
    writeRegion(scope, depth, weight);
    line("}");
    addResults(scope, name);
  }

  void writeSwitch(Scope &scope, unsigned depth, unsigned weight) {
    std::string masked = fresh(), index = fresh(), name = fresh();
    line(masked + " = arith.andi " + pick(scope) + ", %two : i64");
    line(index + " = arith.index_cast " + masked + " : i64 to index");
    line(name + ":2 = scf.index_switch " + index + " -> i64, i64");
    for (const char *label : {"case 0 {", "case 1 {", "default {"}) {
      line(label);
      writeRegion(scope, depth, weight);
      line("}");
    }
    addResults(scope, name);
  }

  void writeFor(Scope &scope, unsigned depth, unsigned weight) {
    std::string name = fresh(), x = fresh(), y = fresh(), index = fresh();
    line(name + ":2 = scf.for " + index +
         " = %zero_index to %two_index step %one_index iter_args(" + x + " = " +
         pick(scope) + ", " + y + " = " + pick(scope) + ") -> (i64, i64) {");
    Scope inner = scope;
    std::string cast = fresh();
    line("  " + cast + " = arith.index_cast " + index + " : index to i64");
    inner.append({cast, x, y});
    if (pick(3) == 0) // carried values swap
      line("  scf.yield " + y + ", " + x + " : i64, i64");
    else
      writeRegion(inner, depth, weight * 2);
    line("}");
    addResults(scope, name);
  }

  void writeWhile(Scope &scope, unsigned depth, unsigned weight) {
    std::string name = fresh(), i = fresh(), x = fresh(), y = fresh();
    std::string more = fresh(), less = fresh(), j = fresh(), z = fresh(),
                w = fresh();
    line(name + ":3 = scf.while (" + i + " = %two, " + x + " = " + pick(scope) +
         ", " + y + " = " + pick(scope) +
         ") : (i64, i64, i64) -> (i64, i64, i64) {");
    line("  " + more + " = arith.cmpi sge, " + i + ", %one : i64");
    line("  " + less + " = arith.subi " + i + ", %one : i64");
    line("  scf.condition(" + more + ") " + less + ", " + y + ", " +
         (pick(2) ? x : y) + " : i64, i64, i64");
    line("} do {");
    line("^bb0(" + j + ": i64, " + z + ": i64, " + w + ": i64):");
    Scope inner = scope;
    inner.append({z, w});
    indent += 2;
    writeBody(inner, pick(4), depth + 1, weight * 2);
    line("scf.yield " + j + ", " + pick(inner) + ", " + z + " : i64, i64, i64");
    indent -= 2;
    line("}");
    scope.append({name + "#1", name + "#2"});
  }

  std::mt19937 random;
  std::string text, lastCall;
  unsigned functions = 1, next = 0, indent = 0;
  /// The number of calls that an activation may still make.
  unsigned calls = 0;
};

} // namespace

std::string mlir::batch::test::makeRandomProgram(uint32_t seed) {
  return Generator(seed).run();
}
