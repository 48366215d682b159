"""The jobs of a month, and of the days before it."""

import numpy as np

from models.arrays import Floats
from models.jobs.jobs import Jobs
from models.point import Seed
from models.streams import stream
from models.units import KB_IN_MB
from models.workloads.o2k.arrivals import HOURS_OF_DAY, times, together
from models.workloads.o2k.assumptions import HOUR, Assumptions
from models.workloads.o2k.calibration import Tilts, calibrate
from models.workloads.o2k.classes import Draft, draft
from models.workloads.o2k.closed_loop import in_turn
from models.workloads.o2k.job_classes import CLASSES
from models.workloads.o2k.table4 import MEMORY_GB, PROCESSORS, unrounded
from models.workloads.o2k.used_memory import used_mb

BEFORE, MONTH = "before", "month"
"""The two parts, in the keys of random numbers."""


def generate(assumed: Assumptions, seed: Seed) -> tuple[Jobs, int, dict[str, Tilts]]:
    """Return a month's jobs, and the jobs of the days before it.

    Returns
    -------
    jobs : Jobs
        In order of submission; 0 is the start of the days before the month.
    n_before : int
        Jobs submitted before the month.
    tilts : dict of str to Tilts
        The tilts of each class.

    Notes
    -----
    The number of jobs of each class in the month is exactly Table 4's, and the tilts are found from these
    jobs. The jobs before it have the same distributions under the same tilts, and the average rate of the
    month. They have separate random numbers and do not change the month.
    """
    month, days = assumed.month, assumed.warmup_days
    processors = unrounded(month.processor_demand, month.overall_processor_demand)
    memory = unrounded(month.memory_demand, month.overall_memory_demand)
    percent = month.hours / 100
    tilts: dict[str, Tilts] = {}
    parts: dict[str, list[tuple[Floats, ...]]] = {BEFORE: [], MONTH: []}
    for number, name in enumerate(CLASSES):
        n_jobs = {MONTH: month.jobs[number], BEFORE: round(month.jobs[number] * days / month.days)}
        drafts = {part: draft(name, n, assumed, seed, part) for part, n in n_jobs.items()}
        tilts[name] = calibrate(
            drafts[MONTH],
            processors[number] * percent * PROCESSORS,
            memory[number] * percent * MEMORY_GB,
            assumed.stiffness,
        )
        for part, jobs in drafts.items():
            random = stream(seed, f"o2k {month.name} {part} {name} used memory")
            parts[part].append(_columns(jobs, tilts[name], assumed, random))
    before = _submitted(parts[BEFORE], 0, days, assumed, seed, BEFORE)
    within = _submitted(parts[MONTH], days, days + month.days, assumed, seed, MONTH)
    within[-1][:] += len(before[-1])  # other users
    submit, runtime, requested, size, memory, used, user = (
        np.concatenate(pair) for pair in zip(before, within, strict=True)
    )
    kb, used_kb = (np.ceil(mb * KB_IN_MB).astype(np.int64) for mb in (memory, used))
    users = None if assumed.user_limit is None else user.astype(np.int64)
    made = Jobs(submit, runtime, requested, size.astype(np.int64), kb, used_memory=used_kb, user=users)
    return made, len(before[0]), tilts


def _columns(
    jobs: Draft, tilts: Tilts, assumed: Assumptions, random: np.random.Generator
) -> tuple[Floats, ...]:
    """Return runtime, requested time, processors, requested MB, used MB: whole seconds and MB, as in logs."""
    size = jobs.size.at(tilts.size)
    runtime = np.floor(jobs.runtime.at(tilts.runtime))
    memory = np.floor(jobs.memory(size).at(tilts.memory))
    return runtime, jobs.requested, size, memory, used_mb(jobs, runtime, memory, assumed, random)


def _submitted(
    classes: list[tuple[Floats, ...]], first: int, last: int, assumed: Assumptions, seed: Seed, part: str
) -> tuple[Floats, ...]:
    """Return the columns of all classes in order of submission, which is the first column; the last is users.

    A user has the number of its first job before sorting.
    """
    columns = [np.concatenate(column) for column in zip(*classes, strict=True)]
    random = stream(seed, f"o2k {assumed.month.name} {part} arrivals")
    submit = times(assumed, first, last, len(columns[0]), random)
    n_jobs = [len(runtime) for runtime, *_ in classes]
    groups = stream(seed, f"o2k {assumed.month.name} {part} groups")
    if assumed.user_limit is None:
        of_user = together(assumed.together, n_jobs, groups)
        submit = submit[of_user]
    else:
        of_user = together(assumed.user_jobs, n_jobs, groups)
        period = (float(first * HOURS_OF_DAY * HOUR), float(last * HOURS_OF_DAY * HOUR))
        submit = in_turn(submit, columns[0], of_user, assumed.user_limit, period)
    order = np.argsort(submit, kind="stable")
    return submit[order], *(column[order] for column in columns), of_user[order]
