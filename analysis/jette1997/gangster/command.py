"""``python -m analysis gangster RESULTS --at "Tue 13:25"``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import AnalysisError
from analysis.jette1997.gangster import remaking
from analysis.jette1997.gangster.remaking import Remade, point_of, repeated
from schedsweep.terminal import wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWINGS = "results/drawings"
AT = "Tue 13:25"

OPTIONS = {
    "at": (AT, "TIME", f"a weekday and a time, default {AT}; or a time since the beginning, 9d or 36.5h"),
    "week": ("", "N", "the week of that moment; default: the last measured week"),
    "policy": ("", "NAME", "default: llnl_gang"),
    "workload": ("", "NAME", "default: the first of the grid, as for load and machine"),
    "load": ("", "LOAD", ""),
    "machine": ("", "NAME", ""),
    "replication": ("0", "N", "from 0 on"),
    "speed": ("600", "N", "with --play: simulated seconds per second"),
    "output": (DRAWINGS, "FOLDER", "where --picture writes"),
}
"""Option -> default, placeholder of its value, and help text."""

FLAGS = {
    "play": "step through a day in the terminal, from that moment on; keys give commands to jobs",
    "picture": "draw the torus of nodes (PDF, SVG, PNG)",
}

HELP = (
    """\
python -m analysis gangster RESULTS [--at TIME] [--week N] [--policy NAME] [--workload NAME]
                                    [--replication N] [--play [--speed N]] [--picture [--output FOLDER]]
    Shows the machine and the jobs of the Cray T3D at a moment of a run, as Fig. 2 of Jette (1997) does. The
    run is repeated from the dataset's config and seed. RESULTS is a results folder of python -m sweep, e.g.
    results/llnl_t3d.

"""
    + "\n".join(
        [f"    --{name:<12} {takes:<7} {shown}" for name, (_, takes, shown) in OPTIONS.items() if shown]
        + [f"    --{name:<12} {'':<7} {shown}" for name, shown in FLAGS.items()]
    )
    + """

    States: N new, W has nodes and waits for them, i is being loaded, R runs, o is being written to disk, O is
    on disk, S is suspended. W is the barrier wire; BASE is the node where the partition begins: x, y, z.

Examples
    python -m analysis gangster results/llnl_t3d --at "Tue 13:25"
    python -m analysis gangster results/llnl_t3d --at "Fri 2:00" --week 40 --policy djm
    python -m analysis gangster results/llnl_t3d --at "Tue 7:00" --play"""
)


def main(arguments: Sequence[str]) -> None:
    """Show the display that the arguments ask for.

    Raises
    ------
    AnalysisError
        With one line for what cannot be shown.
    """
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(wrapped(HELP))
        if not arguments:
            raise AnalysisError("gangster: name a results folder, e.g. results/llnl_t3d")
        return
    where, settings = Path(arguments[0]), parsed(arguments[1:])
    remaking.parsed(settings["at"])
    speed = _speed(settings["speed"])
    made = _opened(where, settings)
    time = remaking.time_of(settings["at"], settings["week"], made)
    if settings["picture"]:
        _save(made, time, settings)
    elif settings["play"]:
        from rich.console import Console

        from analysis.jette1997.gangster.player import Player, play

        play(Player.of(made, time, speed), Console(highlight=False))
    else:
        _print(made, time)


def parsed(arguments: Sequence[str]) -> dict[str, str]:
    """Return settings from ``--key value``, ``--key=value`` or ``key=value``; flags are ``true`` or empty."""
    settings = {name: default for name, (default, _, _) in OPTIONS.items()} | dict.fromkeys(FLAGS, "")
    rest = iter(arguments)
    for argument in rest:
        name, sign, value = argument.removeprefix("--").partition("=")
        if name not in settings or not (sign or argument.startswith("--")):
            valid = ", ".join(f"--{one}" for one in settings)
            raise AnalysisError(f"gangster: unknown argument {argument!r}; valid: {valid}")
        if name in FLAGS:
            if sign and value not in ("true", "false"):
                raise AnalysisError(f"--{name}={value}: this option takes no value; give --{name}")
            settings[name] = "" if value == "false" else "true"
            continue
        if not sign:
            value = next(rest, "")
        if not value:
            raise AnalysisError(f"--{name}: give a value, --{name} {OPTIONS[name][1]}")
        settings[name] = value
    return settings


def drawing(settings: Mapping[str, str]) -> Figure:
    """Draw the torus for ``python -m analysis draw torus``."""
    from analysis.jette1997.gangster import torus

    remaking.parsed(settings["at"])
    made = _opened(Path(settings["results"]), settings)
    return torus.draw(made, remaking.time_of(settings["at"], settings["week"], made))


def _opened(where: Path, settings: Mapping[str, str]) -> Remade:
    from analysis.study import open_study

    study = open_study(where)
    print(f"{where}: repeating the run", file=sys.stderr, flush=True)
    made = repeated(point_of(study, settings))
    for note in made.run.notes:
        print(note, file=sys.stderr)
    return made


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 1 <= speed <= 86400:
        raise AnalysisError(f"--speed {text}: give simulated seconds per second, from 1 to 86400")
    return speed


def _print(made: Remade, time: float) -> None:
    from rich.console import Console

    from analysis.jette1997.gangster.display import Lettering, abreast_for, known, screen
    from models.production_gang.t3d import moment

    console, now = Console(highlight=False), moment.at(made.run, time)
    abreast = abreast_for(now, console.height) if console.is_terminal else 1
    console.print(screen(made, now, Lettering().of(known(now)), abreast).text, end="", soft_wrap=True)


def _save(made: Remade, time: float, settings: Mapping[str, str]) -> None:
    from analysis.figures import style
    from analysis.jette1997.gangster import torus

    folder = Path(settings["output"])
    folder.mkdir(parents=True, exist_ok=True)
    clock = remaking.weekday_time(time + made.run.clock).replace(" ", "-").replace(":", "")
    with style.styled():
        figure = torus.draw(made, time)
        for file in style.save(
            figure, folder, f"gangster-{settings['policy'] or made.name.partition(',')[0]}-{clock}"
        ):
            print(file.absolute())
