// RUN: batch-opt %s | batch-opt | FileCheck %s
// RUN: batch-opt %s --mlir-print-op-generic | batch-opt | FileCheck %s
// RUN: batch-opt %s --canonicalize --cse --symbol-dce | FileCheck %s --check-prefix=CLEAN

// A machine has parameters, variables and blocks.
// CHECK-LABEL: batch.machine @main.machine(
// CHECK-SAME:    %[[W:.*]]: tensor<4xf32> {batch.shared = "W"}) attributes {cached_tops} {
// CHECK-NEXT:    batch.variable @n : i64 stack argument(0)
// CHECK-NEXT:    batch.variable @x : tensor<4xf32> stack
// CHECK-NEXT:    batch.variable @r : tensor<4xf32> result(0)
// CHECK-NEXT:    batch.variable @flag : i1 stack argument(1) result(1)

// A block reads and writes the tops of variables, and reads parameters.
// CHECK-LABEL: batch.block @main.0 {
// CHECK:         %[[N:.*]] = batch.top @n : i64
// CHECK:         %[[M:.*]] = arith.addi %[[N]],
// CHECK-NEXT:    batch.set @n, %[[M]] : i64
// CHECK-NEXT:    batch.push @n{{$}}
// CHECK-NEXT:    batch.push @x, %[[W]] : tensor<4xf32>
// CHECK:         %[[C:.*]] = batch.top @flag : i1
// CHECK-NEXT:    batch.branch %[[C]], @main.1, @main.2

// Blocks with each of the other terminators
// CHECK-LABEL: batch.block @main.1 {
// CHECK-NEXT:    batch.push_jump @main.0 return_to(@main.2)
// CHECK-LABEL: batch.block @main.2 {
// CHECK-NEXT:    batch.pop @x
// CHECK-NEXT:    batch.jump @main.3
// CHECK-LABEL: batch.block @main.3 {
// CHECK-NEXT:    batch.return

// Canonicalization and CSE keep names. Constants remain in their blocks. An
// unused read is removed, and equal reads become one if nothing is written in
// between.
// CLEAN:      batch.machine @main.machine
// CLEAN:        batch.variable @flag
// CLEAN-NEXT:   batch.block @main.0 {
// CLEAN:          arith.constant 1 : i64
batch.machine @main.machine(%w: tensor<4xf32> {batch.shared = "W"})
    attributes {cached_tops} {
  batch.variable @n : i64 stack argument(0)
  batch.variable @x : tensor<4xf32> stack
  batch.variable @r : tensor<4xf32> result(0)
  batch.variable @flag : i1 stack argument(1) result(1)
  batch.block @main.0 {
    %n = batch.top @n : i64
    %one = arith.constant 1 : i64
    %m = arith.addi %n, %one : i64
    batch.set @n, %m : i64
    batch.push @n
    batch.push @x, %w : tensor<4xf32>
    %c = batch.top @flag : i1
    batch.branch %c, @main.1, @main.2
  }
  batch.block @main.1 {
    batch.push_jump @main.0 return_to(@main.2)
  }
  batch.block @main.2 {
    batch.pop @x
    batch.jump @main.3
  }
  batch.block @main.3 {
    batch.return
  }
}

// A machine without variables.
// CHECK-LABEL: batch.machine @nothing() {
// CHECK-NEXT:   batch.block @start {
// CHECK-NEXT:     batch.return

// CLEAN:      batch.block @reads {
// CLEAN-NEXT:   %[[A:.*]] = batch.top @a : i64
// CLEAN-NEXT:   batch.set @b, %[[A]] : i64
// CLEAN-NEXT:   %[[B:.*]] = batch.top @a : i64
// CLEAN-NEXT:   %[[SUM:.*]] = arith.addi %[[A]], %[[B]] : i64
// CLEAN-NEXT:   batch.set @b, %[[SUM]] : i64
batch.machine @nothing() {
  batch.block @start {
    batch.return
  }
}

batch.machine @effects() {
  batch.variable @a : i64
  batch.variable @b : i64
  batch.block @reads {
    %unused = batch.top @b : i64
    %a = batch.top @a : i64
    %same = batch.top @a : i64
    batch.set @b, %same : i64
    %again = batch.top @a : i64
    %sum = arith.addi %a, %again : i64
    batch.set @b, %sum : i64
    batch.return
  }
}
