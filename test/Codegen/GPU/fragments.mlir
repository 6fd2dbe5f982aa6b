// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="precision=tf32 shared-memory=0" --canonicalize --cse --split-input-file \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TF32
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="precision=bf16 shared-memory=0" --canonicalize --cse --split-input-file \
// RUN:   | FileCheck %s --check-prefixes=CHECK,BF16

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>
#id = affine_map<(r, n) -> (r, n)>
#bias = affine_map<(r, n) -> (n)>

// Weights remain f32 in memory, as B[n][k].
// CHECK: module attributes {uprog.packings = [
// CHECK-SAME: #uprog.panels<parameters = [0], n = 64, k = 128, width = 1, transposed = true>,

// CHECK-LABEL:     func.func private @cell.rows.stage0(
// CHECK:             %[[LANE:.*]] = arith.remui %{{.*}}, %c32_i32 : i32
// CHECK:             uprog.await_rows

// A row is rounded once, when it is copied. The next row begins in other banks of shared memory.
// CHECK:             %[[V0:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:             %[[V00:.*]] = vector.extract %[[V0]][0]
// CHECK-NEXT:        %[[V01:.*]] = vector.extract %[[V0]][1]
// CHECK-NEXT:        %[[V02:.*]] = vector.extract %[[V0]][2]
// CHECK-NEXT:        %[[V03:.*]] = vector.extract %[[V0]][3]
// TF32-NEXT:         nvvm.convert.float.to.tf32 %[[V00]] {rnd = #nvvm.fp_rnd_mode<rna>}
// TF32-NEXT:         nvvm.convert.float.to.tf32 %[[V01]] {rnd = #nvvm.fp_rnd_mode<rna>}
// TF32-NEXT:         nvvm.convert.float.to.tf32 %[[V02]] {rnd = #nvvm.fp_rnd_mode<rna>}
// TF32-NEXT:         nvvm.convert.float.to.tf32 %[[V03]] {rnd = #nvvm.fp_rnd_mode<rna>}
// BF16-NEXT:         nvvm.convert.f32x2.to.bf16x2 %[[V01]], %[[V00]] {rnd = #nvvm.fp_rnd_mode<rn>}
// BF16:              nvvm.convert.f32x2.to.bf16x2 %[[V03]], %[[V02]] {rnd = #nvvm.fp_rnd_mode<rn>}
// TF32:              llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// BF16:              llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<3>
// CHECK:             gpu.barrier

// Tiles have 16 rows and 8 columns, even for a single row. A lane loads column `group`
// and rows `group` and `group + 8`. The last row replaces missing rows. The lane's sums are
// for these rows, and for columns 2 * member and 2 * member + 1.
// CHECK:             scf.for %[[ITEM:.*]] = %{{.*}} to %{{.*}} step %c8_i32
// CHECK:               arith.muli %{{.*}}, %c16_i32
// CHECK:               %[[GROUP:.*]] = arith.divui %[[LANE]], %c4_i32
// CHECK-NEXT:          %[[MEMBER:.*]] = arith.remui %[[LANE]], %c4_i32
// CHECK:               arith.minsi %[[GROUP]], %[[LASTROW:.*]] : i32
// TF32-NEXT:           arith.muli %{{.*}}, %c576_i32
// BF16-NEXT:           arith.muli %{{.*}}, %c320_i32
// CHECK:               %[[LOWER:.*]] = arith.addi %[[GROUP]], %c8_i32
// CHECK-NEXT:          arith.minsi %[[LOWER]], %[[LASTROW]]
// CHECK:               arith.muli %[[GROUP]], %c512_i32

// A step processes 16 or 32 elements along k, in ascending order: 16 bytes in each lane.
// CHECK:               %[[SUMS:.*]]:4 = scf.for %[[K:.*]] = %c0_i32 to %c128_i32
// TF32-SAME:             step %c16_i32
// BF16-SAME:             step %c32_i32
// CHECK-SAME:            iter_args(%[[C0:.*]] = %{{.*}}, %[[C1:.*]] = %{{.*}}, %[[C2:.*]] = %{{.*}}, %[[C3:.*]] = %{{[^)]*}})
// CHECK:                 %[[UPPER:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK:                 %[[UNDER:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// Weights in global memory are f32. They are rounded when they are loaded.
// TF32-COUNT-1:          llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// TF32-COUNT-4:          nvvm.convert.float.to.tf32
// BF16-COUNT-2:          llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// BF16-COUNT-4:          nvvm.convert.f32x2.to.bf16x2
// One instruction processes the first half of a lane's elements along k, and another
// one processes the second half.
// CHECK:                 %[[A0:.*]] = vector.extract %[[UPPER]][0]
// CHECK-NEXT:            %[[A1:.*]] = vector.extract %[[UNDER]][0]
// CHECK-NEXT:            %[[A2:.*]] = vector.extract %[[UPPER]][1]
// CHECK-NEXT:            %[[A3:.*]] = vector.extract %[[UNDER]][1]
// CHECK-NEXT:            %[[B0:.*]] = vector.extract %[[COLUMN:.*]][0]
// CHECK-NEXT:            %[[B1:.*]] = vector.extract %[[COLUMN]][1]
// CHECK-NEXT:            %[[D:.*]] = nvvm.mma.sync A[%[[A0]], %[[A1]], %[[A2]], %[[A3]]] B[%[[B0]], %[[B1]]] C[%[[C0]], %[[C1]], %[[C2]], %[[C3]]]
// TF32-SAME:               layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, shape = #nvvm.shape<m = 16, n = 8, k = 8>
// BF16-SAME:               layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK:                 %[[D0:.*]] = llvm.extractvalue %[[D]][0]
// CHECK:                 %[[E0:.*]] = vector.extract %[[UPPER]][2]
// CHECK-NEXT:            %[[E1:.*]] = vector.extract %[[UNDER]][2]
// CHECK-NEXT:            %[[E2:.*]] = vector.extract %[[UPPER]][3]
// CHECK-NEXT:            %[[E3:.*]] = vector.extract %[[UNDER]][3]
// CHECK-NEXT:            %[[F0:.*]] = vector.extract %[[COLUMN]][2]
// CHECK-NEXT:            %[[F1:.*]] = vector.extract %[[COLUMN]][3]
// CHECK-NEXT:            nvvm.mma.sync A[%[[E0]], %[[E1]], %[[E2]], %[[E3]]] B[%[[F0]], %[[F1]]] C[%[[D0]],
// CHECK-NOT:             nvvm.mma.sync
// CHECK:                 scf.yield
// LLVM unrolls this loop. Otherwise, the assembler would unroll it until
// registers run out.
// CHECK-NEXT:          } {loop_annotation = #loop_annotation}

// Four sums are stored in the block's memory. After a barrier, a lane loads
// one sum.
// CHECK:               %[[TOP:.*]] = arith.muli %[[GROUP]], %c8_i32
// CHECK-NEXT:          %[[EVEN:.*]] = arith.muli %[[MEMBER]], %c2_i32
// CHECK-NEXT:          arith.addi %[[TOP]], %[[EVEN]]
// CHECK-NEXT:          arith.muli %[[ITEM]], %c512_i32
// CHECK:               llvm.store %[[SUMS]]#0, %{{.*}} !llvm.ptr<3>
// CHECK:               %[[ODD:.*]] = arith.addi %[[EVEN]], %c1_i32
// CHECK-NEXT:          arith.addi %[[TOP]], %[[ODD]]
// CHECK:               llvm.store %[[SUMS]]#1, %{{.*}} !llvm.ptr<3>
// CHECK:               arith.muli %[[LOWER]], %c8_i32
// CHECK:               llvm.store %[[SUMS]]#2, %{{.*}} !llvm.ptr<3>
// CHECK:               llvm.store %[[SUMS]]#3, %{{.*}} !llvm.ptr<3>
// CHECK:             gpu.barrier
// CHECK-NEXT:        scf.if
// CHECK-NEXT:          llvm.load %{{.*}} !llvm.ptr<3> -> f32
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

// Rows that several products read are copied once: at each position, a thread loads and
// rounds one vector of each of two rows. The four products are separate items.
// CHECK-LABEL: func.func private @gates.rows.stage0
// CHECK:         uprog.await_rows
// CHECK:         scf.for {{.*}} step %c768_i32
// CHECK-COUNT-6:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:         gpu.barrier
// CHECK:         arith.muli %{{.*}}, %c4_i32
// CHECK:         scf.for %[[ITEM:.*]] = %{{.*}} step %c8_i32
// CHECK-NEXT:      arith.divui %[[ITEM]], %c4_i32
// CHECK-NEXT:      arith.remui %[[ITEM]], %c4_i32
// In bf16, one step processes all elements along k.
// TF32:            scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32)
// CHECK-COUNT-2:     nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
// CHECK:         gpu.barrier
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

// Extents of 20 and 6 along k do not fill the last step. Zeros follow rows in the block's
// memory, and lanes replace weights by zeros. Six elements do not even fill vectors.
// CHECK-LABEL: func.func private @ends.rows.stage0
// CHECK:         uprog.await_rows
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             arith.addi %{{.*}}, %c20_i32
// CHECK:             llvm.store %{{c?(st)?.*}}, !llvm.ptr<3>
// CHECK:           }
// CHECK:         gpu.barrier
// TF32:          scf.for {{.*}} to %c20_i32
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %[[OWN:.*]], %c20_i32
// TF32-NEXT:       arith.minsi %[[OWN]], %c16_i32
// TF32:            llvm.load %{{.*}} -> vector<4xf32>
// TF32-COUNT-4:    arith.select %[[INSIDE]], %{{.*}}, %{{.*}} : f32
// BF16-COUNT-8:    arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:           nvvm.mma.sync
// CHECK-LABEL: func.func private @narrow.rows.stage0
// CHECK:         uprog.await_rows
// CHECK:         arith.minsi %{{.*}}, %c2_i32
// TF32-COUNT-4:    arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// BF16-COUNT-8:    arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
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

// Factors are rounded only in products with weights.
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
