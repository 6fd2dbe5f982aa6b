// RUN: batch-opt %s --batch-linearize=strategy=auto | FileCheck %s
// RUN: batch-opt %s --batch-linearize=strategy=none | FileCheck %s
// RUN: batch-opt %s --batch-linearize=strategy=auto --remark-format=emitRemark \
// RUN:   --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not batch-opt %s --batch-linearize=strategy=eager 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: there is no strategy 'eager'; strategies are 'auto', 'linearize', 'lockstep', 'mask' and 'none'

// Where control depends on a tensor, `auto` and `none` leave the program; `auto`
// says why.
// CHECK-LABEL: func.func @main
// CHECK:         tensor.extract
// CHECK-NOT:   func.func
func.func @main(%x: tensor<4xf32>) -> f32 attributes {batch.entry} {
  %zero = arith.constant 0 : index
  // REMARK: linearize-strategies.mlir:[[#@LINE+1]]:{{[0-9]+}}: remark: {{.*}}control depends on a tensor here: not batched, runs one instance at a time
  %v = tensor.extract %x[%zero] : tensor<4xf32>
  return %v : f32
}
