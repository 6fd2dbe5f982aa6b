#!/usr/bin/env python3
"""Makes the inputs of models that sample, and checks their draws.

  posteriors.py inputs MODEL FOLDER [--data=FOLDER] [--chains=N] [--seed=N]
                                    [--dimensions=N] [--rows=N]
      writes FOLDER/MODEL.safetensors, FOLDER/MODEL.jsonl and, if chains start at
      given points, FOLDER/MODEL_starts.safetensors.
  posteriors.py check MODEL OUTPUTS.safetensors [--data=FOLDER]
      compares the draws that batch-run wrote (--outputs) with the reference: the mean and
      standard deviation of each parameter must be within 4 times the Monte-Carlo error of
      both, and split R-hat below 1.01.
  posteriors.py run MODEL [--data=FOLDER] [--draws=N] [-- OPTION of batch-run...]
      makes the inputs, runs 64 chains of the model (default: --unbatched) and checks
      their draws.
  posteriors.py test
      tests the check itself, on draws of known distributions.

The data of the real posteriors is in ../shared/data by default. The data of nuts_logreg is
synthetic: regressors from a standard normal distribution, addressed in the counter-based
generator that the models draw from.
"""

import argparse
import csv
import json
import math
import os
import random
import sys

import batchtest

DATA = os.path.join(os.path.dirname(batchtest.ROOT), "shared", "data")
REGRESSIONS = ["arK", "blr", "kidscore_interaction"]
REAL = ["german_credit", "eight_schools_noncentered"] + REGRESSIONS
MODELS = REAL + ["nuts_gauss", "nuts_logreg"]


# --- random numbers ---------------------------------------------------------

def threefry(key, counter):
    """Returns the two words of Threefry-2x32 with 20 rounds."""
    mask = 0xFFFFFFFF
    keys = (*key, 0x1BD11BDA ^ key[0] ^ key[1])
    x = (counter[0] + key[0]) & mask
    y = (counter[1] + key[1]) & mask
    for i in range(20):
        x = (x + y) & mask
        turn = (13, 15, 26, 6, 17, 29, 16, 24)[i % 8]
        y = ((y << turn | y >> 32 - turn) & mask) ^ x
        if i % 4 == 3:
            s = i // 4 + 1
            x = (x + keys[s % 3]) & mask
            y = (y + keys[(s + 1) % 3] + s) & mask
    return x, y


def uniform(word):
    """Returns a number in (0, 1)."""
    return (word >> 9) * 2.0**-23 + 2.0**-24


def normals(key, counter):
    """Returns a pair of standard normals."""
    x, y = threefry(key, counter)
    radius = math.sqrt(-2 * math.log(uniform(x)))
    angle = 2 * math.pi * uniform(y)
    return radius * math.cos(angle), radius * math.sin(angle)


# --- inputs -----------------------------------------------------------------

def read_json(folder, model, name):
    with open(os.path.join(folder, "posteriordb", model, name)) as file:
        return json.load(file)


def matrix(rows):
    return ("F64", [len(rows), len(rows[0])], [float(x) for row in rows for x in row])


def vector(values):
    return ("F64", [len(values)], [float(x) for x in values])


def german_credit(folder):
    with open(os.path.join(folder, "german_credit", "german.data-numeric")) as file:
        rows = [[float(word) for word in line.split()] for line in file]
    columns = []
    for column in list(zip(*rows))[:-1]:
        mean = math.fsum(column) / len(column)
        deviation = math.sqrt(math.fsum((x - mean)**2 for x in column) / len(column))
        columns.append([(x - mean) / deviation for x in column])
    columns.append([1.0] * len(rows))
    return {"X": matrix(list(zip(*columns))), "y": vector([r[-1] - 1 for r in rows])}


def posteriordb(folder, model):
    data = read_json(folder, model, "data.json")
    if model == "eight_schools_noncentered":
        return {"y": vector(data["y"]), "sigma": vector(data["sigma"])}
    if model == "arK":
        y, k = data["y"], data["K"]
        rows = [[1] + [y[t - i] for i in range(1, k + 1)] for t in range(k, len(y))]
        return {"X": matrix(rows), "y": vector(y[k:])}
    if model == "kidscore_interaction":
        rows = [[1, school, iq, school * iq]
                for school, iq in zip(data["mom_hs"], data["mom_iq"])]
        return {"X": matrix(rows), "y": vector(data["kid_score"])}
    return {"X": matrix(data["X"]), "y": vector(data["y"])}


def gaussian(dimensions, correlation=0.9):
    """Returns the tridiagonal precision matrix of the covariance correlation^|i-j|."""
    scale = 1 / (1 - correlation**2)
    rows = [[0.0] * dimensions for _ in range(dimensions)]
    for i in range(dimensions):
        inner = 0 < i < dimensions - 1
        rows[i][i] = scale * (1 + correlation**2 if inner else 1)
        if i:
            rows[i][i - 1] = rows[i - 1][i] = -scale * correlation
    return {"prec": matrix(rows)}


def logistic(count, dimensions, data_seed=7):
    """Returns X, y and the weights from which y was drawn."""
    key = (data_seed, 0x10C4E6)
    pairs = (dimensions + 1) // 2
    rows = [[z for k in range(pairs) for z in normals(key, (i, k))][:dimensions]
            for i in range(count)]
    weights = [z / math.sqrt(dimensions) for k in range(pairs)
               for z in normals(key, (0, 0x10000 + k))][:dimensions]
    labels = []
    for i, row in enumerate(rows):
        a = math.fsum(x * w for x, w in zip(row, weights))
        u = uniform(threefry(key, (i, 0x20000))[0])
        labels.append(u < 1 / (1 + math.exp(-a)))
    return {"X": matrix(rows), "y": vector(labels), "w_true": vector(weights)}


def write_inputs(model, folder, count, data=DATA, seed=1, dimensions=100, rows=10000):
    """Writes the input files for `count` chains of a model."""
    generator = random.Random(seed)
    chains = [{"seed": seed, "chain": i} for i in range(count)]
    starts = {}
    if model == "german_credit":
        parameters = german_credit(data)
    elif model in REAL:
        parameters = posteriordb(data, model)
    else:
        scale = 1.0
        if model == "nuts_gauss":
            parameters = gaussian(dimensions)
            centre = [0.0] * dimensions
        else:
            parameters = logistic(rows, dimensions)
            centre, scale = parameters["w_true"][2], 0.05
        for i, chain in enumerate(chains):
            chain["q0"] = {"tensor": "%d.q0" % i}
            starts["%d.q0" % i] = vector([c + scale * generator.gauss(0, 1)
                                          for c in centre])
    path = os.path.join(folder, model)
    batchtest.write_safetensors(path + ".safetensors", parameters)
    batchtest.write_lines(path + ".jsonl", chains)
    if starts:
        batchtest.write_safetensors(path + "_starts.safetensors", starts)


# --- the check --------------------------------------------------------------

def mean_and_deviation(values):
    mean = math.fsum(values) / len(values)
    squares = math.fsum((x - mean)**2 for x in values)
    return mean, math.sqrt(squares / (len(values) - 1))


class Reference:
    """Names of parameters, their means and standard deviations, and the errors of both"""

    def __init__(self, names, means, mean_errors, deviations, deviation_errors):
        self.names = names
        self.means, self.mean_errors = means, mean_errors
        self.deviations, self.deviation_errors = deviations, deviation_errors


def read_reference(model, folder):
    if model == "german_credit":
        with open(os.path.join(folder, model, "ground_truth.json")) as file:
            truth = json.load(file)
        means, errors, deviations = (truth["mean"], truth["mean_standard_error"],
                                     truth["sd"])
        # For n independent normal draws, the error of the mean is sd / sqrt(n), and that of the
        # deviation is about sd / sqrt(2 n).
        return Reference(["w[%d]" % i for i in range(len(means))], means, errors,
                         deviations, [e / math.sqrt(2) for e in errors])
    summary = read_json(folder, model, "reference_summary.json")
    path = os.path.join(folder, "posteriordb", model, "reference_draws_thinned.csv")
    with open(path) as file:
        lines = list(csv.reader(file))
    assert lines[0] == summary["names"], path
    count = summary["n_chains"] * summary["draws_per_chain"]
    errors = []
    for column in zip(*lines[1:]):
        values = [float(x) for x in column]
        mean, deviation = mean_and_deviation(values)
        fourth = math.fsum((x - mean)**4 for x in values) / len(values)
        errors.append(math.sqrt((fourth - deviation**4) / count) / (2 * deviation))
    return Reference(summary["names"], summary["mean"], summary["mcse_mean_iid"],
                     summary["sd"], errors)


class Estimate:
    """Statistics of the chains of one parameter. Chains are independent, so their differences
    determine the errors. The jackknife leaves out one chain at a time."""

    def __init__(self, chains):
        moments = [(len(c), math.fsum(c), 0) for c in chains]
        centre = math.fsum(m[1] for m in moments) / sum(m[0] for m in moments)
        moments = [(len(c), math.fsum(x - centre for x in c),
                    math.fsum((x - centre)**2 for x in c)) for c in chains]
        totals = [math.fsum(column) for column in zip(*moments)]

        def estimate(count, total, squares):
            mean = total / count
            return (centre + mean,
                    math.sqrt(max(squares - count * mean**2, 0) / (count - 1)))

        self.mean, self.deviation = estimate(*totals)
        left_out = [estimate(*(t - m for t, m in zip(totals, moment)))
                    for moment in moments]
        n = len(chains)
        self.mean_error, self.deviation_error = (
            math.sqrt((n - 1) / n) * math.sqrt(n - 1) * mean_and_deviation(values)[1]
            for values in zip(*left_out))
        halves = [half for c in chains
                  for half in (c[:len(c) // 2], c[-(len(c) // 2):])]
        length = len(halves[0])
        pairs = [mean_and_deviation(half) for half in halves]
        within = math.fsum(d**2 for _, d in pairs) / len(pairs)
        between = mean_and_deviation([m for m, _ in pairs])[1]**2
        self.rhat = (math.sqrt((length - 1) / length + between / within)
                     if within > 0 else math.inf)


def compare(chains_of, reference, minimum=64):
    """Prints a line for each parameter; returns the problems. `chains_of` contains the
    chains of each parameter."""
    problems = []
    print("%-12s %11s %11s %9s  %9s %9s %9s  %s" %
          ("parameter", "mean", "reference", "/ error", "sd", "reference", "/ error",
           "R-hat"))
    if len(chains_of) != len(reference.names):
        return ["%d parameters, and the reference has %d" %
                (len(chains_of), len(reference.names))]
    for i, (name, chains) in enumerate(zip(reference.names, chains_of)):
        if len(chains) < minimum:
            return ["%d chains; the check needs %d" % (len(chains), minimum)]
        if not all(math.isfinite(x) for chain in chains for x in chain):
            problems.append("%s is not finite" % name)
            continue
        found = Estimate(chains)
        distances = [
            abs(found.mean - reference.means[i]) /
            math.hypot(found.mean_error, reference.mean_errors[i]),
            abs(found.deviation - reference.deviations[i]) /
            math.hypot(found.deviation_error, reference.deviation_errors[i])]
        print("%-12s %11.5g %11.5g %9.2f  %9.4g %9.4g %9.2f  %.4f" %
              (name, found.mean, reference.means[i], distances[0], found.deviation,
               reference.deviations[i], distances[1], found.rhat))
        for what, distance in zip(("mean", "standard deviation"), distances):
            if not distance <= 4:
                problems.append("the %s of %s is %.1f errors off" %
                                (what, name, distance))
        if not found.rhat < 1.01:
            problems.append("R-hat of %s is %.4f" % (name, found.rhat))
    return problems


def read_draws(path):
    """Returns the draws, indexed by [parameter][chain][draw]."""
    tensors = batchtest.read_safetensors(path)
    if "draws" not in tensors:
        sys.exit("%s has no tensor 'draws'" % path)
    _, (chains, draws, count), values = tensors["draws"]
    return [[values[(c * draws) * count + i:(c + 1) * draws * count:count]
             for c in range(chains)] for i in range(count)]


def check(options):
    problems = compare(read_draws(options.outputs),
                       read_reference(options.model, options.data))
    for problem in problems:
        print("FAILED: " + problem)
    if problems:
        sys.exit(1)
    print("%s: all parameters agree" % options.model)


def run(options):
    options.folder = batchtest.temporary()
    write_inputs(options.model, options.folder, 64, options.data)
    path = os.path.join(options.folder, options.model)
    program = batchtest.compile_model(
        batchtest.model(options.model), path + ".so", None, "--strategy=lockstep",
        *(["--size=N=%d" % options.draws] if options.draws else []))
    options.outputs = path + ".draws"
    batchtest.run_model(program, path + ".jsonl", "--outputs=" + options.outputs,
                        *(options.options or ["--unbatched"]),
                        params=path + ".safetensors", check=False)
    check(options)


# --- its own tests ----------------------------------------------------------

def test():
    checks = batchtest.Checks("posteriors")
    checks.equal("Threefry", ["%08x" % x for x in threefry(
        (0x13198a2e, 0x03707344), (0x243f6a88, 0x85a308d3))], ["c4923a9c", "483df7a0"])

    generator = random.Random(3)

    def chains(centre=0.0, scale=1.0, count=64, draws=600, memory=0.5):
        """Returns autoregressive chains. All of their draws have a normal distribution, including
        the first."""
        result = []
        for _ in range(count):
            x = generator.gauss(0, 1)
            chain = []
            for _ in range(draws):
                x = memory * x + math.sqrt(1 - memory**2) * generator.gauss(0, 1)
                chain.append(centre + scale * x)
            result.append(chain)
        return result

    # Each of the 38,400 draws counts as 1/3 of an independent draw for the mean, and as 3/5 of one
    # for the deviation.
    reference = Reference(["a", "b"], [5.0, -1.0], [1e-3, 1e-3], [2.0, 0.1],
                          [1e-3, 1e-4])

    def problems(a, b):
        return compare([a, b], reference)

    good = chains(-1.0, 0.1)
    checks.equal("right draws", problems(chains(5, 2), good), [])
    found = Estimate(chains(5, 2))
    checks.expect("the error of the mean is that of correlated draws",
                  0.7 < found.mean_error / (2 * math.sqrt(3 / 38400)) < 1.4,
                  found.mean_error)
    checks.expect("and so is that of the deviation",
                  0.7 < found.deviation_error / math.sqrt(2 * 5 / 3 / 38400) < 1.4,
                  found.deviation_error)

    def fails(what, a, word):
        wrong = problems(a, good)
        checks.expect(what, wrong and word in " ".join(wrong), wrong)

    fails("a mean that is 7 errors off", chains(5.22, 2), "the mean of a")
    fails("a deviation that is 10 % off", chains(5, 2.2), "standard deviation of a")
    fails("chains in two places",
          [[x + (0.5 if i % 2 else -0.5) for x in chain]
           for i, chain in enumerate(chains(5, 2))], "R-hat of a")
    fails("chains that drift",
          [[x + (0.5 if i < 300 else -0.5) for i, x in enumerate(chain)]
           for chain in chains(5, 2)], "R-hat of a")
    fails("chains that stand still", [[5.0] * 200] * 64, "R-hat of a")
    fails("a draw that is no number",
          chains(5, 2)[:-1] + [[math.nan] * 200], "a is not finite")
    fails("too few chains", chains(5, 2, count=16), "16 chains")
    checks.equal("a parameter too few", compare([good], reference),
                 ["1 parameters, and the reference has 2"])

    folder = batchtest.temporary()
    path = os.path.join(folder, "draws.safetensors")
    batchtest.write_safetensors(path, {"draws": ("F64", [2, 3, 2], range(12))})
    checks.equal("draws of a file", [[list(c) for c in p] for p in read_draws(path)],
                 [[[0, 2, 4], [6, 8, 10]], [[1, 3, 5], [7, 9, 11]]])

    data = logistic(200, 8)
    case = os.path.join(os.path.dirname(DATA), "cases", "nuts_logreg")
    if os.path.isdir(case):
        for name, (_, shape, values) in batchtest.read_safetensors(
                os.path.join(case, "params.safetensors")).items():
            checks.expect("the data of nuts_logreg: " + name,
                          data[name][1] == list(shape) and
                          max(abs(a - b) for a, b in zip(data[name][2], values)) < 1e-6)
    case = os.path.join(os.path.dirname(DATA), "cases", "nuts_gauss")
    if os.path.isdir(case):
        (_, _, values) = batchtest.read_safetensors(
            os.path.join(case, "params.safetensors"))["prec"]
        checks.expect("the precision of nuts_gauss",
                      max(abs(a - b) for a, b in
                          zip(gaussian(16)["prec"][2], values)) < 1e-5)
    checks.exit()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    inputs = commands.add_parser("inputs")
    inputs.add_argument("model", choices=MODELS)
    inputs.add_argument("folder")
    inputs.add_argument("--chains", type=int, default=64)
    inputs.add_argument("--seed", type=int, default=1)
    inputs.add_argument("--dimensions", type=int, default=100)
    inputs.add_argument("--rows", type=int, default=10000)
    verdict = commands.add_parser("check")
    verdict.add_argument("model", choices=REAL)
    verdict.add_argument("outputs")
    both = commands.add_parser("run")
    both.add_argument("model", choices=REAL)
    both.add_argument("--draws", type=int, help="make DRAWS draws per chain")
    for command in (inputs, verdict, both):
        command.add_argument("--data", default=DATA)
    commands.add_parser("test")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:split])
    options.options = sys.argv[split + 1:]
    {"inputs": lambda given: write_inputs(
        given.model, given.folder, given.chains, given.data, given.seed,
        given.dimensions, given.rows), "check": check, "run": run,
     "test": lambda _: test()}[
        options.command](options)


if __name__ == "__main__":
    main()
