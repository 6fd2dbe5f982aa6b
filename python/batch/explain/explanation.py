"""Explanations of compile-time decisions for a function and of its run."""

from __future__ import annotations

import json
import linecache
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

import numpy

from batch.core.source_map import TextSourceMap, describe_lines
from batch.explain.task_plot import draw_tasks
from batch.runtime.device import no_explanation
from batch.runtime.model import Function, explains

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# Subjects of remarks that contain numbers about single kernels. The text omits these remarks.
_NUMBERS = ("Inserts", "Sharing", "Slots")
# Color-blind-safe palette of Okabe and Ito. Blocks without a color of their own are gray.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
_OTHERS = "#999999"
_MOST_BARS = 160


class Remark(TypedDict):
    """Remark of the compiler, with its location if that is known."""

    subject: str
    kind: str
    text: str
    file: NotRequired[str]
    line: NotRequired[int]
    column: NotRequired[int]


class Control(TypedDict):
    """Element of a computed tensor that control flow reads, and the effect of reading it."""

    file: str | None
    line: int | None
    text: str


class Block(TypedDict):
    """Part of a function that ran separately; class Explanation describes the items."""

    number: int
    name: str
    lines: list[tuple[str, int]]
    batches: int
    tasks: int
    mean: float
    sizes: dict[int, int]
    capacity: int | None
    time_us: float
    share: float


class Tasks(TypedDict):
    """Lists with one element for each task; class Explanation describes the items."""

    group: list[int]
    block: list[int]
    batch: list[int]
    depth: list[int]
    flush: list[int]
    waits: list[bool]
    reads: list[list[int]]


class Explanation:
    """Result of explain(); print() it, plot() it, or read its attributes.

    strategy: strategy of the function, which determines where control flow ran.
    instances, workers: numbers of instances and workers in the run.
    control: elements of computed tensors that control flow reads, and their effects: a list of
        {"file", "line", "text"}.
    remarks: all remarks of the compiler: a list of {"subject", "kind", "text", "file",
        "line", "column"}. The last three exist only if the location is available.
    blocks: parts of the function that ran separately: a list of {"number", "name",
        "lines": [(file, line)], "batches", "tasks", "mean", "sizes": {tasks: batches},
        "capacity", "time_us", "share"}. Each task belongs to one instance. "capacity" is the
        number of tasks that could have run; None if an instance has several tasks in a batch.
        "time_us" is the time in microseconds, and "share" is its fraction of the total.
    batches: NumPy arrays with one element for each batch, worker by worker, in the order in
        which batches ran: "block" (its number), "tasks", "capacity", "depth", "flush",
        "worker", "begin_us", "time_us". Times are in microseconds.
    tasks: tasks of the first trees or other inputs, at most 4,000, for strategies "linearize"
        and "lazy". Lists with one element for each task, in the order in which tasks ran:
        "group" (an instance, several that share nodes, or -1 for a task that all instances read),
        "block", "batch" (an index into `batches`), "depth", "flush", "waits" (control flow waits
        for the task), "reads" (indices of tasks).
    flushes, waits: numbers of flushes, and of waits for tensors (strategy "lazy").
    utilization: number of tasks as a fraction of the capacity; None if no block has a capacity.
    hints: known causes of slow execution.
    """

    strategy: str
    instances: int
    workers: int
    control: list[Control]
    remarks: list[Remark]
    blocks: list[Block]
    batches: dict[str, NDArray[Any]]
    tasks: Tasks
    flushes: int
    waits: int
    utilization: float | None
    hints: list[str]

    def __init__(self, compiled: Iterable[dict[str, Any]], ran: dict[str, Any],
                 source_map: Any, what: str) -> None:
        self._what = what
        self.remarks = []
        for remark in compiled:
            remark = dict(remark, text=source_map.translate(remark["text"]))
            if "file" in remark:
                named = f"{remark['file']}:{remark['line']}"
                lines = source_map.lines_in(named)
                if lines:
                    remark["file"], remark["line"] = lines[-1]
                else:  # the location is not a source line
                    del remark["file"], remark["line"], remark["column"]
            self.remarks.append(cast(Remark, remark))
        self.control = [{"file": remark.get("file"), "line": remark.get("line"),
                         "text": remark["text"]}
                        for remark in self.remarks if remark["subject"] == "Control"]
        for name in ("strategy", "instances", "workers", "flushes", "waits"):
            setattr(self, name, ran[name])
        self._unit = ran["unit"]
        self._text = source_map.translate(ran["text"])
        self.hints = [source_map.translate(hint) for hint in ran["hints"]]
        self.blocks = []
        for block in ran["blocks"]:
            block = dict(block, sizes={size: number for size, number in block["sizes"]},
                         lines=source_map.lines_in(block.pop("places")),
                         mean=block["tasks"] / block["batches"],
                         share=block["time_us"] / ran["time_us"] if ran["time_us"] else 0.0)
            self.blocks.append(cast(Block, block))
        self.batches = {name: numpy.array(values, float if name.endswith("_us") else int)
                        for name, values in ran["batches"].items()}
        self.tasks = ran["tasks"]
        counted = [block for block in self.blocks if block["capacity"]]
        capacity = sum(block["capacity"] or 0 for block in counted)
        self.utilization = (sum(block["tasks"] for block in counted) / capacity if capacity
                            else None)

    def __str__(self) -> str:
        lines = [f"how {self._what} is compiled:"]
        for remark in self.remarks:
            if remark["subject"] in _NUMBERS:
                continue
            place, source = "", ""
            if "file" in remark:
                file, line = remark["file"], remark.get("line", 0)
                place = f"{os.path.basename(file)}:{line}: "
                source = linecache.getline(file, line).strip()
            lines.append(f"  {place}{remark['text']}")
            if source:
                lines.append("      " + source)
        return "\n".join(lines + ["", self._text.rstrip("\n")])

    def __repr__(self) -> str:
        return (f"Explanation({self._what}, strategy={self.strategy!r}, "
                f"instances={self.instances}, {len(self.batches['tasks'])} batches)")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def to_json(self) -> str:
        """Returns a JSON object with an entry for each attribute, and the text as entry `text`."""
        names = ("strategy", "instances", "workers", "flushes", "waits", "utilization",
                 "control", "remarks", "blocks", "tasks", "hints")
        return json.dumps({**{name: getattr(self, name) for name in names},
                           "batches": {name: values.tolist()
                                       for name, values in self.batches.items()},
                           "text": str(self)})

    # Plots.

    def _label(self, block: Block) -> str:
        place = describe_lines(block["lines"])
        same = [b for b in self.blocks if describe_lines(b["lines"]) == place]
        return "{} ({})".format(place, block["name"]) if place and len(same) > 1 else \
            place or block["name"]

    def _steps(self):
        """Returns the position of each batch on the x axis, and the labels of both axes."""
        batches = self.batches
        if self.strategy == "linearize":
            return batches["depth"], "depth (tasks read results of lower depths)", "tasks"
        if self.strategy == "lazy":
            places = numpy.stack([batches["flush"], batches["depth"]])
            return numpy.unique(places, axis=1, return_inverse=True)[1].reshape(-1), \
                "step (depths of one flush after the other)", "tasks"
        step = numpy.empty(len(batches["tasks"]), int)
        step[numpy.argsort(batches["begin_us"], kind="stable")] = numpy.arange(len(step))
        return step, "step (batches by start time)", \
            f"{self._unit} in use"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws batch sizes over the run, by block, and returns the Matplotlib axes.

        ax: axes to draw in; None: axes of a new figure.
        """
        from matplotlib import pyplot
        if ax is None:
            _, ax = pyplot.subplots(figsize=(8, 4), layout="constrained")
        places, along, up = self._steps()
        title = f"{self._what}: strategy {self.strategy!r}, {self.instances} " \
            f"instance{'s' * (self.instances != 1)}"
        if self.utilization is not None:
            title += f", utilization {100 * self.utilization:.0f} %"
        ax.set(title=title, xlabel=along, ylabel=up)
        if not len(places):
            ax.text(0.5, 0.5, "no batches", ha="center", transform=ax.transAxes)
            return ax
        # A bar of several steps shows their mean.
        last = int(places.max())
        width = max(1, -(-(last + 1) // _MOST_BARS))
        bars = last // width + 1
        steps = numpy.minimum(numpy.arange(1, bars + 1) * width, last + 1) - \
            numpy.arange(bars) * width
        if width > 1:
            ax.set_ylabel(f"{up}, mean of {width} steps")
        left = numpy.arange(bars) * width - 0.5
        tasks = {block["number"]: numpy.zeros(bars) for block in self.blocks}
        numpy.add.at(capacity := numpy.zeros(bars), places // width,
                     self.batches["capacity"])
        for number, sums in tasks.items():
            mine = self.batches["block"] == number
            numpy.add.at(sums, places[mine] // width, self.batches["tasks"][mine])
        # The blocks with the most tasks get colors.
        order = sorted(self.blocks, key=lambda block: -block["tasks"])
        shown = order if len(order) <= len(_COLOURS) else order[:len(_COLOURS) - 1]
        parts = [(self._label(block), tasks[block["number"]]) for block in shown]
        rest = order[len(shown):]
        if rest:
            parts.append((f"{len(rest)} others",
                          sum(tasks[block["number"]] for block in rest)))
        bottom = numpy.zeros(bars)
        colours = _COLOURS[:len(shown)] + (_OTHERS,)
        for (label, sums), colour in zip(parts, colours):
            ax.bar(left, sums / steps, steps, bottom, align="edge", color=colour,
                   label=label, linewidth=0.4 if bars < 60 else 0, edgecolor="white")
            bottom += sums / steps
        if up != "tasks" and self.utilization is not None:
            ax.stairs(capacity / steps, numpy.append(left, last + 0.5), color="black",
                      linestyle="--", linewidth=1, label=f"capacity: all {self._unit}",
                      baseline=None)
        ax.set_xlim(-0.5, last + 0.5)
        ax.set_ylim(0, None)
        for axis in (ax.yaxis, ax.xaxis):
            locator: Any = axis.get_major_locator()
            locator.set_params(integer=True)
        if self.strategy == "lazy" and width == 1:
            ends = [places[self.batches["flush"] == flush].max() for flush in
                    numpy.unique(self.batches["flush"])[:-1]]
            for number, end in enumerate(ends):
                ax.axvline(end + 0.5, color="black", linewidth=0.8, linestyle=":",
                           label=None if number else "control flow waits")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False,
                  fontsize="small", borderaxespad=0)
        return ax

    def plot_tasks(self, group: int = 0, ax: Axes | None = None) -> Axes:
        """Draws the tasks of one input, such as a tree, and returns the Matplotlib axes.

        Each task is above the tasks that it reads and above the tasks of earlier flushes. Each
        batch has one color. Rings mark tasks for which control flow waits.

        group: number of the input. Inputs that share nodes are drawn together.
        ax: axes to draw in; None: axes of a new figure.

        Raises a ValueError if there are no tasks of this group.
        """
        groups = set(self.tasks["group"]) - {-1}
        if group not in groups:
            raise ValueError(self._no_group(group, len(groups)))
        from matplotlib import pyplot
        if ax is None:
            _, ax = pyplot.subplots(figsize=(9, 5), layout="constrained")
        blocks = {block["number"]: self._label(block) for block in self.blocks}
        draw_tasks(ax, self.tasks, group, blocks.get, self.batches["tasks"], _COLOURS)
        ax.set_title(f"{self._what}: input {group} of {self.instances}; tasks are above the "
                     "tasks that they read", loc="left")
        return ax

    def _no_group(self, group: int, count: int) -> str:
        """Returns the message for a group that does not exist."""
        if count:
            return f"group {group!r} is out of range; expected a number from 0 to {count - 1}"
        if self.strategy not in ("linearize", "lazy"):
            return f"strategy {self.strategy!r} does not record tasks; use 'linearize' or 'lazy'"
        return "the first input has no tasks, or more than 4,000; explain a smaller input"

@explains
def explain_run(function: Function, instances: int, values: list[Any], nodes: Any = None,
                source_map: Any = None, what: str | None = None) -> Explanation:
    """Explains a run of a Function that Model.bind() returned.

    `instances`, `values` and `nodes` are arguments of Function.run(). Raises ValueError unless the
    model runs on the CPU.
    """
    if function.model.device != "cpu":
        raise ValueError(no_explanation(function.model.device))
    remarks, text = function.model.decisions()
    ran = function.traced(instances, values, nodes)
    return Explanation(remarks, ran, source_map or TextSourceMap(text),
                       what or repr(os.path.basename(text)))
