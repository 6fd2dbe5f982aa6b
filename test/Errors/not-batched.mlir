// RUN: batch-compile %s -o %t.so 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: not batch-run %t.so --inputs=random:1,1 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: batch-run %t.so --inputs=random:1,1 --unbatched
// RUN: batch-opt %s --autobatch -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARN

// Where no strategy is legal the model is compiled, with a warning at what is in
// the way; the object keeps it for who runs it.

// WARN: not-batched.mlir:[[#@LINE+15]]:{{[0-9]+}}: warning: not batched, runs one instance at a time: control depends on a tensor here
// WARN: note: strategy 'lockstep' is not legal either

// SAYS: batch-run: error: the object has no batched code, only --unbatched is possible: {{.*}}not-batched.mlir:[[#@LINE+12]]:{{[0-9]+}}: control depends on a tensor here

rec.adt @Nat {
  rec.variant @zero(word: index)
  rec.variant @succ(pred: !rec.adt<@Nat>)
}
func.func @main(%t: !rec.adt<@Nat> {batch.name = "t"},
                %x: tensor<4xf32> {batch.name = "x"})
    -> (tensor<4xf32> {batch.name = "y"}) attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %v = math.exp %x : tensor<4xf32>
  %e = tensor.extract %v[%zero] : tensor<4xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<4xf32> {
    %z = math.tanh %x : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
