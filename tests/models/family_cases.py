"""The pairs of a policy and a workload, and the machine of each pair, for `family_contract`."""

import atexit
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from omegaconf import OmegaConf

from models import workloads
from models.family import Family, Outcome
from models.jobs.jobs import Jobs
from models.point import Batches, Parameters, Point
from sweep.plan import families

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"
LOG = ROOT / "tests" / "data" / "backfill" / "syn1k.swf.gz"

MACHINES = ("pe128", "mesh16x16", "o2k", "processors16", "pe128 with memory")
"""A case runs on the first machine on which the family takes the policy with the workload."""

JANN = {
    "log": "small jobs",
    "processors": 64,
    "ranges": [
        {
            "range": [1, 8],
            "sizes": [[1, 4], [2, 3], [7, 1], [8, 3]],
            "gaps": {"order": 1, "p": 0.8, "rate_1": 0.05, "rate_2": 0.01},
            "runtimes": {"order": 2, "p": 0.7, "rate_1": 0.04, "rate_2": 0.005},
        },
        {
            "range": [9, 64],
            "sizes": [[16, 5], [20, 1], [64, 1]],
            "gaps": {"order": 3, "p": 0.5, "rate_1": 0.08, "rate_2": 0.02},
            "runtimes": {"order": 1, "p": 0.9, "rate_1": 0.02, "rate_2": 0.004},
        },
    ],
}
"""Short jobs: the jobs of the shipped fits run for hours, with millions of slices on shared processors."""

WORKLOADS: dict[str, dict[str, Any]] = {
    "feitelson1996": {},
    "feitelson1996_arrivals": {"estimates": "exact", "memory": 4},
    "lublin2003": {"largest_job": 64},
    "jann1997": {"fit": JANN},
    "synthetic": {"memory_mb": 20, "largest_job": 64},
    "swf": {"path": str(LOG), "memory": 8, "end": 40_000},
    "sacct": {},
    "sacct of drawn users": {},
    "arrays of drawn weeks": {},
    "o2k_2000_01": {"warmup_days": 0},
    "t3d_three_weeks": {"weeks": 1, "warmup_days": 0, "repetition": "sequence"},
    "arrays": {},
    "short_long": {},
    "short_long of a size": {"size": 16},
    "spmd": {"jobs": 5},
    "speedup_curve": {"jobs": 5},
    "minimum_uniform": {"jobs": 4},
    "mccann1994_fig6_4": {},
}
"""Files of ``conf/workload`` (the first word of the key), and the keys that a case sets in them."""

BOUNDED: dict[str, dict[str, Any]] = {
    "gang/best_fit at 3, backfilled": {"slots_limit": 3, "queue": "backfill", "kill": True},
    "gang/buddy at 2 with switches": {"slots_limit": 2, "slice": 60, "switch_cost": 3},
    "gang/migration at 5 with memory": {"slots_limit": 5, "queue": "backfill", "memory": True},
}
"""Gang scheduling with a bound: files of ``conf/policy`` (the first word of the key), and the keys set."""

MEMORY_GB = 0.05
"""Memory of each processor on the machine with memory: a few jobs fill it."""

MONTHS = ("o2k_2000_01",)
SLICED = ("models.gang", "models.partitioning")
"""Families whose jobs change their share of processors all the time, on one pool of processors."""

POOL = "1,024 processors"
"""Their machine for a month: as many processors as the Origin 2000 has, at the month's own load."""

TOO_FINE = ("models.concurrent_gang",)
"""Families that simulate each slice of ten seconds: a month has more pieces than a schedule may have."""

SKIPPED = {
    ("partitioning/processor_sharing", "o2k_2000_01"): "most of the processors are wasted: the queue grows",
    ("production_gang/tc2000_gang", "o2k_2000_01"): "each slice of ten seconds is simulated",
    ("production_gang/alpha_gang", "o2k_2000_01"): "each slice of ten seconds is simulated",
    ("slurm/slurm", "o2k_2000_01"): "450,000 cycles of nine months are simulated",
    ("slurm/slurm_multifactor", "o2k_2000_01"): "450,000 cycles of nine months are simulated",
    ("backfill/ncsa_lsf", "feitelson1996_arrivals"): "the first jobs may have none beyond all classes",
}

SECOND_TIER = {("models.slurm", "o2k_2000_01"), ("models.partitioning", "o2k_2000_01")}
"""Family and workload that are simulated in the second tier only: every cycle or rotation of months."""

SHORT_SLICE = dict.fromkeys(
    ("models.concurrent_gang", "models.production_gang"), ("feitelson1996", "feitelson1996_arrivals")
)
"""Family -> workloads with jobs far shorter than its slices, of which most time would be idle."""

SPARSE = 15_000.0
"""Seconds between jobs of a log of four weeks: one that can be resampled."""

BOUND_S = 10.0
SEED, OTHER_SEED = (1, 2, 0), (1, 2, 1)
CHECKPOINTS = Batches(size=20, warmup=1, checkpoints=(2, 4, 6))
WHOLE = Batches(size=None, warmup=0, checkpoints=(1,))


@dataclass(frozen=True)
class Case:
    """A policy on a workload.

    Parameters
    ----------
    package : str
        Dotted name of the family.
    policy, workload : str
        Their files' names.
    folder : Path
        Like ``conf``; where the policy's file is.
    """

    package: str
    policy: str
    workload: str
    folder: Path = field(default=CONF, repr=False)

    def __str__(self) -> str:
        return f"{self.package.removeprefix('models.')}-{self.policy}-{self.workload}"

    @property
    def family(self) -> Family:
        return families.find(self.package)

    @property
    def ends(self) -> bool:
        """Whether the workload is a trace."""
        model = workload_of(self.workload).get("model")
        return model in workloads.MODELS and hasattr(workloads.module_of({"model": model}), "open_trace")

    def points(self) -> Iterator[Point]:
        """Yield the case on every machine, under a load or none."""
        alone = self.workload in MONTHS and self.package in SLICED
        for name in (POOL,) if alone else MACHINES:
            for load in (None,) if alone else (0.7, None):
                parts = policy_of(self), workload_of(self.workload), machine_of(name)
                yield Point(*parts, load, CHECKPOINTS, SEED, measures())

    @cache  # noqa: B019 - cases are few and live as long as the tests
    def taken(self) -> tuple[Point | None, list[str]]:
        """Return the first point that the family takes, if any, and the refusals of those before it."""
        refusals = []
        for point in self.points():
            try:
                self.family.check(point)
            except ValueError as refused:
                refusals.append(str(refused))
            else:
                return point, refusals
        return None, refusals


@dataclass(frozen=True)
class Run:
    """A case that is taken, simulated once for all laws."""

    case: Case
    point: Point

    @property
    def family(self) -> Family:
        return self.case.family

    @cached_property
    def outcome(self) -> Outcome:
        return self.family.simulate(self.point)

    @property
    def whole(self) -> Point:
        """The point that is scheduled: all of a trace in one batch, a stream up to a checkpoint."""
        return replace(self.point, batches=WHOLE) if self.case.ends else self.point


def read(path: Path) -> dict[str, Any]:
    """Return a YAML file with those that it is based on, as the sweep passes it to a model."""
    return deepcopy(_read(path))


@cache
def _read(path: Path) -> dict[str, Any]:
    """Read it once: reading takes longer than many of the simulations, and every case needs several files."""
    file = OmegaConf.load(path)
    assert OmegaConf.is_dict(file)
    layers = [
        file if base == "_self_" else OmegaConf.create(_read(_base(path, base)))
        for base in file.pop("defaults", ["_self_"])
    ]
    plain = OmegaConf.to_container(OmegaConf.merge(*layers), resolve=False)
    return {str(key): value for key, value in plain.items()} | {"name": path.stem}


def composed(group: str, name: str, /, **keys: Any) -> dict[str, Any]:
    """Return a file of ``conf`` with other values; in a mapping, only the given keys change."""
    file = read(_path(group, name))
    for key, value in keys.items():
        below = file.get(key)
        file[key] = below | value if isinstance(below, dict) and isinstance(value, dict) else value
    return file


def merged(old: Any, new: Any) -> Any:
    """Return a mapping with the keys of another one; mappings within are merged, except jobs and fits."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return old | {k: v if k in ("jobs", "fit") or k not in old else merged(old[k], v) for k, v in new.items()}


@cache
def _path(group: str, name: str) -> Path:
    return next((CONF / group).rglob(f"{name}.yaml"))


def _base(path: Path, name: str) -> Path:
    """Return a file that another one builds on: of its folder, or in one beside it."""
    own = path.parent / f"{name}.yaml"
    return own if own.exists() else next(path.parents[1].rglob(f"{name}.yaml"))


def jobs_of(submit: Any, runtime: Any, size: Any, requested: Any = np.nan, **columns: Any) -> Jobs:
    """Return jobs of columns, each of which may be one value for all; by default they ask for no memory."""
    wide = np.broadcast_arrays(submit, runtime, requested, size, columns.pop("memory", 0))
    times, counts = np.array(wide[:3], float), np.array(wide[3:], np.int64)
    return Jobs(*times, *counts, **{name: np.asarray(values) for name, values in columns.items()})


def opened_on(workload: Parameters, machine: Parameters, load: float | None = None, *seed: int) -> Any:
    """Return the jobs of a workload on a machine."""
    return workloads.open_workload(Point({}, workload, machine, load, seed=seed))


@contextmanager
def refused(words: str) -> Iterator[None]:
    """Expect a refusal in one line, which matches an expression."""
    with pytest.raises(ValueError, match=words) as caught:
        yield
    assert "\n" not in str(caught.value)


def for_all(n_examples: int, check: Callable[..., None], **strategies: Any) -> None:
    """Run a check on drawn examples."""
    given(**strategies)(settings(max_examples=n_examples)(check))()


def archive_log(name: str) -> Path:
    """Return a log of the Parallel Workloads Archive, or skip the test: TRACES names the folder of logs."""
    path = Path(os.environ.get("TRACES", "")) / f"{name}.swf.gz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in the folder that the environment variable TRACES names")
    return path


def every_case(folder: Path = CONF) -> list[Case]:
    """Return all policies of a folder with all workloads; experiments may run them by other families."""
    found = {
        (str(read(path)["family"]), str(path.relative_to(folder / "policy").with_suffix("")))
        for path in (folder / "policy").rglob("*.yaml")
        if not path.name.startswith("_")
    }
    by_name = {Path(policy).name: policy for _, policy in found}
    for path in (folder / "experiment").rglob("*.yaml"):
        experiment = OmegaConf.load(path)
        assert OmegaConf.is_dict(experiment)
        other = OmegaConf.select(experiment, "policy.family")
        named = OmegaConf.select(experiment, "grid.policy") or []
        found |= {(other, by_name[Path(policy).name]) for policy in named if other is not None}
    if folder == CONF:
        found |= {("models.gang", name) for name in BOUNDED}
    return [
        Case(*policy, workload, folder)
        for policy in sorted(found)
        for workload in WORKLOADS
        if (policy[1], workload) not in SKIPPED and not (policy[0] in TOO_FINE and workload in MONTHS)
    ]


def covering(cases: Sequence[Case], workloads: int = 2, policies: int = 2) -> set[Case]:
    """Return cases that the families take: some workloads of each policy, and some policies of each workload.

    The choice is greedy and deterministic: each policy in its order gets the workloads chosen least so far,
    then each workload that lacks policies gets those chosen least so far.
    """
    chosen: set[Case] = set()
    for package in dict.fromkeys(case.package for case in cases):
        of_family = [
            case for case in cases if case.package == package and (package, case.workload) not in SECOND_TIER
        ]
        for axis, other, wanted in (("policy", "workload", workloads), ("workload", "policy", policies)):
            for value in dict.fromkeys(getattr(case, axis) for case in of_family):
                counts = Counter(getattr(case, other) for case in chosen if case.package == package)
                candidates = sorted(
                    (case for case in of_family if getattr(case, axis) == value),
                    key=lambda case: (case not in chosen, counts[getattr(case, other)]),
                )
                chosen |= set(islice((case for case in candidates if case.taken()[0]), wanted))
    return chosen


@cache
def policy_of(case: Case) -> dict[str, Any]:
    """Return the policy's YAML file; PEs of a gang schedule serve one job at a time."""
    name = case.policy.split()[0]
    policy = read(case.folder / "policy" / f"{name}.yaml") | {"family": case.package}
    policy |= BOUNDED.get(case.policy, {})
    if case.workload in SHORT_SLICE.get(case.package, ()):
        policy |= {key: value for key, value in {"slice": 0.01, "switch": 0.0001}.items() if key in policy}
    return policy | ({"alternation": "exclusive"} if "alternation" in policy else {})


@cache
def machine_of(name: str) -> dict[str, Any]:
    """Return a machine's YAML file."""
    if name == POOL:
        return read(CONF / "machine" / "pe128.yaml") | {"name": "pool", "processors": 1024}
    memory = {"memory_gb_per_processor": MEMORY_GB} if name.endswith("with memory") else {}
    return read(CONF / "machine" / f"{name.split()[0]}.yaml") | memory


@cache
def workload_of(name: str) -> dict[str, Any]:
    """Return a workload's YAML file, with small jobs."""
    made = {
        "arrays": lambda: {"jobs": _arrays()},
        "arrays of drawn weeks": lambda: {"jobs": _arrays(SPARSE), "resample": "weeks"},
        "sacct": lambda: {"path": _sacct(), "estimates": "tsafrir2005"},
        "sacct of drawn users": lambda: {"path": _sacct(SPARSE), "resample": "users", "population": 1.2},
    }
    keys = made.get(name, lambda: WORKLOADS.get(name, {}))()
    return read(next((CONF / "workload").rglob(f"{name.split()[0]}.yaml"))) | keys


@cache
def measures() -> dict[str, Any]:
    """Return the groupings of ``conf/groups``."""
    files = sorted((CONF / "groups").glob("*.yaml"))
    groups = {path.stem: OmegaConf.to_container(OmegaConf.load(path)) for path in files}
    return {"bound": BOUND_S, "groups": groups}


def _arrays(gap: float = 300.0) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    submit = np.floor(np.cumsum(rng.exponential(gap, 150)))
    runtime = np.ceil(rng.lognormal(6, 1.5, 150))
    return {
        "submit": submit,
        "runtime": runtime,
        "processors": 2 ** rng.integers(0, 7, 150),
        "requested": np.ceil(runtime * rng.uniform(1, 4, 150)),
        "memory": rng.integers(1, 2**20, 150),
        "user": rng.integers(1, 9, 150),
    }


def _sacct(gap: float = 300.0) -> str:
    """Write some jobs as sacct prints them, and return the file's path."""
    day = np.datetime64("2024-03-01T00:00:00")
    rows = ["JobID|User|Partition|State|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|ReqMem"]
    columns = [values.tolist() for values in _arrays(gap).values()]
    for i, (submit, runtime, size, requested, memory, user) in enumerate(zip(*columns, strict=True)):
        submitted = day + np.timedelta64(int(submit))
        limit = "UNLIMITED" if i % 9 == 0 else int(requested // 60 + 1)
        rows.append(
            f"{i}|u{user}|batch|COMPLETED|{submitted}|{submitted + 60}|{runtime:.0f}|{limit}|{size}|1|"
            f"{memory}K"
        )
    folder = Path(tempfile.mkdtemp(prefix="schedsweep-sacct-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "sacct.txt"
    path.write_text("\n".join(rows) + "\n")
    return str(path)
