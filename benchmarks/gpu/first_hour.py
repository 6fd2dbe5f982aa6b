#!/usr/bin/env python3
"""Runs the most informative measurements on a machine with a GPU, in at most ten minutes.

  first_hour.py [--output=first-hour] [--budget=540] [--parts=answers,times]
                [--quick] [--device=cuda|emulator]

Runs in a folder made by make_bundle.py --first-hour, in this order:

answers    golden cases with everything that runs programs on a GPU: executors,
           levels of strategy replicate, lock step, TF32 and bf16
times      a tree model and an LSTM at batch 1, 10 and 64 with each executor, the tree
           model in TF32 and bf16, too; results are compared with the unbatched code on
           the CPU, and bit for bit between all executors and batch sizes
barriers   run.py's barriers and ceilings
sanitizer  small golden cases under compute-sanitizer: memcheck, racecheck, synccheck
control    a decoder, attention, a sampler and ten layers at their own sizes
profile    the tree model's kernels under Nsight Compute (ncu), at batch 1 and 64, and
           those of control at batch 1: why warps wait, and at which instructions
peers      run.py on the same two models: PyTorch, CUDA graphs, cuDNN
sizes      all other models that run.py measures, at their sizes, like times
compiled   PyTorch's TorchInductor on the tree model

Each command has a time limit. After that, the command and all processes that it started are
killed. Each part has a share of the budget, which is in seconds. The table lists the parts that
did not fit. Writes to the output folder:

first-hour.json    all results, after each one
log.txt            the output of failed commands
profile.txt        reasons and instructions; profile.tar.gz has ncu's reports
table.txt          the table, which is also printed at the end

The exit code is 1 on any error. --quick runs a few of everything.
"""

import argparse
import collections
import concurrent.futures
import csv
import glob
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import run as measuring  # noqa: E402

SANITIZERS = ("memcheck", "racecheck", "synccheck")
# The model of part `times` that parts `profile` and `compiled` measure.
PROFILED = "treelstm_nary"
SECTIONS = ("SpeedOfLight", "WarpStateStats", "SourceCounters", "LaunchStats")
HOT = 40  # number of instructions listed in a profile


# --- commands with a time limit -------------------------------------------------

class Ended(Exception):
    """Exception that ends the run. Its message is the reason."""


class Watch:
    """Runs commands, each in a separate process group. Kills a command that exceeds its limit, or
    the budget of the current part or of the run."""

    def __init__(self, seconds):
        self.end = self.part_end = time.monotonic() + seconds
        self.groups, self.lock = set(), threading.Lock()

    def begin_part(self, seconds):
        self.part_end = min(self.end, time.monotonic() + seconds)

    def left(self):
        return self.part_end - time.monotonic()

    def call(self, command, limit):
        """Runs a command. Returns (exit code, or None if killed; standard output; standard
        error)."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            with self.lock:
                process = subprocess.Popen(
                    [str(word) for word in command], stdout=out, stderr=errors,
                    stdin=subprocess.DEVNULL, cwd=HERE, start_new_session=True)
                self.groups.add(process.pid)
            try:
                code = process.wait(max(0, min(limit, self.left())))
            except subprocess.TimeoutExpired:
                code = None
            kill(process.pid)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:  # the driver does not release the process
                code = None
            with self.lock:
                self.groups.discard(process.pid)
            texts = []
            for file in (out, errors):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
            return (code, *texts)

    def stop(self):
        """Ends all running commands."""
        self.end = self.part_end = 0
        with self.lock:
            for group in self.groups:
                kill(group)


def kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Job:
    """A command, its limit in seconds, and a function that reads facts from its output."""

    def __init__(self, name, command, limit, read=lambda text: {}):
        self.name, self.command, self.limit, self.read = name, command, limit, read


# --- runs -----------------------------------------------------------------------

class Hour:
    """A run, with its options, its bundle, its watch and its record."""

    def __init__(self, options, bundle):
        self.options, self.bundle = options, bundle
        self.watch, self.lock = Watch(options.budget), threading.Lock()
        self.emulated = options.device == "emulator"
        self.workers = max(1, min(8, (os.cpu_count() or 2) // 2))
        self.scratch = tempfile.mkdtemp(prefix="batch-first-hour-")
        self.programs = list(all_programs(bundle))
        self.record = {**measuring.batchtest.where_and_when("gpu-first-hour"),
                       "bundle": {key: value for key, value in bundle.items()
                                  if key not in ("models", "programs")},
                       "driver": measuring.driver(), "budget": options.budget,
                       "parts": {}, "wrong": []}
        self.begin = time.monotonic()

    # --- the record

    def path(self, name):
        return os.path.join(self.options.output, name)

    def store(self):
        self.record["seconds"] = round(time.monotonic() - self.begin, 1)
        text = json.dumps(self.record, indent=1) + "\n"
        with open(self.path("first-hour.json.new"), "w") as file:
            file.write(text)
        os.replace(file.name, self.path("first-hour.json"))

    def say_wrong(self, text):
        print("WRONG: " + text, flush=True)
        self.record["wrong"].append(text)

    def log(self, job, code, out, errors):
        with open(self.path("log.txt"), "a") as file:
            file.write("=== %s: %s\n%s\n%s\n%s\n" % (
                job.name, "killed" if code is None else "exit code %d" % code,
                " ".join(map(str, job.command)), out[-6000:], errors[-6000:]))

    # --- running

    def do(self, job):
        """Runs a job and returns its facts. The state is ok, wrong, killed or left out."""
        facts = {"name": job.name, "state": "left out"}
        if self.watch.left() < 1:
            return facts
        own = job.limit <= self.watch.left()
        start = time.monotonic()
        try:
            code, out, errors = self.watch.call(job.command, job.limit)
        except OSError as error:
            code, out, errors = 127, "", str(error)
        facts["seconds"] = round(time.monotonic() - start, 2)
        if code == 0:
            try:
                facts.update(job.read(out), state="ok")
            except Exception as error:
                code, errors = 0, "%s\n%r" % (errors, error)
                facts["state"] = "wrong"
        elif code is not None and self.watch.end:  # otherwise stop() ended the command
            facts["state"] = "wrong"
        elif own:
            facts["state"] = "killed"
        if facts["state"] != "ok":
            why = (errors.strip() or out.strip() or "nothing said").splitlines()[-1]
            facts["why"] = why[:400]
        with self.lock:
            if facts["state"] in ("wrong", "killed"):
                self.say_wrong("%s: %s: %s" % (job.name, facts["state"], facts["why"]))
            if facts["state"] != "ok":
                self.log(job, code, out, errors)
        return facts

    def do_all(self, part, jobs, workers=1):
        """Runs the jobs of a part, adds the facts of each to the record, and returns them."""
        found = self.record["parts"][part]["jobs"]

        def one(job):
            facts = self.do(job)
            with self.lock:
                found.append(facts)
                self.store()
            return facts

        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            try:
                done = list(pool.map(one, jobs))
            except Ended:
                self.watch.stop()
                raise
        if any(facts["state"] == "killed" for facts in done):
            self.probe()
        return done

    def probe(self):
        """Checks, after a command was killed, that the GPU still runs the smallest job."""
        if self.watch.left() > 5 and self.do(self.smallest())["state"] != "ok":
            raise Ended("the device no longer responds")

    # --- commands

    def batch_run(self, program, *more, prefix=()):
        words = [*prefix, measuring.batchtest.tool("batch-run"), program["object"],
                 *program["options"], *more]
        # On the emulator, all executors run on 8 blocks. The default depends on the executor:
        # 4 blocks, or two clusters.
        return words + (["--blocks=8"] if self.emulated else [])

    def patience(self, seconds):
        # The watchdog is off on the emulator, whose clock differs from that of a GPU.
        return [] if self.emulated else ["--watchdog=%d" % seconds]

    def smallest(self):
        """Returns a job that takes little time."""
        first = self.programs[0]
        return Job("the first program", self.batch_run(
            first, "--limit=1", "--json", *self.patience(5)), 60, read_counts)

    def run_script(self, output, *more):
        """Returns the command for run.py, and a function that reads its record."""
        output = os.path.join(self.scratch, output)
        words = [sys.executable, os.path.join(HERE, "run.py"), "--output=" + output,
                 "--device=" + self.options.device, *more]
        if self.emulated:
            words += ["--torch-device=cpu", "--quick", "--instances=4"]

        def read(_):
            with open(output) as file:
                record = json.load(file)
            return {key: record[key] for key in ("peer", "ceilings", "barriers", "results")
                    if record.get(key)}

        return words, read

    def of(self, part):
        return [program for program in self.programs if program["part"] == part]

    def few(self, programs):
        """Returns `programs`. With --quick, returns only the first program for each way of running
        programs."""
        if not self.options.quick:
            return programs
        kept = {}
        for program in programs:
            kept.setdefault(program["name"].split(", ")[-1], program)
        return list(kept.values())


def all_programs(bundle):
    """Yields the programs of the bundle. Models of run.py are in part `times` or `sizes`."""
    for entry in bundle["models"]:
        for executor, path in entry["objects"].items():
            yield {"part": "times" if entry["model"] in bundle["timed"] else "sizes",
                   "row": "%s %d f32" % (entry["model"], entry["size"]),
                   "name": "%s %d f32, %s" % (entry["model"], entry["size"], executor),
                   "object": path,
                   "options": ["--params=" + measuring.PARAMETERS,
                               "--inputs=" + entry["inputs"]],
                   "checks": ["--check-unbatched=1e-4"],
                   "checked": bundle["instances"], "singles": bundle["instances"],
                   "sanitized": False}
    yield from bundle["programs"]


def read_counts(text):
    """Returns facts from the output of batch-run --json."""
    found = json.loads(text)
    facts = {"counts": {key: found[key] for key in measuring.COUNTS if key in found}}
    if "max_relative_error" in found:
        facts["error"] = found["max_relative_error"]
    if "time_us" in found:
        count = found.get("mini_batches", 1)
        facts["us"] = {part: round(value / count, 2)
                       for part, value in found["time_us"].items()}
    return facts


def read_results(path):
    """Returns a function that reads the facts of read_counts(), and adds a hash of the
    results."""
    def read(text):
        facts = read_counts(text)
        with open(path, "rb") as file:
            facts["bits"] = hashlib.sha256(file.read()).hexdigest()[:16]
        os.remove(path)
        return facts
    return read


# --- parts ------------------------------------------------------------------------

def answers(hour):
    jobs = [Job(program["name"], hour.batch_run(
        program, *program["checks"], "--json", *hour.patience(5)), 20, read_counts)
        for program in hour.few(hour.of("answers"))]
    hour.do_all("answers", jobs, hour.workers)


class WithResults(Job):
    """A program whose results are stored as a hash. It is timed at a batch size, or its results
    are compared with those of the unbatched code. No run does both, because such a run would
    also time the unbatched code."""

    def __init__(self, hour, program, limit, batch=None, runs=None):
        name = "%s, %s" % (program["name"], "batch %d" % batch if batch else
                           "%d compared" % limit)
        path = os.path.join(hour.scratch, name.replace(" ", "-").replace(",", ""))
        more = ["--batch=%d" % batch, "--bench=%d" % runs] if batch \
            else program["checks"]
        Job.__init__(self, name, hour.batch_run(
            program, "--limit=%d" % limit, "--outputs=" + path, "--json", *more,
            *hour.patience(5)), 40, read_results(path))
        # Jobs with the same value of `row` must have bit-identical results. Programs that differ
        # only in the executor have the same `row`.
        self.row = program.get("row", program["name"]), limit


def compare_bits(hour, jobs, done):
    """Checks that the results of jobs with the same `row` depend neither on the executor nor on the
    batch size."""
    rows = collections.defaultdict(lambda: collections.defaultdict(list))
    for job, facts in zip(jobs, done):
        if "bits" in facts:
            rows[job.row][facts["bits"]].append(job.name)
    for (row, _), found in rows.items():
        if len(found) > 1:
            hour.say_wrong("%s: other bits in %s" % (row, " than in ".join(
                "; ".join(name.split(", ", 1)[1] for name in names)
                for names in found.values())))


def times(hour):
    timed(hour, "times", 20)


def control(hour):
    timed(hour, "control", 3)


def timed(hour, part, runs):
    """Runs comparisons in parallel, and then timings one after the other. Then compares the bits of
    all results."""
    first, then = {}, []
    runs = 2 if hour.options.quick or hour.emulated else runs
    for program in hour.few(hour.of(part)):
        for batch in hour.options.batches:
            limit = program["singles"] if batch == 1 else hour.bundle["instances"]
            limit = limit // batch * batch
            then.append(WithResults(hour, program, limit, batch, runs))
            if limit <= program["checked"]:
                first[program["name"], limit] = WithResults(hour, program, limit)
    first = list(first.values())
    done = hour.do_all(part, first, hour.workers) + hour.do_all(part, then)
    compare_bits(hour, first + then, done)


def sizes(hour):
    timed(hour, "sizes", 5)


def barriers(hour):
    models = sorted(entry["model"] for entry in hour.bundle["models"])
    chosen = "treefc" if "treefc" in models else models[0]
    words, read = hour.run_script("barriers.json", "--parts=ceilings,barriers",
                                  "--models=" + chosen)
    hour.do_all("barriers", [Job("barriers", words, 60, read)])


def sanitizer(hour):
    if not needs(hour, "sanitizer", "compute-sanitizer"):
        return
    jobs = []
    for program in hour.of("answers"):
        if not program["sanitized"] or hour.options.quick and jobs:
            continue
        for name in SANITIZERS:
            # Instrumented code may need more registers, so fewer blocks may fit. 16 always fit.
            command = hour.batch_run(
                program, "--limit=2", *([] if hour.emulated else ["--blocks=16"]),
                *hour.patience(0), prefix=[
                    "compute-sanitizer", "--tool=" + name, "--error-exitcode=99"])
            jobs.append(Job("%s, %s" % (program["name"], name), command, 60))
    hour.do_all("sanitizer", jobs, hour.workers)


def needs(hour, part, name):
    """Returns whether a tool is on the PATH, to which main() has added the CUDA folders. Records a
    missing tool."""
    if shutil.which(name):
        return True
    print("%s: %s is missing" % (part, name))
    hour.record["parts"][part]["missing"] = name
    return False


def peers(hour):
    forms = {"treelstm_nary": "recursive,levels,graph", "lstm": "cudnn,graph"}
    run_peers(hour, "peers", forms, 100)


def compiled(hour):
    run_peers(hour, "compiled", {PROFILED: "levels,compiled"}, 170)


def run_peers(hour, part, forms, limit):
    there = {entry["model"] for entry in hour.bundle["models"]}
    for model in there & set(forms):
        words, read = hour.run_script(
            "%s-%s.json" % (part, model), "--parts=models", "--models=" + model,
            "--forms=" + forms[model], "--repetitions=2")
        hour.do_all(part, [Job("%s, %s" % (model, part), words, limit, read)])


# --- Nsight Compute -----------------------------------------------------------------

def profile(hour):
    if not needs(hour, "profile", "ncu"):
        return
    raw = os.path.join(hour.scratch, "profile")
    os.makedirs(raw, exist_ok=True)
    chosen = [program for program in hour.of("times")
              if program["name"].startswith(PROFILED) and " f32," in program["name"]
              and program["name"].split(", ")[1] in ("device", "cluster-16")]
    work = [(program, batch) for batch in hour.options.batches[:1] +
            hour.options.batches[-1:] for program in chosen]
    work += [(program, 1) for program in hour.of("control")
             if program["name"].split(", ")[1:] in (["replicate device"], ["lock step"])]
    for program, batch in work:
        profile_one(hour, program, batch, raw)
        with tarfile.open(hour.path("profile.tar.gz"), "w:gz") as file:
            file.add(raw, "profile")


def middle_one(hour, program):
    """Returns the index of the input of median length; 0 for random inputs."""
    path = next(option.split("=")[1] for option in program["options"]
                if option.startswith("--inputs="))
    if path.startswith("random:"):
        return 0
    with open(os.path.join(HERE, path)) as file:
        lines = file.read().splitlines()[:hour.bundle["instances"]]
    return sorted(range(len(lines)), key=lambda i: len(lines[i]))[len(lines) // 2]


def sampling_option(hour):
    """Returns ncu's option for the sampling interval of warps. Its name depends on the version."""
    _, text, _ = hour.watch.call(["ncu", "--help"], 20)
    return "--warp-sampling-interval" if "--warp-sampling-interval" in text \
        else "--sampling-interval"


def profile_one(hour, program, batch, raw):
    name = "%s, batch %d" % (program["name"], batch)
    report = os.path.join(raw, name.replace(" ", "-").replace(",", ""))
    skip = middle_one(hour, program) if batch == 1 else 0
    prefix = ["ncu", "--clock-control=none", "--cache-control=none",
              sampling_option(hour) + "=0", "--launch-skip=%d" % skip, "--launch-count=1",
              "--force-overwrite", "--export=" + report]
    prefix += ["--section=" + section for section in SECTIONS]
    command = hour.batch_run(program, "--batch=%d" % batch, *hour.patience(0),
                             "--limit=%d" % (skip + batch), prefix=prefix)

    def read(_):
        shown = ["ncu", "--import", report + ".ncu-rep"]
        _, details, _ = hour.watch.call(
            shown + ["--page=details", "--print-details=all"], 40)
        _, source, errors = hour.watch.call(
            shown + ["--page=source", "--csv", "--print-source=sass"], 40)
        with open(report + ".csv", "w") as file:
            file.write(source)
        facts = {}
        with open(hour.path("profile.txt"), "a") as file:
            file.write("=== %s\n%s\n" % (name, details))
            try:
                facts = read_source(source, file)
            except (ValueError, IndexError) as error:
                file.write("no instructions: %r\n%s\n" % (error, errors or source[:2000]))
        return facts

    hour.do_all("profile", [Job(name, command, 60, read)])


def read_source(text, file):
    """Reads ncu's page "source". Returns the numbers of instructions and samples, and the reasons
    why warps wait, as shares of all samples. Writes the instructions with the most samples to
    `file`."""
    rows = list(csv.reader(io.StringIO(text)))
    head = next(i for i, row in enumerate(rows) if "Source" in row)
    names, rows = rows[head], [row for row in rows[head + 1:]
                               if len(row) == len(rows[head])]

    def number(row, column):
        try:
            return float(row[column].replace(",", ""))
        except ValueError:
            return 0.0

    source = names.index("Source")
    samples = names.index("Warp Stall Sampling (All Samples)")
    executed = names.index("Instructions Executed")
    reasons = [i for i, name in enumerate(names) if name.startswith("stall_")
               and "not" not in name.lower().replace("not_selected", "")]
    total = sum(number(row, samples) for row in rows) or 1
    sums = {names[i][len("stall_"):]: sum(number(row, i) for row in rows) for i in reasons}
    shares = {name: round(value / total, 3) for name, value
              in sorted(sums.items(), key=lambda item: -item[1]) if value}
    file.write("%d instructions, %d samples; reasons: %s\n" % (len(rows), total, ", ".join(
        "%s %.1f %%" % (name, 100 * share) for name, share in shares.items())))
    file.write("%6s %7s %9s  %-72s %s\n" % (
        "line", "samples", "executed", "instruction", "reasons"))
    for line in sorted(sorted(range(len(rows)), key=lambda i: -number(rows[i], samples))
                       [:HOT]):
        row = rows[line]
        why = sorted(((number(row, i), names[i][len("stall_"):]) for i in reasons),
                     reverse=True)[:3]
        file.write("%6d %6.2f%% %9d  %-72s %s\n" % (
            line, 100 * number(row, samples) / total, number(row, executed),
            row[source].strip()[:72], ", ".join(
                "%s %d" % (name, value) for value, name in why if value)))
    return {"instructions": len(rows), "samples": int(total), "stalls": shares}


# --- the table ------------------------------------------------------------------------

def table(hour):
    lines = ["%s; %s; %s, %s; %.0f s" % (
        hour.record["driver"] or hour.options.device, hour.record["date"],
        hour.bundle["ours"], hour.bundle["revision"], hour.record.get("seconds", 0))]
    for part, found in hour.record["parts"].items():
        states = collections.Counter(facts["state"] for facts in found["jobs"])
        lines.append("%-10s %s; %.0f s" % (part, ", ".join(
            "%d %s" % (states[state], state) for state in sorted(states)) or
            found.get("missing", "a job") + " is missing", found.get("seconds", 0)))
        lines += ROWS.get(part, lambda found, hour: [])(found["jobs"], hour)
    for part in PARTS:
        if part in hour.options.parts and part not in hour.record["parts"]:
            lines.append("%-10s left out" % part)
    wrong = hour.record["wrong"]
    lines += ["WRONG: " + text for text in wrong[:20]]
    lines.append("%d wrong%s" % (len(wrong), "" if len(wrong) <= 20 else
                                 ", the rest in first-hour.json"))
    return lines


def rows_of_times(jobs, hour):
    """Returns the lines of a table: kernel times and totals by batch size, and the bundle's
    estimates for executor `device`."""
    found = {}
    estimates = {"%s %d f32, device" % (entry["model"], entry["size"]):
                 entry.get("estimate_us", {}) for entry in hour.bundle["models"]}
    for facts in jobs:
        name, _, batch = facts["name"].rpartition(", batch ")
        if not batch or not name:
            continue
        us = facts.get("us")
        found.setdefault(name, []).append("%18s" % (
            "%.1f (%.1f)" % (us["kernels"], us["total"]) if us else facts["state"]))
    head = "  %-34s %s" % ("us of a kernel (in total), batch", "".join(
        "%18d" % batch for batch in hour.options.batches))
    lines = [head] * bool(found)
    for name, cells in found.items():
        lines.append("  %-34s %s" % (name, "".join(cells)))
        if estimates.get(name):
            lines.append("  %-34s %s" % ("  estimated from counts", "".join(
                "%18s" % estimates[name].get(str(batch), "-")
                for batch in hour.options.batches)))
    return lines


def rows_of_barriers(jobs, hour):
    lines = []
    for facts in jobs:
        by = collections.defaultdict(list)
        for each in facts.get("barriers", []):
            by[each["executor"]].append("%d: %.0f" % (each["blocks"], each["barrier_ns"]))
        lines += ["  ns by blocks, %s  %s" % (executor, ", ".join(found))
                  for executor, found in by.items()]
        if "ceilings" in facts:
            lines.append("  " + ", ".join(
                "%s %.4g" % item for item in facts["ceilings"].items()))
    return lines


def rows_of_peers(jobs, hour):
    lines = []
    for facts in jobs:
        for result in facts.get("results", []):
            lines.append("  %-14s batch %3d: %s %.1f; %s" % (
                result["model"], result["batch"], result["best"],
                result["ours"][result["best"]]["median_us"]["total"], ", ".join(
                    "%s %.1f (%.2fx%s)" % (
                        form, peer["median_us"]["us"], peer["ratio"],
                        ", device %.1f" % peer["median_us"]["device_us"]
                        if "device_us" in peer["median_us"] else "")
                    for form, peer in result["peers"].items())))
    return lines


def rows_of_profile(jobs, hour):
    return ["  %-42s %s" % (facts["name"], ", ".join(
        "%s %.0f%%" % (name, 100 * share)
        for name, share in list(facts.get("stalls", {}).items())[:6])) for facts in jobs]


# Parts, most valuable first, each with the largest share of the budget that it may use.
PARTS = {"answers": (answers, 0.2), "times": (times, 0.25), "barriers": (barriers, 0.12),
         "sanitizer": (sanitizer, 0.2), "control": (control, 0.15),
         "profile": (profile, 0.25), "peers": (peers, 0.3), "sizes": (sizes, 0.25),
         "compiled": (compiled, 0.35)}
ROWS = {"times": rows_of_times, "control": rows_of_times, "sizes": rows_of_times,
        "barriers": rows_of_barriers,
        "peers": rows_of_peers, "compiled": rows_of_peers, "profile": rows_of_profile}


def parse(bundle):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default="first-hour")
    parser.add_argument("--budget", type=float, default=540)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default=bundle["device"])
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error("unknown part: %s; expected one of %s" % (
            ", ".join(sorted(unknown)), ", ".join(PARTS)))
    if options.device != bundle["device"]:
        parser.error("the objects in this bundle were compiled for --device=" + bundle["device"])
    options.batches = [1, 4] if options.quick or bundle["instances"] < 64 else [1, 10, 64]
    return options


def stop(*_):
    raise Ended("stopped by a signal")


def main():
    with open(os.path.join(HERE, "bundle.json")) as file:
        bundle = json.load(file)
    options = parse(bundle)
    options.output = os.path.abspath(options.output)
    os.makedirs(options.output, exist_ok=True)
    os.environ["BATCH_TOOLS"] = os.path.join(HERE, "bin")
    os.environ["PATH"] = os.pathsep.join(
        [os.environ["PATH"], "/usr/local/cuda/bin"] +
        sorted(glob.glob("/opt/nvidia/nsight-compute/*")))
    for name in ("log.txt", "profile.txt", "profile.tar.gz"):
        if os.path.exists(os.path.join(options.output, name)):
            os.remove(os.path.join(options.output, name))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    hour = Hour(options, bundle)
    try:
        first = hour.do(hour.smallest())
        if first["state"] != "ok":
            raise Ended("the smallest job did not succeed")
        for part in filter(options.parts.__contains__, PARTS):
            function, share = PARTS[part]
            if hour.watch.end - time.monotonic() < 3:
                raise Ended("the budget is spent")
            start = time.monotonic()
            hour.watch.begin_part(share * options.budget)
            hour.record["parts"][part] = {"jobs": []}
            print("%-10s after %.0f s" % (part, start - hour.begin), flush=True)
            try:
                function(hour)
            except (OSError, KeyError, ValueError) as error:
                hour.say_wrong("%s: %r" % (part, error))
            hour.record["parts"][part]["seconds"] = round(time.monotonic() - start, 1)
            hour.store()
    except Ended as why:
        if str(why) != "the budget is spent":
            hour.say_wrong(str(why))
    finally:
        hour.watch.stop()
        hour.store()
        shutil.rmtree(hour.scratch, ignore_errors=True)
    lines = table(hour)
    with open(hour.path("table.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines), flush=True)
    sys.exit(1 if hour.record["wrong"] else 0)


if __name__ == "__main__":
    main()
