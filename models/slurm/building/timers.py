"""Tables of the scheduler itself: its settings, its timers, its state, and the plan of a cycle."""

from typing import Any

import numpy as np

from models.kernels import progress
from models.kernels.bits import words
from models.slurm.building.nodes import jobs_of_nodes, records
from models.slurm.configuration import Configuration, Settings
from models.slurm.configuration.settings import YEAR_S
from models.slurm.gang import GRACE_S
from models.slurm.kernel import tables
from models.slurm.scheduler import Phases


def timers(configuration: Configuration, phases: Phases, n_records: int, plans: int) -> dict[str, Any]:
    """Return the tables of the scheduler; up to so many plans are recorded, if not 0."""
    settings, n_nodes = configuration.settings, len(configuration.nodes)
    n_segments = 2 * min(settings.bf_max_job_test, n_records) + 2 * n_nodes + 16
    return {
        "state": _state(settings, phases),
        "settings": _settings(configuration, phases, plans),
        "slices": np.array(phases.slices) + phases.clock,
        "looks": np.array(phases.looks) + phases.clock,
        "cycles": np.array(phases.cycles) + phases.clock,
        "segments": np.zeros(n_segments, tables.SEGMENT),
        "available": np.zeros((n_segments, words(n_nodes)), np.uint64),
        "log": np.zeros(plans, tables.PLANNED),
    }


def _settings(configuration: Configuration, phases: Phases, plans: int) -> np.ndarray:
    """Return what kernels read: of the settings what has the same name, and what other parts set."""
    settings, selection = configuration.settings, configuration.settings.selection
    given = {name: getattr(settings, name) for name in tables.SETTINGS.names or () if hasattr(settings, name)}
    if settings.linear:
        given["reorder_count"] = 0
    return records(
        tables.SETTINGS,
        **given,
        tick=phases.period,
        completing=phases.completing,
        killing=phases.killing,
        cycle_time=phases.cycle_time,
        suspend_grace=GRACE_S,
        track_memory=selection.memory,
        by_block=selection.by_block,
        least_loaded=selection.least_loaded or any(one.least_loaded for one in configuration.partitions),
        n_gres=len(configuration.gres),
        record_plans=bool(plans),
        most_rows=jobs_of_nodes(configuration).max(),
    )


def _state(settings: Settings, phases: Phases) -> np.ndarray:
    state = progress.record(tables.STATE)
    recalculates = settings.multifactor and settings.has_database
    first_slice = phases.slices[0] if phases.slices else phases.slice
    values = {
        "next_tick": (phases.looks[0] if phases.looks else phases.tick) + phases.clock,
        "next_look": phases.backfill + phases.clock if settings.backfill else np.inf,
        "next_calc": phases.calculation + phases.clock if recalculates else np.inf,
        "next_immediate": np.inf,
        "next_slice": first_slice + phases.clock if settings.gang else np.inf,
        "last_calc": phases.clock,
        "last_sched": np.floor(phases.passed + phases.clock),
        "last_full": np.floor(phases.full + phases.clock),
        "last_limits": np.floor(phases.limits + phases.clock),
        "last_cycle": -YEAR_S,
    }
    for name, value in values.items():
        state[name] = value
    return state
