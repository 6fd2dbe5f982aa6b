/*===- StreamCAPI.h - Instances that arrive during a run ----------*- C -*-===*\
|*                                                                            *|
|* Part of the Batch project, under the Apache License v2.0 with LLVM         *|
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * The part of CAPI.h for instances that arrive during a run, in unlimited
 * number. The caller puts instances into a stream, and a free lane runs each
 * instance. The caller takes their results in the order in which they finish.
 */
#ifndef BATCH_RUNTIME_STREAMCAPI_H
#define BATCH_RUNTIME_STREAMCAPI_H

#include "batch-runtime/CAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A run in progress. Only one thread at a time may call the functions below.
 * The exception is batchStreamWake, which any thread may call. */
typedef struct BatchStream BatchStream;

/** Begins a run that holds at most `capacity` instances at a time. Instances
 * count while they wait for a lane, while they run, and until their results
 * are taken. The session accepts no other calls until the stream is released.
 * The model must be compiled to run in lockstep on the host; its arguments and
 * outputs must be tensors and scalars. */
BatchStatus batchStreamOpen(BatchSession *session, int64_t capacity,
                            BatchStream **stream);
/** Ends the run, even if instances have not finished, and releases the stream.
 */
void batchStreamFree(BatchStream *stream);

/** Returns the number of instances that batchStreamPut accepts now. */
int64_t batchStreamAvailable(const BatchStream *stream);
/** Returns the number of finished instances whose results may be taken now. */
int64_t batchStreamEnded(BatchStream *stream);
/** Puts instances into the stream and copies their arguments. The stream must
 * have capacity for the instances. The instances of a stream are numbered from
 * 0 in the order of these calls. */
BatchStatus batchStreamPut(BatchStream *stream, const BatchInputs *inputs);
/** Waits until an instance has finished. Then copies the outputs of finished
 * instances, at most `most` of them, into the first rows of the arrays.
 * `outputs` has one array for each output, with space for `most` rows. Stores
 * the numbers of these instances in `numbers` and their count in `count`. The
 * count is 0 if the stream has no instances, or after batchStreamWake.
 *
 * `cancellation` may be null. Returns BATCH_STATUS_CANCELLED if it is requested
 * before an instance has finished. In this case, the stream continues. Returns
 * BATCH_STATUS_FAILED if an instance has failed. In this case, the instance is
 * removed from the stream. An index out of range ends the stream, and results
 * that have not been taken are lost. */
BatchStatus batchStreamTake(BatchStream *stream, int64_t most,
                            const BatchArray *outputs, int64_t *numbers,
                            int64_t *count,
                            const BatchCancellation *cancellation);
/** Ends the call of batchStreamTake that is waiting, or else the next call that
 * would wait. This call then returns a `count` of 0. A thread that reads
 * requests can thus wake the thread that puts them into the stream. Any thread
 * may call this while the stream exists.
 */
void batchStreamWake(BatchStream *stream);

#ifdef __cplusplus
}
#endif

#endif /* BATCH_RUNTIME_STREAMCAPI_H */
