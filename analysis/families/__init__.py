"""Time slicing, backfilling or partitions: what the families of policies do with the same jobs."""

from analysis.families.claims import claims
from analysis.families.figures import pictures
from analysis.families.labels import AXES, KEY
from analysis.families.readings import readings
from analysis.families.tables import brief, summary, tables
from analysis.paper import Paper

PAPER = Paper(
    key=KEY,
    citation="Across families: what the literature says of each other's policies",
    experiments=("families", "families_logs"),
    pictures=pictures,
    claims=claims,
    readings=readings,
    axes=AXES,
    families=("models.gang", "models.backfill", "models.partitioning"),
    tables=tables,
    brief=brief,
    summary=summary,
)
