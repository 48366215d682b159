"""Datasets read as a whole, if that is as much as a study may have."""

from pathlib import Path
from typing import Any

import xarray as xr

MOST_BYTES, MOST_TIMES = 1 << 31, 100
"""What a dataset may take in memory, or so many times its size on disk: a small file may be full of zeros."""


def loaded(path: Path, **options: Any) -> xr.Dataset:
    """Return a dataset with all its arrays: a checksum is only looked at where its array is read.

    Raises
    ------
    OSError, ValueError, RuntimeError
        If the file is damaged, no netCDF, or unpacks to too much.
    """
    with xr.open_dataset(path, engine="netcdf4", **options) as lazy:
        if lazy.nbytes > max(MOST_BYTES, MOST_TIMES * path.stat().st_size):
            raise ValueError(f"it unpacks to {lazy.nbytes:,} bytes, as no study does")
        return lazy.load()
