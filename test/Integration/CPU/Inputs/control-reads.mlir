// Control flow reads elements of all kinds of inputs, of fields and of parameters.
// check_control_reads.py computes the expected values.

!row = tensor<16xf32>

rec.adt @Step {
  rec.variant @stop()
  rec.variant @go(which: index, times: tensor<3xi32>, rest: !rec.adt<@Step>)
}

func.func @main(
    %n: tensor<i32> {batch.name = "n"},
    %hops: tensor<8xi64> {batch.name = "hops"},
    %order: tensor<?xi64> {batch.name = "order"},
    %x: tensor<?x16xf32> {batch.name = "x"},
    %flags: tensor<5x2xi1> {batch.name = "flags"},
    %steps: !rec.adt<@Step> {batch.name = "steps"},
    %again: index {batch.name = "again"},
    %T: tensor<?x4xi64> {batch.shared = "T"},
    %L: tensor<?xi64> {batch.shared = "L"},
    %S: tensor<5x3xf32> {batch.shared = "S"})
    -> (!row {batch.name = "y"}, index {batch.name = "count"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : !row
  %low = arith.constant dense<-10.0> : tensor<f32>
  %half = arith.constant 0.5 : f32
  %n32 = tensor.extract %n[] : tensor<i32>
  %count = arith.index_cast %n32 : i32 to index
  %y = scf.for %i = %c0 to %count step %c1 iter_args(%a = %zero) -> (!row) {
    %j64 = tensor.extract %hops[%i] : tensor<8xi64>
    %j = arith.index_cast %j64 : i64 to index
    %k64 = tensor.extract %order[%j] : tensor<?xi64>
    %k = arith.index_cast %k64 : i64 to index
    %row = tensor.extract_slice %x[%k, 0] [1, 16] [1, 1] : tensor<?x16xf32> to !row
    %t64 = tensor.extract %T[%k, %c2] : tensor<?x4xi64>
    %t = arith.index_cast %t64 : i64 to index
    %s = tensor.extract %S[%t, %c1] : tensor<5x3xf32>
    %f = tensor.extract %flags[%t, %c0] : tensor<5x2xi1>
    %big = arith.cmpf ogt, %s, %half : f32
    %take = arith.xori %big, %f : i1
    %next = scf.if %take -> (!row) {
      %b = arith.addf %a, %row : !row
      scf.yield %b : !row
    } else {
      %m = linalg.reduce ins(%row : !row) outs(%low : tensor<f32>) dimensions = [0]
          (%e: f32, %acc: f32) {
        %larger = arith.maximumf %e, %acc : f32
        linalg.yield %larger : f32
      }
      %all = linalg.broadcast ins(%m : tensor<f32>) outs(%zero : !row) dimensions = [0]
      %b = arith.mulf %a, %all : !row
      scf.yield %b : !row
    }
    scf.yield %next : !row
  }
  // The number of rounds is the minimum of the last element of L and the element at %again.
  %length = tensor.dim %L, %c0 : tensor<?xi64>
  %last = arith.subi %length, %c1 : index
  %most64 = tensor.extract %L[%last] : tensor<?xi64>
  %own64 = tensor.extract %L[%again] : tensor<?xi64>
  %rounds64 = arith.minsi %most64, %own64 : i64
  %rounds = arith.index_cast %rounds64 : i64 to index
  %v = scf.for %i = %c0 to %rounds step %c1 iter_args(%a = %y) -> (!row) {
    %b = arith.subf %a, %zero : !row
    %d = arith.addf %b, %a : !row
    scf.yield %d : !row
  }
  %z, %total = func.call @walk(%steps, %v) : (!rec.adt<@Step>, !row) -> (!row, index)
  return %z, %total : !row, index
}

// The number of rounds of a loop is an element of a field.
func.func @walk(%steps: !rec.adt<@Step>, %y: !row) -> (!row, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z, %total = rec.match %steps : !rec.adt<@Step> -> !row, index {
    case @stop() {
      rec.yield %y, %c0 : !row, index
    }
    case @go(%which: index, %times: tensor<3xi32>, %rest: !rec.adt<@Step>) {
      %t32 = tensor.extract %times[%which] : tensor<3xi32>
      %t = arith.index_cast %t32 : i32 to index
      %w = scf.for %i = %c0 to %t step %c1 iter_args(%a = %y) -> (!row) {
        %b = arith.addf %a, %a : !row
        scf.yield %b : !row
      }
      %v, %others = func.call @walk(%rest, %w) : (!rec.adt<@Step>, !row) -> (!row, index)
      %sum = arith.addi %t, %others : index
      rec.yield %v, %sum : !row, index
    }
  }
  return %z, %total : !row, index
}
