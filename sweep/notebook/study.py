"""A study from a notebook: the grid of an experiment, its dataset, and its analysis."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from rich.console import Console

from sweep.config import compose, locate
from sweep.config.overrides import BY_LOAD, quoted
from sweep.errors import RunError, SweepError, one_line
from sweep.notebook import choices, own
from sweep.pilot import settled
from sweep.plan.data import Plan
from sweep.plan.expansion import expand
from sweep.store.folder import Folder

if TYPE_CHECKING:
    import pandas as pd


class Study:
    """The grid of an experiment, run on any executor; the same results as on the command line.

    Parameters
    ----------
    experiment : str
        A file of conf/experiment, e.g. ``"packing"``; ``"compare"`` takes any policies and workloads.
    executor : str or mapping, optional
        ``"dask"`` (the default: one process a core), ``"serial"``, or ``{"name": "dask", "workers": 4}``.
    config_dir : path-like, optional
        A folder of your own experiments, policies, workloads and machines, beside conf.
    **settings
        The keys of conf/config.yaml: ``grid={"policy": ["buddy", "migration"], "load": [0.5, 0.9]}``,
        ``policy={"alternation": "shared"}``, ``batches=10``, ``replications=5``, ``output="results/mine"`` …
        Policies, workloads and machines of the grid are what `simulate` takes (but for functions): also names
        with settings, the path of a log, arrays of jobs, a number of processors.

    Raises
    ------
    sweep.Error
        With one line: what is wrong, and what would work.

    Examples
    --------
    >>> import sweep
    >>> study = sweep.Study("packing", grid={"policy": ["buddy"], "load": [0.5]}, batches=10)
    >>> study.points
    5
    """

    def __init__(
        self,
        experiment: str,
        *,
        executor: str | Mapping[str, Any] | None = None,
        config_dir: str | Path | None = None,
        **settings: Any,
    ) -> None:
        if not isinstance(experiment, str):
            raise SweepError(
                f"experiment={experiment!r}: give a name; 'compare' takes any policies and workloads"
            )
        user = None if config_dir is None else locate.user_folder(str(config_dir))
        settings, values = own.taken_out(settings, choices.folders(config_dir))
        self._arguments = [f"+experiment={experiment}", *_overrides(settings), *_executor(executor)]
        config = compose.load(self._arguments, locate.conf_folder(), user, values)
        self._folder = Folder(locate.place(config.settings.output), config.settings.name)
        self._config = settled(config, self._folder, Console())
        self._plan = expand(self._config)

    def __repr__(self) -> str:
        return (
            f"<Study {self._config.settings.name}: {self.points} points, {self.tasks} tasks, {self.folder}>"
        )

    def _repr_html_(self) -> str:
        """Its plan, and where its results are."""
        return f"{self._plan._repr_html_()}<code>{escape(str(self.folder))}</code>"

    @property
    def folder(self) -> Path:
        """Where its results are."""
        return self._folder.path

    @property
    def points(self) -> int:
        """Number of points of the grid."""
        return len(self._plan.points)

    @property
    def tasks(self) -> int:
        """Number of simulations: points times replications, and overload runs."""
        return len(self._plan.ids)

    @property
    def plan(self) -> Plan:
        """The axes with their values, and what is run at each point."""
        return self._plan

    def run(self, progress: bool = True) -> xr.Dataset:
        """Run what is left of it, and return the dataset; what is finished is never run again.

        Parameters
        ----------
        progress : bool
            Whether to show how far it has got.

        Raises
        ------
        sweep.Error
            If tasks failed; the finished ones are kept, and `data` has them.
        """
        from sweep import run

        try:
            with _main_module_hidden():
                status = run.run(
                    self._config, self._plan, self._folder, Console(quiet=not progress), self._arguments
                )
        except SweepError as error:
            raise choices.in_python(error) from None
        if status:
            raise RunError(
                f"{self.folder}: some tasks failed or were interrupted, the others are kept in `data`; "
                "run() tries them again"
            )
        return self.data

    @property
    def data(self) -> xr.Dataset:
        """The dataset as it is now."""
        if not self._folder.dataset.is_file():
            raise SweepError(f"{self._folder.dataset} is not there yet: run() writes it")
        try:
            with xr.open_dataset(self._folder.dataset) as data:
                return data.load()
        except (OSError, ValueError, RuntimeError) as error:
            raise SweepError(
                f"{self._folder.dataset} cannot be read ({one_line(error)}): run() makes it anew"
            ) from None

    def claims(self) -> pd.DataFrame:
        """Return the paper's sentences with their verdicts (holds, fails, inconclusive) and the evidence."""
        import pandas as pd

        return pd.DataFrame([claim.as_json() for claim in _analysis().claims_of(self.folder)])

    def figures(self, **chosen: Any) -> dict[str, Path]:
        """Draw the paper's figures, or the general ones of any other study.

        Parameters
        ----------
        **chosen
            As for ``python -m analysis``: values of axes (``workload="kth"``, ``load=[0.5, 0.9]``), and of a
            study of your own ``along="load"``, ``reference="easy"``, ``metrics=["wait", "slowdown"]``.

        Returns
        -------
        dict of str to Path
            The PNG of each by name; PDF and SVG lie beside it.
        """
        found: dict[str, Path] = _analysis().figures_of(self.folder, chosen)
        return found

    def report(self, **chosen: Any) -> Path:
        """Write figures, claims and the report; return the path of the report, one HTML file.

        Parameters
        ----------
        **chosen
            See `figures`.
        """
        written: Path = _analysis().report_of(self.folder, chosen)
        return written


def _analysis() -> Any:
    """Return the analysis' interface: this one is above all packages, and no other module here imports it."""
    return importlib.import_module("analysis.notebook")


def _overrides(settings: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield settings as the command line has them, ``key.of.mapping=value``."""
    for key, value in settings.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and key not in ("exclude", *BY_LOAD) and prefix != "values.":
            yield from _overrides(value, f"{name}.")
        else:
            yield f"{name}={_text(name, value)}"


def _text(name: str, value: Any) -> str:
    """Return a value in the grammar of the command line."""
    if value is None:
        return "null"
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, int | float | np.integer | np.floating):
        return repr(value.item() if isinstance(value, np.generic) else value)
    if isinstance(value, str | Path):
        return quoted(str(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {_text(name, item)}" for key, item in value.items()) + "}"
    if isinstance(value, range) or hasattr(value, "__array__"):  # an array, a Series, a DataArray
        return _text(name, np.asarray(value).tolist())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(name, item) for item in value) + "]"
    if callable(value):
        raise SweepError(
            f"{name}: a function of this notebook is not known to other processes; put it into a module and "
            "give its dotted name, or use sweep.simulate"
        )
    raise SweepError(
        f"{name}={value!r}: {type(value).__name__} is not understood; give numbers, texts and lists"
    )


def _key(key: Any) -> str:
    """Return a key of a mapping in that grammar, which has no quotes there."""
    return re.sub(r"([\\()\[\]{}:=,])", r"\\\1", str(key))


def _executor(given: str | Mapping[str, Any] | None) -> list[str]:
    if given is None:
        return []
    if isinstance(given, str):
        return [f"executor={given}"]
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise SweepError(f"executor={given!r}: give a name, or {{'name': 'dask', 'workers': 4}}")
    rest = {key: value for key, value in given.items() if key != "name"}
    return [f"executor={given['name']}", *_overrides(rest, "executor.")]


@contextmanager
def _main_module_hidden() -> Iterator[None]:
    """Let workers start without running the notebook or script that starts them.

    Processes of `multiprocessing` import the main module of their parent, so that a script that runs a study
    would run it once more in each worker. Tasks need nothing of it.
    """
    main = sys.modules["__main__"]
    kept = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    main.__spec__ = None
    if "__file__" in kept:
        del main.__file__
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(main, name, value)
