"""Tables of partitions: their nodes, their rows of cores, and whose jobs preempt those of others."""

from collections.abc import Sequence

import numpy as np

from models.slurm.building.nodes import in_words, jobs_of_nodes, records
from models.slurm.configuration import Configuration
from models.slurm.configuration.settings import YEAR_S
from models.slurm.kernel import tables
from models.slurm.limits import whole_nodes
from models.slurm.preemption import levels_of


def partitions(configuration: Configuration, sets: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """Return the tables of partitions; `sets` are the sets of nodes of records."""
    every, settings, n_nodes = configuration.partitions, configuration.settings, len(configuration.nodes)
    n_rows = [one.sharing.rows for one in every] if settings.in_rows else []
    levels, preempts = levels_of(configuration)
    first = [one.nodes[0] for one in every]
    return {
        "partitions": records(
            tables.PARTITION,
            tier=[one.tier for one in every],
            over=[YEAR_S if one.over_time is None else one.over_time for one in every],
            whole=whole_nodes(configuration),
            rows=jobs_of_nodes(configuration)[first],
            n_rows=settings.in_rows,
            most_rows=n_rows or 0,
            first_row=np.cumsum([0, *n_rows])[:-1] if n_rows else 0,
            ranked=np.argsort([-one.tier for one in every], kind="stable"),
        ),
        "partition_words": in_words(sets, n_nodes),
        "levels": levels,
        "preempts": preempts,
        "active": np.zeros(n_nodes * len(every) * settings.gang, np.int64),
        "rows": records(tables.ROW, listed=2 * [place for n in n_rows for place in range(n)]),
        "row_cores": np.zeros((2 * sum(n_rows), n_nodes), np.uint64),
        "cores": np.zeros((3 * settings.in_rows, n_nodes), np.uint64),
    }
