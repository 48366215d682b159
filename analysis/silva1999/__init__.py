"""F. A. B. da Silva, I. D. Scherson, "Improving throughput … through Concurrent Gang", 1999."""

from pathlib import Path

from analysis.paper import Paper
from analysis.report.readings import Readings
from analysis.silva1999.claims import claims
from analysis.silva1999.drawings import DRAWINGS
from analysis.silva1999.drawings.trace_diagram import VIEWS
from analysis.silva1999.figures import pictures, tables
from analysis.silva1999.labels import AXES, KEY

PAPER = Paper(
    key=KEY,
    citation="F. A. B. da Silva and I. D. Scherson, “Improving throughput and utilization in parallel "
    "machines through Concurrent Gang”, 1999",
    experiments=(
        "concurrent_gang",
        "concurrent_gang_mixed",
        "concurrent_gang_sensitivity",
        "concurrent_gang_pairs",
        "idling_ratio",
        "concurrent_gang_scale",
    ),
    pictures=pictures,
    claims=claims,
    readings=Readings(Path(__file__).parent),
    axes=AXES,
    families=("models.concurrent_gang",),
    drawings=DRAWINGS,
    views=VIEWS,
    tables=tables,
)
