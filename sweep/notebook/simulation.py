"""One simulation from a notebook: its jobs, labelled."""

import inspect
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from models.point import Batches, Point
from sweep import compiling
from sweep.config.settings import too_high
from sweep.errors import SweepError, one_line
from sweep.errors import unknown as unknown_name
from sweep.labelling import labelled
from sweep.notebook import accessor, allowed, choices  # noqa: F401 # registers dataset.schedule
from sweep.plan import families
from sweep.plan.remedies import Lacking
from sweep.plan.task import seed as seed_of

_SAID: set[str] = set()


def simulate(
    policy: Any,
    workload: Any = "lublin2003",
    machine: Any = None,
    load: float | None = None,
    jobs: float = 10_000,
    seed: int | None = 1,
    replication: int = 0,
    config_dir: str | Path | None = None,
    **unknown: Any,
) -> xr.Dataset:
    """Simulate a policy on a workload and return the schedule of its jobs.

    Parameters
    ----------
    policy : str, mapping or compiled function
        ``"easy"``, ``{"name": "easy", "ties": "event"}``, or a packing scheme or an order of priority of your
        own, compiled with `numba.njit`; ``{"name": "easy", "priority": mine, "backfill_order": another}``.
    workload : str, Path, mapping or arrays
        ``"lublin2003"``, ``{"name": "lublin2003", "jobs_of": "batch"}``, the path of a log, or a mapping (a
        table, a Dataset) of arrays ``submit``, ``runtime``, ``processors`` …; times are seconds, or
        datetime64 and timedelta64.
    machine : int, str or mapping, optional
        Processors, a name, a mesh ``"16x16"``, or keys of conf/machine. None is the machine that the header
        of a log names, the Origin 2000 for its months, else 128 processors.
    load : float, optional
        Offered load as a fraction of capacity; None leaves the workload as it is.
    jobs : int
        Jobs of a workload without end; a log has its own.
    seed, replication : int
        Name the random numbers; the same as in a study of this seed. ``seed=None`` takes a new one, which
        the attribute ``seed`` records.
    config_dir : path-like, optional
        A folder of your own policies, workloads and machines, beside conf.

    Returns
    -------
    xarray.Dataset
        Over ``job``: ``submit``, ``start``, ``end``, ``wait``, ``response_time``, ``runtime``, ``requested``
        (s), ``processors``, ``slowdown``, ``bounded_slowdown`` and all columns of the workload, such as
        ``user`` and ``job_class`` (see `sweep.job_tables`); over ``piece``, where jobs run in several pieces:
        ``piece_job``, ``piece_begin``, ``piece_end``, ``piece_processors``. ``.schedule.to_swf(path)`` writes
        it as a log, ``.schedule.to_table(path)`` as a table, ``.schedule.gantt()`` draws it. The attribute
        ``notes`` has what was assumed, and what of a log was left out; standard error has it, too.

    Raises
    ------
    sweep.Error
        With one line: what is wrong, and what would work.

    Examples
    --------
    >>> import sweep
    >>> jobs = sweep.simulate("easy", workload="lublin2003", machine=128, load=0.8, jobs=1000)
    >>> bool((jobs.start >= jobs.submit).all())
    True
    """
    given = {"policy": policy, "workload": workload, "machine": machine}
    _one_of_each({**given, "load": load, "seed": seed, "replication": replication}, unknown)
    for key, value in given.items():
        allowed.check(key, value)
    jobs = int(jobs) if isinstance(jobs, float | np.floating) and float(jobs).is_integer() else jobs
    seed = new_seed() if seed is None else seed
    where = choices.folders(config_dir)
    parameters = choices.policy(policy, where)
    work = choices.workload(workload, where)
    if machine is None and work.get("model") not in ("swf", "sacct"):
        machine = "o2k" if work.get("model") == "o2k" else 128
    for name, value in (("jobs", jobs), ("seed", seed), ("replication", replication)):
        if not _is_number(value, int, np.integer) or value < (name == "jobs"):
            raise SweepError(f"{name}={value!r}: give a whole number, {int(name == 'jobs')} or more")
    if load is not None and not (_is_number(load, int, float, np.number) and 0 < load < math.inf):
        raise SweepError(f"load={load!r}: give a positive fraction of capacity, or None")
    if load is not None and (why := too_high(load)) is not None:
        raise SweepError(f"load={str(load)[:20]} is {why}")
    point = Point(
        parameters,
        work,
        choices.machine(machine, where),
        None if load is None else float(load),
        Batches(None if _ends(work) else int(jobs), 0, (1,)),
        seed_of(int(seed), str(work["name"]), int(replication)),
    )
    family = families.find(str(parameters.get("family")))
    if not family.schedules:
        raise SweepError(
            f"policy {parameters['name']} ({family.name}) makes no schedule of jobs; run it as a "
            "study, sweep.Study"
        )
    typed = [
        f"{group}.{key}" for group in ("workload", "machine")
        if isinstance(its := given[group], Mapping) for key in its
    ]  # fmt: skip
    families.refuse_unread([parameters], typed)
    lacking = Lacking()
    try:
        notes = tuple(dict.fromkeys(map(choices.words, lacking.check(family, point))))
        lacking.refuse()
        compiling.ready(point)
        made = family.schedule(point)
    except ValueError as error:
        raise SweepError(choices.words(one_line(error))) from None
    except SweepError as error:
        raise choices.in_python(error, given) from None
    except MemoryError as error:
        raise SweepError(f"jobs={jobs}: not enough memory ({one_line(error)}); give fewer") from None
    _warn(notes)
    return labelled(made, point, int(jobs)).assign_attrs({"notes": "\n".join(notes)} if notes else {})


def new_seed() -> int:
    """Return a seed that no run has used, for ``seed=None``."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def _one_of_each(given: Mapping[str, Any], unknown: Mapping[str, Any]) -> None:
    """Refuse several values of one argument, which make a study, and unknown arguments."""
    for key, value in given.items():
        values = getattr(value, "values", value)  # the list of a Series or a DataArray
        is_several = isinstance(value, list | tuple | range | set) or np.ndim(values) == 1
        if is_several and not isinstance(value, Mapping):
            kept = "replications=5" if key in ("seed", "replication") else f"grid={{{key!r}: [...]}}"
            raise SweepError(
                f"{key}: several values are given, but simulate runs one simulation; a study runs them all: "
                f"sweep.Study('compare', {kept})"
            )
    for name in unknown:
        valid = [one for one in inspect.signature(simulate).parameters if one != "unknown"]
        raise SweepError(
            f"{unknown_name('argument', name, valid)}; keys of a policy, workload or machine go with its "
            "name: policy={'name': 'easy', 'ties': 'event'}"
        )


def _warn(notes: Sequence[str]) -> None:
    """Print notes on assumptions and dropped jobs, each line once in a process."""
    for note in notes:
        if note not in _SAID:
            _SAID.add(note)
            print(note, file=sys.stderr)


def _is_number(value: Any, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _ends(workload: Any) -> bool:
    """Whether a workload ends by itself."""
    from models import workloads

    try:
        return hasattr(workloads.module_of(workload), "open_trace")
    except ValueError:  # the family raises the reason
        return False
