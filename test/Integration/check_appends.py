#!/usr/bin/env python3
"""check_appends.py: tests lists that grow (rec.append).

Batched equals unbatched bit for bit, for any mini-batch and number of threads: lists of
numbers, lists of lists, and lists of rows that kernels read, whether control flow runs ahead
or waits. The contents of lists, including lists from which several others continue, are
compared with Python lists. The memory of long lists grows with their length, not with its
square.
"""

import json
import os
import random

import batchtest

checks = batchtest.Checks("appends")
scratch = batchtest.temporary()

# Two lists. A step extends the first list, sets the second to an extension of the first, sets
# both to extensions of the second, or swaps them. All values of the first list are results.
LISTS = """
!vec = tensor<16xf32>
!rows = tensor<?x16xf32>
!ns = !rec.list<index>
func.func private @step(%op: index, %a: !ns, %b: !ns) -> (!ns, !ns) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %kind = arith.remui %op, %c4 : index
  %is0 = arith.cmpi eq, %kind, %c0 : index
  %is1 = arith.cmpi eq, %kind, %c1 : index
  %is2 = arith.cmpi eq, %kind, %c2 : index
  %r:2 = scf.if %is0 -> (!ns, !ns) {
    %x = rec.append %a, %op : !ns
    scf.yield %x, %b : !ns, !ns
  } else {
    %s:2 = scf.if %is1 -> (!ns, !ns) {
      %y = rec.append %a, %op : !ns
      scf.yield %a, %y : !ns, !ns
    } else {
      %t:2 = scf.if %is2 -> (!ns, !ns) {
        %x = rec.append %b, %op : !ns
        %y = rec.append %b, %kind : !ns
        scf.yield %x, %y : !ns, !ns
      } else {
        scf.yield %b, %a : !ns, !ns
      }
      scf.yield %t#0, %t#1 : !ns, !ns
    }
    scf.yield %s#0, %s#1 : !ns, !ns
  }
  return %r#0, %r#1 : !ns, !ns
}
func.func @main(%ops: !ns {batch.name = "ops"}, %E: !rows {batch.shared = "E"})
    -> (!ns {batch.name = "a"}, !ns {batch.name = "b"},
        !rec.list<!ns> {batch.name = "all"}, !rows {batch.name = "rows"},
        !vec {batch.name = "sum"}) attributes {batch.entry} {
  %none = rec.empty : !ns
  %nones = rec.empty : !rec.list<!ns>
  %zero = arith.constant dense<0.5> : !vec
  %norows = rec.empty : !rows
  %a, %b, %all, %rows = rec.fold %op in %ops
      init(%x = %none, %y = %none, %z = %nones, %w = %norows)
      : !ns -> !ns, !ns, !rec.list<!ns>, !rows {
    %p, %q = func.call @step(%op, %x, %y) : (index, !ns, !ns) -> (!ns, !ns)
    %r = rec.append %z, %p : !rec.list<!ns>
    %e = tensor.extract_slice %E[%op, 0] [1, 16] [1, 1] : !rows to !vec
    // A kernel reads all rows that were made so far.
    %s = linalg.reduce { arith.addf } ins(%w : !rows) outs(%zero : !vec) dimensions = [0]
    %t = arith.mulf %s, %e : !vec
    %u = math.sin %t : !vec
    %v = rec.append %w, %u : !rows
    rec.yield %p, %q, %r, %v : !ns, !ns, !rec.list<!ns>, !rows
  }
  %es = rec.map %n in %a : !ns -> !rows {
    %e = tensor.extract_slice %E[%n, 0] [1, 16] [1, 1] : !rows to !vec
    rec.yield %e : !vec
  }
  %sum = linalg.reduce { arith.addf } ins(%es : !rows) outs(%zero : !vec) dimensions = [0]
  return %a, %b, %all, %rows, %sum : !ns, !ns, !rec.list<!ns>, !rows, !vec
}
"""

# A decoder that attends over all keys and values so far. A second list contains the even words,
# and zero in place of each odd word. Each step computes both extensions of this list. Nested
# loops, which wait, compute the words in groups.
DECODER = """
#at = affine_map<(t, d) -> (t, d)>
#t = affine_map<(t, d) -> (t)>
#d = affine_map<(t, d) -> (d)>
!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!rows = tensor<?x16xf32>
!weights = tensor<?xf32>
!scalar = tensor<f32>
!logits = tensor<24xf32>
!words = !rec.list<index>
func.func private @attend(%q: !vec, %keys: !rows, %values: !rows) -> !vec {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %n = tensor.dim %keys, %c0 : !rows
  %e = tensor.empty(%n) : !weights
  %none = linalg.fill ins(%zero : f32) outs(%e : !weights) -> !weights
  %scores = linalg.generic {indexing_maps = [#at, #d, #t],
      iterator_types = ["parallel", "reduction"]}
      ins(%keys, %q : !rows, !vec) outs(%none : !weights) {
  ^bb0(%k: f32, %x: f32, %s: f32):
    %p = arith.mulf %k, %x : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> !weights
  %lows = arith.constant dense<0xFF800000> : !scalar
  %most = linalg.reduce { arith.maximumf } ins(%scores : !weights) outs(%lows : !scalar)
      dimensions = [0]
  %exps = linalg.generic {indexing_maps = [affine_map<(t) -> (t)>, affine_map<(t) -> ()>,
      affine_map<(t) -> (t)>], iterator_types = ["parallel"]}
      ins(%scores, %most : !weights, !scalar) outs(%e : !weights) {
  ^bb0(%s: f32, %m: f32, %out: f32):
    %d = arith.subf %s, %m : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> !weights
  %zeros = arith.constant dense<0.0> : !scalar
  %sum = linalg.reduce { arith.addf } ins(%exps : !weights) outs(%zeros : !scalar)
      dimensions = [0]
  %nothing = arith.constant dense<0.0> : !vec
  %mix = linalg.generic {indexing_maps = [#t, #at, #d],
      iterator_types = ["reduction", "parallel"]}
      ins(%exps, %values : !weights, !rows) outs(%nothing : !vec) {
  ^bb0(%p: f32, %v: f32, %s: f32):
    %x = arith.mulf %p, %v : f32
    %r = arith.addf %s, %x : f32
    linalg.yield %r : f32
  } -> !vec
  %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>,
      affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%mix, %sum : !vec, !scalar) outs(%nothing : !vec) {
  ^bb0(%m: f32, %s: f32, %out: f32):
    %x = arith.divf %m, %s : f32
    linalg.yield %x : f32
  } -> !vec
  return %y : !vec
}
func.func private @argmax(%logits: !logits) -> index {
  %low = arith.constant dense<0xFF800000> : !scalar
  %most = linalg.reduce { arith.maximumf } ins(%logits : !logits) outs(%low : !scalar)
      dimensions = [0]
  %none = arith.constant dense<2147483647> : tensor<i32>
  %first = linalg.generic {
      indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
      iterator_types = ["reduction"]}
      ins(%logits, %most : !logits, !scalar) outs(%none : tensor<i32>) {
  ^bb0(%logit: f32, %max: f32, %before: i32):
    %position = linalg.index 0 : index
    %here = arith.index_cast %position : index to i32
    %is = arith.cmpf oeq, %logit, %max : f32
    %candidate = arith.select %is, %here, %before : i32
    %least = arith.minsi %candidate, %before : i32
    linalg.yield %least : i32
  } -> tensor<i32>
  %word = tensor.extract %first[] : tensor<i32>
  %i = arith.index_cast %word : i32 to index
  return %i : index
}
func.func @main(%w0: index {batch.name = "w"}, %limit: index {batch.name = "limit"},
                %E: !rows {batch.shared = "E"}, %K: !mat {batch.shared = "K"},
                %V: !mat {batch.shared = "V"}, %Q: !mat {batch.shared = "Q"},
                %W: tensor<24x16xf32> {batch.shared = "W"},
                %b: !logits {batch.shared = "b"})
    -> (!words {batch.name = "words"}, !words {batch.name = "taken"},
        !rows {batch.name = "keys"}, index {batch.name = "groups"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %true = arith.constant true
  %nowords = rec.empty : !words
  %norows = rec.empty : !rows
  %zero = arith.constant dense<0.0> : !vec
  %r:6 = scf.while (%words = %nowords, %taken = %nowords, %keys = %norows,
                    %values = %norows, %w = %w0, %groups = %c0)
      : (!words, !words, !rows, !rows, index, index)
      -> (!words, !words, !rows, !rows, index, index) {
    %s:6 = scf.while (%words1 = %words, %taken1 = %taken, %keys1 = %keys,
                      %values1 = %values, %w1 = %w, %n = %c0)
        : (!words, !words, !rows, !rows, index, index)
        -> (!words, !words, !rows, !rows, index, index) {
      %x = tensor.extract_slice %E[%w1, 0] [1, 16] [1, 1] : !rows to !vec
      %k0 = linalg.matvec ins(%K, %x : !mat, !vec) outs(%zero : !vec) -> !vec
      %k = math.sin %k0 : !vec
      %v = linalg.matvec ins(%V, %x : !mat, !vec) outs(%zero : !vec) -> !vec
      %q = linalg.matvec ins(%Q, %x : !mat, !vec) outs(%zero : !vec) -> !vec
      %keys2 = rec.append %keys1, %k : !rows
      %values2 = rec.append %values1, %v : !rows
      %y = func.call @attend(%q, %keys2, %values2) : (!vec, !rows, !rows) -> !vec
      %z = arith.addf %x, %y : !vec
      %logits = linalg.matvec ins(%W, %z : tensor<24x16xf32>, !vec)
                              outs(%b : !logits) -> !logits
      %next = func.call @argmax(%logits) : (!logits) -> index
      %words2 = rec.append %words1, %next : !words
      %one = rec.append %taken1, %next : !words
      %other = rec.append %taken1, %c0 : !words
      %rest = arith.remui %next, %c2 : index
      %even = arith.cmpi eq, %rest, %c0 : index
      %taken2 = scf.if %even -> !words {
        scf.yield %one : !words
      } else {
        scf.yield %other : !words
      }
      %n1 = arith.addi %n, %c1 : index
      %third = arith.remui %next, %c3 : index
      %goes = arith.cmpi ne, %third, %c0 : index
      %room = arith.cmpi ult, %n1, %c5 : index
      %more = arith.andi %goes, %room : i1
      // The next word also depends on how many there are, so that few repeat.
      %m = rec.length %words2 : !words
      %mixed = arith.addi %next, %m : index
      %c24 = arith.constant 24 : index
      %w2 = arith.remui %mixed, %c24 : index
      scf.condition(%more) %words2, %taken2, %keys2, %values2, %w2, %n1
          : !words, !words, !rows, !rows, index, index
    } do {
    ^bb0(%a: !words, %a1: !words, %a2: !rows, %a3: !rows, %a4: index, %a5: index):
      scf.yield %a, %a1, %a2, %a3, %a4, %a5
          : !words, !words, !rows, !rows, index, index
    }
    %groups1 = arith.addi %groups, %c1 : index
    %count = rec.length %s#0 : !words
    %more = arith.cmpi ult, %count, %limit : index
    scf.condition(%more) %s#0, %s#1, %s#2, %s#3, %s#4, %groups1
        : !words, !words, !rows, !rows, index, index
  } do {
  ^bb0(%a: !words, %a1: !words, %a2: !rows, %a3: !rows, %a4: index, %a5: index):
    scf.yield %a, %a1, %a2, %a3, %a4, %a5 : !words, !words, !rows, !rows, index, index
  }
  return %r#0, %r#1, %r#2, %r#5 : !words, !words, !rows, index
}
"""

# A decoder that writes `limit` words, and waits for each word.
LONG = """
!vec = tensor<16xf32>
!words = !rec.list<i64>
func.func @main(%x: !vec {batch.name = "x"}, %limit: i64 {batch.name = "limit"})
    -> (!words {batch.name = "words"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %low = arith.constant -2.0 : f32
  %none = rec.empty : !words
  %words, %h, %n = scf.while (%words = %none, %h = %x, %n = %zero)
      : (!words, !vec, i64) -> (!words, !vec, i64) {
    %e = tensor.extract %h[%c0] : !vec
    %high = arith.cmpf ogt, %e, %low : f32
    %few = arith.cmpi slt, %n, %limit : i64
    %more = arith.andi %high, %few : i1
    scf.condition(%more) %words, %h, %n : !words, !vec, i64
  } do {
  ^bb0(%words: !words, %h: !vec, %n: i64):
    %next = math.sin %h : !vec
    %longer = rec.append %words, %n : !words
    %m = arith.addi %n, %one : i64
    scf.yield %longer, %next, %m : !words, !vec, i64
  }
  return %words : !words
}
"""


def compiled(name, text, strategy):
    source = batchtest.write_lines(os.path.join(scratch, name + ".mlir"), [text])
    return checks.run("compile %s, %s" % (name, strategy), lambda: batchtest.compile_model(
        source, os.path.join(scratch, name + strategy + ".so"), None,
        "--strategy=" + strategy))


def outputs_of(name, program, lines):
    """Checks that the outputs are the same for all sizes of mini-batches, all numbers of threads,
    and unbatched code. Returns the outputs."""
    inputs = batchtest.write_lines(os.path.join(scratch, name + ".jsonl"), lines)
    out = os.path.join(scratch, "out.safetensors")
    wanted = None
    for batch in (1, 7, len(lines)):
        for threads in (1, 2, 3):
            what = "%s, batch %d, %d threads" % (name, batch, threads)
            report = checks.run(what, lambda: batchtest.run_model(
                program, inputs, "--outputs=" + out, "--nodes-per-worker=1",
                "--share-tasks=1", batch=batch, threads=threads))
            if not report:
                continue
            checks.equal(what + ": as unbatched", report["max_relative_error"], 0)
            found = batchtest.contents(out)
            wanted = wanted or found
            checks.expect(what + ": same bytes", found == wanted)
    return batchtest.read_safetensors(out)


def rows(outputs, name, instance):
    _, shape, values = outputs[name]
    begin, end = list(outputs[name + ".offsets"][2])[instance:instance + 2]
    width = shape[1] if len(shape) > 1 else 1
    return list(values[begin * width:end * width])


def replay(ops):
    a, b, kept = [], [], []
    for op in ops:
        kind = op % 4
        a, b = ((a + [op], b), (a, a + [op]), (b + [op], b + [kind]), (b, a))[kind]
        kept += a
    return a, b, kept


def check_lists():
    generator = random.Random(5)
    ops = [[generator.randrange(24) for _ in range(generator.choice((0, 1, 3, 20, 60)))]
           for _ in range(64)]
    lines = [json.dumps(list_of) for list_of in ops]
    for strategy in ("linearize", "lazy"):
        program = compiled("lists", LISTS, strategy)
        if not program:
            continue
        found = outputs_of("lists " + strategy, program, lines)
        for i, of in enumerate(ops):
            checks.equal("lists %s: instance %d" % (strategy, i),
                         [rows(found, name, i) for name in ("a", "b", "all")],
                         list(replay(of)))
            checks.equal("lists %s: rows of instance %d" % (strategy, i),
                         len(rows(found, "rows", i)), 16 * len(of))


def check_decoder():
    program = compiled("decoder", DECODER, "lazy")
    if not program:
        return
    lines = [json.dumps({"w": i % 24, "limit": i % 13}) for i in range(64)]
    found = outputs_of("decoder", program, lines)
    different = set()
    for i in range(64):
        words = rows(found, "words", i)
        different.add(tuple(words))
        checks.equal("decoder: history of instance %d" % i, rows(found, "taken", i),
                     [w if w % 2 == 0 else 0 for w in words])
        checks.equal("decoder: keys of instance %d" % i, len(rows(found, "keys", i)),
                     16 * len(words))
        ends = n = 0
        for at, word in enumerate(words):
            n += 1
            if word % 3 == 0 or n == 5:
                ends, n = ends + 1, 0
                checks.expect("decoder: end of instance %d" % i,
                              (at + 1 >= i % 13) == (at + 1 == len(words)))
        checks.equal("decoder: groups of instance %d" % i, found["groups"][2][i], ends)
    checks.expect("decoder: instances differ", len(different) > 20, len(different))


def check_memory():
    """Checks the memory of lists. Each word adds a cell. Additional memory is used only for the
    records of tasks and for arrays that double."""
    program = compiled("long", LONG, "lazy")
    if not program:
        return
    count, reserved = 64, []
    for steps in (500, 1000):
        inputs = batchtest.write_lines(os.path.join(scratch, "long.jsonl"), [
            json.dumps({"x": [i / 64] * 16, "limit": steps}) for i in range(count)])
        out = os.path.join(scratch, "long.safetensors")
        report = checks.run("long, %d steps" % steps, lambda: batchtest.run_model(
            program, inputs, "--outputs=" + out, check=False))
        if not report:
            return
        found = batchtest.read_safetensors(out)
        checks.expect("long, %d steps: words" % steps,
                      list(found["words"][2]) == list(range(steps)) * count)
        checks.equal("long, %d steps: flushes" % steps, report["flushes"], steps)
        reserved.append(report["memory_bytes"]["records"])
    checks.expect("long: bytes for lists", reserved[1] < 2 * 4 * 8 * 1000 * count,
                  reserved)
    checks.expect("long: bytes grow as the lists", reserved[1] < 2.5 * reserved[0],
                  reserved)


check_lists()
check_decoder()
check_memory()
checks.exit()
