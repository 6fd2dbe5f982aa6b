#!/usr/bin/env python3
"""check_trees.py [--long [--minutes=N --seed=N]] MODEL FOLDER…: checks that batched runs
equal unbatched ones.

Each FOLDER contains binary.txt and nary.txt (bracketed trees). The default is the samples of
examples/data. The script runs the first 50 trees at hidden size 16, or with --long all trees at the
model's default size. It runs them in batches of 1, 10 and 64, on one and two threads, and compares
all bits. DAG models run on seeded grids and random DAGs instead.
"""

import argparse
import itertools
import os

import batchtest


def inputs_of(model, folders, long, scratch):
    """Yields (title, file) for each file of the model's inputs."""
    limit = None if long else 50
    if model in batchtest.DAG:
        values = batchtest.dags(1000 if long else 50)
        yield "grids and random DAGs", batchtest.write_lines(
            os.path.join(scratch, "dags.jsonl"), values)
        return
    for folder in folders:
        names = ["binary.txt"]
        if model not in batchtest.BINARY:
            names.append("nary.txt")
        for name in names:
            with open(os.path.join(folder, name)) as file:
                lines = [line.strip() for line in itertools.islice(file, limit)]
            title = os.path.basename(folder) + "/" + name
            path = os.path.join(scratch, title.replace("/", "_"))
            if model in batchtest.DEP:
                lines, path = batchtest.dep_trees(lines), path + ".jsonl"
            yield title, batchtest.write_lines(path, lines)
    if not folders:
        name = ("trees.txt" if model in batchtest.BINARY else
                "dep_trees.jsonl" if model in batchtest.DEP else "nary_trees.txt")
        yield name, os.path.join(batchtest.INPUTS, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--long", action="store_true",
                        help="run all trees at the model's default size")
    batchtest.add_draw_options(parser, "runs")
    parser.add_argument("model")
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    model, long = options.model, options.long
    checks = batchtest.Checks(model)
    scratch = batchtest.temporary()
    program = checks.run("compile", lambda: batchtest.compile_model(
        batchtest.model(model), os.path.join(scratch, "model.so"), None if long else 16))
    if not program:
        checks.exit()
    runs = itertools.product(inputs_of(model, options.folders, long, scratch), (1, 10, 64),
                             (1, 2))
    for (title, path), batch, threads in batchtest.draw(options, list(runs)):
        checks.run("%s, batch %d, %d threads" % (title, batch, threads),
                   lambda: batchtest.run_model(
                       program, path, "--share-tasks=%d" % batch,
                       batch=batch, threads=threads))
    checks.exit()


main()
