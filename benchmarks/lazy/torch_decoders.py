"""Beam search and speculative decoding in PyTorch, like the models of torch_models.py.

Batched by hand, beam search has a row for each beam in progress of each instance. Speculative
decoding has a row for each instance in progress. The last rows move to the rows of instances
that have ended, so that the rows of keys and values in use are the first ones. Nothing else
is copied. Words of a prompt are rows of linear layers, and are padded only for attention.
Values that nothing reads are not computed: the last layer of a prompt's words except its keys
and values, and a second draw. Draws depend only on seed, chain, round and slot, so they are
made before the run.
"""

import numpy
import torch
import torch.nn.functional as F
from torch.nn.utils import rnn

import models
from torch_models import Greedy, Net, rows_of

WIDTH = 4    # number of beams
DRAFTED = 4  # number of words that the draft writes in a round


def largest(scores, count):
    """Returns the `count` largest numbers of each row and their columns. Selects blocks of 80
    columns by their maxima first, which takes half as long as topk() of all columns."""
    parts = scores.unflatten(1, (-1, 80))
    part = parts.amax(2).topk(count).indices
    best, at = parts.gather(1, part[:, :, None].expand(-1, -1, 80)).flatten(1).topk(count)
    return best, part.gather(1, at // 80) * 80 + at % 80


class Beam(Greedy):
    def step(self, word, h, c):
        """Returns the log probabilities of the best words of each beam, these words, and the
        states."""
        x = torch.tanh(self.many("dec_in", self.E_tgt[word]))
        h, c = torch.lstm_cell(x, (h, c), self.dec_W, self.dec_U, self.dec_b)
        p = torch.log_softmax(self.many("out", h), 1)
        # Recording the margin requires one additional word.
        return *largest(p, WIDTH + (self.watch is not None)), h, c

    def decided(self, beams, count):
        """Records the margin between the first `count` sorted beams and the others."""
        if self.watch is not None and len(beams) > count:
            self.watch.append(beams[count - 1][0] - beams[count][0])

    def eager(self, instance):
        x = torch.tanh(self.many("enc_in", self.E_src[instance["src"]]))
        _, (h, c) = self.lstm(x, (self.h0[None], self.c0[None]))
        # A beam is (score, words, row). Beams that have ended have no row.
        beams, steps, last = [(0.0, [], 0)], 0, [1]
        while True:
            top, words, h, c = self.step(torch.tensor(last), h, c)
            top, words, nexts = top.tolist(), words.tolist(), []
            for beam in beams:
                score, text, row = beam
                nexts += [beam] if row is None else [
                    (score + p, text + [word], row if word else None)
                    for p, word in zip(top[row], words[row])]
            nexts.sort(key=lambda beam: -beam[0])  # beams with equal scores stay in order
            self.decided(nexts, WIDTH)
            beams, steps = nexts[:WIDTH], steps + 1
            rows = [row for _, _, row in beams if row is not None]
            if not rows or steps == instance["limit"]:
                break
            h, c = h[rows], c[rows]
            last = [text[-1] for _, text, row in beams if row is not None]
            numbers = iter(range(len(rows)))
            beams = [(score, text, None if row is None else next(numbers))
                     for score, text, row in beams]
        beams = [beam for beam in beams if beam[2] is None] or beams
        self.decided(beams, 1)
        return {"out": torch.tensor(beams[0][1]), "score": torch.tensor(beams[0][0]),
                "steps": torch.tensor(steps)}

    def hand(self, words, sizes, order, limit):
        x = torch.tanh(self.many("enc_in", self.E_src[words]))
        count = len(order)
        start = [s.expand(1, count, -1).contiguous() for s in (self.h0, self.c0)]
        _, (h, c) = self.lstm(rnn.PackedSequence(x, sizes), start)
        h, c, last = h[0], c[0], torch.ones(count, dtype=torch.int64)
        # The dimensions of tensors are instances and beams. Initially, there is one beam.
        score, live = torch.zeros(count, 1), torch.ones(count, 1, dtype=torch.bool)
        steps, ends = [], []
        while True:
            top, words, h, c = self.step(last, h, c)
            # The only successor of a beam that has ended is the beam itself, with word 0.
            scores = torch.full((*live.shape, WIDTH), -torch.inf)
            nexts = torch.zeros(scores.shape, dtype=torch.int64)
            scores[:, :, 0] = score
            scores[live], nexts[live] = score[live][:, None] + top, words
            score, at = scores.flatten(1).topk(WIDTH)
            parent, word = at // WIDTH, nexts.flatten(1).gather(1, at)
            row = (live.flatten().cumsum(0) - 1).view(live.shape).gather(1, parent)
            live = word != 0
            steps.append((order, parent, word))
            on = live.any(1) & (limit > len(steps))
            keep = rows_of(on)
            if len(keep) < len(order):
                done = rows_of(~on)
                ends.append((order[done], score[done], live[done], len(steps)))
                if len(keep) == 0:
                    return steps, ends
                order, limit, score, live, word, row = (
                    t[keep] for t in (order, limit, score, live, word, row))
            last, row = word[live], row[live]
            h, c = h[row], c[row]

    def outputs(self, run, count):
        steps, ends = run
        steps = [{i: (parents, words) for i, parents, words in zip(
            *(t.tolist() for t in step))} for step in steps]
        found = [None] * count
        for order, scores, live, length in ends:
            # Selects the best beam that has ended, or the best of all beams if none has ended.
            scores = torch.where(live & ~live.all(1, True), -torch.inf, scores)
            for i, score, beam in zip(order.tolist(), *scores.max(1)):
                score, beam, text = float(score), int(beam), []
                for step in reversed(steps[:length]):
                    parents, words = step[i]
                    # All words after the end are 0, and are dropped.
                    text = [words[beam]] + (text if words[beam] else [])
                    beam = parents[beam]
                found[i] = {"out": torch.tensor(text), "score": torch.tensor(score),
                            "steps": torch.tensor(length)}
        return found


def eights(count):
    """Returns `count` rounded up to a multiple of 8."""
    return (count + 7) // 8 * 8


class Speculative(Net):
    """Keys and values of a layer are one tensor with space for all words of each instance:
    [instance, place, key or value, head, d]. The tensor is reused between runs. A round writes
    keys and values of all words that it tries. The next round overwrites those of words that
    were not accepted."""

    STEPS = {"round": 4, "before": 1, "after": 2}
    HEADS, LAYERS = 4, ["d_0", "t_0", "t_1", "t_2", "t_3"]

    def setup(self, p):
        self.caches = {}
        for name, value in p.items():
            if ".ln" in name or name[2:] in ("E", "pos"):
                self.keep(**{name.replace(".", "_"): value})
        for net in "dt":
            self.keep(**{net + "_out_t": p[net + ".W_out"].T})
        for layer in self.LAYERS:
            name = layer.replace("_", ".")
            self.keep_linear(layer + "_qkv", *(
                torch.cat([p["%s.%s.%s" % (name, part, kind)] for part in "qkv"])
                for kind in "Wb"))
            for part in ("o", "ff1", "ff2"):
                self.keep_linear("%s_%s" % (layer, part), *(
                    p["%s.%s.%s" % (name, part, kind)] for kind in "Wb"))
        self.keep(inside=torch.arange(DRAFTED + 1), places=torch.arange(len(p["t.pos"])))

    def norm(self, x, name):
        return F.layer_norm(x, (self.size,), getattr(self, name + "_g"),
                            getattr(self, name + "_b"))

    def heads(self, x, layer):
        """Returns the queries, keys and values of rows."""
        return self.many(layer + "_qkv", self.norm(x, layer + "_ln1")).view(
            len(x), 3, self.HEADS, -1)

    def rest(self, x, y, layer):
        """Returns the result of a layer for rows `x` and the attention result `y`."""
        x = x + self.many(layer + "_o", y)
        f = F.gelu(self.many(layer + "_ff1", self.norm(x, layer + "_ln2")))
        return x + self.many(layer + "_ff2", f)

    # The methods for prompts. They are compiled separately (see STEPS).
    before, after = heads, rest

    def scores(self, net, x):
        return self.norm(x, net + "_lnf") @ getattr(self, net + "_out_t")

    @staticmethod
    def attend(q, kv, **mask):
        """Computes attention. q: [instance, word, head, d]; kv: a cache."""
        q, k, v = (t.transpose(1, 2) for t in (q, *kv.unbind(2)))
        return F.scaled_dot_product_attention(q, k, v, **mask).transpose(1, 2).flatten(2)

    # The methods that choose drafted and written words. The class for sampling overrides them.

    def law(self, scores):
        return scores

    def choose(self, scores, u):
        self.near(scores)
        return scores.argmax(1)

    def judge(self, scores, laws, drafted, u):
        """Returns the target network's word at each place, and the number of accepted words."""
        self.near(scores)
        out = scores.argmax(2)
        return out, (out[:, :-1] == drafted).long().cumprod(1).sum(1)

    def draws(self, instance):
        return torch.zeros(instance["limit"], 2 * DRAFTED + 1)

    def near(self, scores):
        if self.watch is not None:
            first, second = scores.topk(2).values.unbind(-1)
            self.watch.append(float((first - second).min()))

    @staticmethod
    def write(text, rounds, words, accepted, limit):
        """Appends the words of a round to `text`. Returns whether another round follows."""
        words = words[:min(accepted + 1, limit - len(text))]
        if 0 in words:
            words = words[:words.index(0) + 1]
        text += words
        rounds.append(accepted)
        return text[-1] != 0 and len(text) < limit

    def ready(self, instance):
        return dict(instance, draws=self.draws(instance))

    def eager(self, instance):
        *prompt, last = instance["tokens"]
        place, text, rounds = len(prompt), [], []
        caches = {layer: torch.empty(1, place + instance["limit"] + DRAFTED + 1, 2,
                                     self.HEADS, self.size // self.HEADS)
                  for layer in self.LAYERS}

        def run(x, layer, first, unread=False, **mask):
            qkv, end = self.heads(x, layer), first + len(x)
            caches[layer][0, first:end] = qkv[:, 1:]
            if not unread:
                y = self.attend(qkv[None, :, 0], caches[layer][:, :end], **mask)
                return self.rest(x, y[0], layer)

        run(self.d_E[prompt] + self.d_pos[:place], "d_0", 0, unread=True)
        x = self.t_E[prompt] + self.t_pos[:place]
        for layer in self.LAYERS[1:]:
            x = run(x, layer, 0, unread=layer == self.LAYERS[-1], is_causal=True)
        on = True
        while on:
            u, words, laws = instance["draws"][len(rounds)][None], [last], []
            for i in range(DRAFTED):
                x = self.d_E[words[-1]] + self.d_pos[place + i]
                x = run(x[None], "d_0", place + i)
                laws.append(self.law(self.scores("d", x)))
                words.append(int(self.choose(laws[-1], u[:, i])))
            x = self.d_E[words[-1]] + self.d_pos[place + DRAFTED]
            run(x[None], "d_0", place + DRAFTED, unread=True)
            end = place + DRAFTED + 1
            x = self.t_E[words] + self.t_pos[place:end]
            mask = torch.full((len(words), end), -torch.inf).triu(place + 1)
            for layer in self.LAYERS[1:]:
                x = run(x, layer, place, attn_mask=mask)
            out, accepted = self.judge(self.law(self.scores("t", x))[None], laws,
                                       torch.tensor([words[1:]]), u)
            out, accepted = out[0].tolist(), int(accepted)
            on = self.write(text, rounds, out, accepted, instance["limit"])
            last, place = out[accepted], place + accepted + 1
        return {"out": torch.tensor(text), "accepted": torch.tensor(rounds)}

    def prepare(self, batch):
        prompts, limits = [i["tokens"][:-1] for i in batch], [i["limit"] for i in batch]
        lengths = [len(prompt) for prompt in prompts]
        rows = torch.arange(len(batch)).repeat_interleave(torch.tensor(lengths))
        places = torch.cat([self.places[:n] for n in lengths])
        capacity = eights(max(map(sum, zip(lengths, limits))) + DRAFTED + 1)
        shape = (len(batch), capacity, 2, self.HEADS, self.size // self.HEADS)
        if shape not in self.caches:
            self.caches[shape] = [torch.zeros(shape) for _ in self.LAYERS]
        draws = rnn.pad_sequence([self.draws(i) for i in batch])
        return (torch.tensor(sum(prompts, [])), rows, places, lengths, limits,
                torch.tensor([i["tokens"][-1] for i in batch]), draws, self.caches[shape])

    def read(self, words, rows, places, lengths, caches):
        """Computes the keys and values of the prompts."""
        count, most = len(lengths), max(lengths)
        where, padded = rows * caches[0].shape[1] + places, rows * most + places
        qkv = self.before(self.d_E[words] + self.d_pos[places], "d_0")
        caches[0].flatten(0, 1).index_copy_(0, where, qkv[:, 1:])
        x = self.t_E[words] + self.t_pos[places]
        q = torch.zeros(count * most, self.HEADS, self.size // self.HEADS)
        for cache, layer in zip(caches[1:], self.LAYERS[1:]):
            qkv = self.before(x, layer)
            cache.flatten(0, 1).index_copy_(0, where, qkv[:, 1:])
            if layer != self.LAYERS[-1]:
                q[padded] = qkv[:, 0]
                y = self.attend(q.unflatten(0, (count, most)), cache[:, :most],
                                is_causal=True)
                x = self.after(x, y.flatten(0, 1)[padded], layer)

    def round(self, last, place, mask, u, *caches):
        """Returns the words to write and the number of accepted words of the draft, with a row
        for each instance. mask: [instance, 1, word, place]."""
        count, _, _, most = mask.shape
        first = torch.arange(count) * caches[0].shape[1] + place

        def run(x, layer, cache, where, mask):
            qkv = self.heads(x, layer)
            cache.flatten(0, 1).index_copy_(0, where, qkv[:, 1:])
            if mask is not None:
                y = self.attend(qkv[:, 0].unflatten(0, (count, -1)), cache[:count, :most],
                                attn_mask=mask)
                return self.rest(x, y.flatten(0, 1), layer)

        words, laws = [last], []
        for i in range(DRAFTED):
            x = self.d_E[words[-1]] + self.d_pos[place + i]
            x = run(x, "d_0", caches[0], first + i, mask[:, :, i:i + 1])
            laws.append(self.law(self.scores("d", x)))
            words.append(self.choose(laws[-1], u[:, i]))
        x = self.d_E[words[-1]] + self.d_pos[place + DRAFTED]
        run(x, "d_0", caches[0], first + DRAFTED, None)
        words = torch.stack(words, 1)
        x = self.t_E[words] + self.t_pos[place[:, None] + self.inside]
        x, where = x.flatten(0, 1), (first[:, None] + self.inside).flatten()
        for cache, layer in zip(caches[1:], self.LAYERS[1:]):
            x = run(x, layer, cache, where, mask)
        scores = self.scores("t", x).unflatten(0, (count, -1))
        return self.judge(self.law(scores), laws, words[:, 1:], u)

    def hand(self, words, rows, places, lengths, limits, last, draws, caches):
        self.read(words, rows, places, lengths, caches)
        here, at = list(range(len(last))), list(lengths)
        found = [([], []) for _ in here]
        for u in draws:
            place = torch.tensor(at)
            # Number of places in use, rounded up to a multiple of 8, or all places if shapes are
            # fixed.
            most = caches[0].shape[1] if self.fixed else eights(max(at) + DRAFTED + 1)
            unread = self.places[:most] > (place[:, None] + self.inside)[:, None, :, None]
            mask = torch.zeros(unread.shape).masked_fill_(unread, -torch.inf)
            out, accepted = self.round(last, place, mask, u[here], *caches)
            out, accepted = out.tolist(), accepted.tolist()
            left = [row for row, i in enumerate(here)
                    if self.write(*found[i], out[row], accepted[row], limits[i])]
            if not left:
                return found
            # The instances in the last rows move to the rows of instances that have ended.
            moving = [row for row in left if row >= len(left)]
            order = [row if row in left else moving.pop() for row in range(len(left))]
            to = [row for row, old in enumerate(order) if row != old]
            if to:
                for cache in caches:
                    cache[to] = cache[[order[row] for row in to]]
            last = torch.tensor([out[row][accepted[row]] for row in order])
            at = [at[row] + accepted[row] + 1 for row in order]
            here = [here[row] for row in order]

    def outputs(self, found, count):
        return [{"out": torch.tensor(text), "accepted": torch.tensor(rounds)}
                for text, rounds in found]


class Sampled(Speculative):
    """Samples words. A law is a probability distribution over all words. A draw u selects the
    first word at which the cumulative sum exceeds u times the sum of the law."""

    def law(self, scores):
        return torch.softmax(scores, -1)

    def sample(self, law, u):
        sums = law.cumsum(1)
        bound = u[:, None] * sums[:, -1:]
        if self.watch is not None:
            # Sums of a law are more accurate than scores, so a tenth of the margin suffices.
            self.watch.append(10 * float(((sums - bound) / sums[:, -1:]).abs().min()))
        return torch.searchsorted(sums, bound, right=True)[:, 0].clamp(max=law.shape[1] - 1)

    def choose(self, law, u):
        return self.sample(law, u)

    def judge(self, law, laws, drafted, u):
        given, q = drafted[:, :, None], torch.stack(laws, 1)
        ratio = law[:, :-1].gather(2, given) / q.gather(2, given)
        accept = u[:, DRAFTED:-1]
        if self.watch is not None:
            self.watch.append(float((ratio[:, :, 0] - accept).abs().min()))
        accepted = (accept < ratio[:, :, 0]).long().cumprod(1).sum(1)
        here = torch.arange(len(law))
        rest = law[here, accepted] - torch.where(
            accepted < DRAFTED, 1., 0.)[:, None] * q[here, accepted.clamp(max=DRAFTED - 1)]
        word = self.sample(rest.relu(), u[:, -1])
        out = F.pad(drafted, (0, 1)).scatter(1, accepted[:, None], word[:, None])
        return out, accepted

    def draws(self, instance):
        """Returns the draws of each round: one to choose each word of the draft, one to decide
        whether to accept each of them, and one to choose the last word."""
        slots = [*range(DRAFTED), *range(0x100, 0x100 + DRAFTED), 0x200]
        return torch.tensor(models.uniform(
            instance["seed"], instance["chain"],
            *numpy.meshgrid(range(instance["limit"]), slots, indexing="ij")))


NETS = {"lstm_nmt_beam": Beam, "specdec": Speculative, "specdec_sample": Sampled}
