"""The declaration of a metric: its name, unit and dimensions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A number that a simulation reports for each batch.

    Parameters
    ----------
    name : str
        Variable name in the dataset, e.g. ``slowdown``.
    unit : str
        Unit in the dataset's ``units`` attribute; ``1`` for pure numbers.
    long_name : str
        Axis label for figures.
    dims : tuple of str
        Dimensions beyond the batch, e.g. ``("job_class",)``; their coordinates are in `Family.coords`.
    weight : str
        Metric by which batches are weighted in a mean over them: ``jobs``, ``period`` or another. Batches
        have equal weights if it is empty, or if the family does not measure that metric.
    """

    name: str
    unit: str
    long_name: str
    dims: tuple[str, ...] = ()
    weight: str = ""
