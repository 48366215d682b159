"""Pictures on request, ``python -m analysis draw equi processors=16x32 jobs=11``; chapters 2 and 4's."""

from collections.abc import Iterator

from analysis.figures.captions import captioned
from analysis.mccann1994.drawings import partitions, schedules, threads
from analysis.mccann1994.labels import KEY
from analysis.paper import Drawing, Picture

MESH = {"processors": "16x16"}
FIG_6_11 = "2,2,4,4,8,8,8,8"

DRAWINGS = {
    "kernel_mapping": Drawing(
        threads.kernel_mapping,
        {"processors": "8x8", "partition": "3x5"},
        "Fig. 2.3: on which processors of a partition the kernel puts threads",
    ),
    "equi": Drawing(
        partitions.equi,
        {**MESH, "jobs": "", "leftover": "smallest"},
        "Fig. 4.2: the partitions of EQUI; without jobs= for 1 to 16 of them",
    ),
    "equi_plus_mapping": Drawing(
        partitions.equi_plus_mapping,
        {**MESH, "jobs": "13", "partition": "", "leftover": "smallest"},
        "Fig. 4.3: on which processors of a partition EQUI+ puts threads; partition=4x5, else the first",
    ),
    "thread_order": Drawing(
        threads.thread_order,
        {**MESH, "rows": "4"},
        "Fig. 4.4: the order of threads in an even and an odd row of processors under EQUI+",
    ),
    "folding": Drawing(
        partitions.folding,
        {**MESH, "jobs": ""},
        "Fig. 4.5: the partitions of Folding; without jobs= for 3 to 8 of them",
    ),
    "folding_rotation": Drawing(
        partitions.folding_rotation, {**MESH, "jobs": "5"}, "Fig. 4.6: one full rotation"
    ),
    "folding_cycle": Drawing(
        partitions.folding_cycle,
        {**MESH, "partitions": ""},
        "Figs. 4.7 to 4.9: the walk over the partitions; without partitions= for 4 to 32 of them",
    ),
    "local_changes": Drawing(
        partitions.local_changes, MESH, "Fig. 4.8: the walk over 16 partitions after one and two are halved"
    ),
    "schedule": Drawing(
        schedules.schedule,
        {"policy": "buddy_schedule", "processors": "16", "requirements": "2,2,4,4,4,8,8,8"},
        "Figs. 6.2 to 6.10: a medium-term schedule as boxes; policy=a,b draws several",
    ),
    "mesh_schedule": Drawing(
        schedules.mesh_schedule,
        {"policy": "buddy_schedule", "processors": "4x4", "requirements": FIG_6_11},
        "Fig. 6.11: a medium-term schedule on a mesh",
    ),
}

PICTURES = {
    "fig2-3": "kernel_mapping",
    "fig4-2": "equi",
    "fig4-3": "equi_plus_mapping",
    "fig4-4": "thread_order",
    "fig4-5": "folding",
    "fig4-6": "folding_rotation",
    "fig4-7": "folding_cycle",
    "fig4-8": "local_changes",
}
"""Figure in the report of the experiment on efficiency preservation -> its drawing."""


def pictures() -> Iterator[Picture]:
    """Yield the figure of chapter 2, then chapter 4's."""
    for name, drawing in PICTURES.items():
        found = DRAWINGS[drawing]
        yield from captioned(KEY, None, {name: found.draw}, subject=found.settings)
