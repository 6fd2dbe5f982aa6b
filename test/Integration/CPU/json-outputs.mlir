// RUN: printf '{"x": [1, 2], "xs": [[1, 2], [3, 4]]}\n{"x": [0, "NaN"], "xs": []}\n' > %t.inputs.jsonl
// RUN: batch-run %s --inputs=%t.inputs.jsonl --outputs=%t.jsonl
// RUN: FileCheck %s --match-full-lines --strict-whitespace --check-prefix=LINES < %t.jsonl
// RUN: not batch-run %s --inputs=%t.inputs.jsonl --outputs=%t.json 2>&1 | FileCheck %s --check-prefix=ERROR

// Each instance is one line. The rows of a ragged result are a list.
//      LINES:{"y":[2.0,3.0],"n":[1],"ys":{{\[\[}}2.0,3.0],[4.0,5.0]]}
// LINES-NEXT:{"y":[1.0,"NaN"],"n":[1],"ys":[]}
//  LINES-NOT:{{.}}
// ERROR: batch-run: error: invalid value '{{.*}}.json' for --outputs; expected FILE.safetensors, or FILE.jsonl for one JSON object per instance

!vec = tensor<2xf32>
func.func @main(%x: !vec {batch.name = "x"}, %xs: !rec.list<!vec> {batch.name = "xs"})
    -> (!vec {batch.name = "y"}, i32 {batch.name = "n"}, !rec.list<!vec> {batch.name = "ys"})
    attributes {batch.entry} {
  %one = arith.constant dense<1.0> : !vec
  %n = arith.constant 1 : i32
  %y = arith.addf %x, %one : !vec
  %ys = rec.map %r in %xs : !rec.list<!vec> -> !rec.list<!vec> {
    %s = arith.addf %r, %one : !vec
    rec.yield %s : !vec
  }
  return %y, %n, %ys : !vec, i32, !rec.list<!vec>
}
