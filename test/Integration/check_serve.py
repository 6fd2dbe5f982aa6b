#!/usr/bin/env python3
"""check_serve.py SERVE: compares the answers of examples/serve with those of batch-run,
bit for bit.

Several threads, each with its own session, share one object and one set of parameters.
The mini-batches are the waiting requests. Control flow of one model waits for tensors.
"""

import json
import os
import subprocess
import sys

import batchtest

serve = sys.argv[1]
checks = batchtest.Checks("answers of a server")
path = batchtest.temporary_paths()


def ask(program, requests, vocabulary, threads, batch, *limits):
    """Returns the answers of a server, as {request number: outputs, or a message}."""
    with open(requests) as file:
        done = subprocess.run(
            [serve, program, "random:1", vocabulary, str(threads), str(batch)] +
            [str(limit) for limit in limits],
            stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=600)
    if done.returncode != 0:
        raise batchtest.ToolError("serve exited with code %d:\n%s" %
                                  (done.returncode, done.stderr.decode()))
    answers = {}
    for line in done.stdout.decode().splitlines():
        number, text = line.split(" ", 1)
        if int(number) in answers:
            raise batchtest.ToolError("request %s was answered twice" % number)
        answers[int(number)] = (text if text.startswith("error: ")
                                else json.loads(text))
    return answers


def expected(program, requests, vocabulary):
    """Returns the outputs of batch-run in the form in which ask() returns answers."""
    outputs = path("outputs.safetensors")
    batchtest.call("batch-run", program, "--inputs=" + requests,
                   "--params=random:1", "--vocab=" + vocabulary,
                   "--outputs=" + outputs)
    tensors = batchtest.read_safetensors(outputs)
    with open(requests) as file:
        count = len(file.readlines())
    answers = {number: {} for number in range(1, count + 1)}
    for name, (_, shape, values) in tensors.items():
        if name.endswith(".offsets"):
            continue
        size = len(values) // shape[0]
        rows = [list(values[i * size:(i + 1) * size]) for i in range(shape[0])]
        offsets = tensors.get(name + ".offsets")
        for number, answer in answers.items():
            answer[name] = (rows[offsets[2][number - 1]:offsets[2][number]]
                            if offsets else rows[number - 1])
    return answers


def lines(name, times):
    with open(os.path.join(batchtest.INPUTS, name)) as file:
        return file.read().splitlines() * times


def words(trees):
    """Writes a vocabulary of the words before closing brackets, and returns its path."""
    found = [token for line in trees
             for token in line.replace(")", " ) ").split() if token[0] not in "()"]
    return batchtest.write_lines(path("words.txt"), sorted(set(found)))


trees = lines("trees.txt", 10)
numbers = batchtest.write_lines(path("numbers.txt"),
                                ["word%d" % i for i in range(100)])
thousand = batchtest.write_lines(path("thousand.txt"),
                                 ["word%d" % i for i in range(1000)])
programs = {}
for model, requests, vocabulary in [
        ("treelstm_nary", trees, words(trees)),
        ("treegru_cs_dep", lines("dep_trees.jsonl", 10), numbers),
        # Control flow of this model waits.
        ("stackrnn", lines("sentences.jsonl", 4), thousand),
        ("dagrnn", batchtest.dags(80), numbers)]:
    program = programs[model] = batchtest.compile_model(
        batchtest.model(model), path(model + ".so"), 32)
    file = batchtest.write_lines(path("requests"), requests)
    wanted = expected(program, file, vocabulary)
    for threads in 1, 4:
        for batch in 1, 16:
            what = "%s, %d threads, batches of %d" % (model, threads, batch)
            answers = checks.run(what, lambda: ask(
                program, file, vocabulary, threads, batch))
            if answers:
                checks.expect(what + ": the same", answers == wanted)

# An error in a request is the answer to this request, and affects no other answer.
for model, vocabulary, good, bad in [
        ("dagrnn", numbers, batchtest.dags(7),
         {2: ("", "expected a value"), 4: ("[\"node\", 1]", "request:4:"),
          6: ("[\"node\", 100, []]", "index 100 is out of range")}),
        ("stackrnn", thousand, lines("sentences.jsonl", 1)[:7],
         {2: ("{\"tokens\": 1}", "request:2:"),
          5: ("{\"tokens\": [7, 1000]}", "index 1000 is out of range")})]:
    requests = [bad[i][0] if i in bad else good[i - 1] for i in range(1, 8)]
    answers = ask(programs[model], batchtest.write_lines(path("requests"), requests),
                  vocabulary, 2, 4)
    wanted = expected(programs[model],
                      batchtest.write_lines(path("requests"), good), vocabulary)
    for number in range(1, 8):
        if number in bad:
            checks.expect("%s: request %d is an error" % (model, number),
                          answers[number].startswith("error: ") and
                          bad[number][1] in answers[number], repr(answers[number]))
        else:
            checks.expect("%s: request %d is answered" % (model, number),
                          answers[number] == wanted[number])

# The server stops an endless request, rejects a request that is too long, and answers the other
# requests. The loop does not end for x = 0, because doubling 0 gives 0.
with open(path("doubling.mlir"), "w") as file:
    file.write(batchtest.DOUBLING)
doubling = batchtest.compile_model(path("doubling.mlir"), path("doubling.so"), None,
                                   "--strategy=linearize")
requests = batchtest.write_lines(path("requests"), [
    '{"x": 4}', '{"x": 0}', '{"x": 5}', '{"x": 6%s}' % (" " * 100), '{"x": 6}'])
for threads, batch in (1, 1), (1, 16), (2, 3):
    answers = checks.run("requests with limits", lambda: ask(
        doubling, requests, numbers, threads, batch, 1000, 50))
    if not answers:
        continue
    what = "limits, %d threads, batches of %d: " % (threads, batch)
    checks.equal(what + "neighbors", [answers[i] for i in (1, 3, 5)],
                 [{"n": [2]}, {"n": [1]}, {"n": [1]}])
    checks.expect(what + "without an end", answers[2].startswith(
        "error: exceeded the limit of 1000 steps, the last one in a loop at "
        "doubling.mlir:"), answers[2])
    checks.equal(what + "too long", answers[4],
                 "error: the request has 108 bytes; send at most 50")
checks.exit()
