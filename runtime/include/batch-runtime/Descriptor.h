//===- Descriptor.h - Contents of an object's descriptor --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON descriptor of a compiled object as plain structs.
// docs/reference/abi.md describes every key.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_DESCRIPTOR_H
#define BATCH_RUNTIME_DESCRIPTOR_H

#include "batch-runtime/Schedule/Policies.h"
#include "batch-runtime/Tensors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace batchrt {

/// The type of a cell.
struct Type {
  enum Kind { Index, Integer, Float, Adt, List, Tensor };

  Kind kind = Index;
  DType dtype = DType::I64;   ///< type of a scalar or of a tensor's elements
  int adt = -1;               ///< Adt: position in Descriptor::adts
  std::vector<Type> elements; ///< List: its element type
  std::vector<int64_t> shape; ///< Tensor
  int table = -1;             ///< Tensor: table of the results of tasks, or -1
  int source = -1;            ///< Tensor: the source of input rows, or -1

  const Type &element() const { return elements.front(); }
  bool isScalar() const { return kind <= Float; }
  /// Returns true if a value of the type is or contains an ADT value.
  bool holdsNodes() const;
};

struct Field {
  std::string name;
  Type type;
  int rows = -1; ///< for a result: the result that stores its number of rows,
                 ///< or -1
};

struct Variant {
  std::string name;
  int number = 0; ///< unique over all ADTs
  int adt = 0;
  std::vector<Field> fields; ///< field j is payload cell j
};

struct AdtInfo {
  std::string name;
  std::string kind; ///< sequence, tree, dag, or empty: not declared
  /// The maximum number of children of its own ADT that a node may have, or -1
  /// if it is not declared.
  int64_t arity = -1;
  std::vector<Variant> variants;

  const Variant *find(const std::string &variant) const;
  /// Returns true if no node is a child of two nodes.
  bool isUnshared() const { return kind == "tree" || kind == "sequence"; }
};

struct ParameterInfo {
  std::string name;
  std::vector<int64_t> shape; ///< -1: any extent
  DType dtype = DType::F32;
};

struct PackingInfo {
  int parameter = 0;
  std::vector<int> stacked; ///< parameters whose rows follow those of
                            ///< `parameter`
  bool panels = false;      ///< false: rows
  int64_t n = 0, k = 0, width = 0;
  bool transposed = false;
  /// For panels of a parameter that has more dimensions than n and k: the
  /// parameter's extents, and its dimensions in the order groups, k, n.
  std::vector<int64_t> extents;
  std::vector<int> order;

  /// Returns the number of k-by-n matrices.
  int64_t groups() const;
};

struct SourceInfo {
  int parameter = -1, packing = -1; ///< the packing is `rows`
  bool input = false;               ///< true: input tensors of this shape and
                                    ///< type
  std::vector<int64_t> shape;
  DType dtype = DType::F32;
};

/// A table. Slot s begins (s / block) * rowBytes + (s % block) * slotBytes
/// bytes after slot 0, which is `offset` bytes into the memory of table
/// `nextTo`.
struct TableInfo {
  std::string name;
  int64_t rowBytes = 0;
  int group = 0;
  int64_t block = 1, slotBytes = 0; ///< block: a power of two
  int64_t ownBytes = 0;             ///< bytes of a slot, without gaps between
                                    ///< slots
  int nextTo = -1;                  ///< -1: it has its own memory
  int64_t offset = 0;
  bool transient = false; ///< only frames and records refer to its rows
  /// The positions of elements in a row that is not in row-major order.
  ElementLayout elements;

  int64_t slotOffset(int64_t slot) const {
    if (block == 1)
      return slot * rowBytes;
    return (slot / block) * rowBytes + (slot % block) * slotBytes;
  }
};

struct OperandInfo {
  enum Kind { Gather, Rows, Scalar };

  Kind kind = Gather;
  int64_t cell = 0; ///< position of its cell in the kernel's records, from 1
  int table = -1, source = -1;
  int variable = -1; ///< variable of a lockstep program, or -1
  bool ragged = false;
};

struct ResultInfo {
  int table = 0;
  int64_t position = 0, siblings = 1;
  int inPlace = -1; ///< operand in whose row the result may be stored
};

struct RaggedScratch {
  int operand = 0;
  int64_t bytes = 0;
};

struct WorkerScratch {
  int64_t fixed = 0, perTask = 0, most = 0;

  /// Returns the number of bytes that a worker needs for `tasks` tasks.
  int64_t bytes(int64_t tasks) const {
    return std::min(fixed + tasks * perTask, most);
  }
};

struct KernelInfo {
  std::string name;
  /// The kernel's lines in the model's text, by file.
  std::map<std::string, std::vector<int64_t>> lines;
  int64_t phase = 0;
  bool constant = false;
  bool deferred = false; ///< no wait depends on it
  std::vector<OperandInfo> operands;
  std::vector<ResultInfo> results;
  /// Results of a block of a lockstep program have no table. For each result:
  /// the size in bytes, and the operand in whose row it may be stored, or -1.
  std::vector<int64_t> resultBytes;
  std::vector<int> resultRoots;
  int64_t copiedBytes = 0; ///< bytes that a task copies for inserts that are
                           ///< never in place
  int64_t taskScratch = 0;
  std::vector<RaggedScratch> raggedScratch;
  WorkerScratch workerScratch;
  int64_t recordCells = 1;
  /// The minimum number of tasks that justifies a barrier of workers.
  int64_t shareTasks = 1;
};

/// Launch configuration of the persistent kernel for a device.
struct LaunchInfo {
  std::string kernel;   ///< its symbol
  std::string chip;     ///< the chip of the code; empty for the emulator
  std::string executor; ///< level that runs a plan: device, cluster or block
  int64_t blockSize = 0, clusterSize = 1, sharedBytes = 0;
};

/// A variable of a lockstep program.
struct VariableInfo {
  std::string name;
  int64_t rowBytes = 0;
  bool stack = false;
};

/// A block of a lockstep program. Byte counts are per lane.
struct BlockInfo {
  std::string name;
  int kernel = -1;        ///< -1: the block computes nothing
  int64_t stackBytes = 0; ///< moved to and from stacks
  int64_t topBytes = 0;   ///< moved to tops of stacks
  /// For each result of the kernel: 1 if it is stored in a variable's row,
  /// unless the block runs masked.
  std::vector<int> inPlace;
};

/// A program whose control flow runs in lockstep.
struct LockstepInfo {
  bool frames = false; ///< callers wait until a call finishes on all its lanes
  std::vector<VariableInfo> variables;
  std::vector<BlockInfo> blocks;
};

/// A program that runs instances on units, one at a time or in sets.
struct ReplicateInfo {
  int64_t bytes = 0;              ///< bytes that units need for one instance
  int64_t tasks = 1;              ///< maximum number of tasks of a step
  int64_t capacity = 1;           ///< instances that units can run together; 0:
                                  ///< each unit runs instances by itself
  int64_t memberBytes = 0;        ///< bytes for each instance except the first
  int64_t setBytes = 0;           ///< bytes in front of `common`, if there are
                                  ///< several instances
  std::vector<std::string> loops; ///< unbounded loops, for messages
  /// The loop around each kernel, by the kernel's name, for messages.
  std::map<std::string, std::string> kernelLoops;
  int64_t nodeBytes = 0;  ///< bytes of rows for each node of the input
  int64_t nodeCells = 0;  ///< cells of results for each node of an instance
  int64_t nodeValues = 0; ///< new nodes for each node of the input

  /// Return the number of bytes before and after the address BatchUnit::common,
  /// if all units run `instances` instances together.
  int64_t bytesBefore(int64_t instances) const {
    return instances > 1 && capacity > 1 ? setBytes : 0;
  }
  int64_t commonBytes(int64_t instances) const {
    const int64_t members =
        std::clamp<int64_t>(capacity, 1, std::max<int64_t>(instances, 1));
    return bytes + (members - 1) * memberBytes;
  }
};

struct Descriptor {
  std::string name;
  std::string triple, cpu;
  std::vector<std::string> features;
  std::vector<ParameterInfo> parameters;
  std::vector<PackingInfo> packings;
  std::vector<std::string> indices; ///< messages of index checks
  std::vector<std::string> counted; ///< names of loops and recursions
  std::vector<AdtInfo> adts;
  int64_t cellColumns = 0;
  std::vector<Field> arguments, results;
  std::vector<TableInfo> tables;
  int groups = 0;
  std::vector<SourceInfo> sources; ///< source 0 is unused
  std::vector<KernelInfo> kernels;
  int64_t memo = 0;
  std::optional<LaunchInfo> launch;       ///< only in objects for a device
  std::optional<LockstepInfo> lockstep;   ///< instead of an inspector
  std::optional<ReplicateInfo> replicate; ///< instead of an inspector
  bool separable = false;                 ///< several workers may inspect
  bool waits = false;                     ///< the inspector calls await()
  Policy policy = Policy::Depth;          ///< default of the object
  StateMachine stateMachine;              ///< for Policy::StateMachine
  bool hasInspect = false, hasExecute = false, hasUnbatched = false;
  /// Reason and location if the compiler could not generate batched code; else
  /// empty.
  std::string notBatched;

  /// Returns the variant with this number, or null.
  const Variant *variantByNumber(int number) const {
    return number < static_cast<int>(byNumber.size()) ? byNumber[number]
                                                      : nullptr;
  }

  /// Parses and checks the text. Raises an Error if it is invalid.
  explicit Descriptor(const char *text);
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;

private:
  void check() const;
  void checkPacking(const PackingInfo &packing) const;
  void checkVariants() const;
  void checkTable(const TableInfo &table) const;
  void checkKernel(const KernelInfo &kernel) const;
  std::vector<const Variant *> byNumber;
};

/// Returns the name of a type in messages: "tensor<2x3xf32>", "Tree", "list of
/// index".
std::string describe(const Descriptor &descriptor, const Type &type);

} // namespace batchrt

#endif // BATCH_RUNTIME_DESCRIPTOR_H
