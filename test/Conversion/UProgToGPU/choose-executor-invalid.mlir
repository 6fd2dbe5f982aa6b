// RUN: batch-opt %s --batch-choose-executor=executor=block --split-input-file --verify-diagnostics

// Who shares tasks out is of a level above those that run them.
uprog.program @one(%task: index) level(block) {
  uprog.yield
}
// expected-error @+1 {{blocks run tasks of a program of level block here, so those that run a plan together are of a level above; use executor=device or auto, not block}}
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %steps = uprog.plan_size %plan
  uprog.run @one tasks(%steps)
  uprog.yield
}

// -----

// expected-error @+1 {{this program runs single instances, on all blocks; use executor=device or auto, not block}}
uprog.program @main.execute() level(device) {
  %n = uprog.instances
  uprog.yield
}
