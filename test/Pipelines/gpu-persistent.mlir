// RUN: batch-opt %examples/treelstm_nary.mlir --autobatch=sizes=H=16 --gpu-persistent=executor=device | FileCheck %s
// RUN: batch-opt %examples/treelstm_nary.mlir --autobatch=sizes=H=16 --gpu-persistent="executor=block block-size=64" \
// RUN:   | FileCheck %s --check-prefix=BLOCK
// RUN: batch-opt %examples/treelstm_nary.mlir --autobatch=sizes=H=16 --gpu-persistent=chip=sm_80 \
// RUN:   | FileCheck %s --check-prefix=LLVM
// RUN: batch-opt %models/treernn.mlir --autobatch=sizes=H=16 --gpu-persistent="chip=sm_100 format=isa" \
// RUN:   | FileCheck %s --check-prefix=PTX

// Without a chip, the pipeline stops at the gpu dialect: one launch, one module,
// one kernel.
// CHECK-NOT:   gpu.launch_func
// CHECK-COUNT-1: gpu.launch_func @device::@main_execute
// CHECK-NOT:   gpu.launch_func
// CHECK-COUNT-1: gpu.module @device
// CHECK-NOT:   gpu.module
// CHECK:         func.func private @encode_leaf.rows.stage0(
// CHECK:         func.func private @encode_output.rows.stage0(
// CHECK:         func.func private @encode_node.rows.stage0(
// CHECK-NOT:     gpu.func
// CHECK:         gpu.func @main_execute({{.*}}) kernel
// CHECK-NOT:     gpu.func
// CHECK-NOT:     uprog.program

// The options executor and block-size reach their passes.
// BLOCK:       threads in (%c64,
// BLOCK:       known_block_size = array<i32: 64, 1, 1>
// BLOCK-NOT:   @device_barrier

// With a chip and no format, the module is in the LLVM dialect. The operators
// remain outside, for the CPU.
// LLVM:        gpu.module @device [#nvvm.target<O = 3, chip = "sm_80"
// LLVM-NOT:      {{(arith|scf|math|vector|cf|gpu)\.[a-z_]+ }}
// LLVM-NOT:      func.func
// LLVM:          llvm.func @main_execute({{.*}} nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32

// PTX has the version that the chip needs.
// PTX:         .version 8.6\0A.target sm_100\0A
