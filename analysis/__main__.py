"""``python -m analysis``."""

import signal
import sys

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until modules are loaded

from functools import partial

from schedsweep import packages
from schedsweep.terminal import guarded

if __name__ == "__main__":
    sys.exit(guarded(partial(packages.call, "analysis.command"), sys.argv[1:]))
