#!/usr/bin/env python3
"""random_reads.py [--programs=20 | --minutes=N] [--first=0] [--seed=1] [--jobs=2]
                [--keep=FOLDER]

Runs random programs that read tensors at indices that are data: slices with and without unit
dimensions, elements, bodies of structured operations, gathers, paddings and generated tensors, of
parameters, of static and ragged inputs and of computed tensors; in loops and branches that depend
on elements of inputs, with rank-0 tensors as counters, and with weights and indices that loops
carry. Indices are elements: unchanged, clamped, masked, sums of integer tensors, counters, or the
result of a read at another index.

Results must equal those of Python to the bit, for batches of 1, 7 and 64 on one and two threads,
unbatched, and on the emulator. In every sixth program, elements are out of range. If an instance
fails in Python, all variants must end with exit code 1 and an error that names such an instance.
Memory ends at pages without access (BATCH_GUARD_PAGES). The same seed and number make the same
program: --first=N --programs=1 repeats one, and --keep writes its files to a folder.
"""

import argparse
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import threading

import batchtest
import read_programs

COUNT = 64  # instances


class WrongResult(Exception):
    """A run had an unexpected outcome."""


def spoil(program, generator, shared, instances):
    """Sets indices of one or two instances out of range, usually to the smallest value with which
    the instance fails."""
    name, most = generator.choice((("a", 2**31 - 1), ("b", 2**40)))
    most = min(most, program.largest)
    bad = list(range(program.most, max(extent for source in program.top.sources
                                       for extent in (source.least,) +
                                       source.shape[1:]) + 7))
    if generator.random() < 0.4:
        bad = [generator.choice((-1, most, -most, bad[-1]))]
    places = generator.sample(range(program.length), generator.choice((1, 3)))
    for number in generator.sample(range(COUNT), generator.choice((1, 1, 2))):
        for value in bad:
            changed = dict(instances[number])
            changed[name] = [value if place in places else index
                             for place, index in enumerate(changed[name])]
            if program.evaluate(shared, changed) is None:
                break
        instances[number] = changed


def run_tool(arguments):
    done = subprocess.run([batchtest.tool("batch-run")] + arguments,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


class Case:
    """A program, its inputs, and its expected outcome"""

    def __init__(self, number, options, folder):
        generator = random.Random("reads %d/%d" % (options.seed, number))
        self.folder = folder
        self.program = read_programs.Program(generator)
        self.shared = self.program.draw(generator, "shared")
        self.instances = [self.program.draw(generator, "input") for _ in range(COUNT)]
        for _ in range(8 if number % 6 == 5 else 0):
            good = list(self.instances)
            spoil(self.program, generator, self.shared, self.instances)
            self.evaluate()
            if self.failing:
                break
            self.instances = good
        self.evaluate()

    def evaluate(self):
        self.wanted = [self.program.evaluate(self.shared, instance)
                       for instance in self.instances]
        self.failing = [i for i, wanted in enumerate(self.wanted) if wanted is None]

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self):
        with open(self.path("program.mlir"), "w") as file:
            file.write(self.program.text())
        batchtest.write_lines(self.path("inputs.jsonl"), self.instances)
        tensors = {}
        for name, _, place, shape, kind, _ in self.program.arguments:
            if place == "shared":
                value = self.shared[name]
                extents = [len(value)] + list(shape[1:])
                tensors[name] = (kind.upper(), extents, read_programs.flat(value))
        batchtest.write_safetensors(self.path("parameters.safetensors"), tensors)

    def compile(self, device):
        output = self.path(device + ".so")
        batchtest.call("batch-compile", self.path("program.mlir"), "-o", output,
                       "--strategy=" + self.program.strategy, "--device=" + device)
        return output

    def run(self, device, batch, threads, *more):
        """Returns the outputs as bytes, or None if the run fails as expected."""
        outputs = self.path("outputs.safetensors")
        arguments = [self.path(device + ".so"),
                     "--params=" + self.path("parameters.safetensors"),
                     "--inputs=" + self.path("inputs.jsonl"), "--outputs=" + outputs,
                     "--batch=%d" % batch, "--threads=%d" % threads] + list(more)
        code, text = run_tool(arguments)
        what = "batch-run %s\nexited with code %d:\n%s" % (" ".join(arguments), code, text)
        if not self.failing:
            if code != 0:
                raise WrongResult(what)
            return batchtest.contents(outputs)
        named = re.search(r"error: instance (\d+): ", text)
        first = self.failing[0]
        if code != 1 or not named or int(named.group(1)) not in self.failing or (
                int(named.group(1)) // batch != first // batch):
            raise WrongResult("%s\nexpected an error that names one of the instances "
                              "%s in batch %d" % (what, self.failing, first // batch))
        return None

    def compare(self):
        found = batchtest.read_safetensors(self.path("outputs.safetensors"))
        for r in range(len(self.program.results)):
            values = list(found["r%d" % r][2])
            width = self.program.width
            for i, wanted in enumerate(self.wanted):
                if values[i * width:(i + 1) * width] != wanted[r]:
                    raise WrongResult("result r%d of instance %d is %s; expected %s" % (
                        r, i, values[i * width:(i + 1) * width], wanted[r]))

    def check(self):
        self.write()
        for device, ways in (
                ("cpu", [(7, 1), (COUNT, 1), (1, 2), (7, 2), (COUNT, 2),
                         (1, 1, "--unbatched")]),
                ("emulator", [(COUNT, 1)])):
            self.compile(device)
            first = self.run(device, 1, 1)
            if not self.failing:
                self.compare()
            for batch, threads, *more in ways:
                if self.run(device, batch, threads, *more) != first:
                    raise WrongResult("results differ on %s with --batch=%d --threads=%d %s"
                                      % (device, batch, threads, " ".join(more)))


def run_one(number, options):
    """Returns the failure (or None), and the number of instances that end in an error."""
    folder = batchtest.temporary()
    try:
        case = Case(number, options, folder)
        if options.keep:
            shutil.rmtree(options.keep, ignore_errors=True)
            case.folder = folder = options.keep
            os.makedirs(folder)
        case.check()
        return None, len(case.failing)
    except (WrongResult, batchtest.ToolError) as error:
        return str(error), 0
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    batchtest.add_soak_options(parser, 20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", metavar="FOLDER",
                        help="keep the files of the program in FOLDER")
    options = parser.parse_args()
    os.environ.setdefault("BATCH_GUARD_PAGES", "1")
    numbers = batchtest.soak_numbers(options)
    done, failed, ended, lock = 0, [], 0, threading.Lock()

    def work():
        nonlocal done, ended
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            error, failing = run_one(number, options)
            with lock:
                done += 1
                ended += failing > 0
                if error:
                    failed.append(number)
                    print("FAILED: program %d (random_reads.py --seed=%d --first=%d "
                          "--programs=1 --keep=FOLDER)\n%s" % (
                              number, options.seed, number, error))
                if done % 20 == 0:
                    print("%d programs, %d failed" % (done, len(failed)))
                sys.stdout.flush()

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job in [pool.submit(work) for _ in range(options.jobs)]:
            job.result()
    print("random reads: %d passed, %d failed; %d ended in the error of an index" % (
        done - len(failed), len(failed), ended))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
