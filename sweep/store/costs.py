"""The measured cost of a simulated job: for bundles of even size, the time left, and ``action=plan``."""

import json
import math
import os
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from sweep.plan.data import Plan
from sweep.store.writing import replace

Key = tuple[str, ...]
"""(family, machine, policy, workload, load): from the general to the particular."""

SYSTEM = 4
"""Parts of a key without the load."""

WHOLE = ", whole"
"""End of a family's name in the keys of tasks that run a whole log or month."""

EARLIER = 4
"""Weight of the mean of earlier runs, in tasks: costs soon follow a change of code or machine."""


MOST_KINDS = 16
"""Maximum of combinations of strings among a program's arguments with separate costs."""


class Costs:
    """Seconds per job by system; for a system without measurements, the most similar one's.

    Parameters
    ----------
    path : Path, optional
        Where `save` keeps them between runs; the user's cache by default.
    """

    def __init__(self, path: Path | None = None) -> None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        self._path = cache / "schedsweep" / "costs.json" if path is None else path
        self._seconds: dict[Key, float] = {}
        self._count: dict[Key, int] = defaultdict(int)
        self._loads: dict[Key, dict[float, str]] = defaultdict(dict)
        # A cache: where it is missing or damaged, it starts empty.
        with suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
            if _is_own(self._path.parent) and self._path.is_file():
                for text, seconds in json.loads(self._path.read_text(encoding="utf-8")).items():
                    self.add(tuple(text.split("|")), float(seconds))
        self._count = defaultdict(int, dict.fromkeys(self._seconds, EARLIER))

    def add(self, key: Key, seconds_a_job: float | np.ndarray) -> None:
        """Add a measurement, or several, shape (n,); the mean of a run is kept."""
        if len(key) > SYSTEM:
            self._loads[key[:SYSTEM]][as_number(key[SYSTEM])] = key[SYSTEM]
        values = np.atleast_1d(seconds_a_job)
        mean = float(np.mean(values))
        for length in range(1, len(key) + 1):
            part = key[:length]
            self._count[part] += len(values)
            known = self._seconds.get(part, mean)
            self._seconds[part] = known + len(values) / self._count[part] * (mean - known)

    def seconds_a_job(self, key: Key) -> float | None:
        """Return the cost at the nearest measured load, or of the longest part of the key that was measured.

        None without measurements. The time of a whole log under one policy does not predict another log's or
        another policy's.
        """
        if loads := self._loads.get(key[:SYSTEM]):
            wanted = as_number(key[SYSTEM])
            key = (*key[:SYSTEM], loads[min(loads, key=lambda load: abs(load - wanted))])
        for length in range(len(key), SYSTEM - 1 if key[0].endswith(WHOLE) else 0, -1):
            if (seconds := self._seconds.get(key[:length])) is not None:
                return seconds
        return None

    def is_measured(self, key: Key) -> bool:
        """Whether tasks of this kind were measured, and not only similar ones."""
        return key in self._seconds

    def has_system(self, key: Key) -> bool:
        """Whether the system itself was measured, at any load."""
        return key[:SYSTEM] in self._seconds

    def save(self) -> None:
        """Save the costs for later runs, if the user's cache folder can be written."""
        full = max((len(key) for key in self._seconds), default=0)
        stored = {"|".join(key): seconds for key, seconds in self._seconds.items() if len(key) == full}
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_own(self._path.parent):
                replace(self._path, json.dumps(stored, indent=0, sort_keys=True).encode())


def _is_own(folder: Path) -> bool:
    """Whether a folder belongs to this user, and no other user may write to it."""
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & 0o022


def as_number(load: str) -> float:
    """Return the load of a key, 0 for a log that is replayed as it stands."""
    return 0.0 if load == "None" else float(load)


def keys(plan: Plan) -> Callable[[int], Key]:
    """Return a function that maps a task's number to the key of its cost."""
    parts = {
        group: [str(v.parameters["name"]).replace("|", " ") for v in plan.variants[group]]
        for group in ("machine", "policy", "workload")
    }
    # The costs of a whole workload and of a job do not predict each other. Logs are distinguished by their
    # content, because all of them have the name of their kind.
    kind = WHOLE if plan.longest.to_the_end else ""
    if kind:
        parts["workload"] = [
            f"{name} {zlib.crc32(v.text.encode()):08x}"
            for name, v in zip(parts["workload"], plan.variants["workload"], strict=True)
        ]
    families = [str(policy.parameters["family"]) + kind for policy in plan.variants["policy"]]
    loads = [str(load) for load in plan.axes["load"]]
    sizes: list[str] = []
    if plan.settings.is_program:  # the time of a task depends on its arguments, mostly on numbers
        arguments = [v.parameters["arguments"].values() for v in plan.variants["policy"]]
        numbers = [[abs(x) for x in one if type(x) in (int, float) and x] for one in arguments]
        sizes = [f"{min(math.prod(one), sys.float_info.max):.1e}" for one in numbers]
        words = [" ".join(x for x in one if isinstance(x, str)).replace("|", " ") for one in arguments]
        if len(set(words)) <= MOST_KINDS:
            parts["policy"] = [f"{name} {more}" for name, more in zip(parts["policy"], words, strict=True)]
    of_overload = None if plan.overload is None else keys(plan.overload)
    columns = [plan.choices[name].tolist() for name in ("machine", "policy", "workload", "load")]
    replications = plan.replications

    def key(number: int) -> Key:
        if of_overload is not None and number >= plan.n_cells:
            return of_overload(number - plan.n_cells)
        machine, policy, workload, load = (column[number // replications] for column in columns)
        return (
            families[policy],
            parts["machine"][machine],
            parts["policy"][policy],
            parts["workload"][workload],
            sizes[policy] if sizes else loads[load],
        )

    return key
