//===- Fiber.cpp - Separate stacks for compiled code ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Memory.h"

#ifdef BATCH_BOOST_CONTEXT
#include <boost/context/detail/fcontext.hpp>
#else
#include <ucontext.h>
#endif

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

// GCC defines a macro for each sanitizer; Clang has a feature test.
#ifdef __SANITIZE_ADDRESS__
#define BATCH_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define BATCH_TSAN 1
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define BATCH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define BATCH_TSAN 1
#endif
#endif
#ifdef BATCH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef BATCH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

using namespace batchrt;

FiberStack::FiberStack(size_t wanted) : wanted(wanted) {
  guard = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  if (wanted > SIZE_MAX / 2)
    raise("a stack of ", wanted, " bytes is too large (--stack-size)");
  bytes = std::max<size_t>(wanted, 4 * reserved);
  bytes = (bytes + guard - 1) / guard * guard;
  void *memory = ::mmap(nullptr, bytes + guard, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    raise("cannot reserve a stack of ", bytes,
          " bytes (--stack-size): ", std::strerror(errno));
  base = static_cast<char *>(memory);
  ::mprotect(base, guard, PROT_NONE);
}

FiberStack::~FiberStack() {
#ifdef BATCH_ASAN
  __asan_unpoison_memory_region(bottom(), bytes);
#endif
  ::munmap(base, bytes + guard);
}

namespace {
/// Stacks that are not borrowed. The array has no lock, because a fork in
/// another thread could leave it locked.
std::array<std::atomic<FiberStack *>, 64> spareStacks;
} // namespace

BorrowedStack::BorrowedStack(size_t bytes) {
  for (std::atomic<FiberStack *> &place : spareStacks) {
    if (!place.load(std::memory_order_relaxed))
      continue;
    stack.reset(place.exchange(nullptr, std::memory_order_acquire));
    if (stack && stack->isFor(bytes))
      return;
  }
  stack = std::make_unique<FiberStack>(bytes);
}

BorrowedStack::~BorrowedStack() {
  for (std::atomic<FiberStack *> &place : spareStacks) {
    FiberStack *none = nullptr;
    if (place.compare_exchange_strong(none, stack.get(),
                                      std::memory_order_release,
                                      std::memory_order_relaxed)) {
      (void)stack.release();
      return;
    }
  }
}

void BorrowedStack::freeOthers() {
  for (std::atomic<FiberStack *> &place : spareStacks)
    delete place.exchange(nullptr, std::memory_order_acquire);
}

namespace {
struct Start {
  Fiber *fiber;
  void (*body)(void *);
  void *argument;
};
char finished;

// The two functions that switch stacks. enterStack() calls `entry` on the
// stack. switchTo() resumes another stack at the point where it was left. Both
// return when another stack switches back, and return that stack and its
// message.
struct Arrival {
  void *from;
  void *message;
};
using Entry = void (*)(void *caller, Start &start);

#ifdef BATCH_BOOST_CONTEXT
namespace context = boost::context::detail;

struct EntryCall {
  Entry entry;
  Start &start;

  static void run(context::transfer_t transfer) {
    EntryCall call = *static_cast<EntryCall *>(transfer.data);
    call.entry(transfer.fctx, call.start);
  }
};

Arrival switchTo(void *other, void *message) {
  context::transfer_t transfer = context::jump_fcontext(other, message);
  return {transfer.fctx, transfer.data};
}

Arrival enterStack(FiberStack &stack, Entry entry, Start &start) {
  EntryCall call{entry, start};
  return switchTo(
      context::make_fcontext(stack.top(), stack.size(), EntryCall::run), &call);
}
#else
/// State of a stack that was left, stored on that stack. Only builds without
/// Boost.Context use it. Their switches need two more system calls.
struct Left {
  ucontext_t context;
  Arrival arrival;
};

struct EntryCall {
  Entry entry;
  Start &start;
  Left caller;

  // makecontext() cannot pass arguments wider than an int.
  static void run(unsigned high, unsigned low) {
    auto *call = reinterpret_cast<EntryCall *>(
        static_cast<uintptr_t>(uint64_t(high) << 32 | low));
    call->entry(&call->caller, call->start);
  }
};

Arrival switchTo(void *other, void *message) {
  Left self;
  auto *target = static_cast<Left *>(other);
  target->arrival = {&self, message};
  ::swapcontext(&self.context, &target->context);
  return self.arrival;
}

Arrival enterStack(FiberStack &stack, Entry entry, Start &start) {
  EntryCall call{entry, start, {}};
  uint64_t address = reinterpret_cast<uintptr_t>(&call);
  ucontext_t inside;
  ::getcontext(&inside);
  inside.uc_stack.ss_sp = stack.bottom();
  inside.uc_stack.ss_size = stack.size();
  ::makecontext(&inside, reinterpret_cast<void (*)()>(EntryCall::run), 2,
                static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  ::swapcontext(&call.caller.context, &inside);
  return call.caller.arrival;
}
#endif

/// Announces a switch of stacks to AddressSanitizer. `save` receives the state
/// of the stack being switched from. `save` is null if that stack is never
/// resumed.
void startSwitch(void **save, const void *bottom, size_t size) {
#ifdef BATCH_ASAN
  __sanitizer_start_switch_fiber(save, bottom, size);
#else
  (void)save, (void)bottom, (void)size;
#endif
}

void finishSwitch(void *saved, const void **bottom, size_t *size) {
#ifdef BATCH_ASAN
  __sanitizer_finish_switch_fiber(saved, bottom, size);
#else
  (void)saved, (void)bottom, (void)size;
#endif
}

// Announce the end of a stack, a new stack, and a switch of stacks to
// ThreadSanitizer. trackSwitch() returns the stack being switched from.
#ifdef BATCH_TSAN
void trackEnd(void *stack) { __tsan_destroy_fiber(stack); }
void *trackNew() { return __tsan_create_fiber(0); }

void *trackSwitch(void *stack) {
  void *left = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(stack, 0);
  return left;
}
#else
void trackEnd(void *) {}
void *trackNew() { return nullptr; }
void *trackSwitch(void *) { return nullptr; }
#endif
} // namespace

struct batchrt::FiberEntry {
  static void enter(void *caller, Start &begin) {
    Start start = begin;
    Fiber &fiber = *start.fiber;
    finishSwitch(nullptr, &fiber.callerBottom, &fiber.callerSize);
    fiber.caller = caller;
    start.body(start.argument);
    startSwitch(nullptr, fiber.callerBottom, fiber.callerSize);
    trackSwitch(fiber.callerTracking);
    switchTo(fiber.caller, &finished);
    __builtin_unreachable();
  }
};

void Fiber::EndTracking::operator()(void *stack) const { trackEnd(stack); }

bool Fiber::run(void (*body)(void *), void *argument) {
#ifdef BATCH_ASAN
  // Abandoned frames may have left poisoned shadow memory behind.
  __asan_unpoison_memory_region(stack.bottom(), stack.size());
#endif
  Start start{this, body, argument};
  void *saved = nullptr;
  startSwitch(&saved, stack.bottom(), stack.size());
  insideTracking.reset(trackNew());
  callerTracking = trackSwitch(insideTracking.get());
  Arrival arrival = enterStack(stack, FiberEntry::enter, start);
  finishSwitch(saved, nullptr, nullptr);
  inside = arrival.from;
  return arrival.message == &finished;
}

bool Fiber::resume() {
  void *saved = nullptr;
  startSwitch(&saved, stack.bottom(), stack.size());
  callerTracking = trackSwitch(insideTracking.get());
  Arrival arrival = switchTo(inside, nullptr);
  finishSwitch(saved, nullptr, nullptr);
  inside = arrival.from;
  return arrival.message == &finished;
}

void Fiber::suspend() {
  void *saved = nullptr;
  startSwitch(&saved, callerBottom, callerSize);
  trackSwitch(callerTracking);
  Arrival arrival = switchTo(caller, nullptr);
  finishSwitch(saved, &callerBottom, &callerSize);
  caller = arrival.from;
}

void Fiber::leave() {
  startSwitch(nullptr, callerBottom, callerSize);
  trackSwitch(callerTracking);
  switchTo(caller, nullptr);
  __builtin_unreachable();
}
