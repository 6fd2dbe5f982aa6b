//===- Fiber.cpp - Stacks of their own for compiled code ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Memory.h"

#include <boost/context/detail/fcontext.hpp>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define BATCH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BATCH_ASAN 1
#endif
#endif
#ifdef BATCH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

using namespace batchrt;
namespace context = boost::context::detail;

FiberStack::FiberStack(size_t wanted) {
  guard = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  if (wanted > SIZE_MAX / 2)
    raise("a stack of ", wanted, " bytes is not possible (--stack-size)");
  bytes = std::max<size_t>(wanted, 4 * reserved);
  bytes = (bytes + guard - 1) / guard * guard;
  void *memory = ::mmap(nullptr, bytes + guard, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    raise("cannot reserve a stack of ", bytes, " bytes (--stack-size): ",
          std::strerror(errno));
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
struct Start {
  Fiber *fiber;
  void (*body)(void *);
  void *argument;
};
char finished;

/// Tells AddressSanitizer that the stack changes. `save` keeps the stack that
/// is left, or is null if it is left for good.
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
} // namespace

struct batchrt::FiberEntry {
  static void enter(context::transfer_t transfer) {
    Start start = *static_cast<Start *>(transfer.data);
    Fiber &fiber = *start.fiber;
    finishSwitch(nullptr, &fiber.callerBottom, &fiber.callerSize);
    fiber.caller = transfer.fctx;
    start.body(start.argument);
    startSwitch(nullptr, fiber.callerBottom, fiber.callerSize);
    context::jump_fcontext(fiber.caller, &finished);
    __builtin_unreachable();
  }
};

bool Fiber::run(void (*body)(void *), void *argument) {
  Start start{this, body, argument};
  context::fcontext_t entry =
      context::make_fcontext(stack.top(), stack.size(), FiberEntry::enter);
  void *saved = nullptr;
  startSwitch(&saved, stack.bottom(), stack.size());
  context::transfer_t transfer = context::jump_fcontext(entry, &start);
  finishSwitch(saved, nullptr, nullptr);
  bool returned = transfer.data == &finished;
#ifdef BATCH_ASAN
  // Abandoned frames leave poisoned shadow behind.
  if (!returned)
    __asan_unpoison_memory_region(stack.bottom(), stack.size());
#endif
  return returned;
}

void Fiber::leave() {
  startSwitch(nullptr, callerBottom, callerSize);
  context::jump_fcontext(caller, nullptr);
  __builtin_unreachable();
}
