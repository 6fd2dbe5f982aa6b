#!/usr/bin/env python3
"""check_serving.py --doc=FILE [--c=THREADS] [--cxx=SERVE] [--python=PYTHON]
[--compile=BATCH-COMPILE] [--sanitize=thread] [--preload=LIBRARY]: tests programs in C
(threads.c), C++ (examples/serve) and Python (threads.py). Each program serves one object,
the model of docs/how-to/run-from-c.md, from four threads. All programs give the same answers.

The programs may have been built with a sanitizer, whose reports are failures.
"""

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS, WIDTH = 5, 4


def run(command, text=None, **environment):
    environment = dict(os.environ, TSAN_OPTIONS="exitcode=66", **environment)
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment, timeout=600)
    if done.returncode != 0 or b"WARNING: ThreadSanitizer" in done.stderr:
        sys.exit("FAILED: %s exited with code %d:\n%s" % (" ".join(command), done.returncode,
                                                          done.stderr.decode()[:4000]))
    return done.stdout.decode()


def expected(limit, words):
    """Computes the results of the model. All numbers are exact in f32."""
    step = [sum(w + 1 + i / 4 for w in words) for i in range(WIDTH)]
    now, rounds = list(step), 1
    while now[0] < limit:
        now = [a + b for a, b in zip(now, step)]
        rounds += 1
    return now, rounds


def write_parameters(path):
    """Writes a safetensors file that contains E."""
    values = [w + 1 + i / 4 for w in range(WORDS) for i in range(WIDTH)]
    data = struct.pack("<%df" % len(values), *values)
    head = json.dumps({"E": {"dtype": "F32", "shape": [WORDS, WIDTH],
                             "data_offsets": [0, len(data)]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--c")
    parser.add_argument("--cxx")
    parser.add_argument("--python")
    parser.add_argument("--compile", default="batch-compile")
    parser.add_argument("--sanitize")
    parser.add_argument("--preload", default="")
    parser.add_argument("--doc", required=True,
                        help="read the model from this file, docs/how-to/run-from-c.md")
    options = parser.parse_args()
    with open(options.doc) as file:
        model = re.search(r"save as words.mlir -->\n```mlir\n(.*?)```", file.read(),
                          re.S).group(1)
    requests = [(i % 13 * 3.0, [(i * 7 + j) % WORDS for j in range(1 + i % 6)])
                for i in range(100)]
    wanted = [expected(*request) for request in requests]
    flags = ["--sanitize=" + options.sanitize] if options.sanitize else []
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        def check(language, answers):
            nonlocal ran
            if answers != wanted:
                sys.exit("FAILED: the %s program returns %s; expected %s" % (
                    language, answers[:3], wanted[:3]))
            ran += 1
            print("%s: %d answers of 4 threads" % (language, len(answers)))

        def numbers(text):
            rows = [line.split() for line in text.splitlines()]
            return [([float(x) for x in row[:-1]], int(row[-1])) for row in rows]

        with open(path("words.mlir"), "w") as file:
            file.write(model)
        with open(path("requests"), "w") as file:
            for limit, words in requests:
                print(limit, len(words), *words, file=file)
        if options.c or options.cxx:
            run([options.compile, path("words.mlir"), "-o", path("words.so"), *flags])
        if options.c:
            check("C", numbers(run([options.c, path("words.so"), path("requests"), "4"])))
        if options.cxx:
            write_parameters(path("e.safetensors"))
            with open(path("vocabulary"), "w") as file:
                print(*["word%d" % w for w in range(WORDS)], sep="\n", file=file)
            lines = "".join(json.dumps({"words": words, "limit": limit}) + "\n"
                            for limit, words in requests)
            said = run([options.cxx, path("words.so"), path("e.safetensors"),
                        path("vocabulary"), "4", "3"], lines.encode())
            answers = {}
            for line in said.splitlines():
                number, _, text = line.partition(" ")
                answer = json.loads(text)
                answers[int(number)] = (answer["sum"], answer["rounds"][0])
            check("C++", [answers[i + 1] for i in range(len(requests))])
        if options.python:
            said = run([options.python, os.path.join(HERE, "threads.py"),
                        path("words.mlir"), path("requests"), "4", *flags],
                       LD_PRELOAD=options.preload, XDG_CACHE_HOME=path("cache"))
            check("Python", numbers(said))
    if ran == 0:
        sys.exit("FAILED: no program to test; use --c, --cxx or --python")


main()
