//===- RandomInputs.h - Random instances ------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_FORMATS_RANDOMINPUTS_H
#define BATCH_RUNTIME_LIB_FORMATS_RANDOMINPUTS_H

#include "../Forest/ValueBuilder.h"

#include <random>

namespace batchrt {

/// Generates random values of argument types: indices below 1000, small
/// integers, floats uniform in [-1, 1), and tensors of such integers or floats.
/// Lists have 10 to 30 elements, but lists of children have at most 4. Each ADT
/// value has a budget of 10 to 30 leaves, which nodes distribute among their
/// children at random. Equal seeds give equal values on every host.
class RandomInputs {
public:
  RandomInputs(const Descriptor &descriptor, uint64_t seed);

  /// Returns the cell of a random value of the type.
  int64_t value(const Type &type, ValueBuilder &builder, InputTensors &tensors);

private:
  struct Pending {
    int64_t node, leaves;
  };
  uint64_t below(uint64_t bound) { return generator() % bound; }
  double uniform() { return (generator() >> 11) * 0x1p-52 - 1.0; }
  int64_t scalar(const Type &type, ValueBuilder &builder);
  int64_t tensor(const Type &type, InputTensors &tensors);
  int64_t tree(int adt, int64_t leaves, ValueBuilder &builder,
               InputTensors &tensors);
  int64_t addNode(int adt, int64_t leaves, ValueBuilder &builder);
  void fill(Pending parent, ValueBuilder &builder, InputTensors &tensors);
  const Variant &choose(int adt, int64_t leaves);

  const Descriptor &descriptor;
  std::mt19937_64 generator;
  /// For each ADT: the variants with the fewest levels below them, and the
  /// variants with children.
  std::vector<std::vector<const Variant *>> ends, inner;
  std::vector<Pending> work;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_FORMATS_RANDOMINPUTS_H
