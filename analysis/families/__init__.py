"""Time slicing, backfilling or partitions: policies of all families on the same jobs."""

from pathlib import Path

from analysis.families.claims import claims
from analysis.families.figures import pictures
from analysis.families.labels import AXES, KEY
from analysis.families.tables import brief, summary, tables
from analysis.paper import Paper
from analysis.report.readings import Readings

PAPER = Paper(
    key=KEY,
    citation="Across families: sentences of the literature on each other's policies",
    experiments=("families", "families_logs"),
    pictures=pictures,
    claims=claims,
    readings=Readings(Path(__file__).parent),
    axes=AXES,
    families=("models.gang", "models.backfill", "models.partitioning"),
    tables=tables,
    brief=brief,
    summary=summary,
)
