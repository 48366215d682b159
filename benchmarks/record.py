"""Results of a benchmark: tables and targets."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

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


def show(findings: Findings, console: Console) -> None:
    """Print tables and targets."""
    for table in findings.tables:
        shown = RichTable(title=table.title, title_justify="left", title_style="", box=box.SIMPLE_HEAD)
        for number, column in enumerate(table.columns):
            shown.add_column(column, justify="right" if number else "left")
        for row in table.rows:
            shown.add_row(*(_text(cell) for cell in row))
        console.print(shown)
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
