//===- Strands.cpp - Instances that wait, and their branches --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strands.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <utility>

using namespace batchrt;

void Strands::begin() {
  waiting.clear();
  parked.clear();
  if (alive > 0)
    for (Strand &strand : all)
      if (std::exchange(strand.isUsed, false))
        unused[strand.code != nullptr].push_back(&strand);
  instances.assign(part.endInstance - part.beginInstance,
                   {part.owner.options.lockstep.maxSteps, 0, false});
  ended.clear();
  running = nullptr;
  alive = allEnded = 0;
  hasBegun = hasStored = false;
}

void Strands::enter(void *argument) {
  Strand &strand = *static_cast<Strand *>(argument);
  Part &part = strand.owner->part;
  if (strand.code)
    strand.code(&part, strand.frame, strand.number);
  else
    part.owner.object.entry().inspect(&part, strand.instance,
                                      strand.instance + 1);
}

/// Returns a strand for an instance, or, with `code`, for a branch of it.
Strands::Strand &Strands::take(int64_t instance, BatchBranch code) {
  const SessionOptions &options = part.owner.options;
  std::vector<Strand *> &list = unused[code != nullptr];
  if (list.empty()) {
    try {
      all.emplace_back(code ? options.branchStackSize : options.stackSize);
    } catch (const Error &error) {
      raise(error.what(), "; there are ", alive,
            " fibers already: give a smaller --batch or --max-fibers");
    }
    list.push_back(&all.back());
  }
  Strand &strand = *list.back();
  list.pop_back();
  ++alive;
  strand.isUsed = true;
  strand.owner = this;
  strand.instance = instance;
  strand.code = code;
  strand.join = nullptr;
  strand.frames = nullptr;
  return strand;
}

/// Frees a strand that has ended. Returns the strand that may resume now, or
/// null.
Strands::Strand *Strands::release(Strand &strand) {
  --alive;
  strand.isUsed = false;
  unused[strand.code != nullptr].push_back(&strand);
  if (!strand.code) {
    ended.push_back(strand.instance);
    ++allEnded;
  }
  if (!strand.join)
    return nullptr;
  --at(strand.instance).branches;
  Join &join = *strand.join;
  return --join.left <= join.most ? std::exchange(join.waiter, nullptr)
                                  : nullptr;
}

/// Runs a strand until it waits or ends. Returns true if it has ended.
bool Strands::run(Strand &strand, bool isNew) {
  Strand *outer = std::exchange(running, &strand);
  BatchFrame *outerFrames = std::exchange(part.frames, strand.frames);
  part.enter(strand.fiber, strand.stack);
  const bool hasEnded =
      isNew ? strand.fiber.run(enter, &strand) : strand.fiber.resume();
  running = outer;
  strand.frames = std::exchange(part.frames, outerFrames);
  if (outer)
    part.enter(outer->fiber, outer->stack);
  return hasEnded;
}

/// Runs a strand, and then those that have waited for its end.
void Strands::advance(Strand *strand, bool isNew) {
  const int64_t number = strand->instance;
  Instance &instance = at(number);
  if (instance.hasFailed)
    return;
  part.hasFailed = false;
  part.error = nullptr;
  part.stepsLeft = instance.stepsLeft;
  while (strand) {
    const bool hasEnded = run(*strand, std::exchange(isNew, false));
    if (part.hasFailed)
      return fail(number);
    strand = hasEnded ? release(*strand) : nullptr;
  }
  instance.stepsLeft = part.stepsLeft;
}

/// Ends the run, or only the instance.
void Strands::fail(int64_t instance) {
  part.owner.endInstance(part, instance);
  at(instance).hasFailed = true;
  if (!part.owner.descriptor().separable) {
    part.known.forgetBegun();
    hasStored = true; // Others may begin its calls.
  }
}

/// Frees the strands of instances that have failed.
void Strands::dropFailed() {
  auto hasFailed = [&](const Strand *strand) {
    return at(strand->instance).hasFailed;
  };
  for (std::vector<Strand *> *list : {&waiting, &parked})
    list->erase(std::remove_if(list->begin(), list->end(), hasFailed),
                list->end());
  for (Strand &strand : all)
    if (strand.isUsed && hasFailed(&strand)) {
      strand.join = nullptr;
      release(strand);
    }
}

void Strands::listKept(std::vector<int64_t> &handles) const {
  for (const Strand &strand : all)
    if (strand.isUsed)
      for (const BatchFrame *frame = strand.frames; frame;
           frame = frame->outer) {
        const auto *first = reinterpret_cast<const int64_t *>(frame + 1);
        handles.insert(handles.end(), first, first + frame->count);
      }
}

/// Resumes the parked strands from number `first` on, as long as results are
/// stored meanwhile.
void Strands::advanceStored(size_t first) {
  while (parked.size() > first && std::exchange(hasStored, false)) {
    const std::vector<Strand *> ready(parked.begin() + first, parked.end());
    parked.resize(first);
    for (Strand *strand : ready)
      advance(strand, /*isNew=*/false);
  }
}

/// Runs an instance: first the strands that waited for tasks, then those that
/// waited for calls.
void Strands::takeTurn(int64_t instance, bool isNew) {
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

void Strands::runRound() {
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
  // Instances may need results that others have stored.
  if (!part.owner.descriptor().separable) {
    hasStored = true;
    advanceStored(0);
    for (std::vector<Strand *> *list : {&waiting, &parked})
      std::stable_sort(list->begin(), list->end(),
                       [](const Strand *a, const Strand *b) {
                         return a->instance < b->instance;
                       });
  }
  if (!part.failures.empty())
    dropFailed();
}

void Strands::checkEnd() const {
  if (parked.empty())
    return;
  raise("instance ",
        part.owner.forest().firstInstance + parked.front()->instance,
        ": a recursive function calls itself with equal arguments, so it has "
        "no end");
}

void Strands::wait() {
  waiting.push_back(running);
  running->fiber.suspend();
}

void Strands::awaitStore() {
  parked.push_back(running);
  running->fiber.suspend();
}

bool Strands::fork(BatchBranch code, int64_t *frame, int64_t count) {
  Strand &self = *running;
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
    const int64_t most = part.owner.options.maxFibers;
    const bool isLast = i + 1 == count; // needs no fiber
    if (!isLast && branches >= most && join.left > 0)
      waitUntil(join.left - 1);
    if (isLast || branches >= most) {
      code(&part, frame, i);
      continue;
    }
    Strand &branch = take(self.instance, code);
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
