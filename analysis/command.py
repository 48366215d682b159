"""The command line of the analysis: figures, claims and a report of an experiment, or one drawing.

Heavy modules are imported when they are needed, so that help and errors are quick.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.arguments import log_folder, parsed
from analysis.errors import AnalysisError, DrawingError, in_one_line
from models import dotted
from schedsweep.terminal import wrapped
from sweep import plugins
from sweep.errors import SweepError, closest

if TYPE_CHECKING:
    from analysis.claims import Claim
    from analysis.report.drawn import DrawnPicture

HELP = """\
python -m analysis RESULTS [key=value ...]
    Draws every figure of an experiment (PDF, SVG, PNG), tests the sentences of its paper, if there is one,
    and writes a report.
    RESULTS is a results folder of python -m sweep, e.g. results/packing.

    AXIS=VALUES    draw only these, e.g. workload=kth load=0.5,0.9; axes of metrics as well: user_rank=1
    along=AXIS     horizontal axis of your own study's figures; default: its first numeric axis
    reference=NAME reference of all comparisons; default: easy, else the first policy
    metrics=NAMES  metrics to draw, or all; default: means, and some of their percentiles and maxima
    figures=NAMES  draw only these, e.g. figures=fig8,fig10, and write no report
    logs=FOLDER    folder of job logs (SWF); default: $TRACES, else ../shared/traces or traces
    paper=KEY      the paper whose figures and claims to use, or the dotted name of a paper of your own;
                   default: by the experiment's name; for your own study compare, which draws any study
    modules=FOLDER a folder of your own modules; code in it that the dataset names may run
    output=FOLDER  where to write; default: RESULTS

python -m analysis draw NAME [key=value ...]
    Draws one picture from the simulator's own output into results/drawings, or output=FOLDER.
    List: python -m analysis draw. Drawings with conf= also take the keys of policies, workloads and
    machines: workload.size=16, machine.torus=8x8

python -m analysis explore RESULTS
    Opens a page in your browser to explore a dataset, even while a sweep is filling it; --help prints more.

python -m analysis gangster RESULTS --at "Tue 13:25"
    Shows the machine and jobs of the Cray T3D at a moment of a run (Jette 1997, Fig. 2); --help prints more.

Examples
    python -m analysis results/packing
    python -m analysis results/mine reference=fcfs workload=kth output=results/mine/kth
    python -m analysis draw matrix policy=migration load=0.9 time=500
    python -m analysis draw fig9 output=pictures
    python -m analysis draw equi processors=16x32 jobs=11

Writes RESULTS/figures/*, RESULTS/claims.json (for a paper), RESULTS/points.csv (all points),
RESULTS/table.csv (numbers of your own study) and RESULTS/report.html (one file, to mail).
Exit status: 0 done (whatever the verdicts), 2 for a mistake in the command."""

DRAWINGS = "results/drawings"
"""Default folder of drawings."""

GROUPS = ("policy", "workload", "machine")
"""Groups of conf whose keys drawings take."""

OPTIONS = ("figures", "logs", "output", "paper")
"""Keys that choose files and the paper; all other keys are axes or belong to `analysis.study.view`."""

KEYS = ("along", "figures", "logs", "metrics", "output", "paper", "reference")
"""Keys that any study has, for messages."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit status."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(wrapped(HELP))
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from sweep.store.provenance import package_version

        print(f"schedsweep {package_version('schedsweep')}")
        return 0
    try:
        arguments = plugins.taken(arguments)
        # A dataset may come from a stranger: import nothing else that it names. `draw` reads no dataset.
        with nullcontext() if arguments[:1] == ["draw"] else dotted.only(plugins.trusted()):
            return _act(arguments)
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (AnalysisError, DrawingError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"error: not enough memory ({error}); give fewer jobs", file=sys.stderr)
        return 2
    except OSError as error:
        print(
            f"error: {error.filename or 'output'}: {error.strerror}; give another folder, output=FOLDER",
            file=sys.stderr,
        )
        return 2


def _act(arguments: Sequence[str]) -> int:
    if not arguments:
        raise AnalysisError("name a results folder, e.g. python -m analysis results/packing")
    if arguments[0] == "draw":
        _draw(arguments[1:])
    elif arguments[0] == "explore":
        from analysis.explorer import command

        with in_one_line(" ".join(arguments[1:])):
            command.main(arguments[1:])
    elif {"-h", "--help"} & {*arguments[1:]} and _named(arguments[0]) is None:
        print(wrapped(HELP))
    elif (named := _named(arguments[0])) is not None:
        with in_one_line(" ".join(arguments[1:])):
            named(arguments[1:])
    else:
        from analysis.registry import commands

        known = ["draw", "explore", *commands()]
        if not Path(arguments[0]).exists() and (meant := closest(arguments[0], known)):
            raise AnalysisError(f"{arguments[0]} does not exist: did you mean python -m analysis {meant}?")
        with in_one_line(arguments[0]):
            _analyse(Path(arguments[0]), parsed(arguments[1:], KEYS, lambda key: True))
    return 0


def _named(name: str) -> Callable[[Sequence[str]], None] | None:
    """Return the command of a paper; None for a name that may be a folder."""
    if not name.isidentifier() or Path(name).exists():
        return None
    from analysis.registry import commands

    return commands().get(name)


def _analyse(where: Path, settings: Mapping[str, str]) -> None:
    from analysis.registry import opened
    from analysis.report.table import room

    started = time.perf_counter()
    chosen = {key: value for key, value in settings.items() if key not in OPTIONS}
    study, paper = opened(where, settings.get("paper"), chosen)
    of_logs = log_folder(settings)
    output = Path(settings.get("output", study.folder))
    points = ", ".join(f"{n} {state}" for state, n in study.tally().items() if state != "excluded")
    source = f"{paper.citation.partition(',')[0]} ({paper.key})" if paper.citation else paper.key
    print(f"{study.name}: points: {points}; paper: {source}", flush=True)

    from analysis.report import writing

    drawn = []
    named = settings.get("figures", "").split(",") if "figures" in settings else None
    with _one_line_if_named(settings.get("paper"), study.name):
        drawing = writing.figures(study, paper, output, of_logs, named)
        made = None if named is not None else writing.content(study, paper)  # while other processes draw
        for number, total, done in drawing:
            drawn.append(done)
            outcome = f"skipped: {done.skipped}" if done.skipped else done.picture.title
            print(f"[{number:2}/{total}] {done.picture.name:16} {outcome}", flush=True)
        if made is None:
            for done in drawn:
                print("" if done.svg is None else done.svg.with_suffix(".png").absolute())
            return
        if not drawn and not made.claims:
            raise AnalysisError(
                f"{paper.key} has neither figures nor sentences for the experiment {study.name!r}: it covers "
                f"{', '.join(paper.experiments)}; give another paper, paper=KEY"
            )
        writing.report(output, made, drawn)
        table = writing.numbers(study, paper, output)
        brief = paper.brief(study)
    for line in brief:
        print(wrapped(line, room() or sys.maxsize))
    _summary(output, drawn, made.claims, table, time.perf_counter() - started)


@contextmanager
def _one_line_if_named(paper: str | None, experiment: str) -> Iterator[None]:
    """Raise an error of one line if a study does not suit the paper that the user named.

    Only a paper's figures and tests show which axes and metrics it needs.
    """
    try:
        yield
    except (LookupError, ValueError, AttributeError) as error:
        if paper is None or isinstance(error, AnalysisError):
            raise
        reason = str(error).partition("\n")[0].strip("'\"")[:150]
        raise AnalysisError(
            f"paper={paper} cannot read the experiment {experiment!r}, which lacks an axis or a metric that "
            f"it needs ({reason}); omit paper=, or give another paper"
        ) from None


def _summary(
    output: Path,
    drawn: Sequence[DrawnPicture],
    claims: Sequence[Claim],
    table: tuple[Path, int] | None,
    seconds: float,
) -> None:
    from analysis.claims.counting import counted

    n_drawn = sum(not done.skipped for done in drawn)
    print(f"figures  {output / 'figures'}  ({n_drawn} drawn, {len(drawn) - n_drawn} skipped)")
    by_reading: dict[str, list[Claim]] = {}
    for claim in claims:
        by_reading.setdefault(claim.reading, []).append(claim)
    for number, (reading, found) in enumerate(by_reading.items()):
        counts = counted(found)
        where = f"claims   {output / 'claims.json'}  ({counts})"
        print(f"         {reading}: {counts}" if number else where + (f" {reading}" * (len(by_reading) > 1)))
    print(f"points   {output / 'points.csv'}")
    if table is not None:
        print(f"table    {table[0]}  ({table[1]:,} row{'s' * (table[1] != 1)})")
    print(f"report   {output / 'report.html'}  ({seconds:.0f} s)")


def _draw(arguments: Sequence[str]) -> None:
    from analysis.figures import style
    from analysis.registry import drawings
    from sweep import compiling

    known = drawings()
    if not arguments or arguments[0] in ("-h", "--help"):
        for name, drawing in known.items():
            keys = " ".join(
                f"{key}={value}" for key, value in {**drawing.settings, "output": DRAWINGS}.items()
            )
            print(wrapped(f"{name}\n    {drawing.help}\n    {keys}"))
        return
    name = arguments[0]
    if name not in known:
        raise AnalysisError(f"draw {name}: no such drawing; valid: {', '.join(known)}")
    drawing = known[name]
    takes_files = "conf" in drawing.settings
    more = ", and policy.KEY=, workload.KEY=, machine.KEY=" if takes_files else ""
    settings = parsed(
        arguments[1:],
        sorted({*drawing.settings, "output"}),
        lambda key: takes_files and "." in key and key.partition(".")[0] in GROUPS,
        more,
    )
    folder = Path(settings.pop("output", DRAWINGS))
    folder.mkdir(parents=True, exist_ok=True)
    with style.styled():
        with compiling.noticed():
            figure = drawing.draw({**drawing.settings, **settings})
        for file in style.save(figure, folder, file_name(name, settings.values())):
            print(file.absolute())


def file_name(name: str, values: Iterable[str]) -> str:
    """Return the name of a drawing's files, without characters that some file systems refuse.

    Examples
    --------
    >>> file_name("torus", ["results/llnl_t3d", "Tue 13:25"])
    'torus-Tue-1325'
    """
    names = (value.replace(" ", "-").replace(":", "") for value in values if "/" not in value)
    return "-".join(filter(None, (name, *names)))
