The programs around the examples of uprog's ops (check_op_examples.py).

// ----- uprog.insert
uprog.operator @put.rows(
    %n: index, %cache: tensor<?x512x64xf32> {uprog.operand = #uprog.operand<gather>},
    %row: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
    %position: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>})
    -> tensor<?x512x64xf32> {
  EXAMPLE
  uprog.yield %y : tensor<?x512x64xf32>
}
// ----- uprog.stage
uprog.operator @k.rows(
    %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x64xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  EXAMPLE
  uprog.yield %h : tensor<?x64xf32>
}
// ----- uprog.run
uprog.operator @cell.rows(%n: index) {
  uprog.yield
}
uprog.program @one_instance(%task: index, %plan: !batch.plan) level(block) {
  uprog.yield
}
uprog.program @p(%plan: !batch.plan, %step: !uprog.step, %n: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.plan_size
uprog.program @p(%plan: !batch.plan) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.plan_step
uprog.program @p(%plan: !batch.plan, %i: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.take_lanes
uprog.program @p(%lanes: !batch.lanes, %block: index, %count: index) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.step_kernel
uprog.program @p(%step: !uprog.step) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.step_tasks
uprog.program @p(%step: !uprog.step) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.step_barrier
uprog.program @p(%step: !uprog.step) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.for
uprog.program @p(%lower: index, %upper: index, %two: index, %zero: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.while
uprog.program @p(%lanes: !batch.lanes, %preferred: index, %oldest: index, %step: i64,
                 %zero: index, %one: index) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.condition
uprog.program @p(%any: i1, %block: index) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.reduce
uprog.program @p(%lanes: !batch.lanes, %all: index) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.compact
uprog.program @p(%lanes: !batch.lanes, %all: index, %list: memref<?xi32>, %block: index)
    level(block) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.branch
uprog.operator @leaf.rows(%n: index) {
  uprog.yield
}
uprog.program @p(%step: !uprog.step, %kernel: index, %n: index, %one: index, %zero: index)
    level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.ref
uprog.program @main.frame(%lanes: !batch.lanes) level(block) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.barrier
uprog.program @p() level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.row
uprog.buffer @h : tensor<4xf32> copies(2)
uprog.buffer @word : tensor<i32> copies(2)
uprog.buffer @c : tensor<i1> copies(1)
uprog.program @p(%now: !uprog.row, %member: index) level(device) {
  %cells = uprog.cells capacity(64) : !uprog.cells<index>
  EXAMPLE
  uprog.yield
}
// ----- uprog.parameter_row
batch.source @E : tensor<4xf32> parameter(0)
uprog.program @p(%word: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.slice
uprog.program @p(%xs: !uprog.row, %i: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.load
uprog.program @p(%row: !uprog.row, %block: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.copy
uprog.program @p(%argument: !uprog.row, %own: !uprog.row) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.site
batch.kernel @cell(%x: tensor<4xf32>, %h: tensor<4xf32>, %t: index) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @cell.rows(%n: index) {
  uprog.yield
}
uprog.program @p(%x: !uprog.row, %h: !uprog.row, %t: index, %next: !uprog.row, %one: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.tasks
batch.kernel @input(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @input.rows(%n: index) {
  uprog.yield
}
uprog.program @p() level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.put_task
batch.kernel @input(%x: tensor<4xf32>) -> (tensor<4xf32> {batch.row_list}) {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @input.rows(%n: index) {
  uprog.yield
}
uprog.program @p(%x: !uprog.row, %y: !uprog.row, %t: index) level(device) {
  %tasks = uprog.tasks @input capacity(64)
  %others = uprog.tasks @input capacity(64)
  EXAMPLE
  uprog.yield
}
// ----- uprog.batch
batch.kernel @input(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @input.rows(%n: index) {
  uprog.yield
}
uprog.program @p(%xs: !uprog.row, %n: index) level(device) {
  %tasks = uprog.tasks @input capacity(64)
  EXAMPLE
  uprog.yield
}
// ----- uprog.instances
uprog.program @p() level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.units
uprog.program @p() level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.enter_instance
uprog.program @p(%instance: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.next_round
uprog.program @p(%goes_on: i1, %n: index, %rounds: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.argument
uprog.program @p(%instance: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.result
uprog.program @p(%instance: index, %count: i32, %h: !uprog.row) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.list_length
uprog.program @p(%tokens: !rec.list<index>) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.list_element
uprog.program @p(%tokens: !rec.list<index>, %i: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.node
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
uprog.program @p(%instance: index, %i: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.node_number
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
uprog.program @p(%instance: index, %t: !rec.adt<@Tree>) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.variant
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.field
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.node_row
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
uprog.node_rows @h : tensor<4xf32>
uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.remember
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
uprog.node_results @encode : [!uprog.row, index]
uprog.program @p(%t: !rec.adt<@Tree>, %h: !uprog.row, %n: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.look_up
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
uprog.node_results @encode : [!uprog.row, index]
uprog.program @p(%l: !rec.adt<@Tree>) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.construct
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
rec.adt @States {
  rec.variant @leaf(h: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@States>, right: !rec.adt<@States>, h: tensor<4xf32>)
}
uprog.program @p(%t: !rec.adt<@Tree>, %sl: !rec.adt<@States>, %sr: !rec.adt<@States>, %h: !uprog.row) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.cells
uprog.program @p() level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.get
uprog.program @p(%words: !uprog.cells<index>, %member: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.put
uprog.program @p(%words: !uprog.cells<index>, %member: index, %next: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.members
uprog.program @p() level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.member
uprog.program @p(%list: memref<?xi32>, %k: index) level(device) {
  EXAMPLE
  uprog.yield
}
// ----- uprog.each
uprog.program @p(%n: index, %list: memref<?xi32>, %row: !uprog.row,
                 %words: !uprog.cells<i32>) level(device) {
  EXAMPLE
  uprog.yield
}
