"""The browser in which pages are looked at, without a network of its own."""

import shutil
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

MARKS = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium"),
]


def playwright() -> Any:
    """Return the module that drives browsers; without it a module of tests is skipped."""
    reason = "no playwright here: pip install schedsweep[test]"
    return pytest.importorskip("playwright.sync_api", reason=reason)


def launched(player: Any) -> Any:
    """Return the browser, started."""
    return player.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
