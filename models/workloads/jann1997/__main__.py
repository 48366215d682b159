"""Print the fit of a log as a file of conf/workload: ``python -m models.workloads.jann1997 path=LOG``.

Filters and options are the keys of conf/workload/published/jann1997.yaml, as KEY=VALUE with values in JSON.
"""

import json
import sys
from typing import Any

from models.jobs.swf import FILTERS
from models.workloads.jann1997.fitting import fit
from models.workloads.jann1997.model import table_of

DEFAULTS: dict[str, Any] = {"least_jobs": 30, "few_jobs": "refuse"}
KEYS = ("path", *FILTERS, "ranges", "least_jobs", "few_jobs")


def main(words: list[str]) -> None:
    """Print the file; notes and errors go to standard error."""
    try:
        print("\n".join(lines(words)))
    except ValueError as wrong:
        print(wrong, file=sys.stderr)
        sys.exit(2)


def lines(words: list[str]) -> list[str]:
    """Return the lines of the file; ``ValueError`` with one line for a log that cannot be fitted."""
    given = dict(DEFAULTS)
    for word in words:
        key, is_pair, value = word.partition("=")
        if not is_pair or key not in KEYS:
            raise ValueError(f"{word}; allowed: KEY=VALUE, the keys are {', '.join(KEYS)}")
        given[key] = _value(value)
    if given.get("path") is None:
        raise ValueError("no log; give path=LOG, a file in the Standard Workload Format")
    model, notes = fit(given)
    for note in notes:
        print(note, file=sys.stderr)
    return ["defaults: [jann1997, _self_]", *table_of(model)]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text  # a word or a path


if __name__ == "__main__":
    main(sys.argv[1:])
