// RUN: batch-opt %s --autobatch=strategy=none --cpu-workers | FileCheck %s --implicit-check-not=batch.strategy --implicit-check-not=batch.not_batched
// RUN: batch-opt %s --autobatch=strategy=auto --cpu-workers | FileCheck %s --implicit-check-not=batch.strategy --implicit-check-not=batch.not_batched

// With strategy `none`, instances run one at a time. With either option, the lowered code has no
// attributes of strategies.
// CHECK: @batch_object()
rec.adt @Nat {
  rec.variant @zero(word: index)
  rec.variant @succ(pred: !rec.adt<@Nat>)
}
func.func private @f(%t: !rec.adt<@Nat>, %E: tensor<?x4xf32>) -> tensor<4xf32> {
  %h = rec.match %t : !rec.adt<@Nat> -> tensor<4xf32> {
  case @zero(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    rec.yield %x : tensor<4xf32>
  }
  case @succ(%pred: !rec.adt<@Nat>) {
    %p = func.call @f(%pred, %E) : (!rec.adt<@Nat>, tensor<?x4xf32>) -> tensor<4xf32>
    %zero = arith.constant 0 : index
    %v = tensor.extract %p[%zero] : tensor<4xf32>
    %bound = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %v, %bound : f32
    %h = scf.if %c -> tensor<4xf32> {
      %y = math.tanh %p : tensor<4xf32>
      scf.yield %y : tensor<4xf32>
    } else {
      scf.yield %p : tensor<4xf32>
    }
    rec.yield %h : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}
func.func @main(%t: !rec.adt<@Nat>, %E: tensor<?x4xf32> {batch.shared = "E"}) -> tensor<4xf32>
    attributes {batch.entry} {
  %h = call @f(%t, %E) : (!rec.adt<@Nat>, tensor<?x4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}
