// A recursion of the entry that does not end if n is below 0.
//
//   main(n) = n == 0 ? 0 : main(n - 1) + 1

func.func @main(%n: i64 {batch.name = "n"}) -> (i64 {batch.name = "calls"})
    attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %done = arith.cmpi eq, %n, %zero : i64
  %calls = scf.if %done -> i64 {
    scf.yield %zero : i64
  } else {
    %less = arith.subi %n, %one : i64
    %others = func.call @main(%less) : (i64) -> i64
    %sum = arith.addi %others, %one : i64
    scf.yield %sum : i64
  }
  return %calls : i64
}
