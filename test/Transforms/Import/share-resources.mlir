// RUN: batch-opt %s --batch-share-resources | FileCheck %s
// RUN: batch-compile %s -o %t.so --write-params=%t.params
// RUN: echo '{"l": ["cons", [1.0, 1.0], ["cons", [3.0, 3.0], ["nil"]]]}' > %t.jsonl
// RUN: batch-run %t.so --params=%t.params --inputs=%t.jsonl --check-unbatched --outputs=%t.out
// RUN: od -An -tfF -w8 %t.out | FileCheck %s --check-prefix=VALUES
// RUN: batch-compile %s -o %t.so
// RUN: not batch-run %t.so --inputs=%t.jsonl 2>&1 | FileCheck %s --check-prefix=MISSING

// VALUES: {{^ +11 +28$}}
// MISSING: weight

// Each resource is an argument of the functions that use it, directly or
// through calls.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[L:[a-z0-9]*]]: !rec.adt<@List>
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<2xf32> {batch.shared = "weight"}
// CHECK-SAME:    %[[B:[a-z0-9]*]]: tensor<2xf32> {batch.shared = "bias"}
// CHECK:         call @walk(%[[L]], %[[W]], %[[B]]) :
// CHECK-LABEL: func.func private @walk
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<2xf32>, %[[B:[a-z0-9]*]]: tensor<2xf32>)
// CHECK-NOT:     dense_resource
// CHECK:         call @walk(%{{.*}}, %[[W]], %[[B]]) :
rec.adt @List {
  rec.variant @nil()
  rec.variant @cons(x: tensor<2xf32>, rest: !rec.adt<@List>)
}

func.func @main(%l: !rec.adt<@List> {batch.name = "l"}) -> (tensor<2xf32> {batch.name = "y"})
    attributes {batch.entry} {
  %y = func.call @walk(%l) : (!rec.adt<@List>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func private @walk(%l: !rec.adt<@List>) -> tensor<2xf32> {
  %w = arith.constant dense_resource<weight> : tensor<2xf32>
  %b = arith.constant dense_resource<bias> : tensor<2xf32>
  %y = rec.match %l : !rec.adt<@List> -> tensor<2xf32> {
    case @nil() {
      rec.yield %b : tensor<2xf32>
    }
    case @cons(%x: tensor<2xf32>, %rest: !rec.adt<@List>) {
      %r = func.call @walk(%rest) : (!rec.adt<@List>) -> tensor<2xf32>
      %p = arith.mulf %r, %w : tensor<2xf32>
      %s = arith.addf %p, %x : tensor<2xf32>
      rec.yield %s : tensor<2xf32>
    }
  }
  return %y : tensor<2xf32>
}

// A function that the entry does not reach also calls @walk, so it gets the same arguments.
// CHECK-LABEL: func.func @other
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<2xf32>, %[[B:[a-z0-9]*]]: tensor<2xf32>)
// CHECK:         call @walk(%{{.*}}, %[[W]], %[[B]]) :
func.func @other(%l: !rec.adt<@List>) -> tensor<2xf32> {
  %y = func.call @walk(%l) : (!rec.adt<@List>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000004000004040",
      bias: "0x040000000000803F00000040"
    }
  }
#-}
