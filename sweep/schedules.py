"""Schedules as files (``schedule=FILE``): the file of each point, and how it is written once it is done.

A schedule is simulated again in this process when it is written: a task's result contains only its metrics,
as the times of every job of every task would fill the disk.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from models.counting import counted
from models.family import Family
from models.point import Point
from sweep import job_tables
from sweep.config import canonical
from sweep.config.settings import GROUPS
from sweep.errors import RunError, SweepError, one_line
from sweep.executors import work
from sweep.plan import families
from sweep.plan.data import Plan
from sweep.progress import reporting, say
from sweep.store.writing import private

SIMULATED = "simulated schedule: "
"""Beginning of a note in the header of all files that `models.jobs.swf_schedule` writes."""

HEADER_BYTES = 1 << 16

ENDINGS = (".swf", ".gz")
"""Of files in the Standard Workload Format."""

WRITTEN = (".swf", ".swf.gz")

OWN_TABLE = "table.csv"
"""Written by the analysis beside the dataset."""

LONGEST_NAME = 150
"""Characters of a file's name without its ending: file systems take 255 bytes."""


@dataclass(frozen=True)
class Schedules:
    """The files of a plan's schedules.

    Parameters
    ----------
    given : Path
        The value of ``schedule=``: the file of one schedule or of a table of all, or the folder of several
        schedules.
    paths : dict of int to Path
        Task number -> file in the Standard Workload Format; empty for a table.
    """

    plan: Plan
    given: Path
    paths: Mapping[int, Path] = field(default_factory=dict)

    def __str__(self) -> str:
        n_tasks = self.plan.n_cells
        if not self.paths and n_tasks > 1:
            return f"{self.given} (one table of {n_tasks:,} schedules)"
        return self._place(n_tasks)

    def _place(self, n_written: int) -> str:
        alone = self.paths in ({}, {0: self.given})
        return str(self.given) if alone else f"{self.given}/ ({counted(n_written, 'file')})"

    def write(self, done: Collection[str], console: Console) -> None:
        """Write the schedules of all tasks that are done, and print where they are.

        Parameters
        ----------
        done : collection of str
            Identities of tasks; a failed task has no schedule.

        Raises
        ------
        RunError
            If a file cannot be written; the files before it are complete.
        """
        numbers = [number for number, id_ in enumerate(self.plan.ids[: self.plan.n_cells]) if id_ in done]
        with reporting(console, "writing", len(numbers), "schedule") as report:
            if not self.paths and numbers:
                self._write_table(numbers, report)
            for written, number in enumerate(numbers if self.paths else (), start=1):
                family, point = self._system(number)
                with self._replacing(self.paths[number]) as private:
                    family.export(point, private)
                report(written)
        left = self.plan.n_cells - len(numbers)
        without = f"; {left} left out, whose tasks are not done" if left else ""
        say(console, f"schedules: {self._place(len(numbers)) if numbers else 'none'}{without}")

    def _write_table(self, numbers: Sequence[int], report: Callable[[int], None]) -> None:
        """Write one table of all jobs, whose first columns identify the point of a row."""
        import pandas as pd

        from sweep.labelling import labelled  # loads xarray, which a plan does not need

        with self._replacing(self.given) as private:
            parts = []
            for written, number in enumerate(numbers, start=1):
                family, point = self._system(number)
                made = labelled(family.schedule(point), point)
                parts.append(job_tables.frame(made, _labels(self.plan, number)))
                report(written)
            # Columns that a workload or a machine lacks are empty.
            columns = [*_labels(self.plan, 0), "job", *job_tables.COLUMNS]
            job_tables.write(pd.concat(parts, ignore_index=True).reindex(columns=columns), private)

    def _system(self, number: int) -> tuple[Family, Point]:
        task = self.plan.task(number)
        family = families.find(task.family)
        return family, work.point(task, family)

    @contextmanager
    def _replacing(self, path: Path) -> Iterator[Path]:
        """Yield a private file that then replaces the one at `path`: at no moment is there half of one."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with private(path) as made:
                yield made
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or one_line(error)
            raise RunError(
                f"schedule={self.given}: {path.name} cannot be written ({reason}); all results are kept: "
                "run the same command with a file or folder that can be written"
            ) from None


def planned(plan: Plan) -> Schedules | None:
    """Return the files of ``schedule=``, or None without it; no file is touched.

    Raises
    ------
    SweepError
        If they cannot be written, before anything runs.
    """
    if plan.settings.schedule is None:
        return None
    if (name := plan.settings.schedule.strip().lower()) in ("", "true", "false"):
        raise SweepError(f"schedule={name} names no file: give one, schedule=FILE.swf")
    for package, family in plan.families.items():
        if not family.schedules:
            raise SweepError(
                f"schedule={plan.settings.schedule}: {package} writes no schedules; omit schedule="
            )
    given = Path(plan.settings.schedule).expanduser()
    is_table, n_tasks = job_tables.is_table(given), plan.n_cells
    endings = ", ".join((*WRITTEN, *job_tables.ENDINGS))
    if is_table or n_tasks == 1:
        if is_table:
            job_tables.check(given)
        if given.is_dir():
            what = "a file" if is_table else "the file of the one schedule, FILE.swf"
            raise SweepError(f"schedule={given} is a folder: name {what}")
        _check_writable(given, given.parent)
        made = Schedules(plan, given, {} if is_table else {0: given})
    else:
        if given.exists() and not given.is_dir():
            raise SweepError(
                f"schedule={given} is a file, and there are {n_tasks} schedules: name a folder, or one point "
                "and replications=1"
            )
        # A typing error in the ending of a table would otherwise become a folder's name.
        if (
            re.fullmatch(r"\.[A-Za-z]\w*", given.suffix)
            and given.suffix not in ENDINGS
            and not given.is_dir()
        ):
            raise SweepError(
                f"schedule={given}: a schedule cannot be written as {given.suffix}; end the name in "
                f"{endings}, or give a folder, without an ending"
            )
        _check_writable(given, given)
        names = [f"{_name(plan, number)}.swf" for number in range(n_tasks)]
        if len(set(names)) < n_tasks:  # values that differ only in characters that are replaced in file names
            names = [f"{number}-{name}" for number, name in enumerate(names)]
        made = Schedules(plan, given, {n: given / name for n, name in enumerate(names)})
    paths = made.paths or {0: given}
    _apart(plan, given, paths.values())
    is_own = _is_own_table if is_table else _is_own
    existing = {} if plan.settings.replace else {n: path for n, path in paths.items() if path.exists()}
    if foreign := [path for number, path in existing.items() if not is_own(plan, number, path)]:
        others = f" (and {counted(len(foreign) - 1, 'other file')})" if len(foreign) > 1 else ""
        what = "table of this study" if is_table else "schedule of this point"
        raise SweepError(
            f"schedule={given}: {foreign[0]}{others} exists and is not a {what}; give another name, or "
            "replace=true to overwrite it"
        )
    if paths == {0: given} and not is_table and not given.name.endswith(WRITTEN):
        raise SweepError(f"schedule={given}: end the name of the file in {endings}")
    return made


def _labels(plan: Plan, number: int) -> dict[str, Any]:
    """Return the leading columns of a task's rows in a table."""
    task = plan.task(number)
    return {**task.at, "replication": task.replication}


def _is_own_table(plan: Plan, number: int, path: Path) -> bool:
    """Whether a file's first row belongs to a point of this plan and has the labels of a task."""
    import pandas as pd

    labels = list(_labels(plan, number))
    try:
        if path.suffix == ".parquet":
            first = pd.read_parquet(path, columns=labels).head(1)
        else:
            first = pd.read_csv(path, nrows=1, keep_default_na=False, na_values=[""])
    except (OSError, EOFError, ValueError, KeyError, zlib.error):
        return False
    if first.empty or list(first.columns[: len(labels)]) != labels:
        return False
    row = first.iloc[0]
    known = {**plan.axes, "replication": range(plan.replications)}
    return all(
        any(pd.isna(row[label]) if value is None else str(row[label]) == str(value) for value in known[label])
        for label in labels
    )


def _is_own(plan: Plan, number: int, path: Path) -> bool:
    """Whether a file's header shows that it is the simulated schedule of this task's point."""
    lines = {line.rstrip() for line in job_tables.head(path, HEADER_BYTES).splitlines()}
    is_simulated = any(line.startswith(f"; Note: {SIMULATED}".encode()) for line in lines)
    return is_simulated and f"; Note: {plan.task(number).point}".encode() in lines


def _apart(plan: Plan, given: Path, paths: Iterable[Path]) -> None:
    """Refuse to overwrite a file that the study reads or writes itself."""
    read = {v.parameters["path"] for group in GROUPS for v in plan.variants[group] if "path" in v.parameters}
    inputs = {Path(path).resolve() for path in read if path is not None}
    folder = Path(plan.settings.output).resolve()
    for path in paths:
        own = path.resolve().parent in (folder, folder / "shards")
        if own and (
            path.name == OWN_TABLE or not path.name.endswith((".swf", ".swf.gz", *job_tables.ENDINGS))
        ):
            raise SweepError(
                f"schedule={given}: {path} may be one of the study's own files; end the name in .swf or "
                f".csv, except {OWN_TABLE}, or give another folder"
            )
        if path.resolve() in inputs:
            raise SweepError(f"schedule={given}: {path} is read by this study; give another name")


def _check_writable(given: Path, folder: Path) -> None:
    """Refuse a place that cannot be written to; create no folder yet."""
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise SweepError(f"schedule={given}: {there} is not a folder; give a place that can be written")
    if not os.access(there, os.W_OK | os.X_OK) or (given.is_file() and not os.access(given, os.W_OK)):
        raise SweepError(f"schedule={given}: {there} cannot be written to; give another place")


def _name(plan: Plan, number: int) -> str:
    """Return a task's name by the axes that vary, e.g. ``easy-load_0.7-replication_2``."""
    task = plan.task(number)
    parts = [
        _safe(value) if axis in GROUPS else f"{_safe(axis)}_{_safe(value)}"
        for axis, value in task.at.items()
        if len(plan.axes[axis]) > 1
    ]
    if plan.replications > 1:
        parts.append(f"replication_{task.replication}")
    return "-".join(parts)[:LONGEST_NAME].lstrip(".")


def _safe(value: Any) -> str:
    """Return a value in characters that are safe in a file's name.

    Examples
    --------
    >>> _safe("lxf&w/2"), _safe(0.7), _safe(None), _safe([1, 2])
    ('lxf_w_2', '0.7', 'null', '1_2')
    """
    return re.sub(r"[^\w.+]+", "_", canonical.word(value)).strip("_")
