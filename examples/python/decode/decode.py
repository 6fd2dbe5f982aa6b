#!/usr/bin/env python3
"""decode.py [--weights=FILE] [--spelling=NAME] PROMPT…: continues prompts greedily with GPT-2.

A step of the decoder reads one token, stores its keys and values in the caches of all layers,
and computes the next token. The loop is written for ONE request and ends when that request
ends. `batch.map` runs it on many requests. A lane that finishes its request takes the next one, so
requests at different positions share each step.

    $ python decode.py "5 17 99" "250 3"

A prompt is a list of token numbers. FILE contains weights in the safetensors format, with the
Hugging Face names for GPT-2 (weights.py). Without FILE the weights are random.
"""

import argparse

import batch
import jax
import jax.numpy as jnp
import numpy
from jax import lax

import weights

HEAD = 64  # the size of a head, which is the same in every GPT-2
MOST = 96  # the maximum number of tokens of a request, including the prompt


def linear(w, name, x):
    return x @ w[name + ".weight"] + w[name + ".bias"]


def normalize(w, name, x):
    x = x - x.mean()
    return x * lax.rsqrt((x * x).mean() + 1e-5) * w[name + ".weight"] + w[name + ".bias"]


def project(w, x):
    """Returns the query, key and value of a layer for the state x of one token."""
    return jnp.split(linear(w, "attn.c_attn", normalize(w, "ln_1", x)), 3)


def attend(w, x, query, keys, values, i):
    """Returns the new state x of one token. Applies attention to rows 0 to i of the caches, and
    then the feed-forward net."""
    most, heads = keys.shape[0], x.size // HEAD
    scores = jnp.einsum("hd,thd->ht", query.reshape(heads, HEAD),
                        keys.reshape(most, heads, HEAD)) / HEAD ** 0.5
    shares = jax.nn.softmax(jnp.where(jnp.arange(most) <= i, scores, -1e9))
    found = jnp.einsum("ht,thd->hd", shares, values.reshape(most, heads, HEAD))
    x = x + linear(w, "attn.c_proj", found.reshape(-1))
    up = jax.nn.gelu(linear(w, "mlp.c_fc", normalize(w, "ln_2", x)), approximate=True)
    return x + linear(w, "mlp.c_proj", up)


def step_tuple(layers, x, caches, i):
    """Runs all layers. The caches are a tuple with one array per layer."""
    keys, values = map(list, caches)
    for n, w in enumerate(layers):
        query, key, value = project(w, x)
        keys[n], values[n] = keys[n].at[i].set(key), values[n].at[i].set(value)
        x = attend(w, x, query, keys[n], values[n], i)
    return x, (tuple(keys), tuple(values))


def step_stacked(layers, x, caches, i):
    """Runs all layers. The caches are one array whose first axis is the layer."""
    keys, values = caches
    for n, w in enumerate(layers):
        query, key, value = project(w, x)
        keys, values = keys.at[n, i].set(key), values.at[n, i].set(value)
        x = attend(w, x, query, keys[n], values[n], i)
    return x, (keys, values)


def step_scan(layers, x, caches, i):
    """Runs all layers by `lax.scan`. The first axis of caches and weights is the layer."""
    def step(x, layer):
        w, keys, values = layer
        query, key, value = project(w, x)
        keys, values = keys.at[i].set(key), values.at[i].set(value)
        return attend(w, x, query, keys, values, i), (keys, values)

    return lax.scan(step, x, (layers, *caches))


STEPS = {"tuple": step_tuple, "stacked": step_stacked, "scan": step_scan}


def decoder(spelling="tuple"):
    """Returns the function that decodes ONE request, with caches in the given spelling."""
    step = STEPS[spelling]

    def generate(w, prompt, count):
        """Returns the tokens of a request, including its prompt, and their number. The first
        `count` elements of `prompt` are tokens; its extent is the maximum number of tokens."""
        layers, most = w["layers"], prompt.size
        end, width = w["wte.weight"].shape[0] - 1, w["wte.weight"].shape[1]
        count_layers = len(layers["ln_1.bias"] if spelling == "scan" else layers)
        empty = jnp.zeros((count_layers, most, width), w["wte.weight"].dtype)
        if spelling == "tuple":
            empty = tuple(empty)

        def goes_on(state):
            i, token, _, _ = state
            return (i < most - 1) & ((i < count) | (token != end))

        def read(state):
            """Reads token i. Token i + 1 is the next token of the prompt or, after the prompt, the
            most probable token."""
            i, token, tokens, caches = state
            x = w["wte.weight"][token] + w["wpe.weight"][i]
            x, caches = step(layers, x, caches, i)
            best = jnp.argmax(w["wte.weight"] @ normalize(w, "ln_f", x)).astype(jnp.int32)
            token = jnp.where(i + 1 < count, tokens[i + 1], best)
            return i + 1, token, tokens.at[i + 1].set(token), caches

        i, _, tokens, _ = lax.while_loop(
            goes_on, read, (jnp.int32(0), prompt[0], prompt, (empty, empty)))
        return tokens, i + 1

    return generate


def load(arrays, spelling="tuple"):
    """Converts weights {name: array} to the argument `w` of the function decoder(spelling)."""
    w = weights.by_layer(arrays)
    return jax.tree.map(jnp.asarray, weights.stacked(w) if spelling == "scan" else w)


def pad(prompts, most):
    """Returns prompts of different lengths as one array, and their lengths."""
    counts = numpy.array([len(prompt) for prompt in prompts], numpy.int32)
    padded = numpy.zeros((len(prompts), most), numpy.int32)
    for row, prompt in zip(padded, prompts):
        row[:len(prompt)] = prompt
    return padded, counts


def texts(found):
    """Returns the results of many requests as lists of tokens."""
    return [row[:count].tolist() for row, count in zip(*map(numpy.asarray, found))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--weights", help="read weights from this safetensors file")
    parser.add_argument("--spelling", choices=STEPS, default="tuple")
    parser.add_argument("--width", type=int, default=256, help="set the width of random weights")
    parser.add_argument("--layers", type=int, default=4, help="set the layers of random weights")
    parser.add_argument("prompts", nargs="+", type=lambda text: list(map(int, text.split())))
    options = parser.parse_args()
    arrays = weights.read(options.weights) if options.weights else \
        weights.random(options.width, options.layers)
    vocabulary, most = len(arrays["wte.weight"]), min(MOST, len(arrays["wpe.weight"]))
    for prompt in options.prompts:
        if not 0 < len(prompt) <= most or not all(0 <= token < vocabulary for token in prompt):
            parser.error("invalid prompt '%s'; expected 1 to %d numbers from 0 to %d" % (
                " ".join(map(str, prompt)), most, vocabulary - 1))
    w, generate = load(arrays, options.spelling), decoder(options.spelling)
    found = batch.map(lambda request: generate(w, *request), pad(options.prompts, most))
    for prompt, tokens in zip(options.prompts, texts(found)):
        print(*prompt, "->", *tokens[len(prompt):])


if __name__ == "__main__":
    main()
