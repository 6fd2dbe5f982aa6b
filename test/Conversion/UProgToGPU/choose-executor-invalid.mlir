// RUN: batch-opt %s --batch-choose-executor=executor=block --split-input-file --verify-diagnostics

// Units that distribute tasks have a higher level than units that run them.
uprog.program @one(%task: index) level(block) {
  uprog.yield
}
// expected-error @+1 {{another program of this module is of level block, so this one must be of a higher level; use executor=device or auto, not block}}
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
