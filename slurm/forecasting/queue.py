"""The queue of a cluster, as ``squeue --json`` prints it.

References
----------
``squeue --json`` of Slurm 22.05 to 25.11 (data_parser v0.0.38 to v0.0.44).
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from models.jobs.jobs import Jobs
from models.jobs.requests import Requests, licences
from models.slurm.configuration import Configuration
from models.slurm.configuration.hostlist import expand
from models.workloads.sacct.fields import devices
from models.workloads.sacct.records import number_of
from slurm.forecasting.drawing import Past
from slurm.forecasting.state import State
from sweep.errors import SweepError

FILE = "queue.json"
"""Name of the queue's file in a bundle."""

RUNNING, PENDING = {"RUNNING", "CONFIGURING", "SUSPENDED"}, {"PENDING"}
HELD = re.compile(
    "Held|NeverSatisfied|BadConstraints|Partition(Node|Time)Limit|PartitionConfig|Max[A-Z]\\w+Per(Job|Node)|QOSMin"
)
"""Reasons for which a job does not start until a person changes it."""

KEPT = re.compile(
    "job_id|job_state|state_reason|partition|user_name|account|qos|(submit|start|eligible)_time|time_limit|cpus|"
    "tasks|cpus_per_task|node_count|max_nodes|nodes|job_resources|memory_per_(cpu|node)|features|nice|shared|"
    "dependency|het_job_id|array_job_id|array_task_id|array_task_string|array_max_tasks|tres_req_str|licenses"
)
"""The keys of a job that are read."""


def reduced(text: str, now: float) -> str:
    """Return the part of squeue's output that is read, without names, commands, paths and comments of jobs.

    Older versions do not print the time; it is `now`, in Unix seconds, for them.
    """
    given = json.loads(text)
    jobs = [{key: value for key, value in job.items() if KEPT.fullmatch(key)} for job in given["jobs"]]
    at = number_of(given.get("last_update")) or int(now)
    return json.dumps({"last_update": at, "jobs": jobs}, indent=0) + "\n"


def of_squeue(
    name: str, text: str, past: Past, zero: float, users: tuple[str, ...], configuration: Configuration
) -> tuple[State, list[str]]:
    """Return the queue that a file describes, and notes on jobs left out.

    Parameters
    ----------
    past : Past
        The past of the file's instant (see `instant`), which is `zero` in Unix seconds.
    users : tuple of str
        The names of users in the past.

    Raises
    ------
    SweepError
        If the file is not squeue's; the message is one line.
    """
    running: list[Row] = []
    waiting: list[Row] = []
    held: list[str] = []
    try:
        for job in map(_plain, json.loads(text)["jobs"]):
            now = _word(job["job_state"])
            if now in RUNNING:
                running.append((number_of(job["start_time"]) or 0, job, _name(job), -1))
            elif now in PENDING and HELD.search(str(job.get("state_reason"))):
                held.append(_name(job))
            elif now in PENDING:
                waiting += [(number_of(job["submit_time"]) or 0, job, *task) for task in _tasks(job)]
        running.sort(key=lambda row: row[0])
        waiting.sort(key=lambda row: row[0])
        state = _state(running, waiting, past, zero, list(users), configuration)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SweepError(
            f"{name} is not what squeue --json prints ({type(error).__name__}: {error}); make it with: "
            "squeue --json > queue.json"
        ) from None
    shown = ", ".join(held[:8]) + ", …" * (len(held) > 8)
    notes = (
        [f"left out, because they are held until someone changes them: {shown} ({len(held):,})"]
        if held
        else []
    )
    return state, notes


def instant(name: str, text: str) -> float:
    """Return the Unix seconds at which squeue printed a file, or the time of the last event in it."""
    try:
        given = json.loads(text)
        if at := number_of(given.get("last_update")):
            return float(at)
        times = [("submit_time", job) for job in given["jobs"]]
        times += [("start_time", job) for job in given["jobs"] if _word(job["job_state"]) in RUNNING]
        return float(max((number_of(job.get(key)) or 0 for key, job in times), default=0) + 1)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SweepError(
            f"{name} is not what squeue --json prints; make it with: squeue --json > queue.json"
        ) from None


Row = tuple[int, Mapping[str, Any], str, int]
"""A job, the second by which it is sorted, its name, and how many tasks of its array may run at once."""


def _state(
    running: list[Row],
    waiting: list[Row],
    past: Past,
    zero: float,
    users: list[str],
    configuration: Configuration,
) -> State:
    rows, n = [*running, *waiting], len(running)
    every = [job for _, job, *_ in rows]
    place = {node.name: number for number, node in enumerate(configuration.nodes)}
    number = {name: number for number, name in enumerate(users, start=1)}
    for job in every:
        number.setdefault(str(job.get("user_name", "")), len(number) + 1)
    arrays = list(dict.fromkeys(number_of(job.get("array_job_id")) or 0 for job in every))
    position = {number_of(job["job_id"]): at for at, job in enumerate(every)}
    asked = [_asked(job, at < n) for at, job in enumerate(every)]
    column = {
        key: np.array([one[key] for one in asked]) for key in ("nodes", "most_nodes", "tasks", "task_cpus")
    }
    names = {
        key: np.array([str(job.get(of) or "") for job in every], object)
        for key, of in (
            ("partition", "partition"),
            ("account", "account"),
            ("qos", "qos"),
            ("constraint", "features"),
        )
    }
    each = [devices(str(job.get("tres_req_str") or "")) for job in every]
    licensed = [licences(str(job.get("licenses") or "")) for job in every]
    size = column["tasks"] * column["task_cpus"]
    memory = np.zeros(len(every), np.int64)
    submit = _column(every, "submit_time") - zero
    request = Requests.of(
        size,
        memory,
        **column,
        **names,
        node_memory=_column(every, "memory_per_node").astype(np.int64),
        cpu_memory=_column(every, "memory_per_cpu").astype(np.int64),
        whole=np.array([_word(job.get("shared") or "") in ("none", "exclusive") for job in every]),
        shares=np.array([_word(job.get("shared") or "") == "oversubscribe" for job in every]),
        delay=np.maximum(_column(every, "eligible_time") - zero - submit, 0.0),
        nice=_column(every, "nice").astype(np.int64),
        array=np.array(
            [
                arrays.index(number_of(job.get("array_job_id")) or 0) if job.get("array_job_id") else -1
                for job in every
            ]
        ),
        throttle=np.array([most for *_, most in rows]),
        after=np.array([_after(job, position) for job in every]),
        het_job=np.array([number_of(job.get("het_job_id")) or -1 for job in every], np.int64),
        licences={
            name: np.array([of.get(name, 0) for of in licensed])
            for name in dict.fromkeys(name for of in licensed for name in of)
        },
        gres={
            kind: np.array(
                [-(-of.get(kind, 0) // count) for of, count in zip(each, column["nodes"], strict=True)]
            )
            for kind in dict.fromkeys(kind for of in each for kind in of)
        },
    )
    limit = _column(every, "time_limit")
    user = np.array([number[str(job.get("user_name", ""))] for job in every])
    start = _column(every, "start_time") - zero
    return State(
        Jobs(
            submit,
            np.full(len(every), np.nan),
            np.where(limit > 0, 60.0 * limit, np.nan),
            size,
            memory,
            user=user,
            request=request,
        ),
        np.minimum(start[:n], -1.0),
        tuple(
            {place[node]: cpus for node, cpus in _nodes(job).items() if node in place} for job in every[:n]
        ),
        tuple(name for _, _, name, _ in rows),
        np.where(start[n:] > 0, start[n:], np.nan),
        past,
        zero,
        tuple(number),
    )


def _column(every: list[Mapping[str, Any]], key: str) -> np.ndarray:
    return np.array([number_of(job.get(key)) or 0 for job in every], float)


def _asked(job: Mapping[str, Any], runs: bool) -> dict[str, int]:
    """Return what a waiting job asks for, or what a running one has."""
    cpus, each = number_of(job.get("cpus")) or 1, max(number_of(job.get("cpus_per_task")) or 1, 1)
    tres = re.search(r"\bnode=(\d+)", str(job.get("tres_req_str") or ""))
    nodes = max(int(tres[1]) if tres and not runs else number_of(job.get("node_count")) or 1, 1)
    if runs:
        nodes, each = max(len(_nodes(job)), 1), 1
    return {
        "nodes": nodes,
        "most_nodes": nodes if runs else number_of(job.get("max_nodes")) or 0,
        "tasks": max(-(-cpus // each), 1),
        "task_cpus": each,
    }


def _nodes(job: Mapping[str, Any]) -> dict[str, int]:
    """Return the CPUs that a running job has on each node; all have the same number if none is given."""
    given = job.get("job_resources") or {}
    listed: Any = given.get("nodes") or job.get("nodes") or ""
    parts: Any = given.get("allocated_nodes") or ()
    if isinstance(listed, Mapping):  # since 24.05
        listed, parts = listed.get("list") or "", listed.get("allocation") or ()
    names, cpus = expand(listed), number_of(job.get("cpus")) or 1
    found: dict[str, int] = {}
    for part in parts.values() if isinstance(parts, Mapping) else parts:
        used, cores = part.get("cpus"), json.dumps(part.get("sockets")).lower().count('"allocated')
        count = number_of(used["count"]) if isinstance(used, Mapping) else cores
        found[part.get("nodename") or part.get("name")] = count or 0
    total = sum(found.values())
    if set(found) == set(names) and total and cpus % total == 0:  # a core may have several CPUs
        return {name: count * (cpus // total) for name, count in found.items()}
    return {name: (cpus + at) // len(names) for at, name in enumerate(names)}


def _tasks(job: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the name of a waiting job, or of each task of an array, and how many of them may run at once."""
    most = number_of(job.get("array_max_tasks")) or 0
    tasks = str(job.get("array_task_string") or "").partition("%")[0]
    for first, last, step in re.findall(r"(\d+)(?:-(\d+)(?::(\d+))?)?", tasks):
        for task in range(int(first), min(int(last or first), int(first) + 100_000) + 1, int(step or 1) or 1):
            yield f"{job['array_job_id']}_{task}", most
    if not tasks:
        yield _name(job), most


def _name(job: Mapping[str, Any]) -> str:
    task = number_of(job.get("array_task_id"))
    return (
        f"{number_of(job['array_job_id'])}_{task}"
        if job.get("array_job_id") and task is not None
        else str(number_of(job["job_id"]))
    )


def _after(job: Mapping[str, Any], position: Mapping[int | None, int]) -> int:
    """Return the position of the first job of the queue that has to end before a job, -1 for none."""
    found = re.findall(r"after(?:any|ok|notok|corr)?:(\d+)", str(job.get("dependency") or ""))
    return next((position[int(one)] for one in found if int(one) in position), -1)


def _plain(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job with plain numbers; since 23.02 each number also says whether it is set."""
    is_wrapped = {key: isinstance(value, Mapping) and "number" in value for key, value in job.items()}
    return {key: number_of(value) if is_wrapped[key] else value for key, value in job.items()}


def _word(value: Any) -> str:
    return str(value[0] if isinstance(value, list) else value)
