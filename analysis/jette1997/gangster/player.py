"""A day of the display in a terminal: time advances by itself, or by keys."""

from __future__ import annotations

import json
import select
import sys
import termios
import time as clock
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from analysis.errors import AnalysisError
from analysis.jette1997.gangster.display import Lettering, abreast_for, known, screen
from analysis.jette1997.gangster.remaking import Remade
from models.jobs.job_classes import JOB_CLASSES

DAY = 86400.0
FRAMES = 5.0
"""Frames per second."""

FASTEST, SLOWEST = 86400.0, 1.0
OPERATIONS = {"s": "suspend", "r": "resume", "k": "kill", "c": "class"}
CLASSES = {name[0]: name for name in JOB_CLASSES}
KEYS = (
    "space: pause   n, b: to the next, the last change   + and -: speed   q: quit\n"
    "s, r, k, c and a job's letter: suspend, resume, kill, change its class"
)


@dataclass
class Player:
    """The time of a display, and how it advances.

    Parameters
    ----------
    time, until : float, seconds
        Times of the run.
    speed : float
        Simulated seconds per second.
    changes : ndarray of float, seconds
        Times at which the display changes, ascending.
    shown : dict of int to str
        Letters of the jobs on the display.
    asked, message : str
        An incomplete command, and the result of the last one.
    commands : list of str
    """

    made: Remade
    time: float
    until: float
    speed: float
    changes: np.ndarray
    paused: bool = False
    over: bool = False
    letters: Lettering = field(default_factory=Lettering)
    shown: Mapping[int, str] = field(default_factory=dict)
    asked: str = ""
    message: str = ""
    commands: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, made: Remade, time: float, speed: float) -> Player:
        """Return a player for the day that begins at a time."""
        detail, jobs = made.run.detail, made.run.jobs
        its, done = detail.residencies, detail.commands.done
        of_jobs = (jobs.submit, made.run.end, detail.admitted, done[done >= 0])
        every = (*of_jobs, its.assigned, its.ready, its.begins, its.stops, its.gone)
        changes = np.unique(np.concatenate(every))
        return cls(made, time, min(time + DAY, made.end), speed, changes)

    def advance(self, seconds: float) -> None:
        """Advance by a number of seconds of the viewer's time."""
        if not self.paused:
            self._to(self.time + seconds * self.speed)

    def press(self, key: str) -> None:
        """Handle a key; keys without a meaning are ignored."""
        if self.asked:
            self._complete(key)
        elif key in OPERATIONS:
            self.paused, self.asked = True, OPERATIONS[key]
        elif key == " ":
            self.paused = not self.paused
        elif key == "q":
            self.over = True
        elif key in "+=-":
            factor = 0.5 if key == "-" else 2.0
            self.speed = min(max(self.speed * factor, SLOWEST), FASTEST)
        elif key in "nb":
            self.paused = True
            side: Literal["left", "right"] = "right" if key == "n" else "left"
            at = int(np.searchsorted(self.changes, self.time, side=side)) - (key == "b")
            if 0 <= at < len(self.changes):
                self._to(float(self.changes[at]))
                self.over = False

    def _complete(self, key: str) -> None:
        """Complete a command by a job's letter, or by the first letter of a class, and issue it."""
        asked, self.asked = self.asked, ""
        numbers = {letter: str(job + 1) for job, letter in self.shown.items()}
        value = (CLASSES if asked.startswith("class ") else numbers).get(key)
        self.message = f"{asked}: no job or class has the letter {key!r}"
        if value and asked == "class":
            self.asked = f"class {value}"
        elif value:
            self._issue(f"{asked} {value}")

    def _issue(self, command: str) -> None:
        """Repeat the run with a command at the next whole second."""
        time = int(self.time) + 1
        given = [*self.commands, f"{time}s {command}"]
        try:
            self.made = self.made.with_commands([*given, *self.resumed(given)])
        except AnalysisError as error:
            self.message = str(error)
            return
        self.commands, self.changes = given, self.of(self.made, self.time, self.speed).changes
        its = self.made.run.detail.commands
        done = its.done[its.time == time][-1] - time
        self.message = f"{command}: " + ("no effect" if np.isnan(done) else f"done after {done:.0f} s")
        self._to(float(time))

    def resumed(self, given: Sequence[str]) -> list[str]:
        """Return commands that resume, when the day is over, the jobs that are still suspended."""
        jobs = dict.fromkeys(text.split()[2] for text in given if " suspend " in text)
        return [f"{int(self.until) + 1}s resume {job}" for job in jobs]

    def _to(self, time: float) -> None:
        self.time = max(min(time, self.until), self.made.begin)
        self.over = self.time >= self.until

    def frame(self, height: int) -> Group:
        """Return the display at the current time, at most `height` lines high."""
        from models.production_gang.t3d import moment

        now = moment.at(self.made.run, self.time)
        self.shown = self.letters.of(known(now))
        seen = screen(self.made, now, self.shown, abreast_for(now, height - 4))
        state = "paused" if self.paused else f"{self.speed:g} times as fast"
        wanted = f"first letter of {', '.join(JOB_CLASSES)}" if " " in self.asked else "letter of a job"
        answer = f"{self.asked}: {wanted}?" if self.asked else self.message
        return Group(seen.text, Text(f"{answer}\n{state}   {KEYS}", style="dim"))


def play(player: Player, console: Console, read: Callable[[float], str] | None = None) -> None:
    """Show a day, until it is over or ``q`` is pressed.

    Parameters
    ----------
    read : callable, optional
        Waits for at most the given seconds and returns the key that was pressed, if any; default: keyboard.

    Raises
    ------
    AnalysisError
        If there is no terminal.
    """
    if not console.is_terminal:
        raise AnalysisError("--play needs a terminal; give --at alone for one moment, or add --picture")
    with (
        keyboard() if read is None else nullcontext(read) as keys,
        Live(player.frame(console.height), console=console, auto_refresh=False, transient=False) as live,
    ):
        last = clock.monotonic()
        while not player.over:
            if key := keys(1 / FRAMES):
                player.press(key)
            now = clock.monotonic()
            player.advance(now - last)
            last = now
            live.update(player.frame(console.height), refresh=True)
    if player.commands:
        commands = [*player.commands, *player.resumed(player.commands)]
        console.print(f"To repeat this in a study: 'policy.commands={json.dumps(commands)}'", soft_wrap=True)


@contextmanager
def keyboard() -> Iterator[Callable[[float], str]]:
    """Read single keys as they are pressed; if the input is not a terminal, there are none."""
    if not sys.stdin.isatty():

        def wait(seconds: float) -> str:
            clock.sleep(seconds)
            return ""

        yield wait
        return
    where = sys.stdin.fileno()
    before = termios.tcgetattr(where)
    tty.setcbreak(where)

    def pressed(seconds: float) -> str:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return sys.stdin.read(1) if ready else ""

    try:
        yield pressed
    finally:
        termios.tcsetattr(where, termios.TCSADRAIN, before)
