// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="precision=tf32 shared-memory=0" --split-input-file \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TF32
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="precision=bf16 shared-memory=0" --split-input-file \
// RUN:   | FileCheck %s --check-prefixes=CHECK,BF16

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>
#id = affine_map<(r, n) -> (r, n)>
#bias = affine_map<(r, n) -> (n)>

// Weights stay f32 in memory, as B[n][k].
// CHECK: module attributes {uprog.packings = [
// CHECK-SAME: #uprog.panels<parameters = [0], n = 64, k = 128, width = 1, transposed = true>,

// CHECK-LABEL:     func.func private @cell.rows.stage0(
// CHECK-DAG:         %[[LANE:.*]] = arith.remui %{{.*}}, %c32_i64 : i64
// CHECK-DAG:         %[[GROUP:.*]] = arith.divui %[[LANE]], %c4_i64 : i64
// CHECK-DAG:         %[[MEMBER:.*]] = arith.remui %[[LANE]], %c4_i64 : i64

// Tiles of 16 rows by 8 columns. A lane loads rows `group` and `group + 8` and
// column `group`; its sums are those of these rows and columns 2 * member and
// 2 * member + 1.
// CHECK:             %[[ACROSS:.*]] = arith.minsi %{{.*}}, %c8_i64 : i64
// CHECK:             %[[FIRST:.*]] = arith.remui %[[UNIT:.*]], %[[ACROSS]] : i64
// CHECK:             %[[SHARE:.*]] = arith.divui %[[UNIT]], %[[ACROSS]] : i64
// CHECK:             scf.for %{{.*}} = %c0_i64 to %{{.*}} step %c8_i64
// CHECK:               %[[ROW:.*]] = arith.addi %{{.*}}, %[[SHARE]] : i64
// CHECK-NEXT:          %[[ASIDE:.*]] = arith.muli %{{.*}}, %[[ACROSS]] : i64
// CHECK-NEXT:          %[[COLUMN:.*]] = arith.addi %[[FIRST]], %[[ASIDE]] : i64
// CHECK-DAG:             %[[FIRSTCOLUMN:.*]] = arith.muli %[[COLUMN]], %c8_i64 : i64
// CHECK-DAG:             %[[FIRSTROW:.*]] = arith.muli %[[ROW]], %c16_i64 : i64
// CHECK-DAG:             %[[LOWER:.*]] = arith.addi %[[GROUP]], %c8_i64 : i64
// CHECK-DAG:             %[[EVEN:.*]] = arith.muli %[[MEMBER]], %c2_i64 : i64
// CHECK-DAG:             %[[ODD:.*]] = arith.addi %[[EVEN]], %c1_i64 : i64
// CHECK-DAG:             arith.addi %[[FIRSTROW]], %[[GROUP]] : i64
// CHECK-DAG:             arith.addi %[[FIRSTROW]], %[[LOWER]] : i64
// CHECK-DAG:             arith.addi %[[FIRSTCOLUMN]], %[[EVEN]] : i64
// CHECK-DAG:             arith.addi %[[FIRSTCOLUMN]], %[[ODD]] : i64
// CHECK-DAG:             arith.addi %[[FIRSTCOLUMN]], %[[GROUP]] : i64

// 16 of k at a time, in ascending order, four of them in each lane.
// CHECK:                 %[[SUMS:.*]]:4 = scf.for %[[K:.*]] = %c0_i64 to %c128_i64 step %c16_i64
// CHECK-SAME:              iter_args(%[[C0:.*]] = %{{.*}}, %[[C1:.*]] = %{{.*}}, %[[C2:.*]] = %{{.*}}, %[[C3:.*]] = %{{[^)]*}})
// CHECK:                   %[[OWN:.*]] = arith.muli %[[MEMBER]], %c4_i64 : i64
// CHECK:                   arith.addi %[[K]], %[[OWN]] : i64
// Each is rounded before it is multiplied: here those of the first row.
// CHECK:                   %[[V0:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NEXT:              %[[V00:.*]] = vector.extract %[[V0]][0]
// CHECK-NEXT:              %[[V01:.*]] = vector.extract %[[V0]][1]
// CHECK-NEXT:              %[[V02:.*]] = vector.extract %[[V0]][2]
// CHECK-NEXT:              %[[V03:.*]] = vector.extract %[[V0]][3]
// TF32-NEXT:               %[[R00:.*]] = nvvm.convert.float.to.tf32 %[[V00]] {rnd = #nvvm.fp_rnd_mode<rna>}
// TF32-NEXT:               %[[R01:.*]] = nvvm.convert.float.to.tf32 %[[V01]] {rnd = #nvvm.fp_rnd_mode<rna>}
// TF32-NEXT:               %[[R02:.*]] = nvvm.convert.float.to.tf32 %[[V02]] {rnd = #nvvm.fp_rnd_mode<rna>}
// TF32-NEXT:               %[[R03:.*]] = nvvm.convert.float.to.tf32 %[[V03]] {rnd = #nvvm.fp_rnd_mode<rna>}
// BF16-NEXT:               %[[P00:.*]] = nvvm.convert.f32x2.to.bf16x2 %[[V01]], %[[V00]] {rnd = #nvvm.fp_rnd_mode<rn>}
// BF16-NEXT:               %[[R00:.*]] = llvm.bitcast %[[P00]] : vector<2xbf16> to i32
// BF16-NEXT:               %[[P01:.*]] = nvvm.convert.f32x2.to.bf16x2 %[[V03]], %[[V02]] {rnd = #nvvm.fp_rnd_mode<rn>}
// BF16-NEXT:               %[[R01:.*]] = llvm.bitcast %[[P01]] : vector<2xbf16> to i32
// So are those of the other row.
// CHECK:                   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// TF32:                     %[[R10:.*]] = nvvm.convert.float.to.tf32
// TF32-NEXT:                %[[R11:.*]] = nvvm.convert.float.to.tf32
// TF32-NEXT:                %[[R12:.*]] = nvvm.convert.float.to.tf32
// TF32-NEXT:                %[[R13:.*]] = nvvm.convert.float.to.tf32
// BF16:                     %[[P10:.*]] = nvvm.convert.f32x2.to.bf16x2
// BF16-NEXT:               %[[R10:.*]] = llvm.bitcast %[[P10]] : vector<2xbf16> to i32
// BF16-NEXT:                %[[P11:.*]] = nvvm.convert.f32x2.to.bf16x2
// BF16-NEXT:               %[[R11:.*]] = llvm.bitcast %[[P11]] : vector<2xbf16> to i32
// So are those of the column.
// CHECK:                   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// TF32:                     %[[R20:.*]] = nvvm.convert.float.to.tf32
// TF32-NEXT:                %[[R21:.*]] = nvvm.convert.float.to.tf32
// TF32-NEXT:                %[[R22:.*]] = nvvm.convert.float.to.tf32
// TF32-NEXT:                %[[R23:.*]] = nvvm.convert.float.to.tf32
// BF16:                     %[[P20:.*]] = nvvm.convert.f32x2.to.bf16x2
// BF16-NEXT:               %[[R20:.*]] = llvm.bitcast %[[P20]] : vector<2xbf16> to i32
// BF16-NEXT:                %[[P21:.*]] = nvvm.convert.f32x2.to.bf16x2
// BF16-NEXT:               %[[R21:.*]] = llvm.bitcast %[[P21]] : vector<2xbf16> to i32
// The first of a lane's k go to one instruction; there is another one for tf32.
// CHECK-NEXT:              %[[D:.*]] = nvvm.mma.sync A[%[[R00]], %[[R10]], %[[R01]], %[[R11]]] B[%[[R20]], %[[R21]]] C[%[[C0]], %[[C1]], %[[C2]], %[[C3]]]
// TF32-SAME:                 layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, shape = #nvvm.shape<m = 16, n = 8, k = 8>
// BF16-SAME:                 layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>
// TF32-NEXT:               %[[D0:.*]] = llvm.extractvalue %[[D]][0]
// TF32-NEXT:               %[[D1:.*]] = llvm.extractvalue %[[D]][1]
// TF32-NEXT:               %[[D2:.*]] = llvm.extractvalue %[[D]][2]
// TF32-NEXT:               %[[D3:.*]] = llvm.extractvalue %[[D]][3]
// TF32-NEXT:               nvvm.mma.sync A[%[[R02]], %[[R12]], %[[R03]], %[[R13]]] B[%[[R22]], %[[R23]]] C[%[[D0]], %[[D1]], %[[D2]], %[[D3]]]
// CHECK-NOT:               nvvm.mma.sync
// CHECK:                   scf.yield

// LLVM unrolls, so that the assembler does not until registers run out.
// CHECK-NEXT:            } {loop_annotation = #loop_annotation}

// What follows is one element after the other, if it is in the matrix.
// CHECK-COUNT-4:         scf.if
// CHECK-NOT:             scf.if
// CHECK-NOT:     gpu.shuffle
// CHECK:         return
uprog.operator @cell.rows(%n: index, %x: tensor<?x128xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<64x128xf32> {uprog.operand = #uprog.operand<shared(0)>},
                          %b: tensor<64xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y0 = linalg.matmul indexing_maps = [#x, #w, #y]
          ins(%x, %w : tensor<?x128xf32>, tensor<64x128xf32>)
          outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #bias, #id],
                       iterator_types = ["parallel", "parallel"]}
         ins(%y0, %b : tensor<?x64xf32>, tensor<64xf32>)
         outs(%empty : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Products that read the same rows load them once: two rows, and a column of
// each of three matrices. That of another k is a loop of its own.
// CHECK-LABEL: func.func private @gates.rows.stage0
// CHECK:         scf.for {{.*}} step %c16_i64 iter_args({{.*}}) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
// CHECK-COUNT-5:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:       llvm.load
// TF32-COUNT-6:    nvvm.mma.sync
// BF16-COUNT-3:    nvvm.mma.sync
// CHECK-NOT:       nvvm.mma.sync
// CHECK:         scf.for {{.*}} step %c16_i64 iter_args({{.*}}) -> (f32, f32, f32, f32)
// CHECK-COUNT-3:   llvm.load
// TF32-COUNT-2:    nvvm.mma.sync
// BF16-COUNT-1:    nvvm.mma.sync
// CHECK-NOT:       nvvm.mma.sync
uprog.operator @gates.rows(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                           %z: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                           %i: tensor<16x32xf32> {uprog.operand = #uprog.operand<shared(0)>},
                           %o: tensor<16x32xf32> {uprog.operand = #uprog.operand<shared(1)>},
                           %u: tensor<16x32xf32> {uprog.operand = #uprog.operand<shared(2)>},
                           %f: tensor<16x32xf32> {uprog.operand = #uprog.operand<shared(3)>})
    -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
  %a = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %i : tensor<?x32xf32>, tensor<16x32xf32>)
         outs(%start : tensor<?x16xf32>) -> tensor<?x16xf32>
  %b = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%z, %f : tensor<?x32xf32>, tensor<16x32xf32>)
         outs(%start : tensor<?x16xf32>) -> tensor<?x16xf32>
  %c = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %o : tensor<?x32xf32>, tensor<16x32xf32>)
         outs(%start : tensor<?x16xf32>) -> tensor<?x16xf32>
  %d = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %u : tensor<?x32xf32>, tensor<16x32xf32>)
         outs(%start : tensor<?x16xf32>) -> tensor<?x16xf32>
  %p = arith.mulf %a, %b : tensor<?x16xf32>
  %q = arith.mulf %c, %d : tensor<?x16xf32>
  %y = arith.addf %p, %q : tensor<?x16xf32>
  uprog.yield %y : tensor<?x16xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// 20 of k are no multiple of 16: of the last step, lanes beyond the end take
// zeros. Six do not even fill vectors.
// CHECK-LABEL: func.func private @ends.rows.stage0
// CHECK:         scf.for {{.*}} to %c20_i64 step %c16_i64
// CHECK:           %[[OWN:.*]] = arith.addi
// CHECK:           %[[LAST:.*]] = arith.minsi %[[OWN]], %{{c16.*}} : i64
// CHECK:           llvm.load %{{.*}} -> vector<4xf32>
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %[[OWN]], %{{c20.*}} : i64
// CHECK-COUNT-4:   arith.select %[[INSIDE]], %{{.*}}, %{{.*}} : f32
// CHECK:           nvvm.mma.sync
// CHECK-LABEL: func.func private @narrow.rows.stage0
// CHECK:         scf.for {{.*}} to %c6_i64 step %c16_i64
// CHECK-NOT:       vector<4xf32>
// CHECK-COUNT-12:  arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:           nvvm.mma.sync
uprog.operator @ends.rows(%n: index, %x: tensor<?x20xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<8x20xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x20xf32>, tensor<8x20xf32>)
         outs(%start : tensor<?x8xf32>) -> tensor<?x8xf32>
  uprog.yield %y : tensor<?x8xf32>
}
uprog.operator @narrow.rows(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<3x6xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x6xf32>, tensor<3x6xf32>)
         outs(%start : tensor<?x3xf32>) -> tensor<?x3xf32>
  uprog.yield %y : tensor<?x3xf32>
}

// -----

#rn = affine_map<(r, n) -> (r, n)>
#r = affine_map<(r, n) -> (r)>

// What is no product with weights is not rounded.
// CHECK-LABEL: func.func private @norm.rows.stage0
// CHECK-NOT:     nvvm.
// CHECK:         math.fma
uprog.operator @norm.rows(%n: index, %x: tensor<?x20xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#rn, #r], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<?x20xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  uprog.yield %s : tensor<?xf32>
}
