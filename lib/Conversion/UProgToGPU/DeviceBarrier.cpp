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

#include "batch-runtime/ABI.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::uprog;

// The layout that the code below has as numbers.
static_assert(offsetof(BatchDeviceControl, arrivals) == 0);
static_assert(offsetof(BatchDeviceControl, generation) == 128);
static_assert(offsetof(BatchDeviceControl, limit) == 256);
static_assert(offsetof(BatchDeviceControl, record) == 264);
static_assert(offsetof(BatchDeviceControl, reported) == 272);
static_assert(sizeof(BatchDeviceControl) == 384);
static_assert(offsetof(BatchDeviceRecord, arrived) == 16);

static constexpr StringLiteral kBarrier = R"mlir(
func.func private @meet(%control: !llvm.ptr<1>, %blocks: i32, %step: i32) attributes {llvm.linkage = #llvm.linkage<internal>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %thread = gpu.thread_id x
  %first = arith.constant 0 : index
  %leads = arith.cmpi eq, %thread, %first : index
  gpu.barrier
  scf.if %leads {
    %at = llvm.getelementptr %control[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %before = llvm.load %at atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    %after = arith.addi %before, %one : i32
    %id = gpu.block_id x
    %block = arith.index_cast %id : index to i64
    %arrived = llvm.getelementptr %control[384] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %mine = llvm.getelementptr %arrived[%block] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %after, %mine atomic syncscope("device") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
    llvm.fence syncscope("device") release
    %count = llvm.atomicrmw add %control, %one syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1>, i32
    %arrivals = arith.addi %count, %one : i32
    %all = arith.muli %after, %blocks : i32
    %last = arith.cmpi eq, %arrivals, %all : i32
    scf.if %last {
      llvm.fence syncscope("device") acq_rel
      llvm.store %after, %at atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
    } else {
      WAIT
    }
  }
  gpu.barrier
  return
}
)mlir";

static constexpr StringLiteral kWait = R"mlir(
      scf.while : () -> () {
        %now = llvm.load %at atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
        %waits = arith.cmpi eq, %now, %before : i32
        scf.condition(%waits)
      } do {
        scf.yield
      }
)mlir";

static constexpr StringLiteral kWaitWithWatchdog = R"mlir(
      %limitAt = llvm.getelementptr %control[256] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %limit = llvm.load %limitAt {alignment = 8 : i64} : !llvm.ptr<1> -> i64
      %never = arith.constant 0 : i64
      %limited = arith.cmpi ne, %limit, %never : i64
      %begin = nvvm.read.ptx.sreg.globaltimer : i64
      scf.while : () -> () {
        %now = llvm.load %at atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
        %waits = arith.cmpi eq, %now, %before : i32
        scf.condition(%waits)
      } do {
        scf.if %limited {
          %time = nvvm.read.ptx.sreg.globaltimer : i64
          %waited = arith.subi %time, %begin : i64
          %late = arith.cmpi ugt, %waited, %limit : i64
          scf.if %late {
            func.call @report(%control, %blocks, %step, %after) : (!llvm.ptr<1>, i32, i32, i32) -> ()
          }
        }
        scf.yield
      }
)mlir";

static constexpr StringLiteral kReport = R"mlir(
func.func private @report(%control: !llvm.ptr<1>, %blocks: i32, %step: i32, %barrier: i32) attributes {llvm.linkage = #llvm.linkage<internal>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %flag = llvm.getelementptr %control[272] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %others = llvm.atomicrmw add %flag, %one syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1>, i32
  %leads = arith.cmpi eq, %others, %zero : i32
  scf.if %leads {
    %recordAt = llvm.getelementptr %control[264] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %record = llvm.load %recordAt {alignment = 8 : i64} : !llvm.ptr<1> -> !llvm.ptr<1>
    %id = gpu.block_id x
    %block = arith.index_cast %id : index to i32
    %stepAt = llvm.getelementptr %record[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store %step, %stepAt : i32, !llvm.ptr<1>
    %barrierAt = llvm.getelementptr %record[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store %barrier, %barrierAt : i32, !llvm.ptr<1>
    %blockAt = llvm.getelementptr %record[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store %block, %blockAt : i32, !llvm.ptr<1>
    %from = llvm.getelementptr %control[384] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %to = llvm.getelementptr %record[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    scf.for %i = %zero to %blocks step %one : i32 {
      %there = llvm.getelementptr %from[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %count = llvm.load %there atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %here = llvm.getelementptr %to[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %count, %here : i32, !llvm.ptr<1>
    }
    llvm.fence release
    llvm.store %one, %record atomic release {alignment = 4 : i64} : i32, !llvm.ptr<1>
    "llvm.intr.trap"() : () -> ()
  }
  return
}
)mlir";

static void replaceAll(std::string &code, StringRef from, StringRef to) {
  for (size_t at = code.find(from); at != std::string::npos;
       at = code.find(from, at + to.size()))
    code.replace(at, from.size(), to);
}

func::FuncOp uprog::addDeviceBarrier(gpu::GPUModuleOp module, bool amd) {
  std::string code = kBarrier.str();
  replaceAll(code, "WAIT", amd ? kWait : kWaitWithWatchdog);
  if (amd)
    replaceAll(code, "\"device\"", "\"agent\"");
  else
    code += kReport;
  Block block;
  [[maybe_unused]] LogicalResult parsed = parseSourceString(
      code, &block, ParserConfig(module.getContext()), "device barrier");
  assert(succeeded(parsed) && "the barrier's code does not parse");
  Block *body = module.getBody();
  auto function = cast<func::FuncOp>(block.front());
  body->getOperations().splice(body->end(), block.getOperations());
  return function;
}
