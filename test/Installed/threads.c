/* threads MODEL.so REQUESTS THREADS: serves the model of docs/how-to/run-from-c.md from
   several threads, each with its own session, on one object and one set of parameters.

   A line of REQUESTS is a limit, a number of words, and the words. Prints a line for
   each: its sum and its rounds. */

#include "batch-runtime/CAPI.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { VOCABULARY = 5, WIDTH = 4, MOST = 1000, LONGEST = 64, BATCH = 3, TIMES = 5 };

typedef struct {
  float limit;
  int64_t count;
  int32_t words[LONGEST];
  float sum[WIDTH];
  int32_t rounds;
} Request;

static Request requests[MOST];
static int numRequests, next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static BatchModel *model;
static BatchParameters *parameters;

static void check(BatchStatus status) {
  if (status == BATCH_STATUS_OK)
    return;
  fprintf(stderr, "threads: error: %s\n", batchLastError());
  exit(1);
}

static BatchArray dense(void *data, BatchElementType type, int32_t rank,
                        const int64_t *shape) {
  BatchArray array = {data, type, rank, shape, NULL};
  return array;
}

/* Runs some requests as one mini-batch. */
static void answer(BatchSession *session, Request *first, int count) {
  int32_t words[BATCH * LONGEST];
  float limits[BATCH], sums[BATCH][WIDTH];
  int32_t rounds[BATCH];
  int64_t places[BATCH + 1] = {0};
  for (int i = 0; i < count; ++i) {
    limits[i] = first[i].limit;
    for (int64_t w = 0; w < first[i].count; ++w)
      words[places[i] + w] = first[i].words[w];
    places[i + 1] = places[i] + first[i].count;
  }
  const int64_t all[] = {places[count]}, each[] = {count}, rows[] = {count, WIDTH};
  const int64_t *const offsets[] = {places};
  const BatchValues arguments[] = {{dense(words, BATCH_TYPE_I32, 1, all), offsets},
                                   {dense(limits, BATCH_TYPE_F32, 1, each), NULL}};
  const BatchInputs inputs = {count, arguments, NULL};
  check(batchSessionRun(session, &inputs, NULL));
  BatchArray to = dense(sums, BATCH_TYPE_F32, 2, rows);
  check(batchSessionRead(session, 0, &to, NULL));
  to = dense(rounds, BATCH_TYPE_I32, 1, each);
  check(batchSessionRead(session, 1, &to, NULL));
  for (int i = 0; i < count; ++i) {
    for (int w = 0; w < WIDTH; ++w)
      first[i].sum[w] = sums[i][w];
    first[i].rounds = rounds[i];
  }
}

static void *serve(void *unused) {
  (void)unused;
  BatchSessionOptions options;
  batchSessionDefaults(&options);
  options.threads = 1;
  BatchSession *session;
  check(batchSessionMake(model, parameters, &options, &session));
  for (;;) {
    pthread_mutex_lock(&lock);
    int first = next;
    int count = numRequests - first < BATCH ? numRequests - first : BATCH;
    next += count;
    pthread_mutex_unlock(&lock);
    if (count == 0)
      break;
    for (int time = 0; time < TIMES; ++time)
      answer(session, requests + first, count);
  }
  batchSessionFree(session);
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc == 4 ? atoi(argv[3]) : 0;
  FILE *file = argc == 4 ? fopen(argv[2], "r") : NULL;
  if (threads < 1 || threads > 64 || !file) {
    fprintf(stderr, "usage: threads MODEL.so REQUESTS THREADS\n");
    return 1;
  }
  long long count;
  while (numRequests < MOST &&
         fscanf(file, "%f %lld", &requests[numRequests].limit, &count) == 2) {
    Request *request = &requests[numRequests++];
    request->count = count;
    if (count < 0 || count > LONGEST)
      return 1;
    for (int64_t w = 0; w < count; ++w)
      if (fscanf(file, "%d", &request->words[w]) != 1)
        return 1;
  }
  fclose(file);

  check(batchModelOpen(argv[1], &model));
  float e[VOCABULARY][WIDTH];
  for (int w = 0; w < VOCABULARY; ++w)
    for (int i = 0; i < WIDTH; ++i)
      e[w][i] = (float)(w + 1 + i / 4.0);
  const int64_t shape[] = {VOCABULARY, WIDTH};
  const char *const names[] = {"E"};
  const BatchArray arrays[] = {dense(e, BATCH_TYPE_F32, 2, shape)};
  check(batchParametersBind(model, 1, names, arrays, &parameters));

  pthread_t started[64];
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&started[i], NULL, serve, NULL) != 0)
      return 1;
  for (int i = 0; i < threads; ++i)
    pthread_join(started[i], NULL);
  for (int i = 0; i < numRequests; ++i)
    printf("%g %g %g %g %d\n", requests[i].sum[0], requests[i].sum[1],
           requests[i].sum[2], requests[i].sum[3], (int)requests[i].rounds);
  batchParametersFree(parameters);
  batchModelFree(model);
  return 0;
}
