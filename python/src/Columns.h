//===- Columns.h - Fields of nodes, by variant ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_PYTHON_COLUMNS_H
#define BATCH_PYTHON_COLUMNS_H

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

namespace batch::python {
/// An object in a message, in a few characters. Raises nothing.
std::string shown(nanobind::handle object);

/// The elements of a column.
struct Element {
  enum Kind { Bool, Int, Unsigned, Float, BFloat, Index, Node };

  static Element of(const std::string &dtype, bool isIndex, bool isNode);

  Kind kind;
  int bytes;
  /// Of integers without a sign: the runtime has others with the same bits.
  bool isSignedThere = true;
};

/// Who adds to columns.
class ColumnUser {
public:
  virtual ~ColumnUser() = default;

  /// What Python makes of a value that is no number, or array of the type: an
  /// array with its bits. `isList`: of all elements of a list.
  virtual nanobind::object convert(nanobind::handle value, bool isList,
                                   const std::string &where) = 0;
  /// Where the value is that is added, in messages.
  virtual std::string where() const = 0;
};

/// One field of all nodes of a variant, as the C API reads it.
class Column {
public:
  Column(Element element, std::vector<int64_t> shape, int lists,
         std::string description);

  bool isOfNodes() const { return element.kind == Element::Node; }
  /// Those of all lists, in all rows.
  int64_t elements() const {
    return static_cast<int64_t>(bytes.size() / rowBytes);
  }
  int lists() const { return static_cast<int>(offsets.size()); }

  /// Adds a value that has no nodes.
  void add(nanobind::handle value, ColumnUser &user);

  /// Adds nodes by their numbers. A list has its length in front of its
  /// elements. Returns what follows.
  const int64_t *addNodes(const int64_t *numbers, int level = 0);

  /// Of the values `a` and `b`: equal bits.
  bool areEqual(int64_t a, int64_t b) const;
  uint64_t hash(int64_t row) const;
  /// Leaves so many values.
  void keep(int64_t rows);

  /// A pair of an array and of a list of arrays of offsets, which take the
  /// memory over.
  nanobind::tuple take();

private:
  void addTo(int level, nanobind::handle value, ColumnUser &user);
  void addElement(nanobind::handle value, ColumnUser &user);
  bool addInteger(nanobind::handle value, ColumnUser &user);
  bool addFloat(nanobind::handle value);
  bool addArray(nanobind::handle value, bool isList, ColumnUser &user);
  void addConverted(nanobind::handle value, bool isList, ColumnUser &user);
  bool fits(const Py_buffer &view) const;
  void checkIndices(size_t begin, ColumnUser &user) const;
  void write(double value);
  char *grow(size_t added);
  void endList(int level, int64_t length);
  std::string where(const ColumnUser &user) const;
  std::string wanted() const;
  [[noreturn]] void refuse(nanobind::handle value, ColumnUser &user) const;
  [[noreturn]] void refuseRange(const std::string &value,
                                ColumnUser &user) const;

  Element element;
  std::vector<int64_t> shape;
  size_t rowBytes;
  std::string description;
  /// By level of lists: where each begins, and the end of the last.
  std::vector<std::vector<int64_t>> offsets;
  std::vector<char> bytes;
  /// Of the element that is added, in lists of its value.
  std::vector<int64_t> places;
};

/// The elements of a list as they are now: what is asked of them may change it.
nanobind::object elementsOf(nanobind::handle list);

/// Whether elementsOf() takes it for a list.
bool isList(nanobind::handle object);

/// What a message says of a node that has more children than are declared.
std::string tooMany(int64_t children, const std::string &type, int64_t arity);

/// An array that takes the memory over.
nanobind::object asArray(std::vector<int64_t> numbers);
nanobind::object asArray(std::vector<int32_t> numbers);
} // namespace batch::python

#endif // BATCH_PYTHON_COLUMNS_H
