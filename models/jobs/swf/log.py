"""A log as it was read: every row, and the machine that its header names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from models.jobs.machine import MOST_PROCESSORS
from models.jobs.swf.header import header_number


@dataclass(frozen=True, eq=False)
class Log:
    """The contents of an SWF file.

    Parameters
    ----------
    path : Path
        Where it was read; messages have the file's name only.
    header : dict of str to list of str
        Comments by key, one string a line, in the file's order. Keys may repeat (``Queue``, ``Note``) and a
        comment without a key continues the one before, or has the key ``""`` if there is none.
    columns : dict of str to ndarray, shape (n_jobs,)
        One array for each of `COLUMNS`, in order of submit time, with the types of `DTYPES`.
    line : ndarray of int, shape (n_jobs,)
        Line of each row in the (uncompressed) file, from 1.
    notes : tuple of str
        Notes for the user: rows out of order, fewer rows than the header's number.
    faults : dict of int to str
        Line -> fault of a row that is left out. `models.jobs.swf.selecting.select` refuses
        the log if there are many.
    """

    path: Path
    header: dict[str, list[str]]
    columns: dict[str, np.ndarray]
    line: np.ndarray
    notes: tuple[str, ...] = ()
    faults: Mapping[int, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the file, without its folder."""
        return self.path.name

    @property
    def n_jobs(self) -> int:
        """Number of rows."""
        return self.line.size

    @cached_property
    def sizes(self) -> np.ndarray:
        """Processors of each job: allocated, if unknown requested, or 0 if both are unknown."""
        allocated, requested = self.columns["processors"], self.columns["requested_processors"]
        return np.where(allocated > 0, allocated, np.maximum(requested, 0))

    @property
    def max_processors(self) -> int:
        """Processors of the machine: the header's MaxProcs, else its MaxNodes, else the largest job."""
        return self._named_processors or int(self.sizes.max())

    @property
    def names_its_machine(self) -> bool:
        """Whether the header names the number of processors."""
        return self._named_processors > 0

    @cached_property
    def _named_processors(self) -> int:
        return header_number(self.name, self.header, "MaxProcs", "MaxNodes", most=MOST_PROCESSORS, least=1)

    @property
    def first_submit(self) -> float:
        """Submit time of the first job, seconds; 0 if no submit time is known."""
        known = self.columns["submit"][self.columns["submit"] >= 0]
        return float(known[0]) if known.size else 0.0
