//===- EmulatorABI.h - Interface of emulated kernels ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The GPU emulator runs a kernel on the host: one call of the kernel's function
// per GPU thread. This header is plain C. All fields and arguments are eight
// bytes wide.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_EMULATORABI_H
#define BATCH_RUNTIME_EMULATORABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The memory that a pointer may point to: the address spaces of NVVM.
typedef enum BatchMemorySpace {
  BATCH_SPACE_GENERIC = 0,       ///< any of the following
  BATCH_SPACE_GLOBAL = 1,        ///< a registered region
  BATCH_SPACE_SHARED = 3,        ///< the shared memory of the thread's block
  BATCH_SPACE_SHARED_CLUSTER = 7 ///< the shared memory of any block of its
                                 ///< cluster
} BatchMemorySpace;

/// The orderings of an atomic operation or a fence, as bits.
typedef enum BatchMemoryOrder {
  BATCH_ORDER_RELAXED = 0,
  BATCH_ORDER_ACQUIRE = 1,
  BATCH_ORDER_RELEASE = 2
} BatchMemoryOrder;

/// The threads between which an atomic operation or a fence orders accesses.
typedef enum BatchMemoryScope {
  BATCH_SCOPE_BLOCK = 0,
  BATCH_SCOPE_CLUSTER = 1,
  BATCH_SCOPE_DEVICE = 2
} BatchMemoryScope;

/// The operation that `atomicUpdate` performs on the old value and the operand.
typedef enum BatchAtomicUpdate {
  BATCH_ATOMIC_EXCHANGE = 0,
  BATCH_ATOMIC_ADD = 1,
  BATCH_ATOMIC_SUB = 2,
  BATCH_ATOMIC_AND = 3,
  BATCH_ATOMIC_OR = 4,
  BATCH_ATOMIC_XOR = 5,
  BATCH_ATOMIC_MAX = 6, ///< signed
  BATCH_ATOMIC_MIN = 7,
  BATCH_ATOMIC_UMAX = 8, ///< unsigned
  BATCH_ATOMIC_UMIN = 9,
  BATCH_ATOMIC_FADD = 10
} BatchAtomicUpdate;

/// Source lane of a shuffle, for each lane.
typedef enum BatchShuffleMode {
  BATCH_SHUFFLE_XOR = 0,  ///< lane ^ offset
  BATCH_SHUFFLE_UP = 1,   ///< lane - offset
  BATCH_SHUFFLE_DOWN = 2, ///< lane + offset
  BATCH_SHUFFLE_IDX = 3   ///< offset
} BatchShuffleMode;

typedef struct BatchEmulatorThread BatchEmulatorThread;

typedef struct BatchEmulatorFunctions {
#define BATCH_EMULATOR_FUNCTION(result, name, parameters)                      \
  result(*name) parameters;
#include "batch-runtime/EmulatorFunctions.def"
} BatchEmulatorFunctions;

/// One thread of an emulated kernel. All dimensions except x are 1.
struct BatchEmulatorThread {
  const BatchEmulatorFunctions *functions;
  char *shared; ///< the shared memory of the thread's block
#define BATCH_EMULATOR_REGISTER(name) int64_t name;
#include "batch-runtime/EmulatorFunctions.def"
};

/// The name of an emulated kernel's function is the kernel's name followed by
/// this suffix.
#define BATCH_EMULATED_SUFFIX ".emulate"

/// The function of an emulated kernel: `arguments` are the addresses of its
/// arguments, as for cuLaunchKernel.
typedef void (*BatchEmulatedKernel)(BatchEmulatorThread *,
                                    void *const *arguments);

#ifdef __cplusplus
}
#endif

#endif // BATCH_RUNTIME_EMULATORABI_H
