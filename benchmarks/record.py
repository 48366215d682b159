"""Results of a benchmark: tables for readers, the same numbers as JSON for later comparisons."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from sweep.store import provenance

FOLDER = Path(__file__).parent / "results"

ALSO = ("distributed", "simpy", "netCDF4")
"""Packages whose versions matter here beside those that a dataset records."""

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """A table of numbers; the first column names its rows."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Target:
    """A number with a limit: at most, or at least where `at_least` is set."""

    what: str
    value: float
    limit: float
    unit: str
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the limit is kept in this run, on this machine."""
        return bool(self.value >= self.limit if self.at_least else self.value <= self.limit)


@dataclass
class Findings:
    """Results of one benchmark."""

    tables: list[Table] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def show(findings: Findings, console: Console) -> None:
    """Print tables, notes and targets."""
    for table in findings.tables:
        shown = RichTable(title=table.title, title_justify="left", title_style="", box=box.SIMPLE_HEAD)
        for number, column in enumerate(table.columns):
            shown.add_column(column, justify="right" if number else "left")
        for row in table.rows:
            shown.add_row(*(_text(cell) for cell in row))
        console.print(shown)
    for note in findings.notes:
        console.print(note, highlight=False, markup=False)
    for target in findings.targets:
        bound = "at least" if target.at_least else "at most"
        verdict = "met" if target.is_met else "MISSED"
        console.print(
            f"{verdict:<7} {target.what}: {_text(target.value)} {target.unit} "
            f"({bound} {_text(target.limit)})",
            highlight=False,
            markup=False,
        )


def _text(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def write(found: dict[str, Findings], quick: bool, folder: Path = FOLDER) -> Path:
    """Write everything to a JSON file named by the time, and return its path."""
    now = datetime.now(UTC)
    data: dict[str, Any] = {
        "created": now.isoformat(timespec="seconds"),
        "commit": provenance.commit(),
        "quick": quick,
        "machine": machine(),
        "versions": provenance.versions() | {name: provenance.package_version(name) for name in ALSO},
        "benchmarks": {name: _plain(findings) for name, findings in found.items()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{now:%Y-%m-%dT%H-%M-%S}.json"
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return path


def _plain(findings: Findings) -> dict[str, Any]:
    plain = asdict(findings)
    for target, described in zip(findings.targets, plain["targets"], strict=True):
        described["is_met"] = target.is_met
    return plain


def machine() -> dict[str, Any]:
    """Return the processor, cores, system, and load average, on which the numbers depend."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "load_average": list(os.getloadavg()),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())
