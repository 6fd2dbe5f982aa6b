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
/// Returns a short description of an object, for messages. Throws no exception.
std::string shown(nanobind::handle object);

/// Element type of a column.
struct Element {
  enum Kind { Bool, Int, Unsigned, Float, BFloat, Index, Node };

  static Element of(const std::string &dtype, bool isIndex, bool isNode);

  Kind kind;
  int bytes;
  /// True if the runtime's integer type with the same bits is signed.
  bool isSignedThere = true;
};

/// Client that adds values to columns.
class ColumnUser {
public:
  virtual ~ColumnUser() = default;

  /// Converts a value that is neither a number nor an array of the column's
  /// type. Returns an array with the bits of the result. If `isList` is true,
  /// the value is a whole list, and the array has the bits of all its elements.
  virtual nanobind::object convert(nanobind::handle value, bool isList,
                                   const std::string &where) = 0;
  /// Returns the location of the value that is being added, for messages.
  virtual std::string where() const = 0;
};

/// Values of one field for all nodes of a variant, in the format of the C API.
class Column {
public:
  Column(Element element, std::vector<int64_t> shape, int lists,
         std::string description);

  bool isOfNodes() const { return element.kind == Element::Node; }
  /// Returns the number of elements of all lists in all rows.
  int64_t elements() const {
    return static_cast<int64_t>(bytes.size() / rowBytes);
  }
  int lists() const { return static_cast<int>(offsets.size()); }

  /// Adds a value that contains no nodes.
  void add(nanobind::handle value, ColumnUser &user);

  /// Adds nodes by their numbers. The length of a list precedes its elements.
  /// Returns a pointer past the last number that it has read.
  const int64_t *addNodes(const int64_t *numbers, int level = 0);

  /// Returns true if the values in rows `a` and `b` have equal bits.
  bool areEqual(int64_t a, int64_t b) const;
  uint64_t hash(int64_t row) const;
  /// Removes all values except the first `rows`.
  void keep(int64_t rows);

  /// Returns the array of elements, and a list with an array of offsets for
  /// each level of lists. The arrays own their memory.
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
  /// For each level of lists: the position where each list begins, and where
  /// the last one ends.
  std::vector<std::vector<int64_t>> offsets;
  std::vector<char> bytes;
  /// Position of the element that is being added, in each level of lists.
  std::vector<int64_t> places;
};

/// Returns a tuple of the elements of a list. The copy is needed because the
/// caller runs Python code that may change the list.
nanobind::object elementsOf(nanobind::handle list);

/// Returns true if elementsOf() supports the object.
bool isList(nanobind::handle object);

/// Returns the error message for a node with more children than its type
/// declares.
std::string tooMany(int64_t children, const std::string &type, int64_t arity);

/// Returns the numbers as an array that owns its memory.
nanobind::object asArray(std::vector<int64_t> numbers);
nanobind::object asArray(std::vector<int32_t> numbers);
} // namespace batch::python

#endif // BATCH_PYTHON_COLUMNS_H
