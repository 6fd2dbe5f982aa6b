// RUN: batch-opt %s --convert-batch-to-uprog --split-input-file --verify-diagnostics

// A launch needs the operator of its kernel.
batch.kernel @k() {
  batch.yield
}
func.func @main.execute(%plan: !batch.plan, %i: index) attributes {batch.executor} {
  %step = batch.plan_step %plan[%i]
  // expected-error @+1 {{there is no operator @k.rows; run batch-vectorize-kernels first}}
  batch.launch @k %step reads [] writes []
  return
}
