// RUN: batch-opt %s --batch-outline-kernels --batch-vectorize-kernels --batch-replicate \
// RUN:   | FileCheck %s --check-prefix=PER-UNIT --implicit-check-not=all_units
// RUN: batch-opt %s --batch-outline-kernels --batch-vectorize-kernels --batch-replicate=level=device \
// RUN:   | FileCheck %s --check-prefix=DEVICE
// RUN: batch-opt %s --batch-outline-kernels --batch-vectorize-kernels --batch-replicate=level=cluster \
// RUN:   | FileCheck %s --check-prefix=CLUSTER
// RUN: echo '{"version": 1, "level": "device"}' > %t.json
// RUN: batch-opt %s --batch-outline-kernels --batch-vectorize-kernels --batch-replicate=tuning=%t.json \
// RUN:   | FileCheck %s --check-prefix=DEVICE

// Each worker runs its own instances, unless an option or a tuning file
// specifies a different level.
// PER-UNIT:   uprog.program @main.instance({{.*}}) level(block)
// DEVICE:  uprog.program @main.instance.all_units({{.*}}) level(device)
// CLUSTER: uprog.program @main.instance.cluster({{.*}}) level(cluster)
func.func @main(%x: tensor<f32>) -> tensor<f32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %bound = arith.constant 1.0e+02 : f32
  %first = tensor.extract %x[] : tensor<f32>
  %y = scf.while (%a = %first) : (f32) -> f32 {
    %go = arith.cmpf olt, %a, %bound : f32
    scf.condition(%go) %a : f32
  } do {
  ^bb0(%a: f32):
    %n = arith.addf %a, %a : f32
    scf.yield %n : f32
  }
  %r = tensor.from_elements %y : tensor<f32>
  return %r : tensor<f32>
}
