The programs around the examples of batch's ops (check_op_examples.py).

// ----- batch.invoke
batch.kernel @cell(%h: tensor<4xf32>, %w: tensor<4x4xf32> {batch.shared}) -> tensor<4xf32> {
  batch.yield %h : tensor<4xf32>
}
func.func @f(%h: tensor<4xf32>, %w: tensor<4x4xf32>) -> tensor<4xf32> {
  EXAMPLE
  return %y : tensor<4xf32>
}
// ----- batch.depth
func.func @f(%hl: tensor<4xf32>, %hr: tensor<4xf32>) -> index {
  EXAMPLE
  return %d : index
}
// ----- batch.resolve
func.func @f(%h: tensor<4xf32>) -> tensor<4xf32> {
  EXAMPLE
  return %s : tensor<4xf32>
}
// ----- batch.ghost
func.func @f(%h: tensor<4xf32>) -> tensor<4xf32> {
  EXAMPLE
  return %g : tensor<4xf32>
}
// ----- batch.force
func.func @f(%t: tensor<2xf32>) -> tensor<2xf32> {
  EXAMPLE
  return %v : tensor<2xf32>
}
// ----- batch.record
batch.kernel @cell(%x: tensor<4xf32>, %w: tensor<4x4xf32> {batch.shared}) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func @f.inspect(%x: !batch.handle, %d: index) -> !batch.handle {
  EXAMPLE
  return %h : !batch.handle
}
// ----- batch.row
batch.source @emb : tensor<256xf32> parameter(0)
func.func @f.inspect(%word: index) -> !batch.handle {
  EXAMPLE
  return %x : !batch.handle
}
// ----- batch.num_rows
batch.source @emb : tensor<256xf32> parameter(0)
func.func @f.inspect() -> index {
  EXAMPLE
  return %n : index
}
// ----- batch.extract
func.func @f.inspect(%lengths: !batch.handle, %i: index) -> i32 {
  EXAMPLE
  return %n : i32
}
// ----- batch.await
batch.table @word : tensor<1xindex> group(0)
func.func @f.inspect(%word: !batch.handle, %zero: index) -> index {
  EXAMPLE
  return %w : index
}
// ----- batch.keep
batch.table @score : tensor<1xi1> group(0) transient
func.func @f.inspect(%h: !batch.handle, %c: !batch.handle, %score: !batch.handle,
                     %zero: index) -> i1 {
  EXAMPLE
  return %more : i1
}
// ----- batch.concurrent
func.func private @grow.inspect(!batch.handle) -> !batch.handle
func.func @f.inspect(%x: !batch.handle, %y: !batch.handle)
    -> (!batch.handle, !batch.handle) {
  EXAMPLE
  return %l, %r : !batch.handle, !batch.handle
}
// ----- batch.traverse
rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func private @encode.inspect(!rec.adt<@Tree>) -> !batch.handle
func.func @main.inspect() {
  EXAMPLE
  return
}
// ----- batch.lookup
rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func private @encode.inspect(!rec.adt<@Tree>) -> (!batch.handle, !batch.handle)
func.func @f.inspect(%left: !rec.adt<@Tree>) {
  EXAMPLE
  return
}
// ----- batch.segment_reduce
func.func @f(%rows: tensor<?x4xf32>, %offsets: tensor<?xindex>, %init: tensor<?x4xf32>) {
  EXAMPLE
  return
}
// ----- batch.segment_broadcast
func.func @f(%x: tensor<?x4xf32>, %offsets: tensor<?xindex>) {
  EXAMPLE
  return
}
// ----- batch.start_lanes
batch.machine @main.machine() {
  batch.block @main.0 {
    batch.return
  }
}
func.func @main() attributes {batch.entry} {
  return
}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- batch.block_keys
uprog.program @main.execute(%lanes: !batch.lanes, %block: index) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- batch.next_block
uprog.program @main.execute(%lanes: !batch.lanes, %preferred: index, %oldest: index,
                            %step: i64) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- batch.lane_list
uprog.program @main.execute(%lanes: !batch.lanes) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- batch.enter_block
uprog.program @main.execute(%lanes: !batch.lanes, %lane: index, %block: index) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- batch.lane_ops
batch.machine @main.machine() {
  batch.block @fib.2 {
    batch.return
  }
}
func.func @main() attributes {batch.entry} {
  return
}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- batch.leave_frame
batch.machine @main.machine() attributes {frames} {
  batch.block @main.0 {
    batch.return
  }
}
func.func @main() attributes {batch.entry} {
  return
}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- batch.variable
batch.machine @main.machine() {
  EXAMPLE
  batch.block @fib.0 {
    batch.return
  }
}
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  return %n : i64
}
// ----- batch.block
batch.machine @main.machine() {
  batch.variable @fib.n : i64 argument(0)
  EXAMPLE
  batch.block @fib.1 {
    batch.return
  }
  batch.block @fib.2 {
    batch.return
  }
}
func.func @main(%n: i64) attributes {batch.entry} {
  return
}
// ----- batch.top
batch.machine @main.machine() {
  batch.variable @fib.n : i64 argument(0)
  batch.block @fib.0 {
    EXAMPLE
    batch.return
  }
}
func.func @main(%n: i64) attributes {batch.entry} {
  return
}
// ----- batch.set
batch.machine @main.machine() {
  batch.variable @fib.n : i64 argument(0)
  batch.block @fib.0 {
    %m = arith.constant 1 : i64
    EXAMPLE
    batch.return
  }
}
func.func @main(%n: i64) attributes {batch.entry} {
  return
}
// ----- batch.push
batch.machine @main.machine() {
  batch.variable @fib.n : i64 stack argument(0)
  batch.block @fib.0 {
    %m = arith.constant 1 : i64
    EXAMPLE
    batch.return
  }
}
func.func @main(%n: i64) attributes {batch.entry} {
  return
}
// ----- batch.pop
batch.machine @main.machine() {
  batch.variable @fib.n : i64 stack argument(0)
  batch.block @fib.0 {
    EXAMPLE
    batch.return
  }
}
func.func @main(%n: i64) attributes {batch.entry} {
  return
}
// ----- batch.jump
batch.machine @main.machine() {
  batch.block @fib.0 {
    EXAMPLE
  }
  batch.block @fib.3 {
    batch.return
  }
}
func.func @main() attributes {batch.entry} {
  return
}
// ----- batch.branch
batch.machine @main.machine() {
  batch.block @fib.0 {
    %c = arith.constant true
    EXAMPLE
  }
  batch.block @fib.1 {
    batch.return
  }
  batch.block @fib.2 {
    batch.return
  }
}
func.func @main() attributes {batch.entry} {
  return
}
// ----- batch.push_jump
batch.machine @main.machine() {
  batch.block @fib.0 {
    batch.return
  }
  batch.block @fib.2 {
    EXAMPLE
  }
  batch.block @fib.3 {
    batch.return
  }
}
func.func @main() attributes {batch.entry} {
  return
}
// ----- batch.return
batch.machine @main.machine() {
  batch.block @fib.0 {
    EXAMPLE
  }
}
func.func @main() attributes {batch.entry} {
  return
}
// ----- #batch.policy
EXAMPLE
// ----- #batch.strategy
EXAMPLE
