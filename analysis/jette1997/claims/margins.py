"""Words of degree as numbers."""

POINTS = 0.03
"""A percentage of the text, 33 or 8, is met within so many points."""

SLOWDOWN_POINTS = 0.05
"""The same of the aggregate slowdown of 18 %, and of the gain of 21 %."""

COUNTED = 0.05
"""Numbers of jobs and processor seconds of the three weeks are met within this part of them."""

WELL = 0.20
"""Up to this slowdown the paper views responsiveness favorably ("less than 20 percent")."""

FEW_PERCENT = 0.05
"""Slowdowns of a few percent are below this; the metric ``undelayed`` counts jobs by it."""

SUBSTANTIALLY = 1.25
"""More than a quarter more."""

SAME = 0.01
"""No reduction: less than this part is lost."""

SLIGHT = 0.02
"""A slight or minimal overhead, of all processor time."""

MOST = 0.5
"""Most, typically, usually: more than half."""

NEGLIGIBLE = 0.1
"""Of what there is in working hours."""

GREAT_VARIATION = 2.0
"""Slowdowns vary a great deal if the shortest jobs have so many times that of the longest."""

FOUR_DIGITS = 1000.0

SUSTAINED, HIGHEST = 0.95, 0.96
"""Weekly utilization of the conclusions, and of the section on the T3D."""
