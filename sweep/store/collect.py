"""Writes the dataset: at the end, now and then while running, and never when nothing has changed."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict

from sweep.config import canonical
from sweep.plan.data import Plan
from sweep.store import provenance
from sweep.store.folder import Folder
from sweep.store.layout import FORMAT
from sweep.store.state import State, read
from sweep.store.writing import check_held

WRITE_EVERY_S = 10.0
WRITE_SHARE = 0.05
"""Seconds between two writes of the dataset while running, and the share of the time that they may take."""


class Collection:
    """The dataset of a results folder, written by this process alone (which holds the folder's lock).

    Attributes
    ----------
    path : Path
        The folder of results.
    faults : list of str
        One line for each log whose recorded waits the written dataset lacks because of an error.
    """

    def __init__(self, plan: Plan, folder: Folder, arguments: Sequence[str]) -> None:
        self._plan = plan
        self._folder, self.path = folder, folder.path
        self._arguments = arguments
        self._is_sound = False
        self.faults: list[str] = []
        self._written = time.monotonic()
        self._spent = 0.0
        self._has_more = False

    def write_if_due(self, came: bool = True) -> None:
        """Write the results so far, if the last write is long enough ago.

        Parameters
        ----------
        came : bool
            Whether results arrived since the last call. While none arrives, writing delays no result.
        """
        start = time.monotonic()
        self._has_more |= came
        wait = max(WRITE_EVERY_S, self._spent / WRITE_SHARE if came else 0.0)
        if self._has_more and start >= self._written + wait:
            self.write(read(self._plan, self._folder))
            self._written, self._has_more = time.monotonic(), False
            self._spent = self._written - start

    def write(self, state: State, report: Callable[[int], None] = lambda done: None) -> str | None:
        """Write the dataset, unless the one in the folder is up to date.

        Parameters
        ----------
        report : callable, optional
            Called now and then with the number of tasks written so far.

        Returns
        -------
        str or None
            The fault of the existing dataset, which has then been rebuilt from the logs.
        """
        fingerprint = self._fingerprint(state)
        described = self._folder.read_manifest()
        wrong = None if self._is_sound else self._wrong(described.get("checksum"))
        self._is_sound = True  # may have been made since: no other process writes it
        if described.get("dataset") == fingerprint and wrong is None and self._folder.dataset.exists():
            return None
        from sweep.store import dataset, facts

        check_held(self._folder.dataset)
        try:
            moved = self._folder.make_room()
        except OSError as error:
            raise self._folder.unwritable(error) from None
        # The manifest has no checksum until the new dataset is complete: an interruption must not look like
        # damage.
        self._folder.write_manifest(described | {"dataset": None, "checksum": None})
        dataset.write(state, self._folder.dataset, self._arguments, report)
        self.faults = facts.of(self._plan).faults
        known = {"dataset": fingerprint, "checksum": self._folder.checksum()}
        self._folder.write_manifest(described | known)
        if wrong is None:
            return None
        kept = f"; the old file is now {moved}" if moved else ""
        return f"{self._folder.dataset} was {wrong}: it has been rebuilt from the logs{kept}"

    def _wrong(self, written: str | None) -> str | None:
        """Return the fault of the dataset; None if it is as written, or does not exist."""
        path = self._folder.dataset
        if not path.exists() and not path.is_symlink():
            return None
        if not path.is_file():
            return "no file"
        if path.stat().st_size == 0:
            return "empty"
        found = self._folder.checksum()
        if written is None or found == written:
            return None
        return f"not what was written ({found}; written {written})"

    def _fingerprint(self, state: State) -> str:
        """Return a hash that changes whenever the dataset would."""
        states = [id_ in state.done or (id_ in state.failed and "failed") for id_ in self._plan.ids]
        settings = [
            FORMAT,
            self._plan.settings.keep,
            self._plan.settings.confidence,
            asdict(self._plan.settings.accept),
            json.dumps(provenance.versions()),
        ]
        return hashlib.sha256(canonical.text([self._plan.ids, states, settings]).encode()).hexdigest()[:20]
