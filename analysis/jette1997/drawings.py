"""Pictures on request."""

from analysis.jette1997.gangster import command
from analysis.jette1997.gangster.remaking import EXAMPLE
from analysis.paper import Drawing

KEYS = ("at", "week", "policy", "workload", "load", "machine", "replication")

DRAWINGS = {
    "torus": Drawing(
        command.drawing,
        {"results": EXAMPLE, **{key: command.OPTIONS[key][0] for key in KEYS}},
        "Fig. 2 as a picture: the nodes of the Cray T3D and its jobs at a moment of a run of results=, which "
        "is repeated",
    )
}
