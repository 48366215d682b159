"""The dataset of the page, which is reloaded whenever a sweep has written it."""

import threading
from datetime import datetime
from pathlib import Path

import pandas as pd

from analysis.errors import AnalysisError
from analysis.explorer import points, words
from analysis.explorer.choice import Choice
from analysis.study import Study, open_study
from analysis.study.axes import Axes
from analysis.study.curve import DONE, EXCLUDED
from sweep.errors import SweepError
from sweep.store import loading
from sweep.store.folder import Folder

EVERY = Axes(every=True)
"""All axes can be chosen; there are no readings of a paper."""


class Source:
    """A dataset that may still be filled.

    Parameters
    ----------
    where : Path
        A results folder, or a dataset.

    Raises
    ------
    AnalysisError
        If there is none, or it cannot be read.
    """

    def __init__(self, where: Path) -> None:
        try:
            self._path = loading.place(where)
        except SweepError as error:
            raise AnalysisError(str(error)) from None
        self._folder = Folder(self._path.parent, self._path.stem)
        self._lock = threading.Lock()
        self._stamp = self._now()  # before it is read: a dataset written meanwhile is then read next time
        self._study = open_study(self._path, EVERY)
        self._known: dict[str, pd.DataFrame] = {}
        self.problem = ""

    def described(self, choice: Choice) -> pd.DataFrame:
        """Return the points of a choice in words, see `words.described`; all windows share them."""
        study, known, key = self._study, self._known, repr(choice)
        if key not in known:
            known[key] = words.described(study, choice, points.points(study, choice))
        return known[key]

    @property
    def study(self) -> Study:
        """The dataset as last read."""
        return self._study

    @property
    def is_running(self) -> bool:
        """Whether a sweep writes to the folder now."""
        return self.tasks[0] < self.tasks[1] and self._folder.is_held()

    @property
    def tasks(self) -> tuple[int, int]:
        """Tasks that are done, and all tasks of the dataset."""
        states = self._study.plain("tasks").values
        return int((states == DONE).sum()), int((states != EXCLUDED).sum())

    @property
    def written(self) -> str:
        """The time at which it was written."""
        seconds = self._stamp[0] / 1e9
        return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M:%S}" if seconds else ""

    def refresh(self) -> Study:
        """Return the dataset, read again if its file has changed.

        If it cannot be read, the last dataset stays, and `problem` holds the reason.
        """
        with self._lock:
            stamp = self._now()
            if stamp == self._stamp:
                return self._study
            try:
                self._study, self._known, self.problem = open_study(self._path, EVERY), {}, ""
            except AnalysisError as error:
                self.problem = str(error)
            self._stamp = stamp
            return self._study

    def _now(self) -> tuple[int, int, int]:
        """Return a stamp that changes with every write, because a sweep replaces the file."""
        try:
            found = self._path.stat()
        except OSError:
            return (0, 0, 0)
        return found.st_mtime_ns, found.st_size, found.st_ino
