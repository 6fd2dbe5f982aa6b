// RUN: batch-opt %s --batch-cancel-pops | FileCheck %s

// CHECK-LABEL: batch.machine @pairs
batch.machine @pairs() {
  batch.variable @x : i64 stack
  batch.variable @y : i64 stack
  batch.variable @r : i64 result(0)

  // A pop that is followed by a push of a value becomes an update of the top.
  // CHECK-LABEL: batch.block @update {
  // CHECK-NEXT:    %[[R:.*]] = batch.top @r : i64
  // CHECK-NEXT:    batch.set @x, %[[R]] : i64
  // CHECK-NEXT:    batch.jump
  batch.block @update {
    batch.pop @x
    %r = batch.top @r : i64
    batch.push @x, %r : i64
    batch.jump @save
  }

  // A row that is popped and saved again stays saved, because no op reads the top in between.
  // CHECK-LABEL: batch.block @save {
  // CHECK-NEXT:    batch.push_jump
  batch.block @save {
    batch.pop @y
    batch.push @y
    batch.push_jump @callee return_to(@read)
  }

  // Variables that are read or written between a pop and a push are popped.
  // CHECK-LABEL: batch.block @read {
  // CHECK-NEXT:    batch.pop @x
  // CHECK-NEXT:    batch.pop @y
  // CHECK-NEXT:    %[[X:.*]] = batch.top @x : i64
  // CHECK-NEXT:    batch.set @y, %[[X]] : i64
  // CHECK-NEXT:    batch.push @y
  // CHECK-NEXT:    batch.push @x, %[[X]] : i64
  // CHECK-NEXT:    batch.push_jump
  batch.block @read {
    batch.pop @x
    batch.pop @y
    %x = batch.top @x : i64
    batch.set @y, %x : i64
    batch.push @y
    batch.push @x, %x : i64
    batch.push_jump @callee return_to(@argument)
  }

  // The callee reads the copy that the push makes, so the pop and the push remain.
  // CHECK-LABEL: batch.block @argument {
  // CHECK-NEXT:    batch.pop @x
  // CHECK-NEXT:    batch.push @x{{$}}
  // CHECK-NEXT:    batch.push_jump
  batch.block @argument {
    batch.pop @x
    batch.push @x
    batch.push_jump @callee return_to(@end)
  }

  // Only the second of two pops is combined with the push, so the first one remains.
  // CHECK-LABEL: batch.block @end {
  // CHECK-NEXT:    batch.pop @x
  // CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK-NEXT:    batch.set @x, %[[ZERO]] : i64
  // CHECK-NEXT:    batch.pop @y
  // CHECK-NEXT:    batch.pop @x
  // CHECK-NEXT:    batch.return
  batch.block @end {
    batch.pop @x
    batch.pop @x
    %zero = arith.constant 0 : i64
    batch.push @x, %zero : i64
    batch.pop @y
    batch.pop @x
    batch.return
  }

  batch.block @callee {
    %x = batch.top @x : i64
    batch.set @y, %x : i64
    batch.set @r, %x : i64
    batch.return
  }
}
