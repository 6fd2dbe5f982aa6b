//===- ThreadChoice.h - Number of workers of a session ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_THREADCHOICE_H
#define BATCH_RUNTIME_THREADCHOICE_H

namespace batchrt {

/// Chooses how many of a session's workers run the next mini-batch. After a few
/// runs, it is at most the number of cores. Fewer run if they are measured to
/// be faster: if other programs occupy the cores, or if the mini-batches are
/// small.
///
/// In trials, a half, a quarter and so on of the workers run a few
/// mini-batches. The fastest number is kept. Larger numbers are tried again
/// later. Trials start if worker 0 waits for the others for longer than they
/// can save. They are repeated only after many times their own time.
///
/// Workers may also be slow without waits. Trials therefore also start after
/// more and more runs, but then end at the first number that is slow. If all
/// workers are useful, these trials cost little.
class ThreadChoice {
public:
  /// Chooses at most `most` workers. `cores` is the number of cores that they
  /// may use.
  ThreadChoice(int most, int cores) : most(most), cores(cores), now(most) {}

  /// Returns the number of workers of the next run.
  int threads() const { return now; }
  /// Times of a run in any unit, and the size of its mini-batch. `shared` is
  /// the time of the jobs that all workers share, and `waited` the time that
  /// worker 0 waited for others in these jobs.
  struct Run {
    double time = 0, size = 0, shared = 0, waited = 0;
  };
  /// Adds a run with threads() workers.
  void add(const Run &run);

private:
  void endTrial();
  void endWindow();
  void startTrials(int threads, bool all = false);

  /// Sums over the last runs with the same number of workers.
  struct Window {
    int runs = 0;
    Run sum;
    double speed() const { return sum.size / sum.time; }
  };
  static constexpr int runsOfWindow = 4;
  static constexpr int shortestPause = 32, longestPause = 2048; ///< in windows

  const int most, cores;
  int now;
  Window window;
  bool wasWaiting = false; ///< true if the waits of the last window were long
  int before = 0;          ///< number of workers before the trials; 0: none
  bool triesAll = false;   ///< true if trials do not end at a slow number
  int best = 0;            ///< fastest number of workers, including trials
  double bestSpeed = 0;
  double timeOfTrials = 0;
  /// Time of runs until the next trials with fewer and with more workers.
  double untilFewer = 0, untilMore = 0;
  /// Number of windows until the next trials with fewer workers if worker 0
  /// does not wait, and from these trials to those after them.
  int windowsLeft = 8, windowsBetween = shortestPause;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_THREADCHOICE_H
