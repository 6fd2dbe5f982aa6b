// StackRNN: a transition parser whose next action depends on its current structures (Dyer
// et al., 2015, with plain recurrent cells). Stack, buffer and history are recurrent
// networks. Removing the top of the stack restores an older state.
//
//   cell(x, h; W, b) = sigmoid(W [x; h] + b)
//   buffer  : b_n = h0_b, b_i = cell_b(E[w_i], b_{i+1})
//   while the buffer has words, or the stack has more than one element:
//     p = relu(W_p [top of stack; b_i; history] + b_p)
//     a = argmax of G p + g over the legal actions
//     0 shifts: e = E[w_i]; all others reduce the two topmost elements to
//       e = tanh(W_c [head; dependent; R[a - 1]] + b_c), with the top as head if a is odd
//     push (e, cell_s(e, top of stack)); history = cell_a(A[a], history)
//
// Run it:
//   batch-run test/models/stackrnn.mlir --params=random:0 \
//     --inputs=examples/data/sentences.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!pair = tensor<256x512xf32>
!triple = tensor<256x768xf32>
!two = tensor<512xf32>
!three = tensor<768xf32>
!emb = tensor<?x256xf32>
!actions = tensor<41x256xf32>
!scores = tensor<41xf32>
!scalar = tensor<f32>
!number = tensor<i32>
!words = !rec.list<index>
!items = !rec.adt<@Items>
!steps = !rec.adt<@Steps>

module attributes {batch.sizes = {H = 256 : index, ACTIONS = 41 : index}} {
  // A stack or a buffer: elements with the states of the recurrent network.
  rec.adt @Items {
    rec.variant @none()
    rec.variant @item(e: !vec, state: !vec, rest: !items)
  }
  // Result of the model: the steps, each with its action, its state and all earlier steps.
  rec.adt @Steps {
    rec.variant @start()
    rec.variant @step(before: !steps, actions: i32, top_states: !vec)
  }

  func.func private @cell(%x: !vec, %h: !vec, %W: !pair, %b: !vec) -> !vec {
    %xh = tensor.concat dim(0) %x, %h : (!vec, !vec) -> !two
    %a = linalg.matvec ins(%W, %xh : !pair, !two) outs(%b : !vec) -> !vec
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %a : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  // The best action. `shift` and `reduce` are 0 for legal actions, else -infinity.
  func.func private @choose(%top: !vec, %next: !vec, %history: !vec, %shift: f32,
                            %reduce: f32, %W: !triple, %b: !vec, %G: !actions,
                            %g: !scores) -> i32 {
    %all = tensor.concat dim(0) %top, %next, %history : (!vec, !vec, !vec) -> !three
    %a = linalg.matvec ins(%W, %all : !triple, !three) outs(%b : !vec) -> !vec
    %zero = arith.constant dense<0.0> : !vec
    %p = arith.maximumf %a, %zero : !vec
    %scores = linalg.matvec ins(%G, %p : !actions, !vec) outs(%g : !scores) -> !scores
    %none = tensor.empty() : !scores
    %legal = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
        iterator_types = ["parallel"]}
        ins(%scores : !scores) outs(%none : !scores) {
    ^bb0(%score: f32, %out: f32):
      %action = linalg.index 0 : index
      %first = arith.constant 0 : index
      %shifts = arith.cmpi eq, %action, %first : index
      %penalty = arith.select %shifts, %shift, %reduce : f32
      %sum = arith.addf %score, %penalty : f32
      linalg.yield %sum : f32
    } -> !scores
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%legal : !scores) outs(%low : !scalar)
        dimensions = [0]
    %last = arith.constant dense<2147483647> : !number
    %best = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
        iterator_types = ["reduction"]}
        ins(%legal, %most : !scores, !scalar) outs(%last : !number) {
    ^bb0(%score: f32, %max: f32, %before: i32):
      %position = linalg.index 0 : index
      %here = arith.index_cast %position : index to i32
      %is = arith.cmpf oeq, %score, %max : f32
      %candidate = arith.select %is, %here, %before : i32
      %least = arith.minsi %candidate, %before : i32
      linalg.yield %least : i32
    } -> !number
    %action = tensor.extract %best[] : !number
    return %action : i32
  }

  func.func private @compose(%head: !vec, %dependent: !vec, %r: !vec, %W: !triple,
                             %b: !vec) -> !vec {
    %all = tensor.concat dim(0) %head, %dependent, %r : (!vec, !vec, !vec) -> !three
    %a = linalg.matvec ins(%W, %all : !triple, !three) outs(%b : !vec) -> !vec
    %e = math.tanh %a : !vec
    return %e : !vec
  }

  // The first element, its state, and the rest; or `e` and `empty` if there is no element.
  func.func private @split(%items: !items, %e: !vec, %empty: !vec)
      -> (!vec, !vec, !items) {
    %r:3 = rec.match %items : !items -> !vec, !vec, !items {
    case @none() {
      rec.yield %e, %empty, %items : !vec, !vec, !items
    }
    case @item(%first: !vec, %state: !vec, %rest: !items) {
      rec.yield %first, %state, %rest : !vec, !vec, !items
    } }
    return %r#0, %r#1, %r#2 : !vec, !vec, !items
  }

  func.func @main(%tokens: !words {batch.name = "tokens"}, %E: !emb {batch.shared = "E"},
                  %A: !emb {batch.shared = "A"}, %R: !emb {batch.shared = "R"},
                  %W_p: !triple {batch.shared = "W_p"}, %b_p: !vec {batch.shared = "b_p"},
                  %W_c: !triple {batch.shared = "W_c"}, %b_c: !vec {batch.shared = "b_c"},
                  %W_s: !pair {batch.shared = "W_s"}, %b_s: !vec {batch.shared = "b_s"},
                  %W_b: !pair {batch.shared = "W_b"}, %b_b: !vec {batch.shared = "b_b"},
                  %W_a: !pair {batch.shared = "W_a"}, %b_a: !vec {batch.shared = "b_a"},
                  %G: !actions {batch.shared = "G"}, %g: !scores {batch.shared = "g"},
                  %h0_s: !vec {batch.shared = "h0_s"}, %h0_b: !vec {batch.shared = "h0_b"},
                  %h0_a: !vec {batch.shared = "h0_a"})
      -> (!steps {batch.name = "steps"}, !vec {batch.name = "root"})
      attributes {batch.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %allowed = arith.constant 0.0 : f32
    %forbidden = arith.constant 0xFF800000 : f32
    %none = rec.construct @Items::@none() : () -> !items
    %start = rec.construct @Steps::@start() : () -> !steps
    %length = rec.length %tokens : !words
    // The buffer is built from the last word to the first.
    %buffer, %b0 = scf.for %i = %c0 to %length step %c1
        iter_args(%items = %none, %state = %h0_b) -> (!items, !vec) {
      %next = arith.addi %i, %c1 : index
      %k = arith.subi %length, %next : index
      %w = rec.element %tokens[%k] : !words -> index
      %e = tensor.extract_slice %E[%w, 0] [1, 256] [1, 1] : !emb to !vec
      %b = func.call @cell(%e, %state, %W_b, %b_b) : (!vec, !vec, !pair, !vec) -> !vec
      %more = rec.construct @Items::@item(%e, %b, %items) : (!vec, !vec, !items) -> !items
      scf.yield %more, %b : !items, !vec
    }
    %words = arith.index_cast %length : index to i32
    %r:8 = scf.while (%stack = %none, %rest = %buffer, %top = %h0_s, %next = %b0,
                      %history = %h0_a, %size = %zero, %left = %words, %steps = %start)
        : (!items, !items, !vec, !vec, !vec, i32, i32, !steps)
        -> (!items, !items, !vec, !vec, !vec, i32, i32, !steps) {
      %has_words = arith.cmpi sgt, %left, %zero : i32
      %has_two = arith.cmpi sgt, %size, %one : i32
      %goes_on = arith.ori %has_words, %has_two : i1
      scf.condition(%goes_on) %stack, %rest, %top, %next, %history, %size, %left, %steps
          : !items, !items, !vec, !vec, !vec, i32, i32, !steps
    } do {
    ^bb0(%stack: !items, %rest: !items, %top: !vec, %next: !vec, %history: !vec,
         %size: i32, %left: i32, %steps: !steps):
      %has_words = arith.cmpi sgt, %left, %zero : i32
      %has_two = arith.cmpi sgt, %size, %one : i32
      %shift = arith.select %has_words, %allowed, %forbidden : f32
      %reduce = arith.select %has_two, %allowed, %forbidden : f32
      %action = func.call @choose(%top, %next, %history, %shift, %reduce, %W_p, %b_p, %G, %g)
          : (!vec, !vec, !vec, f32, f32, !triple, !vec, !actions, !scores) -> i32
      %a = arith.index_cast %action : i32 to index
      %shifts = arith.cmpi eq, %action, %zero : i32
      %taken:7 = scf.if %shifts -> (!vec, !items, !vec, !items, !vec, i32, i32) {
        %e, %state, %behind = func.call @split(%rest, %h0_b, %h0_b)
            : (!items, !vec, !vec) -> (!vec, !vec, !items)
        %e2, %next_state, %behind2 = func.call @split(%behind, %h0_b, %h0_b)
            : (!items, !vec, !vec) -> (!vec, !vec, !items)
        %less = arith.subi %left, %one : i32
        %more = arith.addi %size, %one : i32
        scf.yield %e, %stack, %top, %behind, %next_state, %more, %less
            : !vec, !items, !vec, !items, !vec, i32, i32
      } else {
        %first, %state1, %below1 = func.call @split(%stack, %h0_s, %h0_s)
            : (!items, !vec, !vec) -> (!vec, !vec, !items)
        %second, %state2, %below2 = func.call @split(%below1, %h0_s, %h0_s)
            : (!items, !vec, !vec) -> (!vec, !vec, !items)
        %third, %under, %below3 = func.call @split(%below2, %h0_s, %h0_s)
            : (!items, !vec, !vec) -> (!vec, !vec, !items)
        %bit = arith.andi %action, %one : i32
        %odd = arith.cmpi eq, %bit, %one : i32
        %head, %dependent = scf.if %odd -> (!vec, !vec) {
          scf.yield %first, %second : !vec, !vec
        } else {
          scf.yield %second, %first : !vec, !vec
        }
        %relation = arith.subi %a, %c1 : index
        %row = tensor.extract_slice %R[%relation, 0] [1, 256] [1, 1] : !emb to !vec
        %e = func.call @compose(%head, %dependent, %row, %W_c, %b_c)
            : (!vec, !vec, !vec, !triple, !vec) -> !vec
        %less = arith.subi %size, %one : i32
        scf.yield %e, %below2, %under, %rest, %next, %less, %left
            : !vec, !items, !vec, !items, !vec, i32, i32
      }
      %state = func.call @cell(%taken#0, %taken#2, %W_s, %b_s)
          : (!vec, !vec, !pair, !vec) -> !vec
      %pushed = rec.construct @Items::@item(%taken#0, %state, %taken#1)
          : (!vec, !vec, !items) -> !items
      %done = tensor.extract_slice %A[%a, 0] [1, 256] [1, 1] : !emb to !vec
      %after = func.call @cell(%done, %history, %W_a, %b_a)
          : (!vec, !vec, !pair, !vec) -> !vec
      %step = rec.construct @Steps::@step(%steps, %action, %state)
          : (!steps, i32, !vec) -> !steps
      scf.yield %pushed, %taken#3, %state, %taken#4, %after, %taken#5, %taken#6, %step
          : !items, !items, !vec, !vec, !vec, i32, i32, !steps
    }
    %root, %state, %below = func.call @split(%r#0, %h0_s, %h0_s)
        : (!items, !vec, !vec) -> (!vec, !vec, !items)
    return %r#7, %root : !steps, !vec
  }
}
