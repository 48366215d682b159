"""A study from a notebook: the grid of an experiment, its dataset, and its analysis."""

from __future__ import annotations

import base64
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import xarray as xr
from rich.console import Console

from models.counting import counted
from sweep import plugins, schedules, tuning
from sweep.config import compose, locate, overrides
from sweep.config.settings import BY_LOAD, GROUPS, Measures, Precision, Settings
from sweep.errors import RunError, SweepError
from sweep.notebook import allowed, choices, own
from sweep.notebook.settings import Keys, signature
from sweep.notebook.simulation import new_seed
from sweep.pilot import settled
from sweep.plan import programs
from sweep.plan.data import Plan
from sweep.plan.expansion import expand
from sweep.store.folder import Folder

if TYPE_CHECKING:
    import pandas as pd

GROUPS_OF_KEYS = frozenset(
    key for key, value in vars(Settings("")).items() if isinstance(value, dict | Measures | Precision)
)
"""Settings that may be empty."""


def _check_arguments(function: Callable[..., Any], settings: Mapping[str, Any]) -> None:
    """Raise `SweepError` for a name that is neither a key of a study nor an argument of its function."""
    try:
        declared = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function may have no name
        return
    if any(one.kind is one.VAR_KEYWORD for one in declared.values()):
        return
    for key in settings:
        if (name := key.partition(".")[0]) not in {*compose.KEYS, *GROUPS, *declared}:
            name_of = getattr(function, "__name__", "the function")
            of_report = "; give it to report() or figures()" if name in compose.OF_REPORTS else ""
            raise SweepError(
                f"{name}: is neither a key of a study nor an argument of {name_of} "
                f"({', '.join(declared) or 'it has none'}){of_report}"
            )


class Study:
    """The grid of an experiment, run on any executor; the same results as on the command line.

    Parameters
    ----------
    experiment : str or function
        A file of conf/experiment, e.g. ``"packing"``; ``"compare"`` takes any policies and workloads. Or a
        function of your own, whose arguments are the axes: docs/any_function.md.
    executor : str or mapping, optional
        ``"dask"`` (the default: one process a core), ``"serial"``, or ``{"name": "dask", "workers": 4}``.
    config_dir : path-like, optional
        A folder of your own experiments, policies, workloads and machines, beside conf.
    modules : path-like, optional
        A folder of your own modules, which settings name by their dotted names.
    **settings
        The keys of conf/config.yaml: ``grid={"policy": ["buddy", "migration"], "load": [0.5, 0.9]}``,
        ``policy={"alternation": "shared"}``, ``batches=10``, ``replications=5``, ``output="results/mine"`` …
        Policies, workloads and machines of the grid may be anything that `simulate` takes except functions:
        also names with settings, the path of a log, arrays of jobs, a number of processors.

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
        experiment: str | Callable[..., Any],
        *,
        executor: str | Mapping[str, Any] | None = None,
        config_dir: str | Path | None = None,
        modules: str | Path | None = None,
        **settings: Unpack[Keys],
    ) -> None:
        if not isinstance(experiment, str) and not callable(experiment):
            raise SweepError(
                f"experiment={experiment!r}: give a name; 'compare' takes any policies and workloads"
            )
        for key, value in settings.items():
            allowed.check(key, value)
        if modules is not None:
            plugins.bring(modules)
        if "seed" in settings and settings["seed"] is None:
            settings["seed"] = new_seed()
        folder, *others = folders = choices.folders(config_dir)
        taken: Mapping[str, Any] = settings
        values: own.Own = {}
        if isinstance(experiment, str):
            taken, values = own.taken_out(settings, folders)
            asked: dict[str, Any] = {"experiment": experiment}
        else:
            _check_arguments(experiment, settings)
            asked = {"model": programs.given(experiment)}
        asked |= {**_dotted(taken), **_executor(executor)}
        places = {"--config-dir": config_dir, "modules": modules}
        given = [f"{key}={place}" for key, place in places.items() if place is not None]
        self._arguments = [*overrides.written(asked), *given]
        config = compose.load(asked, folder, others, values)
        self._folder = Folder(locate.place(config.settings.output), config.settings.name)
        found = tuning.settled(settled(config, self._folder, Console()), self._folder, Console())
        if found is None:
            raise RunError("this round of the search is submitted; the same call continues when it has ended")
        self._plan = expand(found)
        schedules.planned(self._plan)

    __init__.__signature__ = signature(__init__)  # type: ignore[attr-defined] # for completion

    def __repr__(self) -> str:
        sizes = f"{counted(self.points, 'point')}, {counted(self.tasks, 'task')}"
        return f"<Study {self._plan.settings.name}: {sizes}, {self.folder}>"

    def _repr_html_(self) -> str:
        """The plan, and the folder of its results."""
        return f"{self._plan._repr_html_()}<code>{escape(str(self.folder))}</code>"

    @property
    def folder(self) -> Path:
        """The folder of its results."""
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
        """Run the tasks that are left, and return the dataset; finished tasks are never run again.

        Parameters
        ----------
        progress : bool
            Whether to show the progress.

        Raises
        ------
        sweep.Error
            If tasks failed; the finished ones are kept, and `data` has them.
        """
        from sweep import run

        try:
            with _main_module_hidden():
                status = run.run(self._plan, self._folder, Console(quiet=not progress), self._arguments)
        except SweepError as error:
            raise choices.in_python(error) from None
        if status:
            raise RunError(
                f"{self.folder}: some tasks failed or were interrupted; the others are kept in `data`, and "
                "run() tries these again"
            )
        return self.data

    @property
    def data(self) -> xr.Dataset:
        """The current dataset, with the variables of all its groups."""
        from sweep.store import loading

        return loading.loaded(self._stored())

    def _stored(self) -> Path:
        if not self._folder.dataset.is_file():
            raise SweepError(f"{self._folder.dataset} does not exist yet: run() writes it")
        return self._folder.dataset

    @property
    def dataset(self) -> xr.Dataset:
        """The root of the current dataset: means, intervals and coordinates, without batches."""
        from sweep.store import loading

        return loading.loaded(self._stored(), groups=False)

    def claims(self) -> pd.DataFrame:
        """Return the paper's sentences with their verdicts (`analysis.claims.VERDICTS`) and the evidence."""
        import pandas as pd

        return pd.DataFrame([claim.as_json() for claim in _analysis().claims_of(self.folder)])

    def figures(self, **chosen: Any) -> dict[str, Path]:
        """Draw the paper's figures, or, for any other study, the general ones.

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
        return Pictures(_analysis().figures_of(self.folder, chosen))

    def report(self, **chosen: Any) -> Path:
        """Write figures, claims and the report; return the path of the report, one HTML file.

        Parameters
        ----------
        **chosen
            See `figures`.
        """
        written: Path = _analysis().report_of(self.folder, chosen)
        return written


class Pictures(dict[str, Path]):
    """Names and PNG files of figures, which a notebook shows."""

    def _repr_html_(self) -> str:
        shown = (
            f"<figure><img alt='{escape(name)}' style='max-width:48em' src='data:image/png;base64,"
            f"{base64.b64encode(path.read_bytes()).decode()}'><figcaption>{escape(name)}</figcaption></figure>"
            for name, path in self.items()
        )
        return "".join(shown)


def _analysis() -> Any:
    """Return the analysis' interface: this one is above all packages, and no other module here imports it."""
    return importlib.import_module("analysis.notebook")


def _dotted(settings: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return settings with dotted keys; a mapping stays whole where it is a value."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        name = f"{above}{key}"
        is_group = isinstance(value, Mapping) and (value or name in GROUPS_OF_KEYS)
        if is_group and key not in ("exclude", *BY_LOAD) and above != "values.":
            found |= _dotted(value, f"{name}.")
        else:
            found[name] = _plain(name, value)
    return found


def _plain(name: str, value: Any) -> Any:
    """Return a value as a command line would give it."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {_plain(name, key): _plain(name, item) for key, item in value.items()}
    if isinstance(value, range) or hasattr(value, "__array__"):  # an array, a Series, a DataArray
        return _plain(name, np.asarray(value).tolist())
    if isinstance(value, list | tuple):
        return [_plain(name, item) for item in value]
    if callable(value):
        raise SweepError(
            f"{name}: a function of this notebook is not known to other processes; put it into a module and "
            "give its dotted name, or use sweep.simulate"
        )
    raise SweepError(
        f"{name}={value!r}: {type(value).__name__} is not understood; give numbers, strings and lists"
    )


def _executor(given: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the executor that is asked for, and its keys."""
    if given is None or isinstance(given, str):
        return {} if given is None else {"executor": given}
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise SweepError(f"executor={given!r}: give a name, or {{'name': 'dask', 'workers': 4}}")
    keys = {f"executor.{key}": _plain(f"executor.{key}", value) for key, value in given.items()}
    return {"executor": keys.pop("executor.name"), **keys}


@contextmanager
def _main_module_hidden() -> Iterator[None]:
    """Let workers start without running the notebook or script that starts them.

    Processes of `multiprocessing` import the main module of their parent, so a script that runs a study would
    run it again in each worker. Tasks do not need that module.
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
