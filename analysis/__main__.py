"""``python -m analysis``."""

import sys

from schedsweep import packages

if __name__ == "__main__":
    sys.exit(packages.call("analysis.command", sys.argv[1:]))
