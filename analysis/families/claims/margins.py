"""Words of degree as numbers, each with its reason. They were set before the study was run in full."""

from __future__ import annotations

from analysis.claims.comparisons import AxisRange

ALL = AxisRange("all loads")
LOWEST = AxisRange("loads up to 0.5", high=0.5)
MODERATE = AxisRange("loads up to 0.7", high=0.7)
HIGH = AxisRange("loads from 0.8 on", low=0.8)

SUSTAINED = 0.9
"""Utilization that Feitelson's schemes "may top"; the grid's loads end at 0.95, where no more is offered."""

PARTITIONED = 0.8
"""The upper end of the "50-80% range" that the paper reports of production systems."""

COMPETITIVE = 1.25
"""Ratio up to which a policy is "quite competitive": a quarter more."""

CONSIDERABLY = 0.75
"""Ratio below which something is "considerably" improved: a quarter less."""

SUBSTANTIAL = 10.0
"""Percent of a slice that a switch takes where the claim is that its cost is made up for: Jette's switches go
to disk, for which no number is given."""
