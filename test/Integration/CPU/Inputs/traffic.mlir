// A recursion in which some values must be saved and others need not be. It shows the effect
// of each optimization on stack traffic separately.
//
//   f(n, a) = n == 0 ? a : a * a + f(n - 1, f(n - 1, a + 1))

func.func private @f(%n: i64, %a: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %leaf = arith.cmpi eq, %n, %zero : i64
  %y = scf.if %leaf -> i64 {
    scf.yield %a : i64
  } else {
    %m = arith.subi %n, %one : i64
    %p = arith.muli %a, %a : i64
    %b = arith.addi %a, %one : i64
    %q = func.call @f(%m, %b) : (i64, i64) -> i64
    %r = func.call @f(%m, %q) : (i64, i64) -> i64
    %s = arith.addi %p, %r : i64
    scf.yield %s : i64
  }
  return %y : i64
}

func.func @main(%n: i64 {batch.name = "n"}) -> (i64 {batch.name = "y"})
    attributes {batch.entry} {
  %two = arith.constant 2 : i64
  %x = func.call @f(%two, %n) : (i64, i64) -> i64
  %y = func.call @f(%two, %x) : (i64, i64) -> i64
  %s = arith.subi %y, %x : i64
  return %s : i64
}
