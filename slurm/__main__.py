"""``python -m slurm``."""

import sys
from functools import partial

from schedsweep import packages
from schedsweep.terminal import guarded

if __name__ == "__main__":
    sys.exit(guarded(partial(packages.call, "slurm.cli"), sys.argv[1:]))
