"""How an engine hands out jobs that have ended."""

from __future__ import annotations

from models.kernels.compiling import part


@part()
def write_ended(job, now, ended, row):
    """Write a job of the table (`models.packing.matrix.JOB`) that ends now to a row of `ended`."""
    ended.number[row] = job.number
    ended.session[row] = job.session
    ended.submit[row] = job.submit
    ended.start[row] = job.start
    ended.end[row] = now
    ended.runtime[row] = job.runtime
    ended.size[row] = job.size
