// RUN: not batch-opt %s --batch-assign-slots=policy=random 2>&1 | FileCheck %s
// RUN: batch-opt %s --batch-assign-slots | FileCheck %s --check-prefix=PLAIN

// A policy that is not there is named, with those that are.
// CHECK: error: there is no policy 'random'; policies are 'depth'

// Without an inspector there is nothing to schedule: the module stays.
// PLAIN:     func.func @main
// PLAIN-NOT: func.func
func.func @main(%n: index) -> index attributes {batch.entry} {
  return %n : index
}
