//===- ABI.h - Interface of objects and the runtime -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only interface between the compiler and the runtime, in plain C. A
// compiled object exports one symbol, `batch_object`; docs/reference/abi.md
// describes the JSON descriptor it points to.
//
// Cells. Every value that host code handles is one 64-bit cell:
//   index, integers  the value, sign-extended (i1: 0 or 1)
//   f32, f64         the bits, zero-extended
//   ADT value        the node id
//   list             (length << 32) | first entry in the list pool; bit 31 is
//                    reserved for the host, for `append`
//   tensor           inspector: a handle; unbatched code: address of the row
//   ragged tensor    a list of such tensor cells, one per row
//
// Handles (inspector only). Bits 0-31: task number, or row number in a source;
// bits 32-54: the task's depth + 1, 0 for a row of a source; bit 55: 1 if a
// ghost has raised that depth. The raised depth applies even if the task has
// run. Bits 56-63: the position of the result among the task's results in the
// same table, or 128 + the source number for a row of a source.
//
// Rows. A tensor with shape [d0, ..., dn] is stored as its elements in
// row-major order, with the last dimension padded to a multiple of 64 bytes.
// The contents of padding are undefined. Tables, sources and arenas are arrays
// of such rows. The descriptor may specify a layout for a table. Rows of the
// table then have their elements in a different order, as do the corresponding
// results of unbatched code. In this case, "t*rowBytes" below is the offset of
// slot t. BATCH_ROWS_PREFIX bytes precede the rows of a parameter. The first
// eight of them store its first extent, an int64_t.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_ABI_H
#define BATCH_RUNTIME_ABI_H

#include <stdint.h>

#define BATCH_ABI_VERSION 24
/// The name of the symbol that an object exports. The symbol is a BatchObject.
#define BATCH_OBJECT_SYMBOL "batch_object"
/// Number of bytes before the rows of a parameter. The first eight of them
/// store its first extent.
#define BATCH_ROWS_PREFIX 64
/// Mask of the bits of a list's cell that store its first entry.
#define BATCH_LIST_FIRST 0x7fffffff

#ifdef __cplusplus
extern "C" {
#endif

typedef struct BatchContext BatchContext;
struct BatchEmulatorThread;

/// Error codes of the runtime function `fail`. The comments describe the
/// function's arguments a and b.
typedef enum BatchError {
  BATCH_ERROR_ROW_OUT_OF_BOUNDS = 1, ///< a: index, b: source number
  BATCH_ERROR_STACK_OVERFLOW = 2,    ///< a, b unused
  BATCH_ERROR_RAGGED_MISMATCH = 3,   ///< a, b: the two extents
  /// a: position, b: length of the list
  BATCH_ERROR_ELEMENT_OUT_OF_BOUNDS = 4,
  /// a: index, b: 1-based position of its check in the descriptor's `indices`
  BATCH_ERROR_INDEX_OUT_OF_BOUNDS = 5,
  /// a: 1-based position in the descriptor's `counted`; b unused
  BATCH_ERROR_TOO_MANY_STEPS = 6,
  BATCH_ERROR_CANCELLED = 7, ///< a, b unused
} BatchError;

/// Runs branch `number` of several branches that may wait at the same time.
/// `frame` stores the values that they read and has space for their results.
typedef void (*BatchBranch)(BatchContext *, int64_t *frame, int64_t number);

typedef struct BatchRuntimeFunctions {
#define BATCH_RUNTIME_FUNCTION(result, name, parameters)                       \
  result(*name) parameters;
#include "batch-runtime/RuntimeFunctions.def"
} BatchRuntimeFunctions;

/// The rows that a call of an inspector function needs when it resumes after a
/// wait. `count` handles follow.
typedef struct BatchFrame {
  struct BatchFrame *outer; ///< frame of the caller; null: none
  int64_t count;
} BatchFrame;

/// Tasks of one kernel in the order in which they were recorded. A record has
/// `recordCells` cells: (depth << 32 | task number), then the operands that are
/// not shared, in the kernel's argument order. Operands that equal each other
/// in every record share a cell. The descriptor specifies each operand's cell.
typedef struct BatchQueue {
  int64_t *end;   ///< address of the next record
  int64_t *limit; ///< end of the memory
  int64_t *begin;
} BatchQueue;

/// Rows that exist before the run: a parameter or an input tensor.
typedef struct BatchSource {
  const char *base;
  int64_t rows;
  int64_t rowBytes;
} BatchSource;

/// The rows that one operand of a step reads. For ragged operands, row i of
/// task t is entry offsets[t] + i.
///   gather      row t is at base + ((const int32_t *)rows)[t]*rowBytes
///   rows        row t is at ((const char *const *)rows)[t]
///   scalar      the cell of task t is ((const int64_t *)rows)[t]
/// The compiler selects one of these accesses for each operand of a kernel.
typedef struct BatchOperand {
  const char *base;
  const void *rows;
  const int32_t *offsets; ///< count + 1 entries from 0; null if not ragged
} BatchOperand;

/// One batch: `count` tasks of one kernel. Result r of task t is written to
/// results[r] + t*rowBytes*n or to ((char *const *)results[r])[t]. Here,
/// rowBytes belongs to the result's table, and n results of the kernel share
/// that table. The compiler selects one of the two for each result of a
/// kernel. If results[r] is null, the result is written into the row of the
/// operand that the descriptor specifies (`inPlace`). In this case, only a part
/// of that row changes. Steps without a barrier between them may run
/// concurrently; each has its own scratch memory.
typedef struct BatchStep {
  int64_t kernel;
  int64_t count;
  const BatchOperand *operands;
  char *const *results;
  char *scratch;   ///< for intermediates of the tasks
  int64_t barrier; ///< 1: a barrier of all units follows, 0: none
} BatchStep;

/// The first failed check of a run: an index out of range, or a `cf.assert`.
/// Code reads no tensor at such an index, so the run continues; the host then
/// reports the error.
typedef struct BatchIndexError {
  int64_t place; ///< 1-based position in the descriptor's `indices`; 0: no
                 ///< check failed
  int64_t index; ///< the checked number
} BatchIndexError;

/// A variable of a lockstep program on the lanes of one unit: for each lane,
/// the current row, and the rows below it on the lane's stack.
typedef struct BatchVariable {
  char *tops;
  char *stack;     ///< entry d of lane l is row d*lanes + l; null: no stack
  int64_t *depths; ///< for each lane: the number of entries
} BatchVariable;

/// The outcome of an instance of a lockstep program: 0 for success. Otherwise,
/// the high half is one of these values, and the low half is the block where
/// the instance ended.
typedef enum BatchLaneEnd {
  BATCH_LANE_STACK_OVERFLOW = 1,
  BATCH_LANE_TOO_MANY_STEPS = 2,
} BatchLaneEnd;

/// The work of one unit of a lockstep program: lanes, each with an instance,
/// that wait for their next block. Units share only `nextInstance` and the
/// arguments, results and outcomes of instances.
typedef struct BatchLanes {
  int64_t lanes;
  int64_t numInstances;
  int64_t *nextInstance; ///< the first instance that no lane has taken; atomic
  int64_t stackDepth;    ///< capacity of a stack, in entries
  int64_t maxSteps;      ///< maximum number of blocks that an instance may run
  int64_t choice;        ///< rule that picks the next block: a BatchBlockChoice
  int64_t patience;      ///< steps after which a waiting block is run first
  int64_t maskFrom;      ///< a block runs masked if at least this many lanes
                         ///< wait for it
  int64_t now;           ///< steps run so far
  int64_t longestWait;   ///< maximum number of steps that a lane waited for its
                         ///< block, including the step that ran the block
  int64_t frame;         ///< number of blocks in the frames below the current
                         ///< one; 0 without frames
  int64_t count;         ///< number of lanes that run the current block
  int64_t masked;        ///< 1: the current block runs on all lanes, but only
                         ///< the lanes that wait for it keep the results
  int64_t *instances;    ///< indexed by lane; -1: none
  int64_t *blocks;       ///< for each lane: the block it waits for, counted
                         ///< from the first frame; -1: none
  int64_t *laneSteps;    ///< for each lane: number of blocks that its instance
                         ///< has run
  int32_t *active;       ///< lanes that run the current block, in order
  int64_t *returns;      ///< blocks to return to, laid out like `stack`
  int64_t *returnDepths; ///< indexed by lane
  BatchVariable *variables;
  BatchStep *steps;       ///< indexed by block; operands read the rows of
                          ///< `active`
  BatchStep *maskedSteps; ///< like `steps`, but operands read the rows of all
                          ///< lanes
  const int64_t *costs;   ///< for each block: cost of running it on a lane
  int64_t *waiting;       ///< for each frame and block: number of lanes that
                          ///< wait for it
  int64_t *since;         ///< for each frame and block: step at which the first
                          ///< of these lanes arrived
  int64_t *runs;          ///< for each block: number of times that it ran
  int64_t *laneRuns;      ///< for each block: total number of lanes that ran it
  int64_t *ends;          ///< for each instance: a BatchLaneEnd and its block,
                          ///< or 0
  int64_t lowCost;        ///< blocks that cost less run first, in any state
  const int64_t *states;  ///< hash table of states: a hash (0: free slot), and
                          ///< the block that runs next (-1: free slot)
  int64_t lastSlot;       ///< last slot of the table, whose size is a power of
                          ///< two
  int64_t unknownStates;  ///< steps in states that the table lacks
  void *trace;            ///< on the host if lanes are traced, else null
  const int64_t *ready; ///< for streams on the host: atomic number of instances
                        ///< that wait for a lane; null: there is no stream,
                        ///< and lanes take instances from `nextInstance` on
} BatchLanes;

/// The rule that picks the next block among those that lanes wait for.
typedef enum BatchBlockChoice {
  BATCH_CHOICE_PROGRAM = 0, ///< the first one in program order
  BATCH_CHOICE_MOST = 1,    ///< the one with the most lanes
  BATCH_CHOICE_WORK = 2,    ///< the one with the lowest total cost so far
  BATCH_CHOICE_LEARNED = 3, ///< the one that a learned table selects; if the
                            ///< table selects none, the one for WORK
} BatchBlockChoice;

/// One unit of a program that runs single instances. Each unit reads and writes
/// only its own BatchUnit.
typedef struct BatchUnit {
  char *own;    ///< buffers of the instances that the unit runs by itself; on a
                ///< device, also the steps of all tasks of the unit
  char *common; ///< buffers of the instances that all units run together, up to
                ///< the descriptor's `capacity` at once. `setBytes` bytes
                ///< precede this address if the capacity and the number of
                ///< instances are both more than one
  int64_t numInstances;
  int64_t maxRounds; ///< maximum number of rounds of an instance
  int64_t *ends;     ///< for each instance: 0 for success, else the loop that
                     ///< took too many rounds: its 1-based position in the
                     ///< descriptor's `loops`
  int64_t tasks;     ///< tasks that the unit counts as its own
  int64_t shares;    ///< tasks of which the unit ran a share; only the first
                     ///< unit's count is used
  int64_t batches;   ///< steps that run `tasks`
  int64_t sharedBatches; ///< steps that run `shares`
  int64_t barriers;      ///< barriers that the unit counts for all units
  int64_t copiedBytes;   ///< bytes copied for results, and for arguments that
                         ///< change
  char *nodeRows;        ///< rows of all units: `nodeBytes` bytes for each node
                         ///< of the input
  int64_t *nodeResults;  ///< results of the unit: `nodeCells` cells for each
                         ///< node of the input
  void *trace; ///< on the host if the unit's tasks are traced, else null
} BatchUnit;

struct BatchContext {
#define BATCH_CONTEXT_FIELD(type, name) type name;
#include "batch-runtime/ContextFields.def"
};

/// The steps of one mini-batch, or of a part that depends on no other part.
typedef struct BatchPlan {
  const BatchStep *steps;
  int64_t numSteps;
} BatchPlan;

/// The arguments of a persistent kernel that runs plans. Each field is an
/// argument, in order. Pointers are device addresses.
typedef struct BatchPlansLaunch {
  const BatchPlan *plans;
  int64_t numPlans;
  const char *const *packings;
  struct BatchDeviceControl *control;
  int64_t blocks;
  int64_t watchdog; ///< nanoseconds that a block waits for other blocks; 0:
                    ///< forever
} BatchPlansLaunch;

/// The arguments of a persistent kernel that runs lanes.
typedef struct BatchLanesLaunch {
  BatchContext *context;
  struct BatchDeviceControl *control;
  int64_t blocks;
} BatchLanesLaunch;

/// The arguments of a persistent kernel that runs single instances.
typedef struct BatchInstancesLaunch {
  BatchContext *context;
  struct BatchDeviceControl *control;
  int64_t blocks;
  int64_t watchdog; ///< as in BatchPlansLaunch
} BatchInstancesLaunch;

/// The progress of a block of a persistent kernel. Its first thread writes
/// this, and the host reads it while the kernel runs.
typedef struct BatchBlockControl {
  uint32_t arrivals; ///< arrivals at barriers of all blocks; bit 31: the block
                     ///< has exited
  uint32_t ended;    ///< 1: all its threads have reached the end of the kernel
  int64_t progress;  ///< 0: no step has begun; else, in the high and low
                     ///< halves: plan (from 1) and number of the last step; for
                     ///< lanes, the steps so far and the current block; for
                     ///< single instances, the tasks so far and the kernel
} BatchBlockControl;

/// The barrier among a persistent kernel's blocks, and the progress of each
/// block. All bytes are 0 when the kernel starts.
typedef struct BatchDeviceControl {
  uint32_t arrivals; ///< arrivals of all blocks at all barriers, modulo 2^32
  uint32_t padding0[31];
  uint32_t timedOut; ///< 1: a block has waited too long, and all blocks have
                     ///< exited
  uint32_t step;     ///< step of the plan that `block` had reached
  uint32_t barrier;  ///< barrier at which `block` waited, from 1
  uint32_t block;    ///< number of the first block that waited too long
  BatchIndexError indexError;
  uint32_t padding1[24];
  BatchBlockControl ofBlocks[1]; ///< one for each block
} BatchDeviceControl;

/// The data that a compiled object exports as BATCH_OBJECT_SYMBOL. An entry
/// point is null if the object was compiled without it.
typedef struct BatchObject {
  uint64_t abiVersion;
  const char *descriptor; ///< JSON, NUL-terminated
  /// Records the tasks of instances begin ... end-1.
  void (*inspect)(BatchContext *, int64_t begin, int64_t end);
  /// Runs all steps; called once by every worker.
  void (*execute)(BatchContext *, int64_t worker, int64_t workers);
  /// Runs one instance directly, one task at a time.
  void (*unbatched)(BatchContext *, int64_t instance);
  /// Device code that runs all steps instead of `execute`: a CUDA binary or
  /// PTX.
  const char *deviceCode;
  uint64_t deviceCodeSize;
  /// Device code for the emulator: runs one GPU thread (EmulatorABI.h).
  void (*emulate)(struct BatchEmulatorThread *, void *const *arguments);
} BatchObject;

#ifdef __cplusplus
}
#endif

#endif // BATCH_RUNTIME_ABI_H
