"""A labelled array as its dimensions' names and its numbers, for thousands of fast reads."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Plain:
    """The content of an xarray array, without the milliseconds that xarray adds to each access.

    Parameters
    ----------
    dims : tuple of str
        Names of the dimensions of `values`.
    """

    dims: tuple[str, ...]
    values: np.ndarray

    def at(self, place: Mapping[str, int], *kept: str) -> np.ndarray:
        """Return a view at some places, with the dimensions that are kept in the order given.

        Parameters
        ----------
        place : dict of str to int
            Dimension -> index; dimensions that the array lacks are ignored.
        *kept : str
            The other dimensions, all of them.

        Raises
        ------
        KeyError
            If a dimension is neither kept nor in `place`.
        """
        found = self.values[tuple(slice(None) if dim in kept else place[dim] for dim in self.dims)]
        left = [dim for dim in self.dims if dim in kept]
        return found.transpose([left.index(dim) for dim in kept])
