"""The title of a report in words: what an experiment studies, or which policies ran on which jobs."""

from analysis.paper import Paper
from analysis.study import Study
from sweep.config import choices, locate
from sweep.policy_names import label

NAMED = 4
"""Most policies that a title names."""


def title(study: Study, paper: Paper) -> str:
    """Return the title of a study: of a paper's experiment its file's description, else its content."""
    if paper.citation:
        known = dict(choices.described("experiment", [locate.conf_folder()]))
        if words := known.get(study.name, "").partition(", Fig")[0].rstrip("."):
            return words
    logs = study.facts.get("logs", [])
    workloads = [str(log["file"]).partition(".")[0] for log in logs] or list(study.config.get("workload", {}))
    jobs = (
        " and ".join(dict.fromkeys(workloads)) if len(set(workloads)) < 3 else f"{len(workloads)} workloads"
    )
    names = [label(policy) for policy in study.policies]
    policies = f"{len(names)} policies" if len(names) > NAMED else " and ".join(names[-2:])
    if 2 < len(names) <= NAMED:
        policies = f"{', '.join(names[:-2])}, {policies}"
    return f"{policies} on {jobs or 'one workload'}"
