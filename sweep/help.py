"""The help text: made without Hydra or any numerical library, so that it appears at once."""

import re
from pathlib import Path

from sweep.config import choices

USAGE = """\
usage: python -m sweep +experiment=NAME [key=value ...] [--config-dir DIR]
       python -m sweep rerun DATASET.nc [key=value ...]

Runs the grid of an experiment (policy x workload x load x machine x ...) and writes one labelled dataset,
results/NAME/NAME.nc. Finished tasks are never run again; the same command continues after any interruption.
rerun makes a dataset once more from itself alone, and compares the two (rerun --help).
"""

EXAMPLES = """\
examples
  python -m sweep +experiment=packing
  python -m sweep +experiment=packing 'grid.load=[0.5,0.9]' 'grid.policy=[buddy,migration]' batches=10
  python -m sweep +experiment=packing policy=buddy workload=swf workload.path=LOG.swf.gz output=results/mine
  python -m sweep +experiment=packing precision.relative=0.05 executor.workers=4 action=plan
  python -m sweep +experiment=replay policy=easy workload.path=LOG.swf.gz schedule=easy.swf
  python -m sweep rerun results/packing/packing.nc

actions (action=...)
  run     run what is left and write the dataset (default)
  plan    show the grid, the number of tasks, the expected time and the files; run nothing
  status  show what is done, and the tracebacks of failed tasks
  gather  write the dataset from the results so far
  cancel  cancel the jobs of a batch system

options
  --watch           with action=status: repeat until nothing is left
  --config-dir DIR  a folder of your own experiment/, policy/, workload/, machine/ files, beside conf;
                    default: $SCHEDSWEEP_CONFIG_DIR; ~/.config/schedsweep/conf is searched as well
  modules=FOLDER    a folder of your own modules, which files name by their dotted names
  --version         the version
  -h, --help        this text

Every key and its default: conf/config.yaml."""


PAPER = re.compile(r"(?P<paper>[A-Z][\w ]+ \d{4})(, chapter \d+)?: ")
"""How the description of an experiment of a paper begins."""

RERUN = """\
usage: python -m sweep rerun DATASET.nc [key=value ...] [--config-dir DIR]

Reproduces a dataset from its file alone: it contains its config, its seeds and any custom code, and
identifies its logs by content. First lists which packages, code and settings differ from those that it was
made with, then runs it, and compares all variables bit for bit. The given file is never touched.

keys
  output=FOLDER        folder of the new dataset; default: results/NAME-rerun
  executor=NAME        how it is run; default: dask; executor.KEY=VALUE, slurm=PROFILE as for any run
  logs=FOLDER          where its job logs are; searched before $TRACES and their original folders
  modules=FOLDER       write the custom code that it carries into that folder, and run with it
  fresh=true           repeat what an earlier rerun in that folder has done
  action=ACTION        run (default), plan (what differs, and the expected time), status, gather, cancel

examples
  python -m sweep rerun results/packing/packing.nc
  python -m sweep rerun results/packing/packing.nc action=plan
  python -m sweep rerun what_if.nc logs=~/logs output=results/again executor=serial

Exit status: 0 identical, 1 different or failed, 2 it cannot be run."""


def text(folders: list[Path]) -> str:
    """Return the help text with what the config folders offer."""
    offered = list(choices.described("executor", folders))
    width = max((len(name) for name, _ in offered), default=0)
    executors = [f"  {name:<{width}}  {words}".rstrip() for name, words in offered] or ["  none"]
    return "\n".join([USAGE, experiments(folders), "", "executors (executor=...)", *executors, "", EXAMPLES])


def experiments(folders: list[Path]) -> str:
    """Return the experiments with a line each, grouped by their folders: one for each paper."""
    labels = choices.labels(choices.names("experiment", folders))
    groups: dict[str, dict[str, str]] = {}
    for name, label in sorted(labels.items(), key=lambda pair: (pair[0].rpartition("/")[0], pair[1])):
        words = choices.description(choices.path("experiment", name, folders))
        groups.setdefault(name.rpartition("/")[0], {})[label] = words
    lines, width = ["experiments (+experiment=...)"], max(map(len, labels.values()), default=0)
    for folder, described in groups.items():
        found = {label: PAPER.match(words) for label, words in described.items()}
        papers = [one["paper"] for one in found.values() if one]
        lines += ["", papers[0] if papers else folder.capitalize()] if folder else []
        for label, words in described.items():
            own = words[one.end() :] if (one := found[label]) else words
            lines.append(f"  {label:<{width}}  {own[:1].upper()}{own[1:]}".rstrip())
    return "\n".join(lines if labels else [*lines, "  none"])
