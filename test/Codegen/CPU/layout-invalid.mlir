// RUN: batch-opt %s --uprog-stage-operators=vector-bits=1024 --convert-operators-to-cpu --verify-diagnostics

// Vectors have 16 lanes here.
// expected-error @+1 {{operand 1 is stored in pieces of 8 elements; split the last dimension of its table by a multiple of 16, the number of elements in a vector}}
uprog.operator @pieces.rows(%n: index,
                            %x: tensor<?x64xf64> {uprog.operand = #uprog.operand<gather layout((s, i) -> (s floordiv 2, i floordiv 8, s mod 2, i mod 8))>})
    -> tensor<?x64xf64> {
  uprog.yield %x : tensor<?x64xf64>
}
