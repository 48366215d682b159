"""``dataset.schedule``: methods for the jobs that `sweep.simulate` returns."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from models.counting import counted
from sweep.errors import SweepError, one_line
from sweep.job_tables import ENDINGS, frame, head, write
from sweep.labelling import schedule_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from models.jobs.schedule import Schedule


@xr.register_dataset_accessor("schedule")
class ScheduleAccessor:
    """The schedule of a dataset of `sweep.simulate`."""

    def __init__(self, data: xr.Dataset) -> None:
        if "hosts" not in data.attrs or "job" not in data.dims:
            raise SweepError("this dataset holds no schedule; sweep.simulate returns one")
        self._data = data

    def __repr__(self) -> str:
        return f"<schedule of {counted(self._data.sizes['job'], 'job')}: {self._title()}>"

    def _repr_html_(self) -> str:
        """The first and last rows of its table, for notebooks."""
        shown = self.table().to_html(max_rows=10, max_cols=12, border=0, index=False)
        return f"<div><b>{escape(self._title())}</b>, {counted(self._data.sizes['job'], 'job')}{shown}</div>"

    def made(self) -> Schedule:
        """Return it as the type that the models use."""
        return schedule_of(self._data)

    def to_swf(self, path: str | Path) -> Path:
        """Write it in the Standard Workload Format, compressed if the name ends in ``.gz``."""
        from models.jobs.swf_schedule import write_schedule

        path = self._place(path, (".swf", ".swf.gz"), _is_schedule)
        attributes = self._data.attrs
        note = ", ".join(f"{key} {attributes[key]}" for key in ("policy", "workload", "machine"))
        try:
            write_schedule(path, self.made(), [note])
        except (ValueError, OSError) as error:
            raise SweepError(one_line(error)) from None
        return path

    def table(self) -> pd.DataFrame:
        """Return one row per job, without pieces; `sweep.job_tables` lists the columns and their units."""
        return frame(self._data)

    def to_table(self, path: str | Path) -> Path:
        """Write that table: as CSV (``.csv``, ``.csv.gz``), or as Parquet (``.parquet``) if pandas can."""
        # A CSV file by its first column, Parquet by its magic number.
        path = self._place(path, ENDINGS, lambda own: head(own, 4).startswith((b"job,", b"PAR1")))
        try:
            write(self.table(), path)
        except (ValueError, OSError) as error:
            raise SweepError(one_line(error)) from None
        return path

    def _place(self, given: object, endings: Sequence[str], is_own: Callable[[Path], bool]) -> Path:
        """Return the path to write; refuse to overwrite a file that this method did not write."""
        if not isinstance(given, str | os.PathLike) or not os.fspath(given):
            raise SweepError(f"path={given!r}: give the name of a file that ends in {', '.join(endings)}")
        path = Path(os.fspath(given)).expanduser()
        if path.exists() and not (path.is_file() and is_own(path)):
            raise SweepError(
                f"path={path}: the file exists, and this method did not write it; give another name"
            )
        return path

    def gantt(self, first: float | None = None, last: float | None = None) -> Figure:
        """Draw the jobs over time and processors.

        Parameters
        ----------
        first, last : float, seconds, optional
            The period that is drawn; by default the first three days.

        Raises
        ------
        sweep.Error
            With one line, for values that are not times, and where a chart would have too many jobs.
        """
        for name, value in (("first", first), ("last", last)):
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float | np.number)
            ):
                raise SweepError(
                    f"gantt: {name}={value!r}: give a time in seconds; a picture is saved with .savefig(path)"
                )
        if not self._data.sizes["job"]:
            raise SweepError("gantt: the schedule has no jobs")
        # This interface is above all packages; no other module here imports the analysis.
        drawn: Figure = importlib.import_module("analysis.notebook").gantt_chart(
            self.made(), self._title(), first, last
        )
        return drawn

    def _title(self) -> str:
        attributes = self._data.attrs
        load = f", load {attributes['load']:g}" if "load" in attributes else ""
        return f"{attributes['policy']}, {attributes['workload']}{load}"

    def utilization(self) -> float:
        """Return the processor time used over capacity, from the first submission to the last end."""
        made = self._whole("utilization")
        runs = made.runs
        work = float(np.sum((runs.end - runs.begin) * runs.processors))
        return work / (made.machine.total * float(made.end.max() - made.jobs.submit.min()))

    def jobs_in_system(self) -> xr.DataArray:
        """Return the number of waiting and running jobs from each arrival or end on."""
        made = self._whole("jobs_in_system")
        at = np.concatenate([made.jobs.submit, made.end])
        change = np.repeat([1, -1], len(made.end))
        time, place = np.unique(at, return_inverse=True)
        number = np.bincount(place, change).cumsum().astype(np.int64)
        attributes = {"units": "1", "long_name": "jobs in the system"}
        coords = {"time": ("time", time, {"units": "s", "long_name": "time since the first submission"})}
        return xr.DataArray(number, coords, ("time",), name="jobs_in_system", attrs=attributes)

    def _whole(self, method: str) -> Schedule:
        """Return the schedule if it is complete: jobs that were removed used the machine as well."""
        n, of = self._data.sizes["job"], int(self._data.attrs.get("jobs", self._data.sizes["job"]))
        if not n:
            raise SweepError(f"{method}: the schedule has no jobs")
        if n != of:
            raise SweepError(
                f"{method}: these are {n:,} of {of:,} jobs, but the others used the machine as well; call it "
                "before selecting jobs"
            )
        return self.made()


def _is_schedule(path: Path) -> bool:
    """Whether a file is a simulated schedule, by its header."""
    from sweep.schedules import HEADER_BYTES, SIMULATED

    return SIMULATED.encode() in head(path, HEADER_BYTES)
