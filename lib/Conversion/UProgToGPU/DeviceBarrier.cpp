//===- DeviceBarrier.cpp - All blocks of a launch meet --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A central barrier with a generation, written as IR. LLVM 22 gives no memory
// order to atomicrmw on NVPTX, so arrivals are relaxed and fences stand around
// them; a wait is an acquire load, which nothing may hoist out of its loop.
//
//===----------------------------------------------------------------------===//

#include "DeviceBarrier.h"

#include "Batch/Target/ABI/ABILayout.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::uprog;

namespace {
/// A word of BatchDeviceControl, which the code below has by name in angle
/// brackets, as an i32.
struct Word {
  const char *name;
  size_t offset;
};
} // namespace

template <class T>
static constexpr Word makeWord(const char *name, size_t offset) {
  static_assert(sizeof(T) == sizeof(int32_t));
  return {name, offset};
}

#define BATCH_WORD(name)                                                       \
  makeWord<std::remove_extent_t<decltype(BatchDeviceControl::name)>>(          \
      "<" #name ">", offsetof(BatchDeviceControl, name))
static constexpr Word kWords[] = {
    BATCH_WORD(generation), BATCH_WORD(timedOut), BATCH_WORD(step),
    BATCH_WORD(barrier),    BATCH_WORD(block),    BATCH_WORD(blockArrivals)};
static_assert(BATCH_WORD(arrivals).offset == 0,
              "the code below counts arrivals where the control block begins");
#undef BATCH_WORD

static constexpr StringLiteral kBarrier = R"mlir(
func.func private @meet(%control: !llvm.ptr<1>, %blocks: i32, %step: i32, %watchdog: i64) attributes {llvm.linkage = #llvm.linkage<internal>} {
  %one = arith.constant 1 : i32
  %first = arith.constant 0 : index
  %thread = gpu.thread_id x
  %leads = arith.cmpi eq, %thread, %first : index
  gpu.barrier
  scf.if %leads {
    %generation = llvm.getelementptr %control[<generation>] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %before = llvm.load %generation atomic syncscope("<device>") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    %after = arith.addi %before, %one : i32
    %id = gpu.block_id x
    %block = arith.index_cast %id : index to i64
    %counts = llvm.getelementptr %control[<blockArrivals>] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %own = llvm.getelementptr %counts[%block] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %after, %own atomic syncscope("<device>") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
    llvm.fence syncscope("<device>") release
    %arrived = llvm.atomicrmw add %control, %one syncscope("<device>") monotonic {alignment = 4 : i64} : !llvm.ptr<1>, i32
    %arrivals = arith.addi %arrived, %one : i32
    %all = arith.muli %after, %blocks : i32
    %last = arith.cmpi eq, %arrivals, %all : i32
    scf.if %last {
      llvm.fence syncscope("<device>") acq_rel
      llvm.store %after, %generation atomic syncscope("<device>") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
    } else {
      WAIT
    }
  }
  gpu.barrier
  LEAVE
  return
}
)mlir";

static constexpr StringLiteral kWait = R"mlir(
      scf.while : () -> () {
        %now = llvm.load %generation atomic syncscope("<device>") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
        %waits = arith.cmpi eq, %now, %before : i32
        scf.condition(%waits)
      } do {
        scf.yield
      }
)mlir";

// A limit of 0 means none. The first block to give up writes the record; the
// others see it and leave too.
static constexpr StringLiteral kWaitWithWatchdog = R"mlir(
      %none = arith.constant 0 : i64
      %zero = arith.constant 0 : i32
      %limited = arith.cmpi ne, %watchdog, %none : i64
      %begin = nvvm.read.ptx.sreg.globaltimer : i64
      %timedOut = llvm.getelementptr %control[<timedOut>] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %leaves = scf.while : () -> i1 {
        %now = llvm.load %generation atomic syncscope("<device>") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
        %same = arith.cmpi eq, %now, %before : i32
        %stays = scf.if %limited -> i1 {
          %time = nvvm.read.ptx.sreg.globaltimer : i64
          %waited = arith.subi %time, %begin : i64
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
          scf.yield %fine : i1
        } else {
          %yes = arith.constant true
          scf.yield %yes : i1
        }
        %waits = arith.andi %same, %stays : i1
        scf.condition(%waits) %same : i1
      } do {
      ^bb0(%same: i1):
        scf.yield
      }
      scf.if %leaves {
        %bit = arith.constant 0x80000000 : i32
        %gone = arith.ori %after, %bit : i32
        llvm.store %gone, %own atomic syncscope("<device>") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
      }
)mlir";

// All threads of a block leave if its first one says so.
static constexpr StringLiteral kLeave = R"mlir(
  %never = arith.constant 0 : i64
  %watched = arith.cmpi ne, %watchdog, %never : i64
  scf.if %watched {
    %number = gpu.block_id x
    %place = arith.index_cast %number : index to i64
    %words = llvm.getelementptr %control[<blockArrivals>] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %word = llvm.getelementptr %words[%place] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %arrivalsOfBlock = llvm.load %word atomic syncscope("<device>") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    %nothing = arith.constant 0 : i32
    %left = arith.cmpi slt, %arrivalsOfBlock, %nothing : i32
    scf.if %left {
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
  replaceAll(code, "WAIT", vendor.hasClock ? kWaitWithWatchdog : kWait);
  replaceAll(code, "LEAVE", vendor.hasClock ? kLeave : "");
  replaceAll(code, "<device>", vendor.deviceScope);
  for (const Word &word : kWords)
    replaceAll(code, word.name, std::to_string(word.offset));
  Block block;
  [[maybe_unused]] LogicalResult parsed = parseSourceString(
      code, &block, ParserConfig(module.getContext()), "device barrier");
  assert(succeeded(parsed) && "the barrier's code does not parse");
  Block *body = module.getBody();
  auto function = cast<func::FuncOp>(block.front());
  body->getOperations().splice(body->end(), block.getOperations());
  return function;
}
