"""``python -m sweep``; kept this small because worker processes import it once more."""

import sys

from schedsweep.terminal import guarded
from sweep.cli import main

if __name__ == "__main__":
    sys.exit(guarded(main, sys.argv[1:]))
