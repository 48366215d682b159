"""``dataset.schedule``: methods for the jobs that `sweep.simulate` returns."""

from __future__ import annotations

import importlib
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from sweep.errors import SweepError, one_line
from sweep.job_tables import frame, write
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
        return f"<schedule of {self._data.sizes['job']:,} jobs: {self._title()}>"

    def _repr_html_(self) -> str:
        """The first and last rows of its table, for notebooks."""
        shown = self.table().to_html(max_rows=10, max_cols=12, border=0, index=False)
        return f"<div><b>{escape(self._title())}</b>, {self._data.sizes['job']:,} jobs{shown}</div>"

    def made(self) -> Schedule:
        """Return it as the models' own type."""
        return schedule_of(self._data)

    def to_swf(self, path: str | Path) -> Path:
        """Write it in the Standard Workload Format, compressed if the name ends in ``.gz``."""
        from models.jobs.swf_schedule import write_schedule

        attributes = self._data.attrs
        note = ", ".join(f"{key} {attributes[key]}" for key in ("policy", "workload", "machine"))
        try:
            write_schedule(path, self.made(), [note])
        except (ValueError, OSError) as error:
            raise SweepError(one_line(error)) from None
        return Path(path)

    def table(self) -> pd.DataFrame:
        """Return one row a job, without pieces; `sweep.job_tables` has the columns and their units."""
        return frame(self._data)

    def to_table(self, path: str | Path) -> Path:
        """Write that table: as CSV (``.csv``, ``.csv.gz``), or as Parquet (``.parquet``) if pandas can."""
        try:
            write(self.table(), Path(path))
        except (ValueError, OSError) as error:
            raise SweepError(one_line(error)) from None
        return Path(path)

    def gantt(self, first: float | None = None, last: float | None = None) -> Figure:
        """Draw the jobs over time and processors.

        Parameters
        ----------
        first, last : float, seconds, optional
            What is drawn; by default the first three days.

        Raises
        ------
        sweep.Error
            With one line, for times that are none and where there is too much to see.
        """
        for name, value in (("first", first), ("last", last)):
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float | np.number)
            ):
                raise SweepError(
                    f"gantt: {name}={value!r}: give a time in seconds; a picture is saved with .savefig(path)"
                )
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
        made = self.made()
        runs = made.runs
        work = float(np.sum((runs.end - runs.begin) * runs.processors))
        return work / (made.machine.total * float(made.end.max() - made.jobs.submit.min()))
