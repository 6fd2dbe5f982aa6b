//===- ThreadChoice.cpp - Number of workers of a session ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/ThreadChoice.h"

#include <algorithm>

using namespace batchrt;

void ThreadChoice::add(const Run &run) {
  ++window.runs;
  window.sum.time += run.time;
  window.sum.size += run.size;
  window.sum.shared += run.shared;
  window.sum.waited += run.waited;
  untilFewer -= run.time;
  untilMore -= run.time;
  const bool isFull = window.runs >= runsOfWindow;
  if (!before) {
    if (isFull)
      endWindow();
    return;
  }
  // A slow trial also ends once it has taken as long as the fastest window.
  const double expected = window.sum.size / bestSpeed;
  if (isFull || window.sum.time * window.runs > expected * runsOfWindow)
    endTrial();
}

/// Starts trials with `threads` workers. If `all` is false, they end at the
/// first number that is slow.
void ThreadChoice::startTrials(int threads, bool all) {
  before = best = now;
  triesAll = all;
  bestSpeed = window.speed();
  timeOfTrials = 0;
  now = threads;
  window = {};
}

/// Starts the next trial, or keeps the fastest number of workers.
void ThreadChoice::endTrial() {
  constexpr double leastGain = 1.05, slow = 0.8, runTimePerTrialTime = 32;
  const double speed = window.speed();
  timeOfTrials += window.sum.time;
  window = {};
  const bool isFewer = now < before, isSlow = speed < bestSpeed * slow;
  if (speed >= bestSpeed * leastGain) {
    best = now;
    bestSpeed = speed;
  }
  if (isFewer && now > 1 && (triesAll || !isSlow)) {
    now /= 2;
    return;
  }
  // Do not repeat trials that failed, or undo a change, at once.
  const bool isChanged = best != before;
  (isFewer == isChanged ? untilMore : untilFewer) =
      runTimePerTrialTime * timeOfTrials;
  windowsBetween =
      isChanged ? shortestPause : std::min(2 * windowsBetween, longestPause);
  now = best;
  before = 0;
  wasWaiting = false;
}

void ThreadChoice::endWindow() {
  const int useful = std::min(most, cores);
  if (now > useful) {
    now = useful;
    window = {};
    return;
  }
  // With W workers of equal speed, W - 1 of them save W - 1 times the time that
  // worker 0 works.
  const bool isWaiting =
      now > 1 && window.sum.waited * now > window.sum.shared * (now - 1);
  --windowsLeft;
  const bool isUrgent = isWaiting && wasWaiting && untilFewer <= 0;
  if (isUrgent || (now > 1 && windowsLeft <= 0)) {
    windowsLeft = windowsBetween;
    return startTrials(now / 2, /*all=*/isUrgent);
  }
  if (!isWaiting && now < useful && untilMore <= 0)
    return startTrials(std::min(2 * now, useful));
  wasWaiting = isWaiting;
  window = {};
}
