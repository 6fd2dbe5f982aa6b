// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu --split-input-file --verify-diagnostics

// All targets reject the same ops in operators.
uprog.operator @loop.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{is not supported in an operator yet}}
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<?x4xf32> {
    %b = arith.addf %a, %a : tensor<?x4xf32>
    scf.yield %b : tensor<?x4xf32>
  }
  uprog.yield %y : tensor<?x4xf32>
}
