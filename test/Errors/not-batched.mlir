// RUN: batch-compile %s -o %t.so
// RUN: not batch-run %t.so --inputs=random:1,1 2>&1 | FileCheck %s
// RUN: batch-run %t.so --inputs=random:1,1 --unbatched
// RUN: not batch-run %s --inputs=random:1,1 --tune=%t.json 2>&1 | FileCheck %s --check-prefix=TUNE

// If no strategy is legal, batch-choose-strategy stores the reason in the
// object, and batch-run prints it.

// CHECK: batch-run: error: the object has no batched code: model.mlir:11:8: control flow depends on a tensor here; use --unbatched

// If batch-run also compiled the model, a warning of the compiler has given the reason.
// RUN: not batch-run %s --inputs=random:1,1 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: batch-run: error: the object has no batched code; use --unbatched

// TUNE: batch-run: error: the model has no batched code to tune

func.func @main(%x: tensor<4xf32> {batch.name = "x"})
    -> (tensor<4xf32> {batch.name = "y"}) attributes {
        batch.entry, batch.strategy = #batch.strategy<none>,
        batch.not_batched = "model.mlir:11:8: control flow depends on a tensor here"} {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
