"""Plot of the tasks of one tree, colored by batch, for Explanation.plot_tasks()."""

import numpy

_NAMED = 10  # maximum number of batches in the legend


def _up(flushes, reads):
    """Returns the vertical positions of tasks.

    Each task is above all tasks that it reads and above all tasks of earlier flushes.
    """
    levels, base, flush = [], 0, None
    for task, some in enumerate(reads):
        if flushes[task] != flush:
            base, flush = max(levels, default=-1) + 1, flushes[task]
        levels.append(max([base] + [levels[r] + 1 for r in some]))
    return levels


def _along(count, reads):
    """Returns the horizontal positions of tasks.

    Tasks that read no others are placed one by one, in the order in which the last tasks read
    them. Other tasks are centered above the tasks that they read.
    """
    places, following = [None] * count, 0
    read = {r for some in reads for r in some}
    for root in [t for t in range(count) if t not in read]:
        work = [(root, False)]
        while work:
            task, is_complete = work.pop()
            if is_complete:
                below = [places[r] for r in reads[task]]
                places[task] = sum(below) / len(below)
            elif places[task] is None and not reads[task]:
                places[task], following = following, following + 1
            elif places[task] is None:
                places[task] = 0  # marks the task as visited, because several tasks may read it
                work.append((task, True))
                work += [(r, False) for r in reversed(reads[task])]
    return places


def _separate(along, up):
    """Moves tasks horizontally so that none overlap."""
    taken = set()
    for task in sorted(range(len(along)), key=lambda t: along[t]):
        while (round(along[task], 2), up[task]) in taken:
            along[task] += 0.5
        taken.add((round(along[task], 2), up[task]))


def draw_tasks(ax, tasks, group, label, sizes, colours):
    """Draws the tasks of a group above the tasks that they read.

    tasks: lists by column, as in Explanation.tasks.
    label: function that returns the text of a block.
    sizes: sizes of all batches.
    colours: Matplotlib colors.
    """
    chosen = [t for t, number in enumerate(tasks["group"]) if number == group]
    numbers = {t: i for i, t in enumerate(chosen)}
    mine = {name: [values[t] for t in chosen] for name, values in tasks.items()}
    reads = [[numbers[r] for r in some if r in numbers] for some in mine["reads"]]
    up = _up(mine["flush"], reads)
    along = _along(len(chosen), reads)
    _separate(along, up)
    for task, some in enumerate(reads):
        for other in some:
            ax.plot([along[other], along[task]], [up[other], up[task]], color="#bbbbbb",
                    linewidth=0.8, zorder=1)
    size = float(numpy.clip(6000 / max(len(chosen), 1), 12, 160))
    waits = [t for t, is_read in enumerate(mine["waits"]) if is_read]
    if waits:
        ax.scatter([along[t] for t in waits], [up[t] for t in waits], s=2.6 * size,
                   facecolors="none", edgecolors="black", linewidths=1, zorder=2,
                   label="control flow waits for it")
    batches = sorted(set(mine["batch"]))
    for number, batch in enumerate(batches):
        members = [t for t, b in enumerate(mine["batch"]) if b == batch]
        block = label(mine["block"][members[0]])
        text = f"batch {batch}: {block}, {len(members)} of {sizes[batch]} tasks"
        ax.scatter([along[t] for t in members], [up[t] for t in members], s=size, zorder=3,
                   color=colours[number % len(colours)], edgecolors="white", linewidths=0.5,
                   marker="os^Dvph"[number // len(colours) % 7],
                   label=text if len(batches) <= _NAMED or number < _NAMED - 1 else None)
    if len(batches) > _NAMED:
        ax.plot([], [], " ", label=f"and {len(batches) - _NAMED + 1} more batches")
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ("top", "right", "bottom", "left"):
        ax.spines[side].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize="small",
              borderaxespad=0)
