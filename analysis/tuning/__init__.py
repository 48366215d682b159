"""A search for the best settings: what was tried, and how the best compare on the weeks held back."""

from analysis.operators import readings
from analysis.operators.labels import LOSS, WAIT
from analysis.paper import Paper
from analysis.tuning import figures, tables
from analysis.tuning.appraising import appraised

PAPER = Paper(
    key="tuning",
    citation="",
    experiments=("tune", "slurm_tune"),
    needs=(WAIT, LOSS),
    pictures=lambda study, folder: figures.pictures(study),
    claims=lambda study: (),
    readings=readings,
    tables=tables.tables,
    brief=tables.brief,
    lead=tables.lead,
    summary=tables.summary,
    appraised=appraised,
    own_intervals=True,
)
