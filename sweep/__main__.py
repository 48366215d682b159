"""``python -m sweep``; kept this small because worker processes import it once more."""

import signal
import sys

if __name__ == "__main__" and "executor=mpi" in sys.argv:
    # Many ranks start: until they have joined, a signal ends them without a traceback each.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from schedsweep.terminal import guarded
from sweep.cli import main

if __name__ == "__main__":
    sys.exit(guarded(main, sys.argv[1:]))
