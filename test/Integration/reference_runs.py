"""Runs a program in all ways, compares its results with those that Python computes, and checks
errors.
"""

import subprocess

import batchtest


class Reference:
    """Instances of a program with their expected results.

    `path` returns names of files in its own folder.
    """

    def __init__(self, checks, parameters):
        self.checks, self.path = checks, batchtest.temporary_paths()
        batchtest.write_safetensors(self.path("parameters"), parameters)
        self.instances, self.wanted = [], []
        self.tolerances = {}  # tolerances of results that are not exact

    def give(self, instances, expected):
        """Sets the instances. `expected` returns {result: values} for an instance."""
        self.instances = instances
        self.wanted = [expected(instance) for instance in instances]
        batchtest.write_lines(self.path("inputs"), instances)

    def run(self, program, batch, threads, *more):
        """Returns the bytes of the results."""
        batchtest.call(
            "batch-run", program, "--params=" + self.path("parameters"),
            "--inputs=" + self.path("inputs"), "--outputs=" + self.path("outputs"),
            "--batch=%d" % batch, "--threads=%d" % threads, *more)
        return batchtest.contents(self.path("outputs"))

    def compare(self):
        """Compares the results of the last run bit for bit, except those with a tolerance."""
        outputs = batchtest.read_safetensors(self.path("outputs"))
        self.checks.equal("results", sorted(outputs), sorted(self.wanted[0]))
        for name in self.wanted[0]:
            found = list(outputs[name][2])
            wanted = [value for one in self.wanted for value in one[name]]
            if name not in self.tolerances:
                self.checks.equal(name, found, wanted)
                continue
            worst = max(abs(a - b) for a, b in zip(found, wanted))
            self.checks.expect(name, worst <= self.tolerances[name] and
                               len(found) == len(wanted), "(off by %g)" % worst)

    def check_error(self, program, what, change, error, ways, number=5):
        """Applies `change` to a copy of instance `number`. Checks that each way to run it
        fails with `error`, and that the message names the instance."""
        wrong = [dict(v) for v in self.instances]
        change(wrong[number])
        batchtest.write_lines(self.path("wrong"), wrong)
        wanted = "instance %d: %s" % (number, error)
        for way in ways:
            done = subprocess.run(
                [batchtest.tool("batch-run"), program,
                 "--params=" + self.path("parameters"),
                 "--inputs=" + self.path("wrong")] + way,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
            text = done.stderr.decode()
            self.checks.expect("%s, %s" % (what, " ".join(way) or "all at once"),
                               done.returncode == 1 and wanted in text,
                               "(exit code %d, %r)" % (done.returncode, text))

    def check_cpu(self, model, strategy, check_errors, more=()):
        """Returns the results of `model` on the CPU as bytes, or None on failure. Checks that
        all ways to run the model give the same bits.

        `check_errors(program, name, ways)` checks the errors. `more` contains additional
        flags, each for a separate run."""
        checks, count = self.checks, len(self.instances)
        program = self.compile(model, strategy)
        if not program:
            return None
        first = checks.run("one by one", lambda: self.run(program, 1, 1))
        self.compare()
        for batch, threads in [(7, 1), (count, 1), (1, 2), (7, 2), (count, 2)]:
            checks.equal(
                "%s: same bits, batches of %d on %d threads" %
                (strategy, batch, threads),
                checks.run("run", lambda: self.run(program, batch, threads,
                                                   "--check-unbatched")), first)
        for flag in more:
            checks.equal("%s: same bits, %s" % (strategy, flag), checks.run(
                "run", lambda: self.run(program, count, 1, flag)), first)
        checks.equal(strategy + ": same bits unbatched", checks.run(
            "run", lambda: self.run(program, 7, 1, "--unbatched")), first)
        ways = [[], ["--batch=7"], ["--batch=1"], ["--threads=2"], ["--unbatched"]]
        if strategy == "linearize":
            ways.append(["--trace=" + self.path("trace")])
        check_errors(program, strategy, ways)
        return first

    def check_emulator(self, model, strategy, check_errors):
        """Checks the results of `model` on the emulator. Single instances and mini-batches must
        have the same results."""
        checks, count = self.checks, len(self.instances)
        program = self.compile(model, strategy, "--device=emulator")
        if not program:
            return
        one = checks.run("one by one", lambda: self.run(program, 1, 1, "--blocks=4"))
        self.compare()
        checks.equal(strategy + ", emulator: same bits together", checks.run(
            "run", lambda: self.run(program, count, 1, "--blocks=4")), one)
        check_errors(program, strategy + ", emulator", [["--blocks=4"]])

    def compile(self, model, strategy, *options):
        name = "%s%s.so" % (strategy, "-emulated" if options else "")
        return self.checks.run(
            " ".join(("compile for", strategy) + options),
            lambda: batchtest.compile_model(model, self.path(name), None,
                                            "--strategy=" + strategy, *options))
