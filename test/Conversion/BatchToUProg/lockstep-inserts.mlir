// RUN: batch-opt %s --batch-lockstep --remark-format=emitRemark --remarks-filter=batch -o /dev/null 2>&1 | FileCheck %s

// A result is stored in the row of the variable from which it is computed, unless
// another op reads the variable.
batch.kernel @loop(%x: tensor<2xf32>) -> (tensor<2xf32> {batch.in_place = 0 : i64}) attributes {phase = 0 : i64} {
  batch.yield %x : tensor<2xf32>
}
uprog.operator @loop.rows of @loop(%n: index, %x: tensor<?x2xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x2xf32> {
  uprog.yield %x : tensor<?x2xf32>
}
batch.kernel @end(%x: tensor<2xf32>) -> (tensor<2xf32> {batch.in_place = 0 : i64}) attributes {phase = 0 : i64} {
  batch.yield %x : tensor<2xf32>
}
uprog.operator @end.rows of @end(%n: index, %x: tensor<?x2xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x2xf32> {
  uprog.yield %x : tensor<?x2xf32>
}
batch.machine @main.machine() attributes {cached_tops} {
  batch.variable @x : tensor<2xf32> argument(0) result(0)
  batch.variable @old : tensor<2xf32>
  batch.block @loop {
    %x = batch.top @x : tensor<2xf32>
    // CHECK: inserts.mlir:[[# @LINE + 1]]:10: remark: [Passed] Inserts {{.*}}"block @loop inserts into the row of its variable"
    %y = batch.invoke @loop(%x) : (tensor<2xf32>) -> tensor<2xf32>
    batch.set @x, %y : tensor<2xf32>
    batch.jump @end
  }
  batch.block @end {
    %x = batch.top @x : tensor<2xf32>
    // CHECK: inserts.mlir:[[# @LINE + 1]]:10: remark: [Missed] Inserts {{.*}}"block @end copies the destination of an insert, because the variable of the destination does not store the result, has a stack or has other readers"
    %y = batch.invoke @end(%x) : (tensor<2xf32>) -> tensor<2xf32>
    batch.set @old, %x : tensor<2xf32>
    batch.set @x, %y : tensor<2xf32>
    batch.return
  }
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {batch.entry} {
  return %x : tensor<2xf32>
}
