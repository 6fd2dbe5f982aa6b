// RUN: batch-opt %s --batch-verify-executor | FileCheck %s

// An executor may run operators itself, or in programs that it refers to.
batch.kernel @a() {
  batch.yield
}
batch.kernel @b() {
  batch.yield
}
uprog.operator @a.rows(%n: index) {
  uprog.yield
}
uprog.operator @b.rows(%n: index) {
  uprog.yield
}
func.func @main.inspect(%d: index) attributes {batch.inspector} {
  batch.record @a() depth(%d) : () -> ()
  batch.record @b() depth(%d) : () -> ()
  return
}
uprog.program @rest(%plan: !batch.plan) level(device) {
  %i = arith.constant 0 : index
  %step = uprog.plan_step %plan[%i]
  uprog.run @b.rows step(%step) tasks(%i)
  uprog.yield
}
// CHECK: uprog.program @main.execute
uprog.program @main.execute(%plan: !batch.plan) level(device) attributes {batch.executor} {
  %i = arith.constant 0 : index
  %step = uprog.plan_step %plan[%i]
  uprog.run @a.rows step(%step) tasks(%i)
  uprog.ref @rest(%plan) : !batch.plan
  uprog.yield
}
