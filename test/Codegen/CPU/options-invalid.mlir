// RUN: batch-opt %s --convert-operators-to-cpu=vector-registers=7 --verify-diagnostics

// A register tile needs at least 8 vector registers.
// expected-error @unknown {{vector-registers must be at least 8}}
module {}
