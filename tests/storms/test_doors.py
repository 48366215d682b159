"""Requests to the explorer by paths that are not served, and datasets that would grow without end."""

import random
import resource
import sys
from functools import partial
from pathlib import Path

import pytest
from netCDF4 import Dataset
from storm import Storm, of_error, verdict
from test_explorer_access import HANDLERS, Fetch, exchange, path_of
from test_hostile_datasets import MADE, STORED

from analysis.explorer.access import SERVED, Access
from sweep.errors import SweepError
from sweep.store import loading

SEGMENTS = [
    "components", "seen_module", "C", "css", "x", "static", "extensions", "panel", "js", "bokeh.min.js",
    "autoload.js", "metadata", "ws", "..", ".", "%2e%2e", "%2f", "%00", "", "liveness", "rest", "_reload",
    "favicon.ico", "panel.min.js", "é".encode().decode("latin1"), "x" * 3000,
]  # fmt: skip
QUERIES = ["", "?token=", "?token=x", "?bokeh-session-id=x", "?bokeh-autoload-element=x", "?token=%ff&token="]
HEADERS = [
    {}, {"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}, {"Host": "evil.example"},
    {"Bokeh_Session_Id": "x"}, {"Cookie": "explorer=x; ;=;"},
]  # fmt: skip
MOST_KB = 3 << 20
"""Memory that a refusal may take, in KB, with all that the tests have loaded."""


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_explorer_routes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "seen_module.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    storm = Storm("routes", 60, 3000)

    def work(fetch: Fetch, access: Access) -> None:
        own = fetch(path_of(access.address))[1]["Set-Cookie"].partition(";")[0]
        for chance in storm:
            parts = [chance.choice(SEGMENTS) for _ in range(chance.randint(0, 6))]
            path = chance.choice(["/" + "/".join(parts), *HANDLERS.values()])
            headers, query = dict(chance.choice(HEADERS)), chance.choice(QUERIES)
            if is_signed_in := chance.random() < 0.5:
                headers["Cookie"] = own
            method = chance.choice(["GET", "GET", "HEAD", "POST", "DELETE"])
            status, _, text = answer = fetch(path + query, method, **headers)
            outcome = f"refused with {status}" if status >= 400 else "served"
            is_open = SERVED.fullmatch(path) and is_signed_in
            is_foreign = {"Origin", "Sec_Fetch_Site"} & {*headers} or headers.get("Host") == "evil.example"
            if (outcome == "served" and (is_foreign or not is_open)) or "seen_module" in sys.modules:
                outcome = "code has run"
            elif "Traceback" in text:
                outcome = "traceback"
            storm.note(outcome, f"{method} {path}{query} {headers}: {answer}")

    exchange(work)
    storm.end()


def hostile(path: Path, chance: random.Random) -> str:
    """Write a dataset of some kinds at once, or a stored one; return which."""
    if chance.random() < 0.2:
        stored = chance.choice(sorted(STORED.glob("[!s]*.nc")))
        path.write_bytes(stored.read_bytes())
        return stored.name
    name = chance.choice(list(MADE))
    with Dataset(path, "w") as file:
        MADE[name][0](file)
    raw = bytearray(path.read_bytes())
    if chance.random() < 0.5:  # and damaged
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        path.write_bytes(raw)
    return name


def test_hostile_datasets(tmp_path: Path) -> None:
    storm = Storm("bombs", 12, 600)
    for number, chance in enumerate(storm):
        name = hostile(path := tmp_path / f"{number}.nc", chance)
        outcome, answer = verdict(partial(refusal, path))
        if outcome == "answered":
            outcome = of_error(str(answer))
        if resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > MOST_KB:
            outcome = "too much memory"
        storm.note(outcome, f"{name}: {answer}")
        path.unlink()
    storm.end()


def refusal(path: Path) -> str:
    """Return the line of a refusal."""
    with pytest.raises(SweepError) as error:
        loading.opened(path)
    return str(error.value)
