// RUN: batch-opt %s --batch-choose-executor=executor=block --split-input-file --verify-diagnostics

// Units that distribute tasks must have a higher level than units that run the tasks.
uprog.program @one(%task: index) level(block) {
  uprog.yield
}
// expected-error @+1 {{this program must have a higher level than the block-level program of this module; expected executor=cluster, executor=device or executor=auto, got 'block'}}
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %steps = uprog.plan_size %plan
  uprog.run @one tasks(%steps)
  uprog.yield
}

// -----

// expected-error @+1 {{this program runs single instances on all blocks; expected executor=device or executor=auto, got 'block'}}
uprog.program @main.execute() level(device) {
  %n = uprog.instances
  uprog.yield
}
