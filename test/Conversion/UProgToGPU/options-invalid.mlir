// RUN: batch-opt %s --convert-uprog-to-gpu=executor=warp --verify-diagnostics
// RUN: batch-opt %s --convert-uprog-to-gpu=executor=thread --verify-diagnostics

// expected-error-re @+1 {{unknown executor '{{warp|thread}}'; executors are device, cluster and block}}
module {}
