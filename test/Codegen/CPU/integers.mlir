// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu | FileCheck %s

// A division must not trap for any value past the end of a row, or in an unused
// row. The divisor becomes 1 if it is 0 or if the quotient would be too large.
// CHECK-LABEL: func.func private @signed.rows.stage0
// CHECK:         %[[ZERO:.*]] = arith.cmpi eq, %[[DIVISOR:.*]], %{{.*}} : vector<8xi64>
// CHECK:         %[[MINUS:.*]] = arith.cmpi eq, %[[DIVISOR]], %{{.*}} : vector<8xi64>
// CHECK:         %[[LEAST:.*]] = arith.cmpi eq, %[[DIVIDEND:.*]], %{{.*}} : vector<8xi64>
// CHECK:         %[[LARGE:.*]] = arith.andi %[[MINUS]], %[[LEAST]]
// CHECK:         %[[TRAPS:.*]] = arith.ori %[[ZERO]], %[[LARGE]]
// CHECK:         %[[SAFE:.*]] = arith.select %[[TRAPS]], %{{.*}}, %[[DIVISOR]]
// CHECK:         arith.divsi %[[DIVIDEND]], %[[SAFE]]
uprog.operator @signed.rows(%n: index, %x: tensor<?x40xi64> {uprog.operand = #uprog.operand<gather>},
                            %y: tensor<?x40xi64> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x40xi64> {
  %q = arith.divsi %x, %y : tensor<?x40xi64>
  uprog.yield %q : tensor<?x40xi64>
}

// CHECK-LABEL: func.func private @unsigned.rows.stage0
// CHECK:         %[[ZERO:.*]] = arith.cmpi eq, %[[DIVISOR:.*]], %{{.*}} : vector<16xi32>
// CHECK:         %[[SAFE:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[DIVISOR]]
// CHECK:         arith.remui %{{.*}}, %[[SAFE]]
uprog.operator @unsigned.rows(%n: index, %x: tensor<?x40xi32> {uprog.operand = #uprog.operand<gather>},
                              %y: tensor<?x40xi32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x40xi32> {
  %q = arith.remui %x, %y : tensor<?x40xi32>
  uprog.yield %q : tensor<?x40xi32>
}

// A division by this constant does not trap, so the divisor is not checked.
// CHECK-LABEL: func.func private @known.rows.stage0
// CHECK-NOT:     arith.cmpi eq
// CHECK:         arith.divsi
uprog.operator @known.rows(%n: index, %x: tensor<?x40xi64> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x40xi64> {
  %e = tensor.empty(%n) : tensor<?x40xi64>
  %c = arith.constant 7 : i64
  %y = linalg.generic {indexing_maps = [affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> (r, i)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<?x40xi64>) outs(%e : tensor<?x40xi64>) {
  ^bb0(%a: i64, %o: i64):
    %q = arith.divsi %a, %c : i64
    linalg.yield %q : i64
  } -> tensor<?x40xi64>
  uprog.yield %y : tensor<?x40xi64>
}

// Elements of parameters are loaded once, at the entry. Ops with two results
// are supported.
// CHECK-LABEL: func.func private @element.rows.stage0
// CHECK:         %[[ELEMENT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK:         scf.for
// CHECK:         arith.mului_extended %{{.*}} : vector<8xi64>
uprog.operator @element.rows(%n: index, %x: tensor<?x40xi64> {uprog.operand = #uprog.operand<gather>},
                             %p: tensor<3xi64> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x40xi64> {
  %two = arith.constant 2 : index
  %s = tensor.extract %p[%two] : tensor<3xi64>
  %e = tensor.empty(%n) : tensor<?x40xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> (r, i)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<?x40xi64>) outs(%e : tensor<?x40xi64>) {
  ^bb0(%a: i64, %o: i64):
    %low, %high = arith.mului_extended %a, %s : i64
    %q = arith.xori %low, %high : i64
    linalg.yield %q : i64
  } -> tensor<?x40xi64>
  uprog.yield %y : tensor<?x40xi64>
}
