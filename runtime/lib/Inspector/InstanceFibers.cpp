//===- InstanceFibers.cpp - Fibers of instances ---------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceFibers.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <utility>

using namespace batchrt;

void InstanceFibers::begin() {
  waiting.clear();
  parked.clear();
  if (alive > 0)
    for (FiberState &state : all)
      if (std::exchange(state.isUsed, false))
        unused[state.code != nullptr].push_back(&state);
  instances.assign(part.endInstance - part.beginInstance,
                   {part.owner.options.lockstep.maxSteps, 0, false});
  ended.clear();
  running = nullptr;
  alive = allEnded = 0;
  hasBegun = hasStored = false;
}

void InstanceFibers::enter(void *argument) {
  FiberState &state = *static_cast<FiberState *>(argument);
  Part &part = state.owner->part;
  if (state.code)
    state.code(&part, state.frame, state.number);
  else
    part.owner.object.entry().inspect(&part, state.instance,
                                      state.instance + 1);
}

/// Returns a fiber for an instance, or for a branch of it if `code` is given.
InstanceFibers::FiberState &InstanceFibers::take(int64_t instance,
                                                 BatchBranch code) {
  const SessionOptions &options = part.owner.options;
  std::vector<FiberState *> &list = unused[code != nullptr];
  if (list.empty()) {
    try {
      all.emplace_back(code ? options.branchStackSize : options.stackSize);
    } catch (const Error &error) {
      raise(error.what(), "; ", alive,
            " fibers already exist; use a smaller batch (--batch) or fewer "
            "fibers (--max-fibers)");
    }
    list.push_back(&all.back());
  }
  FiberState &state = *list.back();
  list.pop_back();
  ++alive;
  state.isUsed = true;
  state.owner = this;
  state.instance = instance;
  state.code = code;
  state.join = nullptr;
  state.frames = nullptr;
  return state;
}

/// Frees a finished fiber. Returns the fiber that may resume now, or null.
InstanceFibers::FiberState *InstanceFibers::release(FiberState &state) {
  --alive;
  state.isUsed = false;
  unused[state.code != nullptr].push_back(&state);
  if (!state.code) {
    ended.push_back(state.instance);
    ++allEnded;
  }
  if (!state.join)
    return nullptr;
  --at(state.instance).branches;
  Join &join = *state.join;
  return --join.left <= join.most ? std::exchange(join.waiter, nullptr)
                                  : nullptr;
}

/// Runs a fiber until it waits or finishes. Returns true if it has finished.
bool InstanceFibers::run(FiberState &state, bool isNew) {
  FiberState *outer = std::exchange(running, &state);
  BatchFrame *outerFrames = std::exchange(part.frames, state.frames);
  part.enter(state.fiber, state.stack);
  const bool hasEnded =
      isNew ? state.fiber.run(enter, &state) : state.fiber.resume();
  running = outer;
  state.frames = std::exchange(part.frames, outerFrames);
  if (outer)
    part.enter(outer->fiber, outer->stack);
  return hasEnded;
}

/// Runs a fiber, and then the fibers that waited for its end.
void InstanceFibers::advance(FiberState *state, bool isNew) {
  const int64_t number = state->instance;
  Instance &instance = at(number);
  if (instance.hasFailed)
    return;
  part.hasFailed = false;
  part.error = nullptr;
  part.stepsLeft = instance.stepsLeft;
  while (state) {
    const bool hasEnded = run(*state, std::exchange(isNew, false));
    if (part.hasFailed)
      return fail(number);
    state = hasEnded ? release(*state) : nullptr;
  }
  instance.stepsLeft = part.stepsLeft;
}

/// Ends the instance, or raises its error, which ends the run.
void InstanceFibers::fail(int64_t instance) {
  part.owner.endInstance(part, instance);
  at(instance).hasFailed = true;
  if (!part.owner.descriptor().separable) {
    part.known.forgetBegun();
    hasStored = true; // lets other instances begin the calls of this one
  }
}

/// Frees the fibers of instances that have failed.
void InstanceFibers::dropFailed() {
  auto hasFailed = [&](const FiberState *state) {
    return at(state->instance).hasFailed;
  };
  for (std::vector<FiberState *> *list : {&waiting, &parked})
    list->erase(std::remove_if(list->begin(), list->end(), hasFailed),
                list->end());
  for (FiberState &state : all)
    if (state.isUsed && hasFailed(&state)) {
      state.join = nullptr;
      release(state);
    }
}

void InstanceFibers::listFrameRows(std::vector<int64_t> &handles) const {
  for (const FiberState &state : all)
    if (state.isUsed)
      for (const BatchFrame *frame = state.frames; frame;
           frame = frame->outer) {
        const auto *first = reinterpret_cast<const int64_t *>(frame + 1);
        handles.insert(handles.end(), first, first + frame->count);
      }
}

/// If new results have been stored, resumes the parked fibers, beginning with
/// the one at index `first`. Repeats this as long as they store new results.
void InstanceFibers::advanceStored(size_t first) {
  while (parked.size() > first && std::exchange(hasStored, false)) {
    const std::vector<FiberState *> ready(parked.begin() + first, parked.end());
    parked.resize(first);
    for (FiberState *state : ready)
      advance(state, /*isNew=*/false);
  }
}

/// Runs an instance: first the fibers that waited for tasks. If these stored
/// results, then runs the fibers that waited for calls.
void InstanceFibers::takeTurn(int64_t instance, bool isNew) {
  hasStored = false;
  const size_t first = parked.size();
  if (isNew)
    advance(&take(instance, nullptr), /*isNew=*/true);
  for (; next < ready.size() && ready[next]->instance == instance; ++next)
    advance(ready[next], /*isNew=*/false);
  for (; nextStalled < stalled.size() &&
         stalled[nextStalled]->instance == instance;
       ++nextStalled)
    parked.push_back(stalled[nextStalled]);
  advanceStored(first);
}

void InstanceFibers::runRound(int64_t maxBranches) {
  this->maxBranches = maxBranches;
  ready.swap(waiting);
  stalled.swap(parked);
  waiting.clear();
  parked.clear();
  next = nextStalled = 0;
  if (!std::exchange(hasBegun, true))
    for (int64_t i = part.beginInstance; i < part.endInstance; ++i)
      takeTurn(i, /*isNew=*/true);
  while (next < ready.size() || nextStalled < stalled.size()) {
    int64_t instance = part.endInstance;
    if (next < ready.size())
      instance = ready[next]->instance;
    if (nextStalled < stalled.size())
      instance = std::min(instance, stalled[nextStalled]->instance);
    takeTurn(instance, /*isNew=*/false);
  }
  // Instances may need results that other instances have stored.
  if (!part.owner.descriptor().separable) {
    hasStored = true;
    advanceStored(0);
    for (std::vector<FiberState *> *list : {&waiting, &parked})
      std::stable_sort(list->begin(), list->end(),
                       [](const FiberState *a, const FiberState *b) {
                         return a->instance < b->instance;
                       });
  }
  if (!part.failures.empty())
    dropFailed();
}

void InstanceFibers::checkEnd() const {
  if (parked.empty())
    return;
  raise("instance ",
        part.owner.forest().firstInstance + parked.front()->instance,
        ": a recursive function calls itself with equal arguments and never "
        "returns");
}

void InstanceFibers::wait() {
  waiting.push_back(running);
  running->fiber.suspend();
}

void InstanceFibers::awaitStore() {
  parked.push_back(running);
  running->fiber.suspend();
}

bool InstanceFibers::fork(BatchBranch code, int64_t *frame, int64_t count) {
  FiberState &self = *running;
  Join join{0, 0, nullptr};
  auto waitUntil = [&](int64_t left) {
    if (join.left <= left)
      return;
    join.most = left;
    join.waiter = &self;
    self.fiber.suspend();
  };
  for (int64_t i = 0; i < count; ++i) {
    int64_t &branches = at(self.instance).branches;
    const bool isLast = i + 1 == count; // the last branch needs no fiber
    if (!isLast && branches >= maxBranches && join.left > 0)
      waitUntil(join.left - 1);
    if (isLast || branches >= maxBranches) {
      code(&part, frame, i);
      continue;
    }
    FiberState &branch = take(self.instance, code);
    branch.frame = frame;
    branch.number = i;
    branch.join = &join;
    ++branches;
    ++join.left;
    if (run(branch, /*isNew=*/true))
      release(branch);
    else if (part.hasFailed)
      return false;
  }
  waitUntil(0);
  return true;
}
