"""The figures of the paper, by the policy or the metric that they cannot do without."""

from collections.abc import Sequence
from pathlib import Path

from analysis.chiang2001.figures import policies, workload
from analysis.chiang2001.labels import DEMAND, KEY
from analysis.figures.captions import captioned
from analysis.paper import Picture, of_each_reading
from analysis.study import Study


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures in the paper's order; of each reading, if there are several."""
    return of_each_reading(study, _of_one)


def _of_one(study: Study) -> list[Picture]:
    if DEMAND in study.data:
        return list(workload.pictures(study))
    found = [figures for policy, figures in policies.FIGURES.items() if policy in study.policies]
    return [picture for figures in found for picture in captioned(KEY, study, figures(study))]


def brief(study: Study) -> Sequence[str]:
    """Return Table 4 beside the generated demands, where the experiment is on the workload."""
    return workload.lines(study.readings["A"]) if DEMAND in study.data else ()
