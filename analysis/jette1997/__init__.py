"""M. A. Jette, "Performance characteristics of gang scheduling in multiprogrammed environments", 1997."""

from pathlib import Path

from analysis.jette1997.claims import claims
from analysis.jette1997.drawings import DRAWINGS
from analysis.jette1997.figures import pictures, tables
from analysis.jette1997.gangster import command
from analysis.jette1997.labels import AXES, KEY
from analysis.paper import Paper
from analysis.report.readings import Readings

PAPER = Paper(
    key=KEY,
    citation="M. A. Jette, “Performance characteristics of gang scheduling in multiprogrammed "
    "environments”, 1997",
    experiments=(
        "llnl_t3d",
        "llnl_assumptions",
        "llnl_tradeoff",
        "llnl_compare",
        "llnl_tc2000",
        "llnl_alpha",
    ),
    pictures=pictures,
    claims=claims,
    readings=Readings(Path(__file__).parent),
    axes=AXES,
    families=("models.production_gang",),
    drawings=DRAWINGS,
    tables=tables,
    commands={"gangster": command.main},
)
