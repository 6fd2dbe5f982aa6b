// Ackermann's function, computed by two functions that call each other. Some arguments of
// calls are calls themselves.
//
//   even(m, n) = m == 0 ? n + 1 : n == 0 ? odd(m - 1, 1) : odd(m - 1, even(m, n - 1))
//   odd(m, n)  = m == 0 ? n + 1 : n == 0 ? even(m - 1, 1) : even(m - 1, odd(m, n - 1))
//
// Run it:
//   echo '{"m": 2, "n": 3}' > mn.jsonl
//   batch-run test/models/ackermann.mlir --inputs=mn.jsonl

func.func private @even(%m: i64, %n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %base = arith.cmpi eq, %m, %zero : i64
  %y = scf.if %base -> i64 {
    %next = arith.addi %n, %one : i64
    scf.yield %next : i64
  } else {
    %m1 = arith.subi %m, %one : i64
    %last = arith.cmpi eq, %n, %zero : i64
    %inner = scf.if %last -> i64 {
      scf.yield %one : i64
    } else {
      %n1 = arith.subi %n, %one : i64
      %a = func.call @even(%m, %n1) : (i64, i64) -> i64
      scf.yield %a : i64
    }
    %a = func.call @odd(%m1, %inner) : (i64, i64) -> i64
    scf.yield %a : i64
  }
  return %y : i64
}

func.func private @odd(%m: i64, %n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %base = arith.cmpi eq, %m, %zero : i64
  %y = scf.if %base -> i64 {
    %next = arith.addi %n, %one : i64
    scf.yield %next : i64
  } else {
    %m1 = arith.subi %m, %one : i64
    %last = arith.cmpi eq, %n, %zero : i64
    %inner = scf.if %last -> i64 {
      scf.yield %one : i64
    } else {
      %n1 = arith.subi %n, %one : i64
      %a = func.call @odd(%m, %n1) : (i64, i64) -> i64
      scf.yield %a : i64
    }
    %a = func.call @even(%m1, %inner) : (i64, i64) -> i64
    scf.yield %a : i64
  }
  return %y : i64
}

func.func @main(%m: i64 {batch.name = "m"}, %n: i64 {batch.name = "n"})
    -> (i64 {batch.name = "ackermann"}) attributes {batch.entry} {
  %y = call @even(%m, %n) : (i64, i64) -> i64
  return %y : i64
}
