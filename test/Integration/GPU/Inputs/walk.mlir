// A recursion over rows with padded lines. A row of x has one line, and a row of m has three.
//
//   walk(n, x, m) = n < 2 ? (W x, m) : a combination of walk(n - 1, ...) and
//   walk(n - 2, ...)

func.func private @walk(%n: i64, %x: tensor<20xf32>, %m: tensor<3x5xf32>,
                        %w: tensor<20x20xf32>)
    -> (tensor<20xf32>, tensor<3x5xf32>) {
  %two = arith.constant 2 : i64
  %base = arith.cmpi slt, %n, %two : i64
  %y:2 = scf.if %base -> (tensor<20xf32>, tensor<3x5xf32>) {
    %empty = tensor.empty() : tensor<20xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<20xf32>)
      -> tensor<20xf32>
    %p = linalg.matvec ins(%w, %x : tensor<20x20xf32>, tensor<20xf32>)
      outs(%init : tensor<20xf32>) -> tensor<20xf32>
    scf.yield %p, %m : tensor<20xf32>, tensor<3x5xf32>
  } else {
    %one = arith.constant 1 : i64
    %half = arith.constant dense<0.5> : tensor<20xf32>
    %third = arith.constant dense<0.25> : tensor<3x5xf32>
    %n1 = arith.subi %n, %one : i64
    %n2 = arith.subi %n, %two : i64
    %x1 = arith.mulf %x, %half : tensor<20xf32>
    %a:2 = func.call @walk(%n1, %x1, %m, %w)
      : (i64, tensor<20xf32>, tensor<3x5xf32>, tensor<20x20xf32>)
      -> (tensor<20xf32>, tensor<3x5xf32>)
    %x2 = arith.addf %x, %a#0 : tensor<20xf32>
    %m2 = arith.addf %a#1, %third : tensor<3x5xf32>
    %b:2 = func.call @walk(%n2, %x2, %m2, %w)
      : (i64, tensor<20xf32>, tensor<3x5xf32>, tensor<20x20xf32>)
      -> (tensor<20xf32>, tensor<3x5xf32>)
    %r = arith.subf %b#0, %x1 : tensor<20xf32>
    %s = arith.addf %b#1, %m : tensor<3x5xf32>
    scf.yield %r, %s : tensor<20xf32>, tensor<3x5xf32>
  }
  return %y#0, %y#1 : tensor<20xf32>, tensor<3x5xf32>
}

func.func @main(%n: i64 {batch.name = "n"},
                %x: tensor<20xf32> {batch.name = "x"},
                %m: tensor<3x5xf32> {batch.name = "m"},
                %w: tensor<20x20xf32> {batch.shared = "W"})
    -> (tensor<20xf32> {batch.name = "r"}, tensor<3x5xf32> {batch.name = "s"})
    attributes {batch.entry} {
  %y:2 = call @walk(%n, %x, %m, %w)
    : (i64, tensor<20xf32>, tensor<3x5xf32>, tensor<20x20xf32>)
    -> (tensor<20xf32>, tensor<3x5xf32>)
  return %y#0, %y#1 : tensor<20xf32>, tensor<3x5xf32>
}
