// RUN: batch-opt %s --convert-operators-to-cpu="vector-bits=100" --verify-diagnostics

// Vectors are halved until one lane is left.
// expected-error @+1 {{vector-bits must be a power of two of at least 128, vector-registers at least 8}}
module {}
