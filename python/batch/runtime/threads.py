"""Default number of worker threads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator


def default_threads() -> int:
    """Returns $BATCH_NUM_THREADS, or the number of cores that this process may keep busy.

    That is the smallest of the affinity mask, the CPU quota of the process's control groups, and
    $OMP_NUM_THREADS.
    """
    wanted = os.environ.get("BATCH_NUM_THREADS")
    if wanted:
        if not wanted.isdecimal() or int(wanted) == 0:
            raise ValueError(f"invalid value {wanted!r} for $BATCH_NUM_THREADS; expected a number "
                             "of threads")
        return int(wanted)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") \
        else os.cpu_count() or 1
    counts = [cores, *(max(int(quota), 1) for quota in _quotas("/proc/self/cgroup",
                                                               "/sys/fs/cgroup"))]
    # The first number applies to the outermost level of threads. OpenMP ignores invalid values.
    outermost = re.match(r"\s*(\d+)\s*(,|$)", os.environ.get("OMP_NUM_THREADS", ""))
    if outermost and int(outermost[1]) > 0:
        counts.append(int(outermost[1]))
    return min(counts)


def _quotas(groups: str, root: str) -> Iterator[float]:
    """Returns the CPU quotas, in cores, of a process's control groups and their ancestors.

    groups: file that lists the control groups of the process, one per hierarchy.
    root: folder with the control groups. In a container, it may contain only the container's own
        group, which the process knows by another path.
    """
    for line in _read(groups).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2
            top, quota = root, _quota_of_cpu_max
        elif "cpu" in controllers.split(","):
            top, quota = os.path.join(root, "cpu"), _quota_of_cfs
        else:
            continue
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts) + 1):
            cores = quota(os.path.join(top, *parts[:depth]))
            if cores is not None:
                yield cores


def _quota_of_cpu_max(folder: str) -> float | None:
    return _ratio(*(_read(os.path.join(folder, "cpu.max")).split() or ["max", "1"]))


def _quota_of_cfs(folder: str) -> float | None:
    return _ratio(_read(os.path.join(folder, "cpu.cfs_quota_us")).strip(),
                  _read(os.path.join(folder, "cpu.cfs_period_us")).strip())


def _ratio(quota: str, period: str) -> float | None:
    """Returns the quota in cores; None if it is unlimited ("max" or -1) or unknown."""
    if not quota.isdecimal() or not period.isdecimal() or int(period) == 0:
        return None
    return int(quota) / int(period)


def _read(path: str) -> str:
    """Returns the text of a file, or an empty string if the file cannot be read."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
