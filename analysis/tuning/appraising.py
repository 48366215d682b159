"""What came of settings in one round of a search: numbers by name, by the rules of the verdict."""

from typing import Any

import numpy as np

from analysis.operators.acceptance import Candidate, accepted
from analysis.operators.case import cases
from analysis.operators.labels import WAIT
from analysis.study import Study


def appraised(study: Study, best: str | None) -> dict[str, dict[str, Any]]:
    """Return what each policy of a study on a log changes against the reference, under the same jobs.

    Parameters
    ----------
    best : str, optional
        The best policy so far: what is shown to be worse than it is given up as well.

    Returns
    -------
    dict of str to dict
        Policy -> ``change``, ``low`` and ``high`` of the mean wait, as a share of the reference's; the
        ratios ``longest_wait`` and ``group_wait``; ``broken``, the constraints, without the least gain;
        ``lost_jobs``; ``is_worse``, whether an interval shows it; and ``seconds`` of its tasks. Policies
        whose tasks failed are left out.
    """
    case = next(iter(cases(study)))
    waits, limits = case.beside(WAIT), accepted(case)
    jobs, seconds = float(np.nansum(case.jobs())), study.data["seconds"]
    found = {}
    for policy in case.others:
        one, change = Candidate(case, policy), case.difference(WAIT, policy)
        usual = change.reference or 1.0
        lost = jobs - float(np.nansum(case.values("jobs", policy)))
        beside = [change] if best in (None, policy) else [change, waits.difference(policy, best)]
        broken = [
            key
            for key, ratio in (("longest_wait", one.longest_ratio), ("group_wait", one.worst))
            if limits[key] is not None and ratio > limits[key]
        ]
        found[policy] = {
            "change": change.mean / usual,
            "low": change.low / usual,
            "high": change.high / usual,
            "longest_wait": one.longest_ratio,
            "group_wait": one.worst,
            "broken": [*broken, *["jobs"] * bool(lost)],
            "lost_jobs": lost,
            "is_worse": any(other.low > 0 for other in beside),
            "seconds": float(seconds.sel(policy=policy).sum()),
        }
    return found
