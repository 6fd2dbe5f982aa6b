The programs around the examples of passes (check_pass_examples.py). Those that are
not here are whole modules.

// ----- batch-duplicate-functions
!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!list = !rec.adt<@List>
rec.adt @List {
  rec.variant @nil()
  rec.variant @cons(rest: !list)
}
func.func private @rnn(%l: !list, %w: !mat, %zero: !vec) -> !vec {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %zero : !vec
  }
  case @cons(%rest: !list) {
    %x = func.call @rnn(%rest, %w, %zero) : (!list, !mat, !vec) -> !vec
    %y = linalg.matvec ins(%w, %x : !mat, !vec) outs(%zero : !vec) -> !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}
func.func @main(%words: !list, %W_forward: !mat {batch.shared = "f"},
                %W_back: !mat {batch.shared = "b"}, %zero: !vec {batch.shared = "z"})
    -> (!vec, !vec) attributes {batch.entry} {
  EXAMPLE
  return %f, %b : !vec, !vec
}
// ----- batch-hoist-products
!vec = tensor<4xf32>
!pair = tensor<8xf32>
!mat = tensor<4x8xf32>
!half = tensor<4x4xf32>
func.func @f(%W: !mat, %b: !vec, %o: !vec, %n: index, %zero: index, %one: index) -> !vec {
  EXAMPLE
  return %e : !vec
}
// ----- batch-if-to-select
func.func @main(%bit: i1, %x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  EXAMPLE
  return %y : tensor<4xf32>
}
// ----- batch-lift-cf
func.func @last(%n: i64) -> i64 attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
EXAMPLE
}
// ----- batch-list-elements
rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func @sum(%words: !rec.adt<@Words>, %zero: index) -> index {
  EXAMPLE
  return %n : index
}
// ----- batch-flatten-bodies
func.func @main(%x: tensor<3xi32>, %y: tensor<5xi32>) -> tensor<5xi32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %empty = tensor.empty() : tensor<5xi32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%y : tensor<5xi32>) outs(%empty : tensor<5xi32>) {
  ^bb0(%b: i32, %out: i32):
    %i = linalg.index 0 : index
    %first = arith.cmpi ult, %i, %c3 : index
    EXAMPLE
    linalg.yield %e : i32
  } -> tensor<5xi32>
  return %z : tensor<5xi32>
}
// ----- batch-fold-biases
func.func @main(%x: tensor<4xf32>, %W: tensor<4x4xf32> {batch.shared = "W"}, %b: tensor<4xf32> {batch.shared = "b"}) -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  EXAMPLE
  return %y : tensor<4xf32>
}
// ----- batch-fold-empty
func.func @main(%none: tensor<0x4xf32>, %x: tensor<3x4xf32>) -> tensor<3x4xf32> attributes {batch.entry} {
  EXAMPLE
  return %z : tensor<3x4xf32>
}
// ----- batch-scalarize
func.func @main(%i: tensor<i32>, %limit: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  EXAMPLE
    scf.yield %x : tensor<4xf32>
  } else {
    %z = arith.addf %x, %x : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
// ----- batch-update-stacks
func.func @main(%stack: tensor<2x8x4xf32>, %x: tensor<4xf32>, %l: index, %i: index) -> tensor<2x8x4xf32> attributes {batch.entry} {
  EXAMPLE
  return %next : tensor<2x8x4xf32>
}
// ----- batch-specialize-sizes
// OPTIONS: --batch-specialize-sizes=sizes=H=64
EXAMPLE
// ----- rec-specialize
// OPTIONS: --rec-specialize=test=leaf
!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>
rec.adt @Tree kind tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(left: !tree, right: !tree)
}
func.func private @encode(%t: !tree) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%x: !vec) {
    %y = math.exp %x : !vec
    rec.yield %y : !vec
  }
  EXAMPLE
  }
  return %h : !vec
}
func.func @main(%t: !tree) -> !vec attributes {batch.entry} {
  %h = call @encode(%t) : (!tree) -> !vec
  return %h : !vec
}
// ----- rec-unroll
// OPTIONS: --rec-unroll=factor=2
!vec = tensor<4xf32>
!list = !rec.adt<@List>
rec.adt @List kind sequence {
  rec.variant @nil(x: !vec)
  rec.variant @cons(x: !vec, rest: !list)
}
func.func private @chain(%l: !list) -> !vec {
  %r = rec.match %l : !list -> !vec {
  case @nil(%x: !vec) {
    rec.yield %x : !vec
  }
  EXAMPLE
  }
  return %r : !vec
}
func.func @main(%l: !list) -> !vec attributes {batch.entry} {
  %h = call @chain(%l) : (!list) -> !vec
  return %h : !vec
}
// ----- rec-refactor
!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>
rec.adt @Tree kind tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(left: !tree, right: !tree)
}
EXAMPLE
func.func @main(%t: !tree) -> !vec attributes {batch.entry} {
  %h = call @encode(%t) : (!tree) -> !vec
  return %h : !vec
}
// ----- rec-fold-zeros
!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
func.func @main(%x: !vec, %W: !mat {batch.shared = "W"}, %U: !mat {batch.shared = "U"},
                %b: !vec {batch.shared = "b"}) -> !vec attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : !vec
  %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
  EXAMPLE
  return %a : !vec
}
// ----- batch-widen-reductions
func.func @f(%W: tensor<4x8xbf16>, %x: tensor<8xbf16>, %b: tensor<4xbf16>) -> tensor<4xbf16> {
  EXAMPLE
  return %y : tensor<4xbf16>
}
// ----- batch-layout-pq
// OPTIONS: --batch-layout-pq=equal=weights
!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
batch.kernel @nodes(%x: !vec, %y: !vec, %z: !vec,
    %w: !mat {batch.parameter = 0 : i64, batch.shared},
    %b: !vec {batch.parameter = 1 : i64, batch.shared}) -> !vec {
  EXAMPLE
  %e = math.tanh %a : !vec
  %f = math.tanh %c : !vec
  %g = math.tanh %d : !vec
  %s = arith.addf %e, %f : !vec
  %t = arith.addf %s, %g : !vec
  batch.yield %t : !vec
}
// ----- batch-layout-pq/2
// OPTIONS: --batch-layout-pq=equal=shapes
!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
batch.kernel @gates(%x: !vec, %c: !vec,
    %wi: !mat {batch.parameter = 0 : i64, batch.shared},
    %bi: !vec {batch.parameter = 1 : i64, batch.shared},
    %wf: !mat {batch.parameter = 2 : i64, batch.shared},
    %bf: !vec {batch.parameter = 3 : i64, batch.shared},
    %wo: !mat {batch.parameter = 4 : i64, batch.shared}) -> (!vec, !vec) {
  EXAMPLE
  %ti = math.tanh %i : !vec
  %tf = math.tanh %f : !vec
  %h = arith.mulf %tf, %c : !vec
  %o = linalg.matvec ins(%wo, %c : !mat, !vec) outs(%ti : !vec) -> !vec
  batch.yield %h, %o : !vec, !vec
}
// ----- batch-merge-handles
!vec = tensor<4xf32>
batch.table @h : !vec group(0)
batch.table @c : !vec group(0)
batch.kernel @leaf(%n: index) -> (!vec {batch.in_table = @h}, !vec {batch.in_table = @c}) {
  %x = arith.constant dense<0.0> : !vec
  batch.yield %x, %x : !vec, !vec
}
batch.kernel @cell(%h: !vec, %c: !vec) -> (!vec {batch.in_table = @h}) {
  batch.yield %h : !vec
}
func.func private @f.inspect(%n: index) -> !batch.handle {
  %d = arith.constant 0 : index
  %e = arith.constant 1 : index
  EXAMPLE
  return %y : !batch.handle
}
// ----- batch-outline-kernels
!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!tree = !rec.adt<@Tree>
rec.adt @Tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(left: !tree, right: !tree)
}
func.func private @encode(%t: !tree, %W: !mat, %b: !vec) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%x: !vec) {
    rec.yield %x : !vec
  }
  case @node(%l: !tree, %r: !tree) {
    EXAMPLE
    rec.yield %y : !vec
  } }
  return %h : !vec
}
func.func @main(%t: !tree, %W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"})
    -> !vec attributes {batch.entry} {
  %h = call @encode(%t, %W, %b) : (!tree, !mat, !vec) -> !vec
  return %h : !vec
}
// ----- batch-outline-blocks
batch.machine @main.machine() {
  batch.variable @n : i64 argument(0) result(0)
  EXAMPLE
}
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  return %n : i64
}
// ----- batch-assign-phases
!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>
rec.adt @Tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(left: !tree, right: !tree)
}
batch.kernel @encode_node(%hl: !vec, %hr: !vec) -> !vec {
  batch.yield %hl : !vec
}
batch.kernel @main_output(%h: !vec) -> !vec {
  batch.yield %h : !vec
}
func.func private @encode(%t: !tree) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%x: !vec) {
    rec.yield %x : !vec
  }
  case @node(%l: !tree, %r: !tree) {
    %hl = func.call @encode(%l) : (!tree) -> !vec
    %hr = func.call @encode(%r) : (!tree) -> !vec
    %y = batch.invoke @encode_node(%hl, %hr) : (!vec, !vec) -> !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}
EXAMPLE
// ----- batch-tag-depths
!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>
rec.adt @Tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(left: !tree, right: !tree)
}
batch.kernel @encode_node(%hl: !vec, %hr: !vec) -> !vec {
  batch.yield %hl : !vec
}
func.func private @encode(%t: !tree) -> !vec {
  %y = rec.match %t : !tree -> !vec {
  case @leaf(%x: !vec) {
    rec.yield %x : !vec
  }
  case @node(%l: !tree, %r: !tree) {
    EXAMPLE
    rec.yield %h : !vec
  } }
  return %y : !vec
}
func.func @main(%t: !tree) -> !vec attributes {batch.entry} {
  %h = call @encode(%t) : (!tree) -> !vec
  return %h : !vec
}
// ----- batch-choose-strategy
// OPTIONS: --batch-choose-strategy=strategy=lockstep
EXAMPLE
// ----- batch-fork-calls
batch.table @t : tensor<f32> group(0)
batch.kernel @k(%x: tensor<f32>) -> tensor<f32> {
  batch.yield %x : tensor<f32>
}
func.func private @w(%h: !batch.handle) -> f32 {
  %depth = batch.depth(%h) : !batch.handle
  %t = batch.record @k(%h) depth(%depth) : (!batch.handle) -> !batch.handle
  %e = batch.await %t[] number(0) table(@t) : tensor<f32>
  return %e : f32
}
func.func @f(%x: !batch.handle, %y: !batch.handle) -> (f32, f32) {
  EXAMPLE
  return %l, %r : f32, f32
}
// ----- batch-insert-ghosts
!vec = tensor<4xf32>
batch.kernel @compose(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @cell(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
func.func @main(%c: i1, %x: !vec) -> !vec attributes {batch.entry} {
  EXAMPLE
  return %z : !vec
}
// ----- batch-keep-rows
batch.table @score : tensor<1xi1> group(0) transient
batch.kernel @cell(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func @f(%score: !batch.handle, %h: !batch.handle, %zero: index, %d: index)
    -> (i1, !batch.handle) {
  EXAMPLE
  return %more, %y : i1, !batch.handle
}
// ----- batch-order-loops
!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
func.func @main(%W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"}, %n: index)
    -> (!vec, !vec) attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y:2 = scf.for %i = %zero to %n step %one iter_args(%g = %b, %h = %b) -> (!vec, !vec) {
    %next = math.tanh %g : !vec
    %x = linalg.matvec ins(%W, %next : !mat, !vec) outs(%b : !vec) -> !vec
    %sum = arith.addf %x, %h : !vec
  EXAMPLE
  return %y#0, %y#1 : !vec, !vec
}
// ----- batch-tensors-to-numbers
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %empty = tensor.empty() : tensor<2xf32>
  EXAMPLE
  return %y : tensor<2xf32>
}
// ----- batch-insert-forces
func.func @main(%x: tensor<f32>) -> f32
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %score = math.exp %x : tensor<f32>
  EXAMPLE
  return %c : f32
}
// ----- batch-linearize
!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>
rec.adt @Tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(left: !tree, right: !tree)
}
batch.kernel @encode_node(%hl: !vec, %hr: !vec) -> !vec {
  batch.yield %hl : !vec
}
EXAMPLE
func.func @main(%t: !tree) -> !vec attributes {batch.entry} {
  %h = call @encode(%t) : (!tree) -> !vec
  return %h : !vec
}
// ----- batch-recursion-to-stack
EXAMPLE
func.func @main(%n: i64) -> i64
    attributes {batch.entry, batch.strategy = #batch.strategy<lockstep>} {
  %r = call @fib(%n) : (i64) -> i64
  return %r : i64
}
// ----- batch-cancel-pops
batch.machine @main.machine() {
  batch.variable @fib.arg0 : i64 stack argument(0) result(0)
  batch.block @main.0 {
    %n = batch.top @fib.arg0 : i64
    EXAMPLE
    batch.return
  }
}
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  return %n : i64
}
// ----- batch-assign-slots
EXAMPLE
func.func @main(%word: index) -> tensor<16xf32> attributes {batch.entry} {
  %d = batch.depth()
  %h = batch.invoke @leaf(%word) depth(%d) : (index) -> tensor<16xf32>
  return %h : tensor<16xf32>
}
func.func @main.inspect(%word: index) -> !batch.handle attributes {batch.inspector} {
  %d = batch.depth()
  %h = batch.record @leaf(%word) depth(%d) : (index) -> !batch.handle
  return %h : !batch.handle
}
// ----- batch-assign-slots/2
// OPTIONS: --batch-assign-slots=layout='split(2,16)reorder(0,2,1,3)'
EXAMPLE
func.func @main(%word: index) -> tensor<8x32xf32> attributes {batch.entry} {
  %d = batch.depth()
  %h = batch.invoke @leaf(%word) depth(%d) : (index) -> tensor<8x32xf32>
  return %h : tensor<8x32xf32>
}
func.func @main.inspect(%word: index) -> !batch.handle attributes {batch.inspector} {
  %d = batch.depth()
  %h = batch.record @leaf(%word) depth(%d) : (index) -> !batch.handle
  return %h : !batch.handle
}
// ----- batch-attach-policy
// OPTIONS: --batch-attach-policy=policy=greedy
EXAMPLE
// ----- batch-verify-planned
!vec = tensor<4xf32>
batch.table @t : !vec group(0)
batch.kernel @k(%x: !vec {batch.read = #batch.read<kind = gather, from = @t>}) -> !vec {
  batch.yield %x : !vec
}
EXAMPLE
// ----- batch-lockstep
batch.kernel @main.0(%n: tensor<i64>) -> tensor<i64> {
  batch.yield %n : tensor<i64>
}
uprog.operator @main.0.rows of @main.0(
    %n: index, %x: tensor<?xi64> {uprog.operand = #uprog.operand<rows>}) -> tensor<?xi64> {
  uprog.yield %x : tensor<?xi64>
}
EXAMPLE
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  return %n : i64
}
// ----- batch-replicate
// OPTIONS: "--batch-replicate=level=device instances=1"
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows of @f(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
EXAMPLE
// ----- uprog-insert-barriers
batch.kernel @f(%n: index) -> tensor<i1> {
  %c = arith.constant dense<true> : tensor<i1>
  batch.yield %c : tensor<i1>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @y : tensor<i1> copies(1)
uprog.program @p(%one: index) level(device) {
  %y = uprog.row @y
  %writes_y = uprog.site @f(%one : index) into(%y)
  EXAMPLE
  uprog.yield
}
// ----- convert-batch-to-uprog
!vec = tensor<4xf32>
batch.table @h : !vec group(0)
batch.kernel @leaf(%word: index {batch.read = #batch.read<kind = scalar>})
    -> (!vec {batch.in_table = @h}) {
  %x = arith.constant dense<0.0> : !vec
  batch.yield %x : !vec
}
uprog.operator @leaf.rows of @leaf(
    %n: index, %word: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>})
    -> tensor<?x4xf32> {
  %x = tensor.empty(%n) : tensor<?x4xf32>
  uprog.yield %x : tensor<?x4xf32>
}
func.func @main(%word: index) -> !vec attributes {batch.entry} {
  %d = arith.constant 0 : index
  %h = batch.invoke @leaf(%word) depth(%d) : (index) -> !vec
  return %h : !vec
}
EXAMPLE
// ----- convert-operators-to-cpu
// OPTIONS: --uprog-stage-operators --convert-operators-to-cpu
EXAMPLE
// ----- convert-operators-to-gpu
// OPTIONS: --uprog-stage-operators=target=gpu --convert-operators-to-gpu
EXAMPLE
uprog.program @main.execute() level(device) {
  uprog.yield
}
// ----- convert-uprog-to-scf
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %zero = arith.constant 0 : index
  %steps = uprog.plan_size %plan
  EXAMPLE
  uprog.yield
}
// ----- convert-uprog-to-cpu
func.func private @k.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr,
                          i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 12, stage_rows = 0, share_tasks = 1>>}
EXAMPLE
// ----- batch-check-gpu-target
// OPTIONS: --batch-check-gpu-target=chip=sm_1
EXAMPLE
// ----- batch-choose-executor
// OPTIONS: --uprog-stage-operators=target=gpu --batch-choose-executor="chip=sm_80 instances=1"
uprog.operator @k.rows(
    %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x64xf32> {
  %y = math.tanh %x : tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}
EXAMPLE
// ----- convert-uprog-to-gpu
gpu.module @device {
  func.func private @k.rows.stage0(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>,
                                   %unit: i64, %units: i64) {
    return
  }
}
uprog.operator @k.rows(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0>} {
  uprog.yield
}
EXAMPLE
// ----- convert-batch-to-llvm
!vec = tensor<4xf32>
func.func private @cell.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr,
                             i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
batch.kernel @cell(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
EXAMPLE
// ----- convert-rec-to-llvm
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
EXAMPLE
// ----- batch-expand-floats
func.func @f(%a: f16, %b: f16) -> f16 {
  EXAMPLE
  return %c : f16
}
// ----- batch-saturate-conversions
func.func @f(%x: f32) -> i8 {
  EXAMPLE
  return %i : i8
}
// ----- batch-scf-to-cf
func.func private @f()
func.func @g(%c: i1) {
  EXAMPLE
  return
}
// ----- batch-expand-math
func.func @f(%x: vector<8xf32>) -> vector<8xf32> {
  EXAMPLE
  return %y : vector<8xf32>
}
// ----- batch-math-to-intrinsics
func.func @f(%x: f32) -> f32 {
  EXAMPLE
  return %y : f32
}
// ----- uprog-convolutions-to-products
#image = affine_map<(t, f, h, w, c, i, j) -> (t, c, h + i, w + j)>
#filter = affine_map<(t, f, h, w, c, i, j) -> (f, c, i, j)>
#result = affine_map<(t, f, h, w, c, i, j) -> (t, f, h, w)>
uprog.operator @k.rows(%n: index, %x: tensor<?x3x8x8xf32> {uprog.operand = #uprog.operand<gather>},
                       %w: tensor<5x3x3x3xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x5x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x5x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x5x8x8xf32>) -> tensor<?x5x8x8xf32>
  %none = tensor.empty(%n) : tensor<?x3x10x10xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%none : tensor<?x3x10x10xf32>) -> tensor<?x3x10x10xf32>
  EXAMPLE
  uprog.yield %y : tensor<?x5x8x8xf32>
}
