// LSTM-NMT with beam search: translation by two recurrent networks. The decoder keeps the
// 4 sentences with the largest sums of log probabilities, and extends those that have not
// ended. A sentence that has ended keeps its sum. The search stops when all 4 have ended,
// or after `limit` words. The translation is the best sentence that has ended, or the best
// of all if none has ended.
//
//   x(w)    = tanh(W_in E[w] + b_in), with separate parameters for encoder and decoder
//   encoder : for w in src: (h, c) = lstm(x(w), h, c), from (h0, c0)
//   decoder : for each beam: (h, c) = lstm(x(w), h, c), and for all words v
//             score(v) = score + log softmax(W_out h + b_out)[v]
//             the 4 largest of all beams are the next beams, ties by beam and word
//   lstm    : i, f, o = sigmoid(W_* x + U_* h + b_*), g = tanh(W_g x + U_g h + b_g)
//             c' = f * c + i * g, h' = o * tanh(c')
//
// Each beam selects its 4 best words in its own kernel. Another kernel selects the 4 best
// of all beams. Control flow waits for this result once per step. Beams that have ended compute
// nothing.
//
// Run it:
//   batch-run test/models/lstm_nmt_beam.mlir --params=random:0 \
//     --inputs=random:1,10 --strategy=lazy --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!rows = tensor<?x256xf32>
!out = tensor<4000x256xf32>
!classes = tensor<4000xf32>
!scalar = tensor<f32>
!number = tensor<i32>
!best = tensor<4xf32>
!best_words = tensor<4xi32>
!all_best = tensor<?x4xf32>
!all_words = tensor<?x4xi32>
!words = !rec.list<index>
!places = !rec.list<index>
!flags = !rec.list<i1>
!numbers = !rec.list<i32>
!sentence = !rec.adt<@Sentence>
!sentences = !rec.list<!rec.adt<@Sentence>>

#id = affine_map<(d) -> (d)>
#none = affine_map<(d) -> ()>
#place = affine_map<(beam, rank) -> (beam, rank)>
#whole = affine_map<(beam, rank) -> ()>

module attributes {batch.sizes = {H = 256 : index, V = 4000 : index}} {
  // Result of the model: the words of a sentence, each with all words before it.
  rec.adt @Sentence {
    rec.variant @empty()
    rec.variant @word(before: !sentence, out: i32)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  // W x + U h + b
  func.func private @gate(%x: !vec, %h: !vec, %W: !mat, %U: !mat, %b: !vec) -> !vec {
    %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %a = linalg.matvec ins(%U, %h : !mat, !vec) outs(%wx : !vec) -> !vec
    return %a : !vec
  }

  func.func private @lstm(
      %x: !vec, %h: !vec, %c: !vec,
      %W_i: !mat, %U_i: !mat, %b_i: !vec, %W_f: !mat, %U_f: !mat, %b_f: !vec,
      %W_g: !mat, %U_g: !mat, %b_g: !vec, %W_o: !mat, %U_o: !mat, %b_o: !vec)
      -> (!vec, !vec) {
    %ai = func.call @gate(%x, %h, %W_i, %U_i, %b_i)
        : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %af = func.call @gate(%x, %h, %W_f, %U_f, %b_f)
        : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %ag = func.call @gate(%x, %h, %W_g, %U_g, %b_g)
        : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %ao = func.call @gate(%x, %h, %W_o, %U_o, %b_o)
        : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %i = func.call @sigmoid(%ai) : (!vec) -> !vec
    %f = func.call @sigmoid(%af) : (!vec) -> !vec
    %g = math.tanh %ag : !vec
    %o = func.call @sigmoid(%ao) : (!vec) -> !vec
    %fc = arith.mulf %f, %c : !vec
    %ig = arith.mulf %i, %g : !vec
    %next = arith.addf %fc, %ig : !vec
    %t = math.tanh %next : !vec
    %y = arith.mulf %o, %t : !vec
    return %y, %next : !vec, !vec
  }

  func.func private @input(%word: index, %E: !emb, %W: !mat, %b: !vec) -> !vec {
    %e = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
    %a = linalg.matvec ins(%W, %e : !mat, !vec) outs(%b : !vec) -> !vec
    %x = math.tanh %a : !vec
    return %x : !vec
  }

  // Returns the score that follows %last in descending order, and its word. Equal scores are
  // ordered by their words.
  func.func private @next_word(%scores: !classes, %last: !scalar, %last_word: !number)
      -> (!scalar, !number) {
    %low = arith.constant dense<0xFF800000> : !scalar
    %none = arith.constant dense<2147483647> : !number
    %most = linalg.generic {indexing_maps = [#id, #none, #none, #none],
                            iterator_types = ["reduction"]}
        ins(%scores, %last, %last_word : !classes, !scalar, !number) outs(%low : !scalar) {
    ^bb0(%score: f32, %before: f32, %word_before: i32, %so_far: f32):
      %position = linalg.index 0 : index
      %word = arith.index_cast %position : index to i32
      %is_less = arith.cmpf olt, %score, %before : f32
      %is_equal = arith.cmpf oeq, %score, %before : f32
      %is_later = arith.cmpi sgt, %word, %word_before : i32
      %follows = arith.andi %is_equal, %is_later : i1
      %counts = arith.ori %is_less, %follows : i1
      %candidate = arith.select %counts, %score, %so_far : f32
      %larger = arith.maximumf %candidate, %so_far : f32
      linalg.yield %larger : f32
    } -> !scalar
    %first = linalg.generic {indexing_maps = [#id, #none, #none, #none, #none],
                             iterator_types = ["reduction"]}
        ins(%scores, %last, %last_word, %most : !classes, !scalar, !number, !scalar)
        outs(%none : !number) {
    ^bb0(%score: f32, %before: f32, %word_before: i32, %max: f32, %so_far: i32):
      %position = linalg.index 0 : index
      %word = arith.index_cast %position : index to i32
      %is_max = arith.cmpf oeq, %score, %max : f32
      %is_new = arith.cmpf one, %max, %before : f32
      %is_later = arith.cmpi sgt, %word, %word_before : i32
      %counts = arith.ori %is_new, %is_later : i1
      %is = arith.andi %is_max, %counts : i1
      %candidate = arith.select %is, %word, %so_far : i32
      %least = arith.minsi %candidate, %so_far : i32
      linalg.yield %least : i32
    } -> !number
    return %most, %first : !scalar, !number
  }

  // Returns the 4 largest of score + log softmax(logits), and their words.
  func.func private @best_words(%logits: !classes, %score: f32) -> (!best, !best_words) {
    %low = arith.constant dense<0xFF800000> : !scalar
    %zero = arith.constant dense<0.0> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%logits : !classes) outs(%low : !scalar)
        dimensions = [0]
    %sum = linalg.generic {indexing_maps = [#id, #none, #none],
                           iterator_types = ["reduction"]}
        ins(%logits, %most : !classes, !scalar) outs(%zero : !scalar) {
    ^bb0(%logit: f32, %max: f32, %so_far: f32):
      %below = arith.subf %logit, %max : f32
      %e = math.exp %below : f32
      %next = arith.addf %so_far, %e : f32
      linalg.yield %next : f32
    } -> !scalar
    %log = math.log %sum : !scalar
    %empty = tensor.empty() : !classes
    %scores = linalg.generic {indexing_maps = [#id, #none, #none, #id],
                              iterator_types = ["parallel"]}
        ins(%logits, %most, %log : !classes, !scalar, !scalar) outs(%empty : !classes) {
    ^bb0(%logit: f32, %max: f32, %l: f32, %out: f32):
      %below = arith.subf %logit, %max : f32
      %p = arith.subf %below, %l : f32
      %s = arith.addf %score, %p : f32
      linalg.yield %s : f32
    } -> !classes
    %high = arith.constant dense<0x7F800000> : !scalar
    %before = arith.constant dense<-1> : !number
    %s0, %w0 = func.call @next_word(%scores, %high, %before)
        : (!classes, !scalar, !number) -> (!scalar, !number)
    %s1, %w1 = func.call @next_word(%scores, %s0, %w0)
        : (!classes, !scalar, !number) -> (!scalar, !number)
    %s2, %w2 = func.call @next_word(%scores, %s1, %w1)
        : (!classes, !scalar, !number) -> (!scalar, !number)
    %s3, %w3 = func.call @next_word(%scores, %s2, %w2)
        : (!classes, !scalar, !number) -> (!scalar, !number)
    %best = func.call @four_scores(%s0, %s1, %s2, %s3)
        : (!scalar, !scalar, !scalar, !scalar) -> !best
    %words = func.call @four_numbers(%w0, %w1, %w2, %w3)
        : (!number, !number, !number, !number) -> !best_words
    return %best, %words : !best, !best_words
  }

  func.func private @four_scores(%a: !scalar, %b: !scalar, %c: !scalar, %d: !scalar)
      -> !best {
    %0 = tensor.extract %a[] : !scalar
    %1 = tensor.extract %b[] : !scalar
    %2 = tensor.extract %c[] : !scalar
    %3 = tensor.extract %d[] : !scalar
    %all = tensor.from_elements %0, %1, %2, %3 : !best
    return %all : !best
  }

  func.func private @four_numbers(%a: !number, %b: !number, %c: !number, %d: !number)
      -> !best_words {
    %0 = tensor.extract %a[] : !number
    %1 = tensor.extract %b[] : !number
    %2 = tensor.extract %c[] : !number
    %3 = tensor.extract %d[] : !number
    %all = tensor.from_elements %0, %1, %2, %3 : !best_words
    return %all : !best_words
  }

  // The only continuation of a beam that has ended is the beam itself.
  func.func private @ended(%score: f32) -> (!best, !best_words) {
    %c0 = arith.constant 0 : index
    %low = arith.constant dense<0xFF800000> : !best
    %best = tensor.insert %score into %low[%c0] : !best
    %words = arith.constant dense<0> : !best_words
    return %best, %words : !best, !best_words
  }

  // Returns the indices of a beam's 4 words among the words of all beams.
  func.func private @numbers(%place: index) -> !best_words {
    %c4 = arith.constant 4 : index
    %first = arith.muli %place, %c4 : index
    %empty = tensor.empty() : !best_words
    %numbers = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
        outs(%empty : !best_words) {
    ^bb0(%out: i32):
      %rank = linalg.index 0 : index
      %position = arith.addi %first, %rank : index
      %number = arith.index_cast %position : index to i32
      linalg.yield %number : i32
    } -> !best_words
    return %numbers : !best_words
  }

  // Returns the score that follows %last in descending order, with its number, beam and word.
  // Equal scores are ordered by their numbers.
  func.func private @next_beam(%scores: !all_best, %numbers: !all_words,
                               %words: !all_words, %last: !scalar, %last_number: !number)
      -> (!scalar, !number, !number, !number) {
    %c0 = arith.constant 0 : index
    %low = arith.constant dense<0xFF800000> : !scalar
    %none = arith.constant dense<2147483647> : !number
    %zero = arith.constant dense<0> : !number
    %beams = tensor.dim %scores, %c0 : !all_best
    %empty_scores = tensor.empty(%beams) : !all_best
    %empty = tensor.empty(%beams) : !all_words
    %left = linalg.generic {indexing_maps = [#place, #place, #whole, #whole, #place],
                            iterator_types = ["parallel", "parallel"]}
        ins(%scores, %numbers, %last, %last_number
            : !all_best, !all_words, !scalar, !number) outs(%empty_scores : !all_best) {
    ^bb0(%score: f32, %number: i32, %before: f32, %number_before: i32, %out: f32):
      %lowest = arith.constant 0xFF800000 : f32
      %is_less = arith.cmpf olt, %score, %before : f32
      %is_equal = arith.cmpf oeq, %score, %before : f32
      %is_later = arith.cmpi sgt, %number, %number_before : i32
      %follows = arith.andi %is_equal, %is_later : i1
      %counts = arith.ori %is_less, %follows : i1
      %candidate = arith.select %counts, %score, %lowest : f32
      linalg.yield %candidate : f32
    } -> !all_best
    %most = linalg.reduce { arith.maximumf } ins(%left : !all_best) outs(%low : !scalar)
        dimensions = [0, 1]
    %where = linalg.generic {
        indexing_maps = [#place, #place, #whole, #whole, #whole, #place],
        iterator_types = ["parallel", "parallel"]}
        ins(%scores, %numbers, %last, %last_number, %most
            : !all_best, !all_words, !scalar, !number, !scalar) outs(%empty : !all_words) {
    ^bb0(%score: f32, %number: i32, %before: f32, %number_before: i32, %max: f32,
         %out: i32):
      %nowhere = arith.constant 2147483647 : i32
      %is_max = arith.cmpf oeq, %score, %max : f32
      %is_new = arith.cmpf one, %max, %before : f32
      %is_later = arith.cmpi sgt, %number, %number_before : i32
      %counts = arith.ori %is_new, %is_later : i1
      %is = arith.andi %is_max, %counts : i1
      %candidate = arith.select %is, %number, %nowhere : i32
      linalg.yield %candidate : i32
    } -> !all_words
    %at = linalg.reduce { arith.minsi } ins(%where : !all_words) outs(%none : !number)
        dimensions = [0, 1]
    %word_there = linalg.generic {indexing_maps = [#place, #place, #whole, #place],
                                  iterator_types = ["parallel", "parallel"]}
        ins(%words, %numbers, %at : !all_words, !all_words, !number)
        outs(%empty : !all_words) {
    ^bb0(%w: i32, %number: i32, %wanted: i32, %out: i32):
      %nothing = arith.constant 0 : i32
      %is = arith.cmpi eq, %number, %wanted : i32
      %r = arith.select %is, %w, %nothing : i32
      linalg.yield %r : i32
    } -> !all_words
    %word = linalg.reduce { arith.maxsi } ins(%word_there : !all_words)
        outs(%zero : !number) dimensions = [0, 1]
    %four = arith.constant dense<4> : !number
    %parent = arith.divsi %at, %four : !number
    return %most, %at, %parent, %word : !scalar, !number, !number, !number
  }

  // Returns the 4 best continuations of all beams: scores, parents and words.
  func.func private @best_beams(%scores: !all_best, %numbers: !all_words,
                                %words: !all_words)
      -> (!best, !best_words, !best_words) {
    %high = arith.constant dense<0x7F800000> : !scalar
    %before = arith.constant dense<-1> : !number
    %s0, %a0, %p0, %w0 = func.call @next_beam(%scores, %numbers, %words, %high, %before)
        : (!all_best, !all_words, !all_words, !scalar, !number)
          -> (!scalar, !number, !number, !number)
    %s1, %a1, %p1, %w1 = func.call @next_beam(%scores, %numbers, %words, %s0, %a0)
        : (!all_best, !all_words, !all_words, !scalar, !number)
          -> (!scalar, !number, !number, !number)
    %s2, %a2, %p2, %w2 = func.call @next_beam(%scores, %numbers, %words, %s1, %a1)
        : (!all_best, !all_words, !all_words, !scalar, !number)
          -> (!scalar, !number, !number, !number)
    %s3, %a3, %p3, %w3 = func.call @next_beam(%scores, %numbers, %words, %s2, %a2)
        : (!all_best, !all_words, !all_words, !scalar, !number)
          -> (!scalar, !number, !number, !number)
    %best = func.call @four_scores(%s0, %s1, %s2, %s3)
        : (!scalar, !scalar, !scalar, !scalar) -> !best
    %parents = func.call @four_numbers(%p0, %p1, %p2, %p3)
        : (!number, !number, !number, !number) -> !best_words
    %next_words = func.call @four_numbers(%w0, %w1, %w2, %w3)
        : (!number, !number, !number, !number) -> !best_words
    return %best, %parents, %next_words : !best, !best_words, !best_words
  }

  func.func @main(%src: !words {batch.name = "src"}, %limit: i32 {batch.name = "limit"},
                  %E_src: !emb {batch.shared = "E_src"},
                  %E_tgt: !emb {batch.shared = "E_tgt"},
                  %enc_in_W: !mat {batch.shared = "enc.in.W"},
                  %enc_in_b: !vec {batch.shared = "enc.in.b"},
                  %dec_in_W: !mat {batch.shared = "dec.in.W"},
                  %dec_in_b: !vec {batch.shared = "dec.in.b"},
                  %enc_W_i: !mat {batch.shared = "enc.W_i"},
                  %enc_U_i: !mat {batch.shared = "enc.U_i"},
                  %enc_b_i: !vec {batch.shared = "enc.b_i"},
                  %enc_W_f: !mat {batch.shared = "enc.W_f"},
                  %enc_U_f: !mat {batch.shared = "enc.U_f"},
                  %enc_b_f: !vec {batch.shared = "enc.b_f"},
                  %enc_W_g: !mat {batch.shared = "enc.W_g"},
                  %enc_U_g: !mat {batch.shared = "enc.U_g"},
                  %enc_b_g: !vec {batch.shared = "enc.b_g"},
                  %enc_W_o: !mat {batch.shared = "enc.W_o"},
                  %enc_U_o: !mat {batch.shared = "enc.U_o"},
                  %enc_b_o: !vec {batch.shared = "enc.b_o"},
                  %dec_W_i: !mat {batch.shared = "dec.W_i"},
                  %dec_U_i: !mat {batch.shared = "dec.U_i"},
                  %dec_b_i: !vec {batch.shared = "dec.b_i"},
                  %dec_W_f: !mat {batch.shared = "dec.W_f"},
                  %dec_U_f: !mat {batch.shared = "dec.U_f"},
                  %dec_b_f: !vec {batch.shared = "dec.b_f"},
                  %dec_W_g: !mat {batch.shared = "dec.W_g"},
                  %dec_U_g: !mat {batch.shared = "dec.U_g"},
                  %dec_b_g: !vec {batch.shared = "dec.b_g"},
                  %dec_W_o: !mat {batch.shared = "dec.W_o"},
                  %dec_U_o: !mat {batch.shared = "dec.U_o"},
                  %dec_b_o: !vec {batch.shared = "dec.b_o"},
                  %h_0: !vec {batch.shared = "h0"}, %c_0: !vec {batch.shared = "c0"},
                  %W_out: !out {batch.shared = "W_out"},
                  %b_out: !classes {batch.shared = "b_out"})
      -> (!sentence {batch.name = "words"}, f32 {batch.name = "score"},
          i32 {batch.name = "steps"}) attributes {batch.entry} {
    %h, %c = rec.fold %w in %src init(%hs = %h_0, %cs = %c_0) : !words -> !vec, !vec {
      %x = func.call @input(%w, %E_src, %enc_in_W, %enc_in_b)
          : (index, !emb, !mat, !vec) -> !vec
      %hn, %cn = func.call @lstm(%x, %hs, %cs, %enc_W_i, %enc_U_i, %enc_b_i, %enc_W_f,
          %enc_U_f, %enc_b_f, %enc_W_g, %enc_U_g, %enc_b_g, %enc_W_o, %enc_U_o, %enc_b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      rec.yield %hn, %cn : !vec, !vec
    }
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %true = arith.constant true
    %false = arith.constant false
    %empty = rec.construct @Sentence::@empty() : () -> !sentence
    %no_places = rec.empty : !places
    %single = rec.append %no_places, %c0 : !places
    %two = rec.append %single, %c1 : !places
    %three = rec.append %two, %c2 : !places
    %four = rec.append %three, %c3 : !places
    %four_numbers = rec.map %i in %four : !places -> !all_words {
      %numbers = func.call @numbers(%i) : (index) -> !best_words
      rec.yield %numbers : !best_words
    }
    %single_numbers = rec.map %i in %single : !places -> !all_words {
      %numbers = func.call @numbers(%i) : (index) -> !best_words
      rec.yield %numbers : !best_words
    }
    %score0 = arith.constant dense<0.0> : !best
    // The search starts with one empty beam.
    %hs0, %cs0, %words0, %overs0, %sentences0 = rec.map %i in %single : !places
        -> !rows, !rows, !numbers, !flags, !sentences {
      rec.yield %h, %c, %one, %false, %empty : !vec, !vec, i32, i1, !sentence
    }
    %r:9 = scf.while (%places = %single, %numbers = %single_numbers, %hs = %hs0,
                      %cs = %cs0, %words = %words0, %overs = %overs0,
                      %sentences = %sentences0, %scores = %score0, %t = %zero)
        : (!places, !all_words, !rows, !rows, !numbers, !flags, !sentences, !best, i32)
        -> (!places, !all_words, !rows, !rows, !numbers, !flags, !sentences, !best, i32) {
      %hns, %cns, %best, %best_words = rec.map (%place, %hb, %cb, %word, %over)
          in (%places, %hs, %cs, %words, %overs)
          : !places, !rows, !rows, !numbers, !flags
          -> !rows, !rows, !all_best, !all_words {
        %b:4 = scf.if %over -> (!vec, !vec, !best, !best_words) {
          %score = tensor.extract %scores[%place] : !best
          %s, %ws = func.call @ended(%score) : (f32) -> (!best, !best_words)
          scf.yield %hb, %cb, %s, %ws : !vec, !vec, !best, !best_words
        } else {
          %w = arith.index_cast %word : i32 to index
          %x = func.call @input(%w, %E_tgt, %dec_in_W, %dec_in_b)
              : (index, !emb, !mat, !vec) -> !vec
          %hn, %cn = func.call @lstm(%x, %hb, %cb, %dec_W_i, %dec_U_i, %dec_b_i, %dec_W_f,
              %dec_U_f, %dec_b_f, %dec_W_g, %dec_U_g, %dec_b_g, %dec_W_o, %dec_U_o,
              %dec_b_o)
              : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
                 !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
          %logits = linalg.matvec ins(%W_out, %hn : !out, !vec)
                                  outs(%b_out : !classes) -> !classes
          %score = tensor.extract %scores[%place] : !best
          %s, %ws = func.call @best_words(%logits, %score)
              : (!classes, f32) -> (!best, !best_words)
          scf.yield %hn, %cn, %s, %ws : !vec, !vec, !best, !best_words
        }
        rec.yield %b#0, %b#1, %b#2, %b#3 : !vec, !vec, !best, !best_words
      }
      %next_scores, %parents, %next_words = func.call @best_beams(%best, %numbers,
          %best_words) : (!all_best, !all_words, !all_words)
            -> (!best, !best_words, !best_words)
      %hs1, %cs1, %words1, %overs1, %sentences1 = rec.map %place in %four : !places
          -> !rows, !rows, !numbers, !flags, !sentences {
        %number = tensor.extract %parents[%place] : !best_words
        %word = tensor.extract %next_words[%place] : !best_words
        %parent = arith.index_cast %number : i32 to index
        %hn = rec.element %hns[%parent] : !rows -> !vec
        %cn = rec.element %cns[%parent] : !rows -> !vec
        %was_over = rec.element %overs[%parent] : !flags -> i1
        %before = rec.element %sentences[%parent] : !sentences -> !sentence
        %sentence = scf.if %was_over -> !sentence {
          scf.yield %before : !sentence
        } else {
          %longer = rec.construct @Sentence::@word(%before, %word)
              : (!sentence, i32) -> !sentence
          scf.yield %longer : !sentence
        }
        %is_end = arith.cmpi eq, %word, %zero : i32
        rec.yield %hn, %cn, %word, %is_end, %sentence : !vec, !vec, i32, i1, !sentence
      }
      %are_over = rec.fold %over in %overs1 init(%all = %true) : !flags -> i1 {
        %both = arith.andi %all, %over : i1
        rec.yield %both : i1
      }
      %written = arith.addi %t, %one : i32
      %goes_on = arith.xori %are_over, %true : i1
      %has_room = arith.cmpi slt, %written, %limit : i32
      %again = arith.andi %goes_on, %has_room : i1
      scf.condition(%again) %four, %four_numbers, %hs1, %cs1, %words1, %overs1, %sentences1,
          %next_scores, %written
          : !places, !all_words, !rows, !rows, !numbers, !flags, !sentences, !best, i32
    } do {
    ^bb0(%places: !places, %numbers: !all_words, %hs: !rows, %cs: !rows, %words: !numbers,
         %overs: !flags, %sentences: !sentences, %scores: !best, %t: i32):
      scf.yield %places, %numbers, %hs, %cs, %words, %overs, %sentences, %scores, %t
          : !places, !all_words, !rows, !rows, !numbers, !flags, !sentences, !best, i32
    }
    // Select the best beam that has ended, or else the best of all beams (the first on ties).
    %low = arith.constant 0xFF800000 : f32
    %place, %score, %has_ended = rec.fold (%i, %over) in (%r#0, %r#5)
        init(%best = %c0, %most = %low, %any = %false)
        : !places, !flags -> index, f32, i1 {
      %s = tensor.extract %r#7[%i] : !best
      %is_new = arith.cmpi ugt, %over, %any : i1
      %is_same = arith.cmpi eq, %over, %any : i1
      %is_more = arith.cmpf ogt, %s, %most : f32
      %is_better = arith.andi %is_same, %is_more : i1
      %is = arith.ori %is_new, %is_better : i1
      %best_now = arith.select %is, %i, %best : index
      %most_now = arith.select %is, %s, %most : f32
      %any_now = arith.ori %any, %over : i1
      rec.yield %best_now, %most_now, %any_now : index, f32, i1
    }
    %sentence = rec.element %r#6[%place] : !sentences -> !sentence
    return %sentence, %score, %r#8 : !sentence, f32, i32
  }
}
