"""Any study: policies of any families, logs, machines, own axes. All of its metrics are drawn and compared.

This paper draws the experiment ``compare``, and every study without a paper.
"""

import json
from collections.abc import Sequence

from analysis.compare import figures, tables
from analysis.paper import Paper
from analysis.report.summary import ranked
from analysis.study import Study
from analysis.study.axes import Axes
from analysis.study.view import OPTIONS


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return each policy's family, the jobs and the machine, own axes, and the points that are not drawn."""
    config, settings = study.config, study.settings
    if study.is_program:
        program = settings["model"] or " ".join(settings["command"])
        given = {axis: ", ".join(study.values_of(axis)) for axis in study.axes_shown}
        given |= {name: _typed(value) for name, value in settings["arguments"].items()}
        return [
            ("program", program),
            *given.items(),
            *(("not drawn", line) for line in tables.left_out(study)),
        ]
    found = [
        (f"policy {name}", f"family {values.get('family', '')}")
        for name, values in config.get("policy", {}).items()
    ]
    for group in ("workload", "machine"):
        found += [(group, name) for name in config.get(group, {})]
    for axis, key in (settings.get("axes") or {}).items():
        names = (settings.get("values") or {}).get(axis, {})
        for value in study.values_of(axis):
            found.append((f"{axis} {value}", f"{key}={_typed(names[value]) if value in names else value}"))
    return [*found, *(("not drawn", line) for line in tables.left_out(study))]


def _typed(value: object) -> str:
    """Return a named value as it is written in YAML."""
    return value if isinstance(value, str) else json.dumps(value)


def summary(study: Study) -> Sequence[str]:
    """Return the best and the worst policy; waits are not informative if time slicing starts jobs at once."""
    return [line for metric in ("response_time", "bounded_slowdown") for line in ranked(study, metric)]


PAPER = Paper(
    key="compare",
    citation="",
    experiments=("compare",),
    pictures=lambda study, folder: list(figures.pictures(study)),
    claims=lambda study: (),
    readings=readings,
    axes=Axes(every=True),
    tables=tables.tables,
    brief=tables.brief,
    options=OPTIONS,
    numbers=tables.numbers,
    summary=summary,
)
