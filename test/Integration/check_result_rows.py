#!/usr/bin/env python3
"""check_result_rows.py: tests results that have a number of rows (batch.rows), with each
strategy.

An instance has as many rows as its number specifies, from none to all. A number out of
range is an error that names the instance.
"""

import json
import os
import re
import subprocess

import batchtest

MODEL = """
!row = tensor<3xf32>
!rows = tensor<5x3xf32>
func.func @main(%x: !row {batch.name = "x"}, %k: i32 {batch.name = "k"})
    -> (!rows {batch.name = "out", batch.rows = "n"}, i32 {batch.name = "n"})
    attributes {batch.entry} {
  %init = tensor.empty() : !rows
  %all = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : !row) outs(%init : !rows) {
  ^bb0(%e: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %f = arith.sitofp %c : i32 to f32
    %s = arith.addf %e, %f : f32
    linalg.yield %s : f32
  } -> !rows
  return %all, %k : !rows, i32
}
"""

checks = batchtest.Checks("results with a count of rows")
scratch = batchtest.temporary()
model = batchtest.write_lines(os.path.join(scratch, "rows.mlir"), [MODEL])


def lines(name, counts):
    return batchtest.write_lines(os.path.join(scratch, name), [
        json.dumps({"x": [float(10 * i + j) for j in range(3)], "k": k})
        for i, k in enumerate(counts)])


counts = [3, 0, 5, 1]
good = lines("good", counts)
wanted = [float(10 * i + j + row) for i, k in enumerate(counts) for row in range(k)
          for j in range(3)]
for strategy in ("linearize", "lockstep", "mask", "lazy", "replicate"):
    program = checks.run("compile for " + strategy, lambda: batchtest.compile_model(
        model, os.path.join(scratch, strategy + ".so"), None, "--strategy=" + strategy))
    if not program:
        continue
    out = os.path.join(scratch, "out")
    if checks.run(strategy, lambda: batchtest.run_model(
            program, good, "--outputs=" + out, batch=3)):
        found = batchtest.read_safetensors(out)
        checks.equal(strategy + ": shape", found["out"][1], [sum(counts), 3])
        checks.equal(strategy + ": rows", list(found["out"][2]), wanted)
        checks.equal(strategy + ": offsets", list(found["out.offsets"][2]),
                     [0, 3, 3, 8, 9])
        checks.equal(strategy + ": counts", list(found["n"][2]), counts)
    for wrong in (6, -1):
        done = subprocess.run([batchtest.tool("batch-run"), program,
                               "--inputs=" + lines("wrong", [2, wrong])],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        text = "instance 1: result 'n' specifies %d rows for 'out'; expected 0 to 5" % wrong
        checks.expect("%s: a count of %d" % (strategy, wrong), done.returncode == 1 and
                      re.search(re.escape(text), done.stderr.decode()),
                      done.stderr.decode())
checks.exit()
