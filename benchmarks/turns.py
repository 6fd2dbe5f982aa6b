"""Programs that are timed in turn: ours, and peers in separate processes."""

import os
import statistics
import time

import batchtest

TOLERANCE = 1e-4
# A point runs as many mini-batches as fit into this number of instances, but at least one.
LEAST_INSTANCES = 8


class Ours:
    """Form that runs our program, or a variant of the program that lacks a feature. It takes turns
    with the forms of peers."""

    def __init__(self, name, program, *options):
        self.name, self.program, self.options = name, program, options
        self.unbatched = "--unbatched" in options

    def outputs(self, point, path):
        """Writes the outputs to the file `path`. Returns the counts of the run."""
        return batchtest.run_model(
            self.program, point.inputs, "--outputs=" + path, "--limit=%d" % point.count,
            *point.given, *self.options, params=point.params, batch=point.batch,
            threads=point.threads, check=False)

    def check(self, point):
        path = point.outputs + ".other"
        self.outputs(point, path)
        same = batchtest.contents(path) == batchtest.contents(point.outputs)
        if not same:
            raise batchtest.ToolError("the outputs are not bit-identical to the expected outputs")
        return {"error": 0.0, "close": 0}

    def time(self, point):
        found = batchtest.run_model(
            self.program, point.inputs, "--bench=%d" % point.runs,
            "--limit=%d" % point.count, *point.given, *self.options, params=point.params,
            batch=point.batch, threads=point.threads, check=False)
        if self.unbatched:
            return found["unbatched_us"] / point.mini_batches
        self.parts = {part: us / point.mini_batches for part, us in found["time_us"].items()}
        return self.parts["total"]


class Other:
    """Form of a peer, which runs in one or several separate processes. check() selects the fastest
    process."""

    def __init__(self, name, form, processes):
        self.name, self.form, self.processes = name, form, processes

    def check(self, point):
        """Checks all processes. Returns the result of the fastest one, with a list of the processes
        that failed. For example, a scheduler of DyNet may fail on large graphs."""
        best, failed = None, []
        for process in self.processes:
            try:
                found = process.ask("check", form=self.form, batch=point.batch,
                                    count=point.count, outputs=point.outputs,
                                    margins=point.margins)
                spent = process.ask("time", form=self.form, batch=point.batch,
                                    count=point.count, runs=1)["us"][0] \
                    if len(self.processes) > 1 else 0
            except batchtest.ToolError as error:
                failed.append("%s: %s" % (process.started_with[3:], error))
                continue
            if best is None or spent < best[0]:
                best = spent, process, found
        if best is None:
            raise batchtest.ToolError("; ".join(failed))
        _, self.fastest, found = best
        if failed:
            found["failed"] = failed
        if not found["error"] <= TOLERANCE:
            raise batchtest.ToolError("the outputs differ from the expected outputs by %g" %
                                     found["error"])
        return found

    def time(self, point):
        found = self.fastest.ask("time", form=self.form, batch=point.batch,
                                 count=point.count, runs=point.runs)
        return statistics.median(found["us"]) / point.mini_batches


class Point:
    """Inputs and settings of one line of a benchmark's table."""

    def __init__(self, files, batch, threads, runs):
        self.inputs, self.params, self.outputs = files
        sidecar = self.inputs + ".safetensors"
        self.given = ["--input-tensors=" + sidecar] if os.path.exists(sidecar) else []
        self.batch, self.threads, self.runs = batch, threads, runs
        self.mini_batches = max(1, LEAST_INSTANCES // batch)
        self.count = self.mini_batches * batch
        self.margins = None


def median_ratio(theirs, ours):
    return statistics.median(b / a for a, b in zip(ours, theirs))


def take_turns(forms, point, rounds, seconds):
    """Returns {name of a form: times of its rounds}."""
    times, spent = {form.name: [] for form in forms}, {}
    start = time.perf_counter()
    for _ in range(rounds):
        for form in forms:
            # A form that has used its share of the time skips the remaining rounds.
            if spent.get(form.name, 0) > seconds / len(forms):
                continue
            began = time.perf_counter()
            times[form.name].append(form.time(point))
            spent[form.name] = spent.get(form.name, 0) + time.perf_counter() - began
        if time.perf_counter() - start > seconds:
            break
    return times
