"""Pictures on request."""

from analysis.jette1997.drawings import alpha, alpha_histories
from analysis.jette1997.gangster import command
from analysis.jette1997.gangster.remaking import EXAMPLE
from analysis.paper import Drawing

KEYS = ("at", "week", "policy", "workload", "load", "machine", "replication")

DRAWINGS = {
    "torus": Drawing(
        command.drawing,
        {"results": EXAMPLE, **{key: command.OPTIONS[key][0] for key in KEYS}},
        "Fig. 2 as a picture: the nodes of the Cray T3D and its jobs at a moment of a run of results=, which "
        "is made anew",
    ),
    "alpha_machine": Drawing(
        alpha.draw_machine,
        alpha_histories.SETTINGS,
        "Fig. 3: CPUs, memory and load of each computer of the Alpha cluster, slice by slice",
    ),
    "alpha_job": Drawing(
        alpha.draw_job,
        alpha.OF_JOB,
        "Fig. 4: what CPUs and memory a job of the Alpha cluster has, and what it uses (job=NUMBER)",
    ),
}
