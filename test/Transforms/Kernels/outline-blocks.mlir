// RUN: batch-opt %s --batch-outline-blocks | FileCheck %s
// A machine that is already outlined remains unchanged.
// RUN: batch-opt %s --batch-outline-blocks | batch-opt --batch-outline-blocks | FileCheck %s

// The code of a block is a kernel. Scalars are tensors of rank 0. A value that
// the block itself has stored in a variable is not read back from the variable.
// CHECK-LABEL: batch.kernel @compute(
// CHECK-SAME:    %[[N:.*]]: tensor<i64>, %[[X:.*]]: tensor<4xf64>, %[[W:.*]]: tensor<4xf64> {batch.parameter = 0 : i64, batch.shared})
// CHECK:         %[[E:.*]] = tensor.extract %[[N]][] : tensor<i64>
// CHECK-NEXT:    %[[Y:.*]] = arith.addf %[[X]], %[[W]]
// CHECK-NEXT:    %[[U:.*]] = arith.mulf %[[Y]], %[[Y]]
// CHECK:         %[[C:.*]] = arith.cmpi slt, %[[E]],
// CHECK-NEXT:    %[[F:.*]] = tensor.from_elements %[[C]] : tensor<i1>
// CHECK-NEXT:    batch.yield %[[Y]], %[[U]], %[[F]]
// CHECK:       batch.kernel @both(
// CHECK-NOT:   batch.kernel @copy(
// CHECK:       batch.variable @both.n.0 : tensor<i64>
// CHECK-NEXT:  batch.variable @n : tensor<i64> stack argument(0)

// CHECK:       batch.block @compute {
// CHECK-NEXT:    %[[N:.*]] = batch.top @n : tensor<i64>
// CHECK-NEXT:    %[[X:.*]] = batch.top @x
// CHECK-NEXT:    %[[R:.*]]:3 = batch.invoke @compute(%[[N]], %[[X]], %{{.*}})
// CHECK-NEXT:    batch.set @x, %[[R]]#0
// CHECK-NEXT:    batch.set @x, %[[R]]#1
// CHECK-NEXT:    %[[C:.*]] = tensor.extract %[[R]]#2[] : tensor<i1>
// CHECK-NEXT:    batch.branch %[[C]], @uncover, @copy

// A pop that precedes the kernel uncovers the row that the kernel reads.
// CHECK:       batch.block @uncover {
// CHECK-NEXT:    batch.pop @n
// CHECK-NEXT:    %[[N:.*]] = batch.top @n
// CHECK-NEXT:    %[[R:.*]] = batch.invoke @uncover(%[[N]])
// CHECK-NEXT:    batch.push @n, %[[R]]
// CHECK-NEXT:    batch.jump @both

// If the kernel also reads the row that the pop removes, a new variable stores this row.
// CHECK:       batch.block @both {
// CHECK-NEXT:    %[[TOP:.*]] = batch.top @n
// CHECK-NEXT:    batch.set @both.n.0, %[[TOP]]
// CHECK-NEXT:    batch.pop @n
// CHECK-NEXT:    %[[BELOW:.*]] = batch.top @n
// CHECK-NEXT:    %[[ABOVE:.*]] = batch.top @both.n.0
// CHECK-NEXT:    %[[R:.*]] = batch.invoke @both(%[[BELOW]], %[[ABOVE]])
// CHECK-NEXT:    batch.push @n, %[[R]]

// Copies need no kernel.
// CHECK:       batch.block @copy {
// CHECK-NEXT:    batch.push @n
// CHECK-NEXT:    %[[M:.*]] = batch.top @m
// CHECK-NEXT:    batch.set @n, %[[M]]
// CHECK-NEXT:    batch.push_jump @swap return_to(@swap)

// Copies of variables that the block also changes need a kernel.
// CHECK:       batch.block @swap {
// CHECK:         %[[R:.*]]:2 = batch.invoke @swap(
// CHECK-NEXT:    batch.set @n, %[[R]]#0
// CHECK-NEXT:    batch.set @m, %[[R]]#1
// CHECK-NEXT:    batch.return

batch.machine @main.machine(%w: tensor<4xf64> {batch.shared = "w"})
    attributes {cached_tops} {
  batch.variable @n : i64 stack argument(0)
  batch.variable @m : i64 stack
  batch.variable @x : tensor<4xf64> result(0)

  batch.block @compute {
    %n = batch.top @n : i64
    %x = batch.top @x : tensor<4xf64>
    %y = arith.addf %x, %w : tensor<4xf64>
    batch.set @x, %y : tensor<4xf64>
    %z = batch.top @x : tensor<4xf64>
    %u = arith.mulf %z, %y : tensor<4xf64>
    batch.set @x, %u : tensor<4xf64>
    %one = arith.constant 1 : i64
    %c = arith.cmpi slt, %n, %one : i64
    batch.branch %c, @uncover, @copy
  }

  batch.block @uncover {
    batch.pop @n
    %n = batch.top @n : i64
    batch.push @n, %n : i64
    batch.jump @both
  }

  batch.block @both {
    %0 = batch.top @n : i64
    batch.pop @n
    %1 = batch.top @n : i64
    %2 = arith.subi %0, %1 : i64
    batch.push @n, %2 : i64
    batch.jump @copy
  }

  batch.block @copy {
    %m = batch.top @m : i64
    batch.push @n
    batch.set @n, %m : i64
    batch.push_jump @swap return_to(@swap)
  }

  batch.block @swap {
    %n = batch.top @n : i64
    %m = batch.top @m : i64
    batch.set @n, %m : i64
    batch.set @m, %n : i64
    batch.return
  }
}
