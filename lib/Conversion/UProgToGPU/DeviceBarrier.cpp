//===- DeviceBarrier.cpp - A barrier of all blocks of a launch ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Central barrier, written as IR. Blocks count arrivals and wait until the
// total reaches the count of the barrier. The total never decreases, so no
// block needs to detect that it is the last one. Only one write and one read
// separate the last arrival from the blocks that wait. LLVM 22 drops the memory
// order of atomicrmw on NVPTX, so arrivals are relaxed and follow a fence. A
// wait is an acquire load, which nothing may hoist out of its loop.
//
//===----------------------------------------------------------------------===//

#include "DeviceBarrier.h"

#include "Batch/Target/ABI/ABILayout.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::uprog;

namespace {
/// Number that the code below refers to by a name in angle brackets: the byte
/// offset of an i32 in BatchDeviceControl, or another number of bytes.
struct Word {
  const char *name;
  size_t bytes;
};
} // namespace

template <class T>
static constexpr Word makeWord(const char *name, size_t offset) {
  static_assert(sizeof(T) == sizeof(int32_t));
  return {name, offset};
}

using BlockArrivals = decltype(BatchBlockControl::arrivals);

#define BATCH_WORD(name)                                                       \
  makeWord<decltype(BatchDeviceControl::name)>(                                \
      "<" #name ">", offsetof(BatchDeviceControl, name))
static constexpr Word kWords[] = {
    BATCH_WORD(timedOut),
    BATCH_WORD(step),
    BATCH_WORD(barrier),
    BATCH_WORD(block),
    makeWord<BlockArrivals>("<blockArrivals>",
                            batch::abi::kControlOfBlocks +
                                offsetof(BatchBlockControl, arrivals)),
    {"<blockBytes>", batch::abi::kBlockControlBytes},
    {"<leftBytes>", batch::kLeftBytes}};
static_assert(BATCH_WORD(arrivals).bytes == 0,
              "the code below counts arrivals where the control block begins");
#undef BATCH_WORD

static constexpr StringLiteral kBarrier = R"mlir(
func.func private @device_barrier(%control: !llvm.ptr<1>, %blocks: i32, %step: i32, %watchdog: i64) attributes {llvm.linkage = #llvm.linkage<internal>} {
  %one = arith.constant 1 : i32
  %first = arith.constant 0 : index
  %thread = gpu.thread_id x
  %is_leader = arith.cmpi eq, %thread, %first : index
  %id = gpu.block_id x
  %block = arith.index_cast %id : index to i64
  %counts = llvm.getelementptr %control[<blockArrivals>] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %own = llvm.getelementptr %counts[%block] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<<blockBytes> x i8>
  %zero = arith.constant 0 : i32
  %before = scf.if %is_leader -> i32 {
    %count = llvm.load %own atomic syncscope("<device>") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    scf.yield %count : i32
  } else {
    scf.yield %zero : i32
  }
  gpu.barrier
  scf.if %is_leader {
    STAY
    llvm.fence syncscope("<device>") release
    %arrived = llvm.atomicrmw add %control, %one syncscope("<device>") monotonic {alignment = 4 : i64} : !llvm.ptr<1>, i32
    %after = arith.addi %before, %one : i32
    llvm.store %after, %own atomic syncscope("<device>") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
    %all = arith.muli %after, %blocks : i32
    WAIT
  }
  gpu.barrier
  LEAVE
  return
}
)mlir";

static constexpr StringLiteral kWait = R"mlir(
      scf.while : () -> () {
        %now = llvm.load %control atomic syncscope("<device>") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
        %beyond = arith.subi %now, %all : i32
        %waits = arith.cmpi slt, %beyond, %zero : i32
        scf.condition(%waits)
      } do {
        scf.yield
      }
)mlir";

// A limit of 0 means no limit. The first block that times out writes a record.
// The other blocks see the record and leave too. Checking the clock and the
// record would double the time of an iteration, so only every 16th iteration
// checks them. The first check starts the clock.
static constexpr StringLiteral kWaitWithWatchdog = R"mlir(
      %none = arith.constant 0 : i64
      %turns = arith.constant 15 : i32
      %limited = arith.cmpi ne, %watchdog, %none : i64
      %timedOut = llvm.getelementptr %control[<timedOut>] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %leaves:3 = scf.while (%turn = %zero, %begin = %none) : (i32, i64) -> (i1, i32, i64) {
        %now = llvm.load %control atomic syncscope("<device>") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
        %beyond = arith.subi %now, %all : i32
        %fewer = arith.cmpi slt, %beyond, %zero : i32
        %next = arith.addi %turn, %one : i32
        %rest = arith.andi %next, %turns : i32
        %due = arith.cmpi eq, %rest, %zero : i32
        %looks = arith.andi %due, %limited : i1
        %stays:2 = scf.if %looks -> (i1, i64) {
          %time = nvvm.read.ptx.sreg.globaltimer : i64
          %isFirstLook = arith.cmpi eq, %begin, %none : i64
          %since = arith.select %isFirstLook, %time, %begin : i64
          %waited = arith.subi %time, %since : i64
          %late = arith.cmpi ugt, %waited, %watchdog : i64
          scf.if %late {
            %exchanged = llvm.cmpxchg %timedOut, %zero, %one syncscope("<device>") monotonic monotonic {alignment = 4 : i64} : !llvm.ptr<1>, i32
            %isFirst = llvm.extractvalue %exchanged[1] : !llvm.struct<(i32, i1)>
            scf.if %isFirst {
              %stepAt = llvm.getelementptr %control[<step>] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
              llvm.store %step, %stepAt {alignment = 4 : i64} : i32, !llvm.ptr<1>
              %barrierAt = llvm.getelementptr %control[<barrier>] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
              llvm.store %after, %barrierAt {alignment = 4 : i64} : i32, !llvm.ptr<1>
              %blockAt = llvm.getelementptr %control[<block>] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
              %number = arith.trunci %block : i64 to i32
              llvm.store %number, %blockAt {alignment = 4 : i64} : i32, !llvm.ptr<1>
            }
          }
          %status = llvm.load %timedOut atomic syncscope("<device>") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
          %fine = arith.cmpi eq, %status, %zero : i32
          scf.yield %fine, %since : i1, i64
        } else {
          %yes = arith.constant true
          scf.yield %yes, %begin : i1, i64
        }
        %waits = arith.andi %fewer, %stays#0 : i1
        scf.condition(%waits) %fewer, %next, %stays#1 : i1, i32, i64
      } do {
      ^bb0(%fewer: i1, %next: i32, %since: i64):
        scf.yield %next, %since : i32, i64
      }
      scf.if %leaves#0 {
        %bit = arith.constant 0x80000000 : i32
        %gone = arith.ori %after, %bit : i32
        llvm.store %gone, %own atomic syncscope("<device>") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
        llvm.store %one, %leftAt : i32, !llvm.ptr<3>
      }
)mlir";

// All threads of a block leave if the first thread sets a flag in shared
// memory. They check this flag at every barrier, and reads of global memory
// would be too slow for this check.
static constexpr StringLiteral kLeft = R"mlir(
llvm.mlir.global internal @device_barrier.left() {addr_space = 3 : i32, alignment = <leftBytes> : i64} : i32
)mlir";
static constexpr StringLiteral kStay = R"mlir(
    %leftAt = llvm.mlir.addressof @device_barrier.left : !llvm.ptr<3>
    %no = arith.constant 0 : i32
    llvm.store %no, %leftAt : i32, !llvm.ptr<3>
)mlir";
static constexpr StringLiteral kLeave = R"mlir(
  %never = arith.constant 0 : i64
  %watched = arith.cmpi ne, %watchdog, %never : i64
  scf.if %watched {
    %word = llvm.mlir.addressof @device_barrier.left : !llvm.ptr<3>
    %left = llvm.load %word : !llvm.ptr<3> -> i32
    %nothing = arith.constant 0 : i32
    %leaves = arith.cmpi ne, %left, %nothing : i32
    scf.if %leaves {
      nvvm.exit
    }
  }
)mlir";

static void replaceAll(std::string &code, StringRef from, StringRef to) {
  for (size_t at = code.find(from); at != std::string::npos;
       at = code.find(from, at + to.size()))
    code.replace(at, from.size(), to);
}

func::FuncOp uprog::addDeviceBarrier(gpu::GPUModuleOp module,
                                     const batch::VendorFacts &vendor) {
  std::string code = kBarrier.str();
  if (vendor.hasClock)
    code = kLeft.str() + code;
  replaceAll(code, "WAIT", vendor.hasClock ? kWaitWithWatchdog : kWait);
  replaceAll(code, "STAY", vendor.hasClock ? kStay : "");
  replaceAll(code, "LEAVE", vendor.hasClock ? kLeave : "");
  replaceAll(code, "<device>", vendor.deviceScope);
  for (const Word &word : kWords)
    replaceAll(code, word.name, std::to_string(word.bytes));
  Block block;
  [[maybe_unused]] LogicalResult parsed = parseSourceString(
      code, &block, ParserConfig(module.getContext()), "device barrier");
  assert(succeeded(parsed) && "the barrier's code does not parse");
  Block *body = module.getBody();
  auto function = cast<func::FuncOp>(block.back());
  body->getOperations().splice(body->end(), block.getOperations());
  return function;
}
