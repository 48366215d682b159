"""``python -m sweep``; kept this small because worker processes import it again."""

import signal
import sys

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until modules are loaded, or many ranks of MPI have joined, Ctrl-C ends them without tracebacks.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from functools import partial

from schedsweep import packages
from schedsweep.terminal import guarded

if __name__ == "__main__":
    sys.exit(guarded(partial(packages.call, "sweep.cli"), sys.argv[1:]))
