// RUN: batch-opt %s --no-implicit-module | FileCheck %s

// An entry verifies without a module around it.
// CHECK-LABEL: func.func @main() attributes {batch.entry}
func.func @main() attributes {batch.entry} {
  return
}
