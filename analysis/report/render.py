"""The report: one HTML file with every figure, every claim and their evidence."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.claims import VERDICTS, Claim
from analysis.claims.counting import beyond_chance, count, counted, of_kind, verb
from analysis.claims.rows import words
from analysis.figures import style
from analysis.figures.verdict_map import in_words
from analysis.paper import Paper
from analysis.report.drawn import DrawnPicture
from analysis.report.facts import facts, period, policies
from analysis.report.points import Points
from analysis.report.summary import summary
from analysis.report.table import LONG
from analysis.report.warnings import warnings
from analysis.study import Study
from models.dotted import OURS
from sweep.config import choices, locate
from sweep.policy_names import label
from sweep.store import provenance


def prepared(
    study: Study, paper: Paper, tested: Mapping[str, Sequence[Claim]], points: Points | None = None
) -> Callable[[Sequence[DrawnPicture]], str]:
    """Return a function that renders the report as HTML from its pictures.

    Parameters
    ----------
    tested : dict of str to sequence of Claim
        The claims under each reading by its letter, in the same order for all; empty without a paper.
    points : Points, optional
        The table of all points.
    """
    environment = Environment(
        loader=PackageLoader("analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"breakable": _breakable, "claimed": in_words, "verb": verb}
    claims = next(iter(tested.values()))
    limits = warnings(study, paper)
    page = partial(
        environment.get_template("report.html.j2").render,
        study=study,
        paper=paper,
        title=title(study, paper),
        tested=tested,
        claims=claims,
        counted={letter: counted(found) for letter, found in tested.items()},
        judged=of_kind(claims, "finding"),
        rows=rows(tested),
        counts=count(claims),
        standing=beyond_chance(claims, study.confidence),
        verdict_names=VERDICTS,
        words=words(),
        colors=style.VERDICT_COLORS,
        signs=style.VERDICT_SIGNS,
        facts=facts(study),
        long=LONG,
        summary=summary(study, paper, claims, limits),
        points=points,
        again=again(study),
        policies=policies(study),
        readings=paper.readings(study),
        tables=paper.tables(study),
        labels={letter: one.title for letter, one in study.readings.items()},
        warnings=limits,
        attributes=attributes(study),
    )
    return lambda drawn: page(
        drawn=drawn,
        main=main_picture(claims, drawn),
        shown={one.picture.name: one.picture.title for one in drawn if not one.skipped},
        by_figure=by_figure(claims, drawn),
    ).replace(" %", "\N{NO-BREAK SPACE}%")


def main_picture(claims: Sequence[Claim], drawn: Sequence[DrawnPicture]) -> DrawnPicture | None:
    """Return the picture of the first screen: the one with the most sentences, else the first."""
    there, found = [one for one in drawn if not one.skipped], by_figure(claims, drawn)
    return max(there, key=lambda one: len(found[one.picture.name]), default=None)


def _breakable(name: str) -> Markup:
    """Return a name in which a browser may break lines after underscores."""
    return Markup("_<wbr>").join(name.split("_"))


def by_figure(claims: Sequence[Claim], drawn: Sequence[DrawnPicture]) -> dict[str, list[Claim]]:
    """Return the claims that a figure shows, by its name."""
    return {
        one.picture.name: [claim for claim in claims if one.picture.name in claim.figures] for one in drawn
    }


WORST_FIRST = ("fails", "direction holds", "inconclusive", "holds")
"""Order of the table of verdicts: failures first, inputs last."""


def rows(tested: Mapping[str, Sequence[Claim]]) -> list[tuple[Claim, dict[str, Claim]]]:
    """Return each claim under the first reading, and under all by their letters, sorted."""
    first = next(iter(tested.values()))
    found = [
        (claim, {letter: claims[i] for letter, claims in tested.items()}) for i, claim in enumerate(first)
    ]
    return sorted(found, key=lambda row: (bool(row[0].calibrated), WORST_FIRST.index(row[0].verdict)))


IN_FACTS = ("config", "facts", "recipe", "command", "versions", "sources", "commit")
"""Attributes that are long, or part of the facts."""


def attributes(study: Study) -> list[tuple[str, str]]:
    """Return the dataset's attributes on its origin, without long ones and those in the facts."""
    kept = [
        (key.replace("_", " "), _plain(str(value)))
        for key, value in study.data.attrs.items()
        if key not in IN_FACTS
    ]
    asked = ("replications", "batches", "batch_size", "warmup", "seed")
    kept += [(key.replace("_", " "), str(study.settings[key])) for key in asked if key in study.settings]
    return kept


def _plain(value: str) -> str:
    """Return a JSON mapping as words, and any other text unchanged."""
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return ", ".join(f"{key} {item}" for key, item in found.items()) if isinstance(found, dict) else value


NOT_INSTALLED = ("python", "schedsweep")
"""Versions that pip does not install."""


def again(study: Study) -> dict[str, Any]:
    """Return the commands that repeat a study; empty where the dataset lacks the data for one.

    Returns
    -------
    dict
        ``rerun`` (from the dataset alone) and ``command`` (the original one); ``environment`` (pairs of the
        original run's software and version), ``install`` and ``checkout`` (the commands that restore it).
    """
    attributes = study.data.attrs
    versions = provenance.known_versions(json.loads(attributes.get("versions", "{}")))
    commit = provenance.known_commit(str(attributes.get("commit", "")))
    pinned = [f"{name}=={number}" for name, number in versions.items() if name not in NOT_INSTALLED]
    environment = list(versions.items())
    if commit:
        environment.append(("commit", provenance.shown_commit(commit)))
    dataset = shlex.quote(provenance.sanitised(str(study.folder / f"{study.name}.nc")))
    return {
        "rerun": f"python -m sweep rerun {dataset}{_permits(attributes)}" if "recipe" in attributes else "",
        "command": str(attributes.get("command", "")),
        "environment": tuple(environment),
        "install": f"pip install {' '.join(pinned)}" if pinned else "",
        "checkout": f"git checkout {commit.removesuffix('-dirty')[:12]}" if commit else "",
    }


def _permits(attributes: Mapping[str, Any]) -> str:
    """Return the arguments without which a rerun refuses code that is not this project's."""
    carried = {
        place.partition("/")[0].removesuffix(".py") for place in _json(attributes, "recipe", "modules")
    }
    named = {name.partition(".")[0] for name in _json(attributes, "sources")}
    config = _json(attributes, "config", "settings")
    others = named - {*OURS} - carried or config.get("command")
    return " modules=code" * bool(carried) + " trust=true" * bool(others)


def _json(attributes: Mapping[str, Any], name: str, *keys: str) -> dict[str, Any]:
    """Return a JSON object in an attribute, empty where there is none."""
    found: Any = {}
    with suppress(ValueError):
        found = json.loads(attributes.get(name, "{}"))
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


NAMED = 4
"""Most policies that a title names."""


def title(study: Study, paper: Paper) -> str:
    """Return the title of a study: of a paper's experiment its file's description, else its content."""
    if paper.citation:
        known = dict(choices.described("experiment", [locate.conf_folder()]))
        if words := known.get(study.name, "").partition(", Fig")[0].rstrip("."):
            return words
    if study.is_program:
        axes = [axis for axis in study.axes_shown if study.varies(axis)]
        return study.policies[0] + (f" over {' and '.join(axes)}" if axes else "")
    logs = study.facts.get("logs", [])
    workloads = [str(log["file"]).partition(".")[0] for log in logs] or list(study.config.get("workload", {}))
    jobs = (
        " and ".join(dict.fromkeys(workloads)) if len(set(workloads)) < 3 else f"{len(workloads)} workloads"
    )
    names = [label(policy) for policy in study.compared]
    policies = f"{len(names)} policies" if len(names) > NAMED else " and ".join(names[-2:])
    if 2 < len(names) <= NAMED:
        policies = f"{', '.join(names[:-2])}, {policies}"
    found = f"{policies} on {jobs or 'one workload'}"
    if len(logs) != 1:
        return found
    parts = [str(logs[0].get("system") or ""), period(logs[0])]
    return ", ".join(filter(None, [found, *parts]))
