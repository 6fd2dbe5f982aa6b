// Fibonacci numbers by double recursion, the example of program-counter autobatching (Radul
// et al., MLSys 2020). No value is a tensor. The depth of the recursion and the number of
// calls, 2 fib(n) - 1, differ between instances.
//
//   fib(n) = n <= 1 ? 1 : fib(n - 1) + fib(n - 2)
//
// Run it:
//   printf '{"n": %d}\n' 3 7 4 5 > n.jsonl
//   batch-run examples/mlir/fib.mlir --inputs=n.jsonl --strategy=lockstep

func.func private @fibonacci(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %base = arith.cmpi sle, %n, %one : i64
  %y = scf.if %base -> i64 {
    scf.yield %one : i64
  } else {
    %two = arith.constant 2 : i64
    %n1 = arith.subi %n, %one : i64
    %n2 = arith.subi %n, %two : i64
    %y1 = func.call @fibonacci(%n1) : (i64) -> i64
    %y2 = func.call @fibonacci(%n2) : (i64) -> i64
    %sum = arith.addi %y1, %y2 : i64
    scf.yield %sum : i64
  }
  return %y : i64
}

func.func @main(%n: i64 {batch.name = "n"}) -> (i64 {batch.name = "fib"})
    attributes {batch.entry} {
  %y = call @fibonacci(%n) : (i64) -> i64
  return %y : i64
}
