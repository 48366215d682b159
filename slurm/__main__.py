"""``python -m slurm``."""

import sys

from schedsweep import packages

if __name__ == "__main__":
    sys.exit(packages.call("slurm.cli", sys.argv[1:]))
