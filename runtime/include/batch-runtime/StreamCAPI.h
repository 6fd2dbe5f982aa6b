/*===- StreamCAPI.h - Instances that come while others run --------*- C -*-===*\
|*                                                                            *|
|* Part of the Batch project, under the Apache License v2.0 with LLVM         *|
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * The part of CAPI.h for instances that are not known when a run begins, which
 * may be without end: they are put into a stream, a lane that is free runs
 * each, and their results are taken in the order in which they end.
 */
#ifndef BATCH_RUNTIME_STREAMCAPI_H
#define BATCH_RUNTIME_STREAMCAPI_H

#include "batch-runtime/CAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A run in progress. One thread at a time may call these functions, except
 * batchStreamWake. */
typedef struct BatchStream BatchStream;

/** Begins a run with room for `seats` instances: those that wait for a lane,
 * that run, and that have ended and are not taken. The session serves no other
 * call until the stream is released. The model must be compiled to run in lock
 * step on the host; its arguments and outputs are tensors and numbers. */
BatchStatus batchStreamOpen(BatchSession *session, int64_t seats,
                            BatchStream **stream);
/** Ends the run, soon, whatever is in it. */
void batchStreamFree(BatchStream *stream);

/** How many instances may be put in now. */
int64_t batchStreamRoom(const BatchStream *stream);
/** How many have ended, whose results may be taken now. */
int64_t batchStreamEnded(BatchStream *stream);
/** Copies the arguments of instances, for which there must be room. Those of a
 * stream have numbers from 0, in this order. */
BatchStatus batchStreamPut(BatchStream *stream, const BatchInputs *inputs);
/** Waits until an instance has ended, then copies the outputs of all that have,
 * at most `most`, into the first rows of the arrays, by number of the output,
 * which have room for `most` rows. `numbers` gets which instances these are,
 * `count` how many: 0 if there is none in the stream, or after batchStreamWake.
 *
 * BATCH_STATUS_CANCELLED if the cancellation, which may be null, is requested
 * before that: the stream goes on. BATCH_STATUS_FAILED if an instance has
 * failed, which is then out of the stream; an index out of range ends the
 * stream, and what has not been taken is lost. */
BatchStatus batchStreamTake(BatchStream *stream, int64_t most,
                            const BatchArray *outputs, int64_t *numbers,
                            int64_t *count,
                            const BatchCancellation *cancellation);
/** Ends the batchStreamTake that is waiting, or else the next one that would
 * wait, with a `count` of 0. A thread that reads requests wakes in this way the
 * thread that puts them in. Any thread may call this while the stream exists.
 */
void batchStreamWake(BatchStream *stream);

#ifdef __cplusplus
}
#endif

#endif /* BATCH_RUNTIME_STREAMCAPI_H */
