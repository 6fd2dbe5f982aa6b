/*===- CAPI.h - Running compiled objects from C -------------------*- C -*-===*\
|*                                                                            *|
|* Part of the Batch project, under the Apache License v2.0 with LLVM         *|
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * The runtime in plain C99, for C and for languages that call C: open a model,
 * bind its parameters once, run many mini-batches. docs/how-to/run-from-c.md
 * contains an example program.
 *
 * Every function that can fail returns a BatchStatus. After a failure,
 * batchLastError() returns a message for the calling thread. The `Free`
 * function of a type releases its objects and accepts null. The objects from
 * which they were created may be released earlier.
 *
 * Models and parameters are thread-safe; a session handles one call at a time.
 * The version of this interface is the ABI version, so batchModelOpen() fails
 * in a program that was compiled with another version of this header.
 */
#ifndef BATCH_RUNTIME_CAPI_H
#define BATCH_RUNTIME_CAPI_H

#include "batch-runtime/ABI.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum BatchStatus {
  BATCH_STATUS_OK = 0,
  /** The caller's arguments do not fit the model. Nothing has run. */
  BATCH_STATUS_INVALID = 1,
  /** A file cannot be used, or a run has failed. */
  BATCH_STATUS_FAILED = 2,
  BATCH_STATUS_CANCELLED = 3,
  BATCH_STATUS_NO_MEMORY = 4
} BatchStatus;

/** Returns the error message of the last failed call of this thread, or "" if
 * none has failed. Valid until the next call that fails. */
const char *batchLastError(void);

/** Returns the BATCH_ABI_VERSION of the library. */
int32_t batchAbiVersion(void);

/*===----------------------------------------------------------------------===*/
/* Models                                                                     */
/*===----------------------------------------------------------------------===*/

/** A compiled object. */
typedef struct BatchModel BatchModel;

/** Opens a file that batch-compile created. */
#define batchModelOpen(path, model)                                            \
  batchModelOpenVersion(BATCH_ABI_VERSION, path, model)
BatchStatus batchModelOpenVersion(int32_t version, const char *path,
                                  BatchModel **model);
/** Creates a model from an object that is linked into the program. The object
 * must exist until the program ends. */
BatchStatus batchModelAdopt(const BatchObject *object, BatchModel **model);
void batchModelFree(BatchModel *model);

/** Returns the descriptor as JSON (docs/reference/abi.md). Valid as long as the
 * model exists. */
const char *batchModelDescriptor(const BatchModel *model);

typedef enum BatchElementType {
  BATCH_TYPE_I1 = 0, /**< a byte, 0 or 1 */
  BATCH_TYPE_I8 = 1,
  BATCH_TYPE_I16 = 2,
  BATCH_TYPE_I32 = 3,
  BATCH_TYPE_I64 = 4,
  BATCH_TYPE_U8 = 5,
  BATCH_TYPE_F16 = 6,
  BATCH_TYPE_BF16 = 7,
  BATCH_TYPE_F32 = 8,
  BATCH_TYPE_F64 = 9
} BatchElementType;

/** A parameter, an argument, an output, or a field of a variant. Pointers are
 * valid as long as the model exists. */
typedef struct BatchField {
  const char *name;
  /** The type in words: "list of tensor<4xf32>". */
  const char *description;
  /** Element type; BATCH_TYPE_I64 for indices and for nodes. */
  BatchElementType type;
  /** Rank of one value: 0 for a scalar. An extent of -1 in the shape of a
   * parameter means any extent. */
  int32_t rank;
  const int64_t *shape;
  /** Depth of nested lists: 1 for a list, 2 for a list of lists. */
  int32_t lists;
  /** 1 for an index, a number from 0 to 2^31 - 1. */
  int32_t isIndex;
  /** Data type of the nodes, or null if the values are not nodes. */
  const char *dataType;
  /** 1 for an output whose number of rows differs between instances. */
  int32_t isRagged;
} BatchField;

typedef enum BatchFieldKind {
  BATCH_PARAMETER = 0, /**< shared by all instances */
  BATCH_ARGUMENT = 1,  /**< has a value for each instance */
  /** One output for each result. A result that is a data structure has one
   * output for each field of its nodes, with the nodes in post-order. */
  BATCH_OUTPUT = 2
} BatchFieldKind;

int64_t batchModelCount(const BatchModel *model, BatchFieldKind kind);
BatchStatus batchModelField(const BatchModel *model, BatchFieldKind kind,
                            int64_t number, BatchField *field);

/** A variant of a data type: one kind of its nodes. */
typedef struct BatchVariant {
  const char *name;
  const char *dataType;
  int64_t numFields;
} BatchVariant;

/** Returns the number of variants. They are numbered from 0, over all data
 * types of a model. */
int64_t batchModelVariants(const BatchModel *model);
BatchStatus batchModelVariant(const BatchModel *model, int64_t variant,
                              BatchVariant *result);
BatchStatus batchModelVariantField(const BatchModel *model, int64_t variant,
                                   int64_t number, BatchField *field);

/*===----------------------------------------------------------------------===*/
/* Arrays of the caller                                                       */
/*===----------------------------------------------------------------------===*/

/** Memory of the caller, which is used only during a call. */
typedef struct BatchArray {
  void *data; /**< need not be aligned; only outputs are written */
  BatchElementType type;
  int32_t rank;
  const int64_t *shape;
  /** Distances in bytes between adjacent elements of each dimension; may be 0
   * or negative. Null: row-major, without gaps. */
  const int64_t *strides;
} BatchArray;

/*===----------------------------------------------------------------------===*/
/* Parameters                                                                 */
/*===----------------------------------------------------------------------===*/

/** Parameters of a model, copied into the order in which kernels read them. */
typedef struct BatchParameters BatchParameters;

/** Binds all parameters of a model, in any order. */
BatchStatus batchParametersBind(const BatchModel *model, int64_t count,
                                const char *const *names,
                                const BatchArray *arrays,
                                BatchParameters **parameters);
/** Binds all parameters from a safetensors or a JSON file. Floats and integers
 * are converted to the types of the parameters. */
BatchStatus batchParametersRead(const BatchModel *model, const char *path,
                                BatchParameters **parameters);
void batchParametersFree(BatchParameters *parameters);

/*===----------------------------------------------------------------------===*/
/* Runs                                                                       */
/*===----------------------------------------------------------------------===*/

/** Runs one mini-batch at a time. */
typedef struct BatchSession BatchSession;

typedef struct BatchSessionOptions {
  int32_t threads;    /**< workers, including the calling thread; a session uses
                         fewer if it measures that fewer are faster */
  int64_t lanes;      /**< lanes in lockstep; 0: one for each instance */
  int64_t maxSteps;   /**< limit for an instance: rounds of loops and recursive
                         calls, or blocks in lockstep */
  int64_t stackDepth; /**< maximum depth of recursive calls in lockstep */
  int32_t partialResults; /**< 1: keep the results of successful instances if
                             others fail */
  int32_t deviceNumber; /**< the GPU that runs objects for a GPU, from 0 in the
                           order of the driver; other objects ignore it */
} BatchSessionOptions;

void batchSessionDefaults(BatchSessionOptions *options);

/** The spelling of these options in messages: `maxSteps`, or `max_steps`. */
typedef enum BatchOptionNames {
  BATCH_OPTION_NAMES_C = 0,
  BATCH_OPTION_NAMES_PYTHON = 1
} BatchOptionNames;

/** Sets the spelling for sessions that are created later; the default is the
 * spelling of C. */
void batchSetOptionNames(BatchOptionNames names);

BatchStatus batchSessionMake(const BatchModel *model,
                             const BatchParameters *parameters,
                             const BatchSessionOptions *options,
                             BatchSession **session);
void batchSessionFree(BatchSession *session);

/** Values, one for each instance or node. The first dimension of `elements`
 * counts them, and its other dimensions are the dimensions of the field.
 *
 * For lists, the first dimension counts the elements of all lists, one list
 * after another. offsets[0] then has one entry more than there are lists: the
 * position where each list begins, and the end of the last one. For lists of
 * lists, offsets[0] has positions in offsets[1], and offsets[1] has positions
 * of elements. If all lists of an argument or field have the same length,
 * `offsets` may be null. The second dimension of `elements` is then that
 * length.
 *
 * An index may have any integer type. A node is represented by its number,
 * BATCH_TYPE_I64. */
typedef struct BatchValues {
  BatchArray elements;
  const int64_t *const *offsets;
} BatchValues;

/** Data structures of all instances. The nodes of an instance have consecutive
 * numbers, children before their parents. */
typedef struct BatchNodes {
  int64_t count;
  const int64_t *instances; /**< the first node of each instance, and the end of
                               the last one */
  const int32_t *variants;  /**< indexed by node */
  /** fields[v][f]: field f of the nodes of variant v, in the order of the
   * nodes. fields[v] may be null if variant v has no nodes or no fields. */
  const BatchValues *const *fields;
} BatchNodes;

typedef struct BatchInputs {
  int64_t instances;
  const BatchValues *arguments; /**< indexed by argument */
  const BatchNodes *nodes;      /**< null: no nodes */
} BatchInputs;

/** A request to end runs early. */
typedef struct BatchCancellation BatchCancellation;

BatchStatus batchCancellationMake(BatchCancellation **result);
void batchCancellationFree(BatchCancellation *cancellation);
/** Requests the early end of all runs with this cancellation: runs in progress,
 * and runs that begin before it is reset. Any thread and any signal handler may
 * call this at any time. */
void batchCancellationRequest(BatchCancellation *cancellation);
void batchCancellationReset(BatchCancellation *cancellation);

/** Runs a mini-batch and returns when it has finished. `cancellation` may be
 * null. Regardless of the status, the session can then run another mini-batch.
 * This also holds in a forked process, unless the session was running at the
 * time of the fork. */
BatchStatus batchSessionRun(BatchSession *session, const BatchInputs *inputs,
                            const BatchCancellation *cancellation);

/** Runs a mini-batch like batchSessionRun, and traces it. The outputs remain
 * available. Sets `text` to a JSON object that reports how many instances ran
 * each kernel or block together (docs/reference/formats.md). It is valid until
 * the session's next call. Objects for a device do not support this. */
BatchStatus batchSessionExplain(BatchSession *session,
                                const BatchInputs *inputs,
                                const BatchCancellation *cancellation,
                                const char **text);

/** Counts the rows of an output over all instances of the last run. Each
 * instance has one row, unless the output is ragged. */
BatchStatus batchSessionRows(BatchSession *session, int64_t output,
                             int64_t *rows);
/** Copies an output of the last run into the caller's array. The first
 * dimension counts the rows of the output. Stores the first row of each
 * instance, and the end of the last one, in `offsets`, which may be null. */
BatchStatus batchSessionRead(BatchSession *session, int64_t output,
                             const BatchArray *target, int64_t *offsets);
/** With `partialResults`, returns the reason why an instance of the last run
 * has no results, or null if it has results. The outputs of an instance without
 * results are 0 or have no rows. The text is valid until the next call. */
const char *batchSessionFailure(BatchSession *session, int64_t instance);

/** The progress of a run. */
typedef struct BatchProgress {
  int64_t instances;
  /** Number of instances that have results. If control flow runs ahead of all
   * computation, all instances get their results at the same time. */
  int64_t ended;
  int64_t flushes; /**< number of flushes, if control flow waits for tensors */
} BatchProgress;

/** Reports the progress of the current run, or of the last one. Any thread may
 * call this. */
void batchSessionProgress(const BatchSession *session, BatchProgress *progress);

#ifdef __cplusplus
}
#endif

#endif /* BATCH_RUNTIME_CAPI_H */
