"""Margins: the paper's words of degree as numbers, each with its reason.

The paper gives no number, and of its figures only the captions are left to us. The margins were set after a
first look at five replications and before the experiments were run in full; each claim on a margin tells in
its evidence what becomes of it if any gain counts.
"""

from __future__ import annotations

SIGNIFICANT = 0.05
"""Relative difference from which a gain is "significant", and up to which it is "slight": the paper's two
words for gains share one border. In a figure of completed jobs that begins at 0, lines that are closer than a
twentieth can hardly be told apart."""

SAME = SIGNIFICANT
"""Relative difference below which two schedulers count as equal, where 32 PEs are compared with 16."""

STEADY = 0.1
"""Relative change from the smallest to a larger machine that is no loss of scalability: jobs come in whole
numbers of PEs, so that a machine of 64 does not pack them as one of 4,096 does."""

MEASURES_OF_A_GRADE = 5
"""Section 2.1: "an average … is then made over the last five measures"."""
