"""Every job of a schedule as a row of a table, for pandas, R or a spreadsheet.

==================== ======= =========================================================================
column               unit
==================== ======= =========================================================================
``job``                      number in the log, else in order of submission from 1 on
``job_id``                   its name in the log, where names are not numbers (sacct)
``user``                     number of its user; ``user_name`` where the log has names
``submit``           s       submission, since the first job's
``start``            s       first processor
``end``              s       end
``wait``             s       start - submit
``response_time``    s       time in the system; under policies that preempt, more than wait and runtime
``runtime``          s       what it ran, on the processors it asked for
``requested``        s       what its user asked for, empty where unknown
``processors``               that it asked for
``memory``           KB      of the whole job, where the machine limits it or jobs ask for it
``used_memory``      KB      what it uses of that, where the workload has it
``job_class``                the site's scheduling class, where the workload or the policy has one
``runs``                     submissions of the job, each after the end of the one before
``after``                    job whose end its user waits for, 0 for none
``think``            s       from that end to this submission
``host``                     name of the host, where there are several
``slowdown``                 response time / runtime
``bounded_slowdown``         the same with runtimes of at least ``measures.bound`` (10 s), and at least 1
==================== ======= =========================================================================
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.errors import SweepError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ENDINGS = (".csv", ".csv.gz", ".parquet")
ENGINES = ("pyarrow", "fastparquet")
"""Packages with which pandas writes Parquet; nothing else here needs them."""

COLUMNS = (
    "job_id", "user", "user_name", "submit", "start", "end", "wait", "response_time", "runtime", "requested",
    "processors", "memory", "used_memory", "job_class", "runs", "after", "think", "host", "slowdown",
    "bounded_slowdown",
)  # fmt: skip


def is_table(path: Path) -> bool:
    """Whether a file is a table, judged by its name."""
    return path.name.endswith(ENDINGS)


def parquet_engine() -> str | None:
    """Return the installed package that pandas writes Parquet with, None if there is none."""
    return next((name for name in ENGINES if importlib.util.find_spec(name) is not None), None)


def check(path: Path) -> None:
    """Raise `SweepError` with one line if such a table cannot be written here."""
    if path.suffix == ".parquet" and parquet_engine() is None:
        raise SweepError(
            f"{path}: pandas writes Parquet with {' or '.join(ENGINES)}, and neither is installed; install "
            "one, or end the name in .csv or .csv.gz"
        )
    if not is_table(path):
        raise SweepError(f"{path}: end the name of a table in {', '.join(ENDINGS)}")


def frame(data: xr.Dataset, labels: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Return the jobs of a dataset of `sweep.simulate`, one a row.

    Parameters
    ----------
    labels : mapping, optional
        Leading columns of one value each, which identify the point of a study.
    """
    present = [name for name in COLUMNS if name in data]
    found = data[present].drop_attrs().to_dataframe().reset_index()[["job", *present]]
    if "host" in present:
        names = [host["name"] for host in json.loads(data.attrs["hosts"])]
        found["host"] = [names[host] for host in found["host"]]
    for place, (label, value) in enumerate((labels or {}).items()):
        found.insert(place, label, value)
    return found


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table; the same table gives the same bytes.

    Raises
    ------
    SweepError, OSError
        With one line.
    """
    check(path)
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        data = table.to_csv(index=False).encode()
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def head(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a file, unpacked if it is ``.gz``; empty if it cannot be read."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            return bytes(file.read(n_bytes))
    except (OSError, EOFError, zlib.error):
        return b""


def name_of(user: float, names: Sequence[str]) -> str:
    """Return the name of a user of this number, empty where it is not known."""
    return names[int(user) - 1] if 1 <= user <= len(names) else ""
