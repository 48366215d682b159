"""Functions and commands as models: their declarations. See docs/any_function.md."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sweep.errors import SweepError

DECLARED = "sweep_metrics"
"""Attribute of a function that holds the metrics it returns."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Declared(NamedTuple):
    """A metric without its name, see `metric`."""

    unit: str = "1"
    long_name: str = ""
    dims: Mapping[str, Sequence[Any]] = {}


def metric(unit: str = "1", long_name: str = "", dims: Mapping[str, Sequence[Any]] | None = None) -> Declared:
    """Declare a metric that a function returns.

    Parameters
    ----------
    unit : str
        Unit in the dataset; ``"1"`` for pure numbers.
    long_name : str
        Axis label of figures; its name by default.
    dims : mapping of str to sequence, optional
        For a metric that is an array: dimension -> coordinates, in the order of the array's axes.

    Examples
    --------
    >>> metric("s", "time to solution", dims={"rank": range(3)})
    Declared(unit='s', long_name='time to solution', dims={'rank': [0, 1, 2]})
    """
    return Declared(unit, long_name, {name: list(values) for name, values in (dims or {}).items()})


def model(*given: Any, **metrics: Declared) -> Callable[[Function], Function]:
    """Declare the metrics of a function that is the model of a study; the function itself is unchanged.

    Raises
    ------
    sweep.Error
        If the decorator is used without metrics.
    """
    if given or not metrics or not all(isinstance(one, Declared) for one in metrics.values()):
        raise SweepError('@model takes the metrics by name: @model(error=metric("1", "absolute error"))')

    def declared(function: Function) -> Function:
        setattr(function, DECLARED, metrics)
        return function

    return declared
