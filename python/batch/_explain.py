"""What was decided when a function was compiled, and what ran then for its arguments."""

import json
import linecache
import os

import numpy

from batch import _places

# Remarks with these subjects are numbers about single kernels: in `remarks` only.
_NUMBERS = ("Inserts", "Sharing", "Slots")
# For those who see colours differently (Okabe and Ito), the rest in grey.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
_OTHERS = "#999999"
_MOST_BARS = 160


class Explanation:
    """What explain() found; print() it, plot() it, or take the numbers.

    strategy: where control ran.
    instances, workers: of the run.
    control: what control reads of computed tensors, and what that decides: a list of
        {"file", "line", "text"}.
    remarks: all that the compiler says: a list of {"subject", "kind", "text", "file",
        "line", "column"}; the last three only if there is a place.
    blocks: the parts of the function that ran by themselves: a list of {"number", "name",
        "lines": [(file, line)], "batches", "tasks", "mean", "sizes": {tasks: batches},
        "room", "time_us", "share"}. A task is one instance's; room is how many tasks there
        could have been, None if an instance has several tasks in a batch; share is that of
        the time.
    batches: NumPy arrays with an element for each batch, in the order in which they ran:
        "block" (its number), "tasks", "room", "depth", "flush", "worker", "begin_us",
        "time_us".
    tasks: of the first trees or other inputs, as many as are 4,000 tasks in all, lists with
        an element for each task, in the order in which they ran: "group" (an instance, or
        several that share nodes; -1: a task that all read), "block", "batch" (an index of
        `batches`), "depth", "flush", "waits" (control waits for it), "reads" (indices of
        tasks). Of strategies "linearize" and "lazy".
    flushes, waits: where control waits for tensors (strategy "lazy").
    utilization: the share of tasks in the room that there was, None if there is no room.
    hints: what is known to be slow.
    """

    def __init__(self, compiled, ran, places, what):
        self._places, self._what = places, what
        self.remarks = []
        for remark in compiled:
            remark = dict(remark, text=places.translate(remark["text"]))
            if "file" in remark:
                named = "%s:%d" % (remark["file"], remark["line"])
                lines = places.lines_in(named)
                if lines:
                    remark["file"], remark["line"] = lines[-1]
                else:  # no line of the user's
                    del remark["file"], remark["line"], remark["column"]
            self.remarks.append(remark)
        self.control = [{name: remark.get(name) for name in ("file", "line", "text")}
                        for remark in self.remarks if remark["subject"] == "Control"]
        for name in ("strategy", "instances", "workers", "flushes", "waits"):
            setattr(self, name, ran[name])
        self._unit = ran["unit"]
        self._text = places.translate(ran["text"])
        self.hints = [places.translate(hint) for hint in ran["hints"]]
        self.blocks = []
        for block in ran["blocks"]:
            block = dict(block, sizes={size: number for size, number in block["sizes"]},
                         lines=places.lines_in(block.pop("places")),
                         mean=block["tasks"] / block["batches"],
                         share=block["time_us"] / ran["time_us"] if ran["time_us"] else 0.0)
            self.blocks.append(block)
        self.batches = {name: numpy.array(values, float if name.endswith("_us") else int)
                        for name, values in ran["batches"].items()}
        self.tasks = ran["tasks"]
        roomy = [block for block in self.blocks if block["room"]]
        room = sum(block["room"] for block in roomy)
        self.utilization = sum(block["tasks"] for block in roomy) / room if room else None

    def __str__(self):
        lines = ["how %s is compiled:" % self._what]
        for remark in self.remarks:
            if remark["subject"] in _NUMBERS:
                continue
            lines.append("  %s%s" % ("%s:%d: " % (os.path.basename(remark["file"]),
                                                  remark["line"])
                                     if "file" in remark else "", remark["text"]))
            source = linecache.getline(remark["file"], remark["line"]).strip() \
                if "file" in remark else ""
            if source:
                lines.append("      " + source)
        return "\n".join(lines + ["", self._text.rstrip("\n")])

    def __repr__(self):
        return "Explanation(%s, strategy=%r, instances=%d, %d batches)" % (
            self._what, self.strategy, self.instances, len(self.batches["tasks"]))

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))

    def to_json(self):
        """All of it as a JSON object: the attributes by their names, and the text."""
        names = ("strategy", "instances", "workers", "flushes", "waits", "utilization",
                 "control", "remarks", "blocks", "tasks", "hints")
        return json.dumps({**{name: getattr(self, name) for name in names},
                           "batches": {name: values.tolist()
                                       for name, values in self.batches.items()},
                           "text": str(self)})

    # Pictures.

    def _label(self, block):
        place = _places.describe(block["lines"])
        same = [b for b in self.blocks if _places.describe(b["lines"]) == place]
        return "%s (%s)" % (place, block["name"]) if place and len(same) > 1 else \
            place or block["name"]

    def _steps(self):
        """Where each batch is on the axis, and what the axis is."""
        batches = self.batches
        if self.strategy == "linearize":
            return batches["depth"], "depth (tasks read those of lower depths)", "tasks"
        if self.strategy == "lazy":
            places = numpy.stack([batches["flush"], batches["depth"]])
            return numpy.unique(places, axis=1, return_inverse=True)[1].reshape(-1), \
                "step (depths of each flush, one after the other)", "tasks"
        step = numpy.empty(len(batches["tasks"]), int)
        step[numpy.argsort(batches["begin_us"], kind="stable")] = numpy.arange(len(step))
        return step, "step (batches in the order in which they began)", \
            "%s in use" % self._unit

    def plot(self, ax=None):
        """Draws batch sizes over the run, by block; returns Matplotlib's axes."""
        from matplotlib import pyplot
        if ax is None:
            _, ax = pyplot.subplots(figsize=(8, 4), layout="constrained")
        places, along, up = self._steps()
        title = "%s: strategy %r, %d instance%s" % (
            self._what, self.strategy, self.instances, "" if self.instances == 1 else "s")
        if self.utilization is not None:
            title += ", %.0f %% of the room in use" % (100 * self.utilization)
        ax.set(title=title, xlabel=along, ylabel=up)
        if not len(places):
            ax.text(0.5, 0.5, "there were no batches", ha="center", transform=ax.transAxes)
            return ax
        # Several steps are a bar: their mean.
        last = int(places.max())
        width = max(1, -(-(last + 1) // _MOST_BARS))
        bars = last // width + 1
        steps = numpy.minimum(numpy.arange(1, bars + 1) * width, last + 1) - \
            numpy.arange(bars) * width
        if width > 1:
            ax.set_ylabel(up + ", mean of %d steps" % width)
        left = numpy.arange(bars) * width - 0.5
        tasks = {block["number"]: numpy.zeros(bars) for block in self.blocks}
        numpy.add.at(room := numpy.zeros(bars), places // width, self.batches["room"])
        for number, sums in tasks.items():
            mine = self.batches["block"] == number
            numpy.add.at(sums, places[mine] // width, self.batches["tasks"][mine])
        # Colours for the blocks with most tasks.
        order = sorted(self.blocks, key=lambda block: -block["tasks"])
        shown = order if len(order) <= len(_COLOURS) else order[:len(_COLOURS) - 1]
        parts = [(self._label(block), tasks[block["number"]]) for block in shown]
        rest = order[len(shown):]
        if rest:
            parts.append(("%d others" % len(rest),
                          sum(tasks[block["number"]] for block in rest)))
        bottom = numpy.zeros(bars)
        colours = _COLOURS[:len(shown)] + (_OTHERS,)
        for (label, sums), colour in zip(parts, colours):
            ax.bar(left, sums / steps, steps, bottom, align="edge", color=colour,
                   label=label, linewidth=0.4 if bars < 60 else 0, edgecolor="white")
            bottom += sums / steps
        if up != "tasks" and self.utilization is not None:
            ax.stairs(room / steps, numpy.append(left, last + 0.5), color="black",
                      linestyle="--", linewidth=1, label="room: all %s" % self._unit, baseline=None)
        ax.set_xlim(-0.5, last + 0.5)
        ax.set_ylim(0, None)
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.xaxis.get_major_locator().set_params(integer=True)
        if self.strategy == "lazy" and width == 1:
            ends = [places[self.batches["flush"] == flush].max() for flush in
                    numpy.unique(self.batches["flush"])[:-1]]
            for number, end in enumerate(ends):
                ax.axvline(end + 0.5, color="black", linewidth=0.8, linestyle=":",
                           label=None if number else "control waits")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False,
                  fontsize="small", borderaxespad=0)
        return ax

    def plot_tasks(self, group=0, ax=None):
        """Draws the tasks of one tree, or what else an input is, above what they read and
        what ran in earlier flushes; one colour for each batch, and rings where control
        waits; returns Matplotlib's axes.

        group: which; inputs that share nodes are drawn together.
        """
        from batch import _task_picture
        groups = set(self.tasks["group"]) - {-1}
        if group not in groups:
            raise ValueError(
                "there is no group %r of tasks, but %d: %s" % (
                    group, len(groups), "numbers from 0" if groups else
                    "strategy %r has none" % self.strategy
                    if self.strategy not in ("linearize", "lazy") else
                    "the first input has too many tasks to be kept"))
        from matplotlib import pyplot
        if ax is None:
            _, ax = pyplot.subplots(figsize=(9, 5), layout="constrained")
        blocks = {block["number"]: self._label(block) for block in self.blocks}
        _task_picture.draw(ax, self.tasks, group, blocks.get, self.batches["tasks"],
                           _COLOURS)
        ax.set_title("%s: input %d of %d; tasks are above what they read" % (
            self._what, group, self.instances), loc="left")
        return ax


def explain(function, instances, values, nodes=None, places=None, what=None):
    """Explains a function of Model.bind() for the arguments of Function.run()."""
    remarks, text = function.model.decisions()
    ran = function.traced(instances, values, nodes)
    return Explanation(remarks, ran, places or _places.Text(text),
                       what or repr(os.path.basename(text)))
