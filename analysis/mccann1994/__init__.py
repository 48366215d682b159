"""C. M. McCann, "Processor allocation policies for message-passing parallel computers", PhD thesis, 1994."""

from pathlib import Path

from analysis.mccann1994.claims import claims
from analysis.mccann1994.drawings import DRAWINGS
from analysis.mccann1994.figures import pictures
from analysis.mccann1994.labels import AXES, KEY
from analysis.paper import Paper
from analysis.report.readings import Readings

PAPER = Paper(
    key=KEY,
    citation="C. M. McCann, “Processor allocation policies for message-passing parallel computers”, "
    "PhD thesis, University of Washington, Technical Report 95-07-03, 1994",
    experiments=(
        "efficiency_preservation",
        "fairness",
        "birth_death",
        "partitioning",
        "partitioning_memory",
        "memory_schedules",
        "memory_examples",
    ),
    pictures=pictures,
    claims=claims,
    readings=Readings(Path(__file__).parent),
    axes=AXES,
    families=("models.partitioning", "models.medium_term"),
    drawings=DRAWINGS,
)
