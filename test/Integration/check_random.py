#!/usr/bin/env python3
"""check_random.py SCALARS TENSORS: tests the random numbers of the library.

Runs two models, one of scalars and one of tensors. Compares them with the published known
answers of both generators, with the generators in Python, and with uniforms and normals
in double precision. Draws have the same bytes in each batch, also on the emulator.
"""

import json
import math
import os
import random
import struct
import sys

import batchtest

MASK = 0xFFFFFFFF

# Keys, counters and outputs that were published with the generators
THREEFRY = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((MASK, MASK), (MASK, MASK), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]
PHILOX = [
    ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((MASK, MASK), (MASK, MASK, MASK, MASK),
     (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]


def threefry(key, counter):
    keys = (*key, 0x1BD11BDA ^ key[0] ^ key[1])
    x0, x1 = (counter[0] + keys[0]) & MASK, (counter[1] + keys[1]) & MASK
    for number in range(20):
        by = (13, 15, 26, 6, 17, 29, 16, 24)[number % 8]
        x0 = (x0 + x1) & MASK
        x1 = ((x1 << by | x1 >> (32 - by)) & MASK) ^ x0
        if number % 4 == 3:
            times = number // 4 + 1
            x0 = (x0 + keys[times % 3]) & MASK
            x1 = (x1 + keys[(times + 1) % 3] + times) & MASK
    return x0, x1


def philox(key, counter):
    (k0, k1), (x0, x1, x2, x3) = key, counter
    for _ in range(10):
        a, b = x0 * 0xD2511F53, x2 * 0xCD9E8D57
        x0, x1, x2, x3 = (b >> 32) ^ x1 ^ k0, b & MASK, (a >> 32) ^ x3 ^ k1, a & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return x0, x1, x2, x3


def uniform(bits):
    return (bits >> 9) * 2.0 ** -23 + 2.0 ** -24


def normals(bits0, bits1):
    radius = math.sqrt(-2 * math.log(uniform(bits0)))
    angle = 2 * math.pi * uniform(bits1)
    return radius * math.cos(angle), radius * math.sin(angle)


def signed(bits):
    return struct.unpack("<i", struct.pack("<I", bits))[0]


def write_inputs(path, keys, counters, names):
    with open(path, "w") as file:
        for key, counter in zip(keys, counters):
            values = map(signed, (*key, *counter))
            file.write(json.dumps(dict(zip(names, values))) + "\n")


def outputs(checks, name, model, inputs, scratch):
    """Returns the outputs as bytes and as {name: values}. Checks that they are the same for each
    mini-batch size, and in unbatched code."""
    program = batchtest.compile_model(model, os.path.join(scratch, name + ".so"))
    found = {}
    for batch, threads in ((1, 1), (7, 1), (64, 2), (1000, 2)):
        path = os.path.join(scratch, "%s.%d" % (name, batch))
        report = batchtest.run_model(program, inputs, "--outputs=" + path,
                                     batch=batch, threads=threads)
        checks.expect("%s: unbatched code draws the same" % name,
                      report["unbatched_equal"])
        with open(path, "rb") as file:
            found[batch] = file.read()
        checks.expect("%s: the same draws in batches of %d" % (name, batch),
                      found[batch] == found[1])
    values = {name: list(tensor[2]) for name, tensor in
              batchtest.read_safetensors(path).items()}
    return found[1], values


def main(arguments):
    scalars, tensors = arguments
    checks = batchtest.Checks("random numbers")
    scratch = batchtest.temporary()
    inputs = os.path.join(scratch, "inputs.jsonl")

    for key, counter, answer in THREEFRY:
        checks.equal("Threefry in Python", threefry(key, counter), answer)
    for key, counter, answer in PHILOX:
        checks.equal("Philox in Python", philox(key, counter), answer)

    # The published keys and counters, then random ones
    generator = random.Random(1)
    keys = [key for key, _, _ in THREEFRY + PHILOX]
    counters = [(*counter, 0, 0)[:4] for _, counter, _ in THREEFRY + PHILOX]
    for _ in range(300):
        keys.append(tuple(generator.getrandbits(32) for _ in range(2)))
        counters.append(tuple(generator.getrandbits(32) for _ in range(4)))
    write_inputs(inputs, keys, counters, ("k0", "k1", "c0", "c1", "c2", "c3"))
    _, found = outputs(checks, "scalars", scalars, inputs, scratch)

    def bits(prefix, count):
        columns = [found["%s%d" % (prefix, i)] for i in range(count)]
        return [tuple(value & MASK for value in row) for row in zip(*columns)]

    threefries, philoxes = bits("t", 2), bits("p", 4)
    checks.equal("known answers of Threefry", threefries[:3],
                 [answer for _, _, answer in THREEFRY])
    checks.equal("known answers of Philox", philoxes[3:6],
                 [answer for _, _, answer in PHILOX])
    checks.equal("Threefry", threefries,
                 [threefry(k, c[:2]) for k, c in zip(keys, counters)])
    checks.equal("Philox", philoxes, [philox(k, c) for k, c in zip(keys, counters)])
    uniforms = [uniform(x0) for x0, _ in threefries]
    checks.equal("uniforms of f32", found["u32"], uniforms)
    checks.equal("uniforms of f64", found["u64"], uniforms)

    def check_normals(name, columns, wanted, bound):
        error = max(abs(z - w) for pair, exact in zip(zip(*columns), wanted)
                    for z, w in zip(pair, exact))
        checks.expect("%s: off by %.2g at most" % (name, bound), error <= bound,
                      "(%.3g)" % error)

    wanted = [normals(*x) for x in threefries]
    check_normals("normals of f32", (found["n32_0"], found["n32_1"]), wanted, 4e-6)
    check_normals("normals of f64", (found["n64_0"], found["n64_1"]), wanted, 1e-14)

    # Tensors: the second half of the counter is the element's index.
    count, extent = 100, 37
    write_inputs(inputs, keys[:count], [c[:1] for c in counters], ("k0", "k1", "c0"))
    data, found = outputs(checks, "tensors", tensors, inputs, scratch)
    places = [(keys[i], counters[i][0], j) for i in range(count) for j in range(extent)]
    drawn = [philox(k, (c, j, 0, 0)) for k, c, j in places]
    checks.equal("tensors of bits", [x & MASK for x in found["bits"]],
                 [x[3] for x in drawn])
    checks.equal("tensors of uniforms", found["uniforms"],
                 [uniform(x[0]) for x in drawn])
    wanted = [normals(*threefry(k, (c, j))) for k, c, j in places]
    check_normals("tensors of normals of f32", [found["normals"]],
                  [pair[1:] for pair in wanted], 4e-6)
    check_normals("tensors of normals of f64", (found["wide0"], found["wide1"]),
                  wanted, 1e-14)
    path = os.path.join(scratch, "emulator")
    checks.run("the emulator", lambda: batchtest.call(
        "batch-run", tensors, "--device=emulator", "--params=random:1",
        "--inputs=" + inputs, "--batch=50", "--outputs=" + path))
    with open(path, "rb") as file:
        checks.expect("the emulator draws the same", file.read() == data)
    checks.exit()


main(sys.argv[1:])
