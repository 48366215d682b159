"""A mesh of processors and the rectangles that jobs get of it (McCann 1994, section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from models import keys
from models.point import Parameters
from models.topology.links import Links
from models.topology.shapes import sides_of


class Rectangle(NamedTuple):
    """A block of processors; rows count from the top and columns from the left, both from 0."""

    top: int
    left: int
    height: int
    width: int

    @property
    def n_processors(self) -> int:
        """Number of processors in the rectangle."""
        return self.height * self.width

    def transposed(self) -> Rectangle:
        """Return the rectangle with rows and columns exchanged."""
        return Rectangle(self.left, self.top, self.width, self.height)


@dataclass(frozen=True)
class Mesh(Links):
    """A machine whose processors are joined to their neighbours in rows and columns.

    Parameters
    ----------
    rows, columns : int
        Numbers of processors.
    context_switch, bandwidth
        See `Links`; in the paper c and X.
    """

    rows: int
    columns: int

    @property
    def n_processors(self) -> int:
        """Number of processors of the machine."""
        return self.rows * self.columns

    @classmethod
    def of(cls, machine: Parameters) -> Mesh:
        """Read a machine's YAML file, see `sides_of`; the memory limit is left to the policies."""
        rows, columns = sides_of(machine, "mesh", "partitions one mesh", "16x16")
        return cls(rows, columns, **keys.read(cls, machine, "machine"))


def is_power_of_two(number: int) -> bool:
    """Return whether a number is 1, 2, 4, 8, …"""
    return number > 0 and number & (number - 1) == 0


def require_powers_of_two(mesh: Mesh, policy_name: str) -> None:
    """Raise ``ValueError`` with one line for a machine that is not a 2^M × 2^N mesh."""
    if not (is_power_of_two(mesh.rows) and is_power_of_two(mesh.columns)):
        raise ValueError(
            f"policy {policy_name} on {mesh.rows} × {mesh.columns} processors; allowed: powers of two on "
            "both sides; set machine.mesh, e.g. 16x16"
        )


def require_room(rows: int, columns: int, jobs: int) -> None:
    """Raise ``ValueError`` with one line unless sides are powers of two, with a processor for each job."""
    if not (is_power_of_two(rows) and is_power_of_two(columns)):
        raise ValueError(f"a mesh of {rows} × {columns} processors; allowed: powers of two on both sides")
    if not 1 <= jobs <= rows * columns:
        raise ValueError(
            f"{jobs} jobs on {rows} × {columns} processors; allowed: 1 to {rows * columns}, one for each"
        )
