"""``python -m sweep``; kept this small because worker processes import it once more."""

import signal
import sys

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until modules are loaded, or many ranks of MPI have joined, Ctrl-C ends them without tracebacks.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from schedsweep.terminal import guarded
from sweep.cli import main

if __name__ == "__main__":
    sys.exit(guarded(main, sys.argv[1:]))
