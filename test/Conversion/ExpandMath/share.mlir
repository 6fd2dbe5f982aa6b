// RUN: batch-opt %s --batch-expand-math=share=true | FileCheck %s

// One function per kind and type has the polynomial; all ops call it.
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
