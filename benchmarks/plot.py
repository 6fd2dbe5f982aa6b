#!/usr/bin/env python3
"""plot.py RESULTS.json [OUTPUT.svg]: draws the results of a benchmark.

Panels by benchmark:

  structural   three panels over the models, at the first hidden size of each, with one bar
               per batch size: batched over unbatched, both on one thread; the largest
               number of threads over one; the share of the machine's floor on that number
  ablation     a panel per batch size: the time of each variant over that of the default,
               one bar per model; and a panel with the unbatched lowering
  gpu          kernels; the time of each PyTorch peer over ours; barriers
  policies     a panel per batch size: batches over the lower bound, one bar per policy
  lockstep     utilization by lanes; gradients per second by chains
  reads        the two ways of each case
  kernels      by number of threads: the share of the peak, and peers' times over ours
  lazy         a panel per hidden size, batch size and number of threads: peers' times
               over ours
  python       JAX times over ours
  decode       peers' times over ours, by form and width
  control      a panel per batch size and number of threads: times over that of our fastest
               strategy; for the overhead: times over that of the trace

Needs only the standard library.
"""

import json
import sys
from xml.sax.saxutils import escape

COLORS = ("#9ecae1", "#4292c6", "#08519c", "#e6550d", "#31a354", "#fdae6b",
          "#756bb1", "#636363", "#d6616b", "#a1d99b",
          "#bcbddc", "#c49c94", "#17becf")
LEFT, TOP, HEIGHT, GAP, BAR = 70, 70, 200, 110, 14


def nice_top(value):
    """Returns a round number that is not below `value`."""
    step = 1e-3
    while True:
        for factor in (1, 2, 5):
            if step * factor >= value:
                return step * factor
        step *= 10


def panel(out, top, title, unit, models, batches, values, kind="batch %s", line=None):
    """Draws the bars values[model][batch], and a dashed line at `line`."""
    peak = nice_top(max([v for row in values.values() for v in row.values()],
                        default=1))
    group = BAR * len(batches) + 18
    width = group * len(models)
    out.append('<text x="%d" y="%d" class="title">%s</text>' %
               (LEFT, top - 12, escape(title)))
    for i in range(5):
        y, value = top + HEIGHT - HEIGHT * i / 4, peak * i / 4
        out.append('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>' %
                   (LEFT, y, LEFT + width, y))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%g%s</text>' %
                   (LEFT - 6, y + 4, value, unit))
    for m, model in enumerate(models):
        x = LEFT + group * m + 9
        for b, batch in enumerate(batches):
            value = values[model].get(batch)
            if value is None:
                continue
            height = HEIGHT * value / peak
            out.append('<rect x="%.1f" y="%.1f" width="%d" height="%.1f" '
                       'fill="%s"><title>%s, %s: %.3g%s</title></rect>' %
                       (x + BAR * b, top + HEIGHT - height, BAR - 2, height,
                        COLORS[b % len(COLORS)], escape(model),
                        escape(kind % batch), value, unit))
        out.append('<text transform="translate(%.1f,%d) rotate(-35)" '
                   'text-anchor="end">%s</text>' %
                   (x + BAR * len(batches) / 2, top + HEIGHT + 16, escape(model)))
    if line is not None and line <= peak:
        y = top + HEIGHT - HEIGHT * line / peak
        out.append('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="black" '
                   'stroke-dasharray="4 3"/>' % (LEFT, y, LEFT + width, y))
    return LEFT + width + 20


def legend(out, names, step, top=34):
    for n, name in enumerate(names):
        out.append('<rect x="%d" y="%d" width="12" height="12" fill="%s"/>' %
                   (LEFT + step * n, top, COLORS[n % len(COLORS)]))
        out.append('<text x="%d" y="%d">%s</text>' %
                   (LEFT + step * n + 16, top + 10, escape(name)))


def caption(out, text):
    out.append('<text x="%d" y="22">%s</text>' % (LEFT, escape(text)))


def write(output, width, height, out):
    with open(output, "w") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
                   'font-family="sans-serif" font-size="12">\n'
                   "<style>.title { font-weight: bold; font-size: 14px }</style>\n"
                   '<rect width="100%%" height="100%%" fill="white"/>\n%s\n</svg>\n'
                   % (width, height, "\n".join(out)))
    print("drawn in " + output)


def draw_ablation(record, output):
    results = [r for r in record["results"] if "ratio" in r]
    models = list(dict.fromkeys(r["model"] for r in results))
    batches = sorted({r["batch"] for r in results})

    def ratios(names, key, chosen):
        values = {name: {} for name in names}
        for r in chosen:
            values[r[key]][r["model"]] = r["ratio"]
        return values

    out, top, width = [], TOP, 0
    for batch in batches:
        chosen = [r for r in results
                  if r["batch"] == batch and r["variant"] != "unbatched"]
        names = list(dict.fromkeys(r["variant"] for r in chosen))
        if names:
            width = max(width, panel(
                out, top, "Time over the default's, batch %d (no bar: the same code)"
                % batch, "x", names, models, ratios(names, "variant", chosen), "%s",
                1))
            top += HEIGHT + GAP + 30
    chosen = [dict(r, variant="batch %d" % r["batch"]) for r in results
              if r["variant"] == "unbatched"]
    if chosen:
        names = ["batch %d" % batch for batch in batches]
        width = max(width, panel(
            out, top, "Unbatched on one thread: time over the default's on %s" %
            ("one" if chosen[0].get("threads") == 1 else record["threads"]), "x",
            names, models, ratios(names, "variant", chosen), "%s", 1))
        top += HEIGHT + GAP
    legend(out, models, 130)
    sizes = sorted({r["size"] for r in results}, reverse=True)
    caption(out, "%s, %d thread(s), hidden size %s; %s" % (
        record["cpu"], record["threads"], "/".join(map(str, sizes)), record["date"]))
    write(output, max(width, LEFT + 130 * len(models) + 20), top, out)


def draw_gpu(record, output):
    """Draws panels by hidden size: the kernel's time, and each peer's time divided by our total.
    Then draws barriers by number of blocks."""
    out, top, width = [], TOP, 0

    def add(title, unit, rows, columns, values, kind="batch %s", line=None):
        nonlocal top, width
        rows = [row for row in rows if values[row]]
        if rows:
            width = max(width, panel(out, top, title, unit, rows, columns, values,
                                     kind, line))
            top += HEIGHT + GAP

    results = record["results"]
    batches = sorted({r["batch"] for r in results})
    forms = list(dict.fromkeys(form for r in results for form in r["peers"]))
    # Groups results by the rank of their size among the sizes of their model. Each panel shows one
    # rank.
    ranks = {}
    for r in results:
        sizes = sorted({q["size"] for q in results if q["model"] == r["model"]})
        ranks.setdefault(sizes.index(r["size"]), []).append(r)
    for _, chosen in sorted(ranks.items()):
        models = list(dict.fromkeys(r["model"] for r in chosen))
        sizes = "/".join(map(str, sorted({r["size"] for r in chosen},
                                         reverse=True)))

        def collect(value):
            found = {model: {} for model in models}
            for r in chosen:
                if value(r) is not None:
                    found[r["model"]][r["batch"]] = value(r)
            return found

        add("Kernel, microseconds, hidden size " + sizes, "", models, batches,
            collect(lambda r: r["ours"][r["best"]]["median_us"]["kernels"]))
        for form in forms:
            add("PyTorch %s over our total, hidden size %s" % (form, sizes), "x",
                models, batches, collect(
                    lambda r: r["peers"].get(form, {}).get("ratio")), line=1)
    barriers = record.get("barriers", [])
    executors = list(dict.fromkeys(b["executor"] for b in barriers))
    rows = ["%d blocks" % n for n in sorted({b["blocks"] for b in barriers})]
    values = {row: {} for row in rows}
    for b in barriers:
        values["%d blocks" % b["blocks"]][b["executor"]] = b["barrier_ns"]
    add("Barrier, ns, by blocks of a launch: " + ", ".join(executors), "", rows,
        executors, values, "%s")
    legend(out, ["batch %d" % batch for batch in batches], 90)
    caption(out, "%s; %s" % (
        record.get("peer", {}).get("gpu", record["bundle"]["device"]),
        record["date"]))
    write(output, max(width, 640), top, out)


def draw_policies(record, output):
    results = record["results"]
    workloads = list(dict.fromkeys(r["workload"] for r in results))
    names = list(results[0]["policies"]) + ["search"]
    out, top, width = [], TOP, 0
    for batch in sorted({r["batch"] for r in results}):
        values = {}
        for r in results:
            if r["batch"] != batch:
                continue
            found = {name: policy["batches"] / r["bound"]
                     for name, policy in r["policies"].items()}
            values[r["workload"]] = {**found, "search": r["best"] / r["bound"]}
        width = max(width, panel(
            out, top, "Batches over the lower bound, batch %d" % batch, "x",
            workloads, names, values, "%s", 1))
        top += HEIGHT + GAP
    legend(out, names, 160)
    width = max(width, LEFT + 160 * len(names))
    caption(out, "%s; %s" % (record["cpu"], record["date"]))
    write(output, width, top, out)


def draw_lockstep(record, output):
    out, top, width = [], TOP, 0
    for part, rows, title, unit in (
            ("utilization", "lanes", "Utilization of gradients, by lanes", ""),
            ("speed", "chains", "Gradients per second of a thread, by chains", "")):
        values, ways = {}, []
        for r in record["results"]:
            if r["part"] != part:
                continue
            value = r.get("utilization") if part == "utilization" else \
                sorted(r["per_second"])[len(r["per_second"]) // 2]
            values.setdefault("%d %s" % (r[rows], rows), {})[r["way"]] = value
            ways.append(r["way"])
        if not values:
            continue
        ways = list(dict.fromkeys(ways))
        width = max(width, panel(out, top, title, unit, list(values), ways, values,
                                 "%s"))
        legend(out, ways, 140, top + HEIGHT + 70)
        width = max(width, LEFT + 140 * len(ways))
        top += HEIGHT + GAP
    caption(out, "%s; %s" % (record["cpu"], record["date"]))
    write(output, width, top, out)


def draw_reads(record, output):
    out = []
    values = {r["case"]: {way: us / max(r["us"]) for way, us in zip(r["ways"], r["us"])}
              for r in record["results"]}
    ways = [way for r in record["results"] for way in r["ways"]]
    width = panel(out, TOP, "Time, as a share of the slower way's", "", list(values),
                  ways, values, "%s")
    legend(out, ways, 140, TOP + HEIGHT + 70)
    caption(out, "%s; %s" % (record["cpu"], record["date"]))
    write(output, max(width, LEFT + 140 * len(ways)), TOP + HEIGHT + GAP, out)


def draw_sample(record, output):
    out, top, width = [], TOP, 0
    names = ["batch", "numpyro", "blackjax"]
    for chains in sorted({r["chains"] for r in record["results"]}):
        values = {}
        for r in record["results"]:
            best = max(s["per_second"] for s in r["samplers"].values())
            if r["chains"] == chains:
                values[r["model"].replace("_", " ")] = {
                    name: s["per_second"] / best for name, s in r["samplers"].items()}
        width = max(width, panel(
            out, top, "Effective samples per CPU second, %d chains, as a share of the "
            "best" % chains, "", list(values), names, values, "%s"))
        legend(out, names, 140, top + HEIGHT + 70)
        top += HEIGHT + GAP
    caption(out, "%s; %s" % (record["cpu"], record["date"]))
    write(output, width, top, out)


def draw_lazy(record, output):
    results = record["results"]
    names = list(dict.fromkeys(name for r in results for name in r["peers"]))
    out, top, width = [], TOP, 0
    for threads, hidden, batch in sorted(
            {(r["threads"], r["hidden"], r["batch"]) for r in results}):
        values = {r["model"]: {name: peer["ratio"] for name, peer in r["peers"].items()
                               if "ratio" in peer}
                  for r in results
                  if (r["threads"], r["hidden"], r["batch"]) == (threads, hidden, batch)}
        values = {model: row for model, row in values.items() if row}
        if values:
            width = max(width, panel(
                out, top, "Time over ours, hidden size %d, batch %d, %d thread(s)" %
                (hidden, batch, threads), "x", list(values), names, values, "%s", 1))
            top += HEIGHT + GAP
    legend(out, names, 140)
    caption(out, "%s; %s" % (record["cpu"], record["date"]))
    write(output, max(width, LEFT + 140 * len(names)), top, out)


def draw_control(record, output):
    out, top, width, results = [], TOP, 0, record["results"]
    over = {"control": "our fastest strategy's", "control-overhead": "the trace's",
            "control-unrolled": "the loop's"}[record["benchmark"]]
    base = {"control-overhead": "trace", "control-unrolled": "1 round"}.get(
        record["benchmark"])
    names = list(dict.fromkeys(name for r in results for name, form in r["forms"].items()
                               if "ratio" in form and name != base))
    for threads, batch in sorted({(r["threads"], r["batch"]) for r in results}):
        values = {", ".join(part for part in (r["model"], r.get("case")) if part): {
            name: form["ratio"] for name, form in r["forms"].items()
            if "ratio" in form and name != r.get("reference")}
            for r in results if (r["threads"], r["batch"]) == (threads, batch)}
        width = max(width, panel(
            out, top, "Time over %s, batch %d, %d thread(s)" % (over, batch, threads),
            "x", list(values), names, values, "%s", 1))
        top += HEIGHT + GAP + 30
    legend(out, names, 140)
    caption(out, "%s; %s" % (record["cpu"], record["date"]))
    write(output, max(width, LEFT + 140 * len(names)), top, out)


def draw_python(record, output):
    """Draws the time of jit(vmap), and the time of the faster of jit(vmap) and lax.map, each
    divided by the time of batch.vmap."""
    results = record["results"]
    lanes = sorted({r["lanes"] for r in results})
    out, top, width = [], TOP, 0
    for threads in sorted({r["threads"] for r in results}):
        for title, what in (("jit(vmap)'s time", "over_vmap"),
                            ("The faster of jit(vmap)'s and lax.map's", "over_best")):
            values = {r["program"]: {} for r in results}
            for r in results:
                if r["threads"] == threads:
                    values[r["program"]][r["lanes"]] = min(r[what], 10)
            width = max(width, panel(
                out, top, "%s over batch.vmap's, up to 10, %d thread(s)" % (title, threads),
                "x", list(values), lanes, values, "%s lanes", 1))
            top += HEIGHT + GAP
    legend(out, ["%d lanes" % n for n in lanes], 90)
    caption(out, "%s; JAX %s; %s" % (record["cpu"], record["jax"], record["date"]))
    write(output, max(width, 640), top, out)


def draw_decode(record, output):
    """Draws the times of the peers divided by ours, by form and width."""
    results = record["results"]
    lanes = sorted({r["lanes"] for r in results})
    out, top, width = [], TOP, 0
    for key, peer in (("over_vmap", "jit(vmap)"), ("over_generate", "generate")):
        values = {}
        for r in results:
            if key in r:
                name = "%s, %d" % (r["form"].removeprefix("batch "), r["width"])
                values.setdefault(name, {})[r["lanes"]] = r[key]
        if values:
            width = max(width, panel(
                out, top, "Time of %s over that of Batch, %d thread(s), by width" % (
                    peer, results[0]["threads"]),
                "x", list(values), lanes, values, "%s lanes", 1))
            top += HEIGHT + GAP
    legend(out, ["%d lanes" % n for n in lanes], 90)
    caption(out, "%s; JAX %s; %s" % (record["cpu"], record["jax"], record["date"]))
    write(output, max(width, 640), top, out)


def draw_kernels(record, output):
    """Draws the share of the peak that each kernel reaches, and the times of the peers divided by
    ours. Omits the shares of kernels without floating-point products."""
    results = record["results"]
    batches = sorted({r["batch"] for r in results})
    out, top, width = [], TOP, 0
    for threads in sorted({r["threads"] for r in results}):
        for title, unit, what, factor, line in (
                ("Share of the FMA peak", "%", "peak_share", 100, None),
                ("PyTorch's time over ours", "x", "over_torch", 1, 1),
                ("JAX's time over ours", "x", "over_jax", 1, 1)):
            values = {r["kernel"]: {} for r in results}
            for r in results:
                if r["threads"] == threads and what in r and not (
                        what == "peak_share" and "argmax" in r["kernel"]):
                    values[r["kernel"]][r["batch"]] = factor * r[what]
            values = {name: row for name, row in values.items() if row}
            if values:
                width = max(width, panel(
                    out, top, "%s, %d thread(s)" % (title, threads), unit,
                    list(values), batches, values, line=line))
                top += HEIGHT + GAP + 20
    legend(out, ["batch %d" % batch for batch in batches], 90)
    caption(out, "%s; %s" % (record["cpu"], record["date"]))
    write(output, max(width, 640), top, out)


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        return print(__doc__)
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        record = json.load(file)
    output = sys.argv[2] if len(sys.argv) == 3 else \
        sys.argv[1].rsplit(".", 1)[0] + ".svg"
    if record["benchmark"] == "gpu":
        return draw_gpu(record, output)
    results = record["results"]
    if not results:
        sys.exit("%s holds no results" % sys.argv[1])
    if record["benchmark"] == "ablation":
        return draw_ablation(record, output)
    if record["benchmark"] == "policies":
        return draw_policies(record, output)
    if record["benchmark"] == "sample":
        return draw_sample(record, output)
    if record["benchmark"] == "lockstep":
        return draw_lockstep(record, output)
    if record["benchmark"] == "lazy":
        return draw_lazy(record, output)
    if record["benchmark"].startswith("control"):
        return draw_control(record, output)
    if record["benchmark"] == "kernels":
        return draw_kernels(record, output)
    if record["benchmark"] == "python":
        return draw_python(record, output)
    if record["benchmark"] == "decode":
        return draw_decode(record, output)
    if record["benchmark"] == "reads":
        return draw_reads(record, output)
    threads = max(result["threads"] for result in results)
    first_size, models = {}, []
    for result in results:
        if result["model"] not in first_size:
            first_size[result["model"]] = result["size"]
            models.append(result["model"])
    batches = sorted({result["batch"] for result in results})

    def collect(count, what, factor=1):
        values = {model: {} for model in models}
        for result in results:
            model = result["model"]
            if (result["threads"] == count and what in result and
                    result["size"] == first_size[model]):
                values[model][result["batch"]] = factor * result[what]
        return values

    out, top, width = [], TOP, 0
    for title, unit, values, line in (
            ("Batched over unbatched, both on one thread", "x",
             collect(1, "over_unbatched"), 1),
            ("%d threads over one" % threads, "x",
             collect(threads, "over_one_thread"), 1),
            ("Share of the machine's floor, %d thread(s)" % threads, "%",
             collect(threads, "floor_share", 100), None)):
        if any(values.values()):
            width = max(width, panel(out, top, title, unit, models, batches, values,
                                     line=line))
            top += HEIGHT + GAP
    legend(out, ["batch %d" % batch for batch in batches], 90)
    sizes = sorted(set(first_size.values()), reverse=True)
    caption(out, "%s, hidden size %s; %s" % (
        record["cpu"], "/".join(map(str, sizes)), record["date"]))
    write(output, width, top, out)


main()
