/*===- CAPI.h - Running compiled objects from C -------------------*- C -*-===*\
|*                                                                            *|
|* Part of the Batch project, under the Apache License v2.0 with LLVM         *|
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * The runtime in plain C99, for C and for languages that call C: open a model,
 * bind its parameters once, run many mini-batches. docs/CAPI.md has a program.
 *
 * Every function that can fail returns a BatchStatus; the caller's thread then
 * has a message. What a function makes, a function of the same name with `Free`
 * releases, of null too; what it was made from may be released before.
 *
 * A model and its parameters serve any number of threads; a session serves one
 * call at a time. This interface has the version of the ABI: batchModelOpen()
 * fails in a program that was compiled with another version of this header.
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
  /** What the caller gave does not fit the model. Nothing has run. */
  BATCH_STATUS_INVALID = 1,
  /** A file cannot be used, or a run has failed. */
  BATCH_STATUS_FAILED = 2,
  BATCH_STATUS_CANCELLED = 3,
  BATCH_STATUS_NO_MEMORY = 4
} BatchStatus;

/** Why the last call of this thread failed that did; "" if none has. Lives
 * until the next one that fails. */
const char *batchLastError(void);

/** The BATCH_ABI_VERSION of the library. */
int32_t batchAbiVersion(void);

/*===----------------------------------------------------------------------===*/
/* Models                                                                     */
/*===----------------------------------------------------------------------===*/

/** A compiled object. */
typedef struct BatchModel BatchModel;

/** Opens a file that batch-compile has made. */
#define batchModelOpen(path, model)                                            \
  batchModelOpenVersion(BATCH_ABI_VERSION, path, model)
BatchStatus batchModelOpenVersion(int32_t version, const char *path,
                                  BatchModel **model);
/** Uses an object that is linked into the program, and lives as long. */
BatchStatus batchModelAdopt(const BatchObject *object, BatchModel **model);
void batchModelFree(BatchModel *model);

/** The descriptor, JSON (docs/ABI.md). Lives as long as the model. */
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

/** A parameter, an argument, an output, or a field of a variant. Pointers live
 * as long as the model. */
typedef struct BatchField {
  const char *name;
  /** In words: "list of tensor<4xf32>". */
  const char *description;
  /** Of the elements; BATCH_TYPE_I64 for indices and for nodes. */
  BatchElementType type;
  /** Of one value: 0 for a number. An extent of -1 may be any: of a parameter.
   */
  int32_t rank;
  const int64_t *shape;
  /** How often values are in lists: 1 for a list, 2 for a list of lists. */
  int32_t lists;
  /** 1 for an index: from 0 to 2^31 - 1. */
  int32_t isIndex;
  /** The data type whose nodes the values are; null: numbers. */
  const char *dataType;
  /** Of an output: 1 if the number of rows differs from instance to instance.
   */
  int32_t isRagged;
} BatchField;

typedef enum BatchFieldKind {
  BATCH_PARAMETER = 0, /**< shared by all instances */
  BATCH_ARGUMENT = 1,  /**< of each instance */
  /** One for each result, or for a result that is a data structure, one for
   * each field of its nodes, in post-order. */
  BATCH_OUTPUT = 2
} BatchFieldKind;

int64_t batchModelCount(const BatchModel *model, BatchFieldKind kind);
BatchStatus batchModelField(const BatchModel *model, BatchFieldKind kind,
                            int64_t number, BatchField *field);

/** A kind of nodes of a data type. */
typedef struct BatchVariant {
  const char *name;
  const char *dataType;
  int64_t numFields;
} BatchVariant;

/** Variants have numbers from 0, over all data types of a model. */
int64_t batchModelVariants(const BatchModel *model);
BatchStatus batchModelVariant(const BatchModel *model, int64_t variant,
                              BatchVariant *result);
BatchStatus batchModelVariantField(const BatchModel *model, int64_t variant,
                                   int64_t number, BatchField *field);

/*===----------------------------------------------------------------------===*/
/* Arrays of the caller                                                       */
/*===----------------------------------------------------------------------===*/

/** Memory of the caller's, which is only used during a call. */
typedef struct BatchArray {
  void *data; /**< aligned or not; only outputs are written */
  BatchElementType type;
  int32_t rank;
  const int64_t *shape;
  /** From one element of a dimension to the next, in bytes; may be 0 or
   * negative. Null: row-major, without gaps. */
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
/** The same from a safetensors file, whose floats and integers are converted.
 */
BatchStatus batchParametersRead(const BatchModel *model, const char *path,
                                BatchParameters **parameters);
void batchParametersFree(BatchParameters *parameters);

/*===----------------------------------------------------------------------===*/
/* Runs                                                                       */
/*===----------------------------------------------------------------------===*/

/** Runs one mini-batch at a time. */
typedef struct BatchSession BatchSession;

typedef struct BatchSessionOptions {
  int32_t threads;  /**< workers, the caller's thread being one */
  int64_t lanes;    /**< in lock step; 0: one for each instance */
  int64_t maxSteps; /**< that an instance may take: rounds of loops and calls of
                       recursions, or blocks in lock step */
  int64_t stackDepth;     /**< of recursions in lock step */
  int32_t partialResults; /**< 1: keep the results of instances that end well if
                             others do not */
} BatchSessionOptions;

void batchSessionDefaults(BatchSessionOptions *options);

/** How messages call these options: `maxSteps`, or `max_steps`. */
typedef enum BatchOptionNames {
  BATCH_OPTION_NAMES_C = 0,
  BATCH_OPTION_NAMES_PYTHON = 1
} BatchOptionNames;

/** Of sessions that are made from now on; at first as in C. */
void batchSetOptionNames(BatchOptionNames names);

BatchStatus batchSessionMake(const BatchModel *model,
                             const BatchParameters *parameters,
                             const BatchSessionOptions *options,
                             BatchSession **session);
void batchSessionFree(BatchSession *session);

/** Values, one for each instance or node: the first dimension of `elements`
 * counts these, the others are those of the field.
 *
 * In lists the first dimension counts the elements of all lists, one list after
 * the other. offsets[0] then has one entry more than there are lists: where
 * each begins, and the end of the last one. In lists of lists these are places
 * in offsets[1], which has places of elements. Where all lists of an argument
 * or field are equally long, `offsets` may be null: the second dimension of
 * `elements` is then that length.
 *
 * An index may be of any integer type. A node is its number, BATCH_TYPE_I64. */
typedef struct BatchValues {
  BatchArray elements;
  const int64_t *const *offsets;
} BatchValues;

/** Data structures of all instances. The nodes of an instance have consecutive
 * numbers, children before their parents. */
typedef struct BatchNodes {
  int64_t count;
  const int64_t
      *instances; /**< the first node of each, and the end of the last */
  const int32_t *variants; /**< by node */
  /** fields[v][f]: field f of the nodes of variant v, in their order. Null
   * where a variant has no node or no fields. */
  const BatchValues *const *fields;
} BatchNodes;

typedef struct BatchInputs {
  int64_t instances;
  const BatchValues *arguments; /**< by number */
  const BatchNodes *nodes;      /**< null: there are none */
} BatchInputs;

/** Asks runs to end early. */
typedef struct BatchCancellation BatchCancellation;

BatchStatus batchCancellationMake(BatchCancellation **result);
void batchCancellationFree(BatchCancellation *cancellation);
/** Runs that have it, and those that begin before it is reset, end soon. Any
 * thread may call this at any time, and so may the handler of a signal. */
void batchCancellationRequest(BatchCancellation *cancellation);
void batchCancellationReset(BatchCancellation *cancellation);

/** Runs a mini-batch and returns when it has ended. `cancellation` may be null.
 * Afterwards, whatever the status, the session can run another one. In a
 * process forked from this one, it can if it was not running then. */
BatchStatus batchSessionRun(BatchSession *session, const BatchInputs *inputs,
                            const BatchCancellation *cancellation);

/** The same, traced; afterwards outputs are there, too. `text` gets a JSON
 * object that says what ran for how many instances at once (docs/Formats.md),
 * which lives until the session's next call. Not for objects of a device. */
BatchStatus batchSessionExplain(BatchSession *session,
                                const BatchInputs *inputs,
                                const BatchCancellation *cancellation,
                                const char **text);

/** How many rows an output has, over all instances of the last run: as many as
 * instances, unless it is ragged. */
BatchStatus batchSessionRows(BatchSession *session, int64_t output,
                             int64_t *rows);
/** Copies an output of the last run, whose first dimension are its rows, into
 * the caller's array. `offsets` gets the first row of each instance and the end
 * of the last; it may be null. */
BatchStatus batchSessionRead(BatchSession *session, int64_t output,
                             const BatchArray *target, int64_t *offsets);
/** With `partialResults`: why an instance of the last run has no results, whose
 * outputs are then 0 or have no rows; null if it has some. Lives until the next
 * call. */
const char *batchSessionFailure(BatchSession *session, int64_t instance);

/** How far a run has come. */
typedef struct BatchProgress {
  int64_t instances;
  /** Those that have their results. Where control runs ahead of all computation
   * they have them at once. */
  int64_t ended;
  int64_t flushes; /**< where control waits for computed tensors */
} BatchProgress;

/** Of the run in progress, or the last one. Any thread may call this. */
void batchSessionProgress(const BatchSession *session, BatchProgress *progress);

#ifdef __cplusplus
}
#endif

#endif /* BATCH_RUNTIME_CAPI_H */
