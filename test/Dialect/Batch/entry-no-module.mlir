// RUN: batch-opt %s --no-implicit-module | FileCheck %s

// An entry verifies where there is no module around it.
// CHECK-LABEL: func.func @main() attributes {batch.entry}
func.func @main() attributes {batch.entry} {
  return
}
