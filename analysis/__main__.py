"""``python -m analysis``."""

import sys

from analysis.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
