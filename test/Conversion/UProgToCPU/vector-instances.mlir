// RUN: batch-opt %s --autobatch --uprog-stage-operators --convert-operators-to-cpu \
// RUN:   --convert-uprog-to-cpu=vector-bits=128 | FileCheck %s
// RUN: batch-opt %s --autobatch --uprog-stage-operators --convert-operators-to-cpu \
// RUN:   --convert-uprog-to-cpu=vector-bits=64 | FileCheck %s --check-prefix=NARROW
// RUN: batch-opt %s --autobatch=strategy=replicate --uprog-stage-operators \
// RUN:   --convert-operators-to-cpu --convert-uprog-to-cpu=vector-bits=128 \
// RUN:   | FileCheck %s --check-prefix=NARROW

// Four instances run together in vectors. The last instance replaces missing instances.
// CHECK-LABEL: func.func private @main.instance.vectors
// CHECK-SAME:    (%[[CONTEXT:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[WORKERS:.*]]: i64, %[[FIRST:.*]]: i64, %[[COUNT:.*]]: i64)
// CHECK:         %[[ALL:.*]] = arith.constant dense<true> : vector<4xi1>
// CHECK:         %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK:         arith.minsi %{{.*}}, %[[LAST]] : i64
// CHECK:         %[[N:.*]] = vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK:         %[[X0:.*]] = vector.from_elements %{{.*}} : vector<4xf32>
// CHECK:         %[[X1:.*]] = vector.from_elements %{{.*}} : vector<4xf32>

// The loop runs while any instance runs, and preserves the results of instances that have
// ended. Each round checks whether the run is cancelled, and adds to one counter for all instances.
// CHECK:         %[[R:.*]]:7 = scf.while (%[[A0:.*]] = %[[X0]], %[[A1:.*]] = %[[X1]], %[[LEFT:.*]] = %[[N]], %[[ACTIVE:.*]] = %[[ALL]], %[[OLD0:.*]] = %{{.*}}, %[[OLD1:.*]] = %{{.*}}, %[[OLD2:.*]] = %{{.*}})
// CHECK:           %[[MORE:.*]] = arith.cmpi sgt, %[[LEFT]], %{{.*}} : vector<4xi32>
// CHECK:           llvm.load %{{.*}} atomic monotonic
// CHECK:           %[[MAY:.*]] = arith.cmpi ule
// CHECK:           %[[GO:.*]] = arith.andi %[[MORE]], %{{.*}} : vector<4xi1>
// CHECK:           %[[GOES:.*]] = arith.select %[[ACTIVE]], %[[GO]], %{{.*}} : vector<4xi1>
// CHECK:           %[[NEW0:.*]] = arith.select %[[ACTIVE]], %[[A0]], %[[OLD0]]
// CHECK:           %[[NEW1:.*]] = arith.select %[[ACTIVE]], %[[A1]], %[[OLD1]]
// CHECK:           %[[NEW2:.*]] = arith.select %[[ACTIVE]], %[[LEFT]], %[[OLD2]]
// CHECK:           %[[ANY:.*]] = vector.reduction <or>, %[[GOES]] : vector<4xi1> into i1
// CHECK:           scf.condition(%[[ANY]]) %[[A0]], %[[A1]], %[[LEFT]], %[[GOES]], %[[NEW0]], %[[NEW1]], %[[NEW2]]

// Instances that have ended divide by 1, because their own divisors might be invalid.
// CHECK:           %[[BY:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xi32>
// CHECK:           arith.divsi %{{.*}}, %[[BY]] : vector<4xi32>
// CHECK-NOT:       arith.select
// CHECK:           arith.divsi %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK:           scf.yield

// Results are stored, unless an instance has taken too many rounds. In that case,
// the instances run one by one.
// CHECK:         scf.if %{{.*}} {
// CHECK:           vector.extract %[[R]]#4[0] : f32 from vector<4xf32>
// CHECK:           llvm.atomicrmw add
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:             func.call @main.instance(%[[CONTEXT]], %[[WORKER]], %[[WORKERS]],

// CHECK-LABEL: func.func @main.execute
// CHECK:         scf.if
// CHECK:           func.call @main.instance(
// CHECK:         } else {
// CHECK:           func.call @main.instance.vectors(

// There is no vector code if vectors have only two elements, or if `replicate` keeps tensors.
// NARROW-NOT: @main.instance.vectors
func.func @main(%x: tensor<2xf32> {batch.name = "x"}, %n: i32 {batch.name = "n"})
    -> (tensor<2xf32> {batch.name = "y"}, i32 {batch.name = "rest"}) attributes {batch.entry} {
  %zero = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %y, %rest = scf.while (%a = %x, %left = %n) : (tensor<2xf32>, i32) -> (tensor<2xf32>, i32) {
    %go = arith.cmpi sgt, %left, %zero : i32
    scf.condition(%go) %a, %left : tensor<2xf32>, i32
  } do {
  ^bb0(%a: tensor<2xf32>, %left: i32):
    %b = arith.addf %a, %a : tensor<2xf32>
    %share = arith.divsi %left, %n : i32
    %half = arith.divsi %left, %two : i32
    %less = arith.subi %half, %share : i32
    scf.yield %b, %less : tensor<2xf32>, i32
  }
  return %y, %rest : tensor<2xf32>, i32
}
