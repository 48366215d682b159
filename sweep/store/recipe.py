"""The attribute ``recipe`` (JSON) of a dataset, from which it can be made again.

- ``study``: the config as it was asked for, with every file of conf that it names (`sweep.config.kept`), its
  interpolations resolved: a recipe has no interpolations, and none would be resolved when it is read.
  Null stands for a file that the attribute ``config`` contains unchanged (arrays of jobs are long).
- ``logs``: path -> SHA-256, of every log. A log itself is too long to carry.
- ``modules``: file -> text, of code that is neither this project's nor an installed package's.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from omegaconf import OmegaConf, SCMode
from omegaconf.errors import OmegaConfBaseException

from sweep.config import kept, nested, schema
from sweep.config.settings import GROUPS, OF_THE_RUN, Config, Settings, check
from sweep.errors import SweepError, one_line
from sweep.plan import grid, sources
from sweep.plan.data import Plan
from sweep.store import provenance

FORM = 1
"""Version of the attribute's form; no other version can be read."""

DIGEST = "sha256:"

LONGEST_TEXT = 10_000
"""Maximum length of a string in a recipe."""

INTERPOLATION = "${"


def text(plan: Plan) -> str:
    """Return the recipe of a plan.

    It is empty if an interpolation refers to a key that an axis varies: no file without interpolations has
    the same values.
    """
    if any(getattr(family, "value", b"") for family in plan.families.values()):  # a function of a session
        return ""
    settings = _without_run(plan.asked.settings)
    asked = replace(plan.asked, settings=settings, files=_resolved(plan), logs={}, typed=())
    study = kept.as_json(asked)
    if INTERPOLATION in json.dumps(study["files"]):
        return ""
    for group in GROUPS:
        known = {variant.parameters["name"]: variant.content for variant in plan.variants[group]}
        for name, file in study["files"].get(group, {}).items():
            if {**file, "name": name} == known.get(name):
                study["files"][group][name] = None
    logs = {
        variant.parameters["path"]: variant.content["path"].removeprefix(DIGEST)
        for group in GROUPS
        for variant in plan.variants[group]
        if variant.content.get("path") is not None
    }
    data = provenance.sanitised({"form": FORM, "study": study, "logs": logs})
    # Code is stored unchanged: another text would be other code.
    return json.dumps({**data, "modules": sources.own_files(plan.sources)})


def _resolved(plan: Plan) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the files of a plan with the values of its variants in place of interpolations."""
    files: Any = copy.deepcopy(plan.asked.files)
    set_by_axes = (
        {}
        if plan.settings.is_program
        else {(target.group, target.key) for target in grid.targets(plan.asked.settings).values()}
    )
    for group, named in files.items():
        for name, file in named.items():
            variants = [one.parameters for one in plan.variants[group] if one.parameters["name"] == name]
            for key, value in list(nested.leaves(file)):
                found = [nested.get(one, key) for one in variants]
                is_one = all(one == found[0] for one in found) or (group, key) in set_by_axes
                if INTERPOLATION in str(value) and is_one:
                    nested.put(file, key, found[0])
    return files


def read(attributes: Mapping[str, Any]) -> tuple[Config, dict[str, str], dict[str, str]]:
    """Return the config, the logs and the modules of a dataset's attributes.

    Raises
    ------
    Exception
        Of any kind, if the recipe is missing, or has another form; see `sweep.rerun.original.understood`.
    SweepError
        With the command line's message, if a setting has a value that no command could have given it.
    """
    data = json.loads(attributes["recipe"])
    if data["form"] != FORM:
        raise ValueError(f"form {data['form']}")
    known = json.loads(attributes["config"])
    study = data["study"]
    for group in GROUPS:
        for name, file in study["files"].get(group, {}).items():
            if file is None:
                content = known[group][name]
                study["files"][group][name] = {key: content[key] for key in content if key != "name"}
    return _checked(kept.from_json(study)), data["logs"], data["modules"]


def _checked(config: Config) -> Config:
    """Check a recipe by the schema of the command line: its file may be a stranger's, or damaged."""
    found = set(texts(kept.as_json(config)))
    if computed := sorted(text for text in found if INTERPOLATION in text):
        raise SweepError(
            f"the recipe has values that would be computed as they are read ({', '.join(computed)[:200]}), "
            "and no recipe of this version has any: run its command again"
        )
    if max(map(len, found), default=0) > LONGEST_TEXT:
        raise SweepError(f"the recipe has texts of over {LONGEST_TEXT:,} characters: run its command again")
    try:
        typed = OmegaConf.structured(_without_run(config.settings))
        settings: Any = OmegaConf.to_container(
            typed, resolve=False, structured_config_mode=SCMode.INSTANTIATE
        )
    except OmegaConfBaseException as error:
        raise SweepError(f"the recipe's settings do not describe a study: {one_line(error)}") from None
    check(replace(settings, output="anywhere"))  # settings of the run are not in a recipe
    for group in GROUPS:
        for name, file in config.files.get(group, {}).items():
            if not name.isprintable() or "/" in name or name in (".", ".."):
                raise SweepError(f"the recipe names a {group} {name!r}, which no file can have: not rerun")
            schema.check(group, name, file)
    for name, file in config.groups.items():
        schema.check("groups", name, file)
    return replace(config, settings=settings)


def _without_run(settings: Settings) -> Settings:
    defaults = Settings(name=settings.name)
    changed = {key.name: getattr(defaults, key.name) for key in fields(Settings) if key.name in OF_THE_RUN}
    return replace(settings, **changed)


def texts(value: Any) -> Iterator[str]:
    """Yield all strings of a config, including the names of its keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts(key)
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)
