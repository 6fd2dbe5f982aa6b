//===- Cells.h - Cells as static blocks -------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cells of tables 2 and 5 of ED-Batch, as in a framework without kernels
// for whole gates: a matrix for each gate and operand, and one operator for
// each product, sum and activation.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_UNITTESTS_LAYOUT_CELLS_H
#define BATCH_UNITTESTS_LAYOUT_CELLS_H

#include "Batch/Layout/Batching.h"

#include <map>
#include <string>
#include <vector>

namespace cells {

struct Cell {
  std::string name;
  batchrt::StaticBlock block;
  /// Kinds of the operators that are gather copies themselves.
  std::vector<int32_t> copyingKinds;
  /// The paper's results: gather copies and bytes with the paper's layout, and
  /// the time of the search for this layout in milliseconds.
  int64_t paperKernels, paperBytes;
  double paperMs;
};

/// Returns the number of gather copies of a batching: the copies of its layout,
/// and the operators that copy.
inline int64_t gatherCopies(const Cell &cell,
                            const batchrt::OperatorBatches &batches,
                            const batchrt::Layout &layout) {
  int64_t kernels = static_cast<int64_t>(layout.copies.size());
  for (const std::vector<int32_t> &batch : batches)
    for (int32_t kind : cell.copyingKinds)
      kernels += cell.block.operators[batch[0]].kind == kind;
  return kernels;
}

inline int64_t memoryBytes(const Cell &cell, const batchrt::Layout &layout) {
  int64_t bytes = layout.bytesCopied();
  for (const batchrt::Operator &op : cell.block.operators)
    for (int32_t kind : cell.copyingKinds)
      if (op.kind == kind)
        for (int32_t result : op.results)
          bytes += cell.block.variables[result].bytes;
  return bytes;
}

/// Builds cells with a batch size of 8 and a hidden size of 64. `x` is a vector
/// and `m` a matrix for each instance; `w` and `b` are parameters.
class Builder {
public:
  static constexpr int64_t size = 64, batch = 8, f32 = 4;
  using Value = int32_t;

  Value x(int64_t elements = size) { return variable(elements * batch * f32); }
  Value m(int64_t rows = size) { return variable(rows * size * batch * f32); }
  Value w(int64_t columns = size) { return variable(size * columns * f32); }
  Value b() { return variable(size * f32); }

  Value op(const std::string &name, const std::vector<Value> &operands,
           Value result) {
    std::string shape = name;
    for (Value operand : operands)
      shape += ' ' + std::to_string(cell.block.variables[operand].bytes);
    int32_t kind = kinds.try_emplace(shape, static_cast<int32_t>(kinds.size()))
                       .first->second;
    if (name == "concat")
      cell.copyingKinds.push_back(kind);
    cell.block.operators.push_back({kind, operands, {result}});
    return result;
  }
  Value op(const std::string &name, const std::vector<Value> &operands) {
    return op(name, operands, x());
  }
  Value times(Value w, Value v) { return op("times", {w, v}); }
  Value add(Value a, Value b) { return op("add", {a, b}); }
  Value mul(Value a, Value b) { return op("mul", {a, b}); }
  Value sigmoid(Value a) { return op("sigmoid", {a}); }
  Value tanh(Value a) { return op("tanh", {a}); }
  Value rest(Value a) { return op("one minus", {a}); }

  Cell make(const std::string &name, int64_t kernels, double kilobytes,
            double ms) {
    cell.name = name;
    cell.paperKernels = kernels;
    cell.paperBytes = static_cast<int64_t>(kilobytes * 1024);
    cell.paperMs = ms;
    return cell;
  }

private:
  Value variable(int64_t bytes) {
    cell.block.variables.push_back({bytes});
    return static_cast<Value>(cell.block.variables.size()) - 1;
  }

  Cell cell;
  std::map<std::string, int32_t> kinds;
};

inline Cell gru() {
  Builder c;
  auto x = c.x(), h = c.x();
  auto gate = [&](auto v) {
    auto wx = c.times(c.w(), x);
    return c.add(c.add(wx, c.times(c.w(), v)), c.b());
  };
  auto r = c.sigmoid(gate(h)), z = c.sigmoid(gate(h));
  auto n = c.tanh(gate(c.mul(r, h)));
  c.add(c.mul(z, h), c.mul(c.rest(z), n));
  return c.make("GRUCell", 2, 14, 4.82);
}

inline Cell lstm() {
  Builder c;
  auto x = c.x(), h = c.x(), state = c.x();
  auto gate = [&] {
    auto wx = c.times(c.w(), x);
    return c.add(c.add(wx, c.times(c.w(), h)), c.b());
  };
  auto i = c.sigmoid(gate()), f = c.sigmoid(gate()), o = c.sigmoid(gate());
  auto g = c.tanh(gate());
  auto next = c.add(c.mul(f, state), c.mul(i, g));
  c.mul(o, c.tanh(next));
  return c.make("LSTMCell", 1, 16, 12.95);
}

inline Cell mv() {
  Builder c;
  auto a = c.x(), b = c.x(), A = c.m(), B = c.m();
  auto both =
      c.op("concat", {c.times(B, a), c.times(A, b)}, c.x(2 * Builder::size));
  c.tanh(c.add(c.times(c.w(2 * Builder::size), both), c.b()));
  auto stacked = c.op("concat", {A, B}, c.m(2 * Builder::size));
  c.op("add", {c.op("times", {c.w(2 * Builder::size), stacked}, c.m()), c.b()},
       c.m());
  return c.make("MVCell", 2, 260, 1.53);
}

/// Adds the code of a TreeGRU for one child.
inline Builder::Value update(Builder &c, Builder::Value h, Builder::Value br,
                             Builder::Value bz, Builder::Value bc) {
  auto r = c.sigmoid(c.add(c.times(c.w(), h), br));
  auto z = c.sigmoid(c.add(c.times(c.w(), h), bz));
  auto n = c.tanh(c.add(c.times(c.w(), c.mul(r, h)), bc));
  return c.add(c.mul(z, h), c.mul(c.rest(z), n));
}

/// Returns a cell whose children share biases, or have separate biases if
/// `ownBiases` is true.
inline Cell treeGruInternal(bool ownBiases = false) {
  Builder c;
  auto l = c.x(), r = c.x(), br = c.b(), bz = c.b(), bc = c.b();
  auto left = update(c, l, br, bz, bc);
  auto right =
      ownBiases ? update(c, r, c.b(), c.b(), c.b()) : update(c, r, br, bz, bc);
  c.op("half", {c.add(left, right)});
  return c.make("TreeGRU-Internal", 2, 16, 10.43);
}

inline Cell treeGruLeaf() {
  Builder c;
  auto x = c.x(), br = c.b(), bz = c.b(), bc = c.b();
  update(c, x, br, bz, bc);
  return c.make("TreeGRU-Leaf", 2, 8, 2.91);
}

inline Cell treeLstmInternal() {
  Builder c;
  auto hl = c.x(), hr = c.x(), cl = c.x(), cr = c.x(), bf = c.b();
  auto gate = [&] {
    auto left = c.times(c.w(), hl);
    return c.add(c.add(left, c.times(c.w(), hr)), c.b());
  };
  auto i = c.sigmoid(gate()), o = c.sigmoid(gate()), u = c.tanh(gate());
  auto fl = c.sigmoid(c.add(c.times(c.w(), hl), bf));
  auto fr = c.sigmoid(c.add(c.times(c.w(), hr), bf));
  auto state = c.add(c.mul(i, u), c.add(c.mul(fl, cl), c.mul(fr, cr)));
  c.mul(o, c.tanh(state));
  return c.make("TreeLSTM-Internal", 3, 22, 29.89);
}

inline Cell treeLstmLeaf() {
  Builder c;
  auto x = c.x();
  auto gate = [&] { return c.add(c.times(c.w(), x), c.b()); };
  auto i = c.sigmoid(gate()), o = c.sigmoid(gate()), u = c.tanh(gate());
  c.mul(o, c.tanh(c.mul(i, u)));
  return c.make("TreeLSTM-Leaf", 1, 6, 3.64);
}

inline std::vector<Cell> all() {
  return {gru(),         lstm(),
          mv(),          treeGruInternal(),
          treeGruLeaf(), treeLstmInternal(),
          treeLstmLeaf()};
}

} // namespace cells

#endif // BATCH_UNITTESTS_LAYOUT_CELLS_H
