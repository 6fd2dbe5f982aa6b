// Elementwise code, products and sums of f16 and of bf16. Tests compile it for several targets.

!h = tensor<37xf16>
!b = tensor<37xbf16>
func.func @main(%x: !h {batch.name = "x"}, %y: !b {batch.name = "y"},
                %d: tensor<37xf64> {batch.name = "d"},
                %V: tensor<21x37xf16> {batch.shared = "V"},
                %W: tensor<21x37xbf16> {batch.shared = "W"})
    -> (!h {batch.name = "h"}, !b {batch.name = "b"}, !h {batch.name = "dh"},
        !b {batch.name = "db"}, tensor<21xf16> {batch.name = "Vx"},
        tensor<21xbf16> {batch.name = "Wy"}) attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<21xf16>
  %none = arith.constant dense<0.0> : tensor<21xbf16>
  %h1 = math.tanh %x : !h
  %h2 = arith.divf %h1, %x : !h
  %h3 = math.exp %h2 : !h
  %b1 = math.tanh %y : !b
  %b2 = arith.divf %b1, %y : !b
  %b3 = math.exp %b2 : !b
  %dh = arith.truncf %d : tensor<37xf64> to !h
  %db = arith.truncf %d : tensor<37xf64> to !b
  %Vx = linalg.matvec ins(%V, %h3 : tensor<21x37xf16>, !h)
          outs(%zero : tensor<21xf16>) -> tensor<21xf16>
  %Wy = linalg.matvec ins(%W, %b3 : tensor<21x37xbf16>, !b)
          outs(%none : tensor<21xbf16>) -> tensor<21xbf16>
  return %h3, %b3, %dh, %db, %Vx, %Wy
    : !h, !b, !h, !b, tensor<21xf16>, tensor<21xbf16>
}
