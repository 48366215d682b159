"""S.-H. Chiang, M. K. Vernon, "Production job scheduling for parallel shared memory systems", IPDPS 2001."""

from pathlib import Path

from analysis.chiang2001.claims import claims
from analysis.chiang2001.figures import brief, pictures
from analysis.chiang2001.labels import AXES, KEY, early_ends
from analysis.drawings import drawings
from analysis.paper import Paper
from analysis.report.readings import Readings

PAPER = Paper(
    key=KEY,
    citation="S.-H. Chiang and M. K. Vernon, “Production job scheduling for parallel shared memory systems”, "
    "in Proc. 15th International Parallel and Distributed Processing Symposium (IPDPS), 2001",
    experiments=("o2k_backfill", "o2k_immediate", "o2k_equipartition", "o2k_workload", "o2k_assumptions"),
    pictures=pictures,
    claims=claims,
    readings=Readings(Path(__file__).parent, early_ends),
    axes=AXES,
    families=("models.backfill", "models.o2k_workload"),
    drawings=drawings("ncsa_lsf", "o2k_2000_01"),
    brief=brief,
)
