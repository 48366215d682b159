"""D. G. Feitelson, "Packing schemes for gang scheduling", JSSPP 1996: its figures and its sentences."""

from pathlib import Path

from analysis.feitelson1996.claims import claims
from analysis.feitelson1996.drawings import DRAWINGS, VIEWS
from analysis.feitelson1996.figures import pictures
from analysis.feitelson1996.labels import AXES, KEY
from analysis.paper import Paper
from analysis.report.readings import Readings

PAPER = Paper(
    key=KEY,
    citation="D. G. Feitelson, “Packing schemes for gang scheduling”, in Job Scheduling Strategies for "
    "Parallel Processing, LNCS 1162, Springer, 1996, pp. 89–110",
    experiments=("packing", "packing_paper", "packing_trace", "packing_readings"),
    pictures=pictures,
    claims=claims,
    readings=Readings(Path(__file__).parent, of_features=True),
    axes=AXES,
    families=("models.gang",),
    drawings=DRAWINGS,
    views=VIEWS,
)
