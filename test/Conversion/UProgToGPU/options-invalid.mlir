// RUN: batch-opt %s --batch-choose-executor=executor=warp --verify-diagnostics
// RUN: batch-opt %s --batch-choose-executor=executor=thread --verify-diagnostics

// expected-error-re @+1 {{unknown executor '{{warp|thread}}'; executors are auto, device, cluster and block}}
module {}
