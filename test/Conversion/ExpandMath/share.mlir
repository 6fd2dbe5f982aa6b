// RUN: batch-opt %s --batch-expand-math=share=true --split-input-file | FileCheck %s

// One function per kind and type contains the polynomial, and all ops call it.
// CHECK-LABEL: func.func @calls
// CHECK-SAME:    (%[[X:.*]]: vector<16xf32>, %[[Y:.*]]: f32)
func.func @calls(%x: vector<16xf32>, %y: f32) -> (vector<16xf32>, f32) {
  // CHECK-NEXT:  %[[A:.*]] = call @batch.exp(%[[X]])
  %a = math.exp %x : vector<16xf32>
  // CHECK-NEXT:  %[[B:.*]] = call @batch.exp(%[[A]])
  %b = math.exp %a : vector<16xf32>
  // CHECK-NEXT:  %[[C:.*]] = call @[[TANH:.*]](%[[Y]])
  %c = math.tanh %y : f32
  // CHECK-NEXT:  return %[[B]], %[[C]]
  return %b, %c : vector<16xf32>, f32
}
// CHECK-LABEL: func.func private @batch.exp(%{{.*}}: vector<16xf32>)
// CHECK-NOT:     math.exp
// CHECK:         return
// CHECK:       func.func private @[[TANH]](%{{.*}}: f32)
// CHECK-NOT:     math.tanh

// -----

// The reduction of large angles is a function that is not inlined.
// CHECK-LABEL: func.func @angles
func.func @angles(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK-NEXT:  call @batch.sin
  %y = math.sin %x : vector<16xf32>
  // CHECK-NEXT:  call @batch.tan
  %z = math.tan %y : vector<16xf32>
  return %z : vector<16xf32>
}
// CHECK:       func.func private @batch.large_angle_32(%{{.*}}: i32) -> (i32, i32, i32) attributes {passthrough = ["cold", "no_caller_saved_registers", "noimplicitfloat", "noinline"]}
// CHECK:         arith.mului_extended
// CHECK-LABEL: func.func private @batch.sin
// CHECK-NOT:     mului_extended
// CHECK:         call @batch.large_angle_32
// CHECK-LABEL: func.func private @batch.tan
// CHECK-NOT:     mului_extended
// CHECK:         call @batch.large_angle_32
