"""``schedsweep completion SHELL``: the script by which a shell completes commands, experiments and keys."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields

from sweep.config import choices, locate
from sweep.config.settings import BELOW, GROUPS, Settings
from sweep.errors import SweepError, unknown

WITH_EXPERIMENT = ("run", "plan", "status", "gather", "cancel")
COMMANDS = (*WITH_EXPERIMENT, "rerun", "analysis", "slurm", "docs", "completion")

SCRIPTS = {
    "bash": """\
_schedsweep() {
  local line="${COMP_LINE:0:COMP_POINT}" word
  word="${line##* }"
  COMPREPLY=($(compgen -W "$(schedsweep completion --words $line)" -- "$word"))
  [[ $word == *=* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%=*}="}")
  [[ ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace
}
complete -o default -F _schedsweep schedsweep
""",
    "zsh": """\
_schedsweep() {
  local -a found
  found=(${(f)"$(schedsweep completion --words ${words[1,CURRENT]})"})
  compadd -S '' -- $found || _files
}
compdef _schedsweep schedsweep
""",
    "fish": """\
complete -c schedsweep -a '(schedsweep completion --words (commandline -opc) (commandline -ct))'
""",
}

USAGE = """\
usage: schedsweep completion bash|zsh|fish

Prints the script with which the shell completes commands, experiments and keys. For good:
  bash   echo 'eval "$(schedsweep completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(schedsweep completion zsh)"' >> ~/.zshrc      (after compinit)
  fish   schedsweep completion fish > ~/.config/fish/completions/schedsweep.fish"""


def main(arguments: Sequence[str]) -> int:
    """Print a script, or the words that may come next; return the exit status."""
    if arguments[:1] == ["--words"]:
        print("\n".join(following(arguments[2:])))
    elif not arguments or {"-h", "--help"} & {*arguments}:
        print(USAGE)
    elif len(arguments) > 1 or arguments[0] not in SCRIPTS:
        print(f"error: {SweepError(unknown('shell', ' '.join(arguments), SCRIPTS))}", file=sys.stderr)
        return 2
    else:
        print(SCRIPTS[arguments[0]], end="")
    return 0


def following(words: Sequence[str]) -> Iterable[str]:
    """Return what the last word of a command may become; the first word is the command.

    Examples
    --------
    >>> following(["st"]), [word for word in following(["run", "packing", "batch"]) if "size" in word]
    (['status'], ['batch_size='])
    >>> following(["run", "packing", "grid.policy=[buddy,migr"])
    ['grid.policy=[buddy,migration']
    """
    command, last = (words or [""])[0], (words or [""])[-1]
    folders = locate.folders(None)

    def names(group: str) -> list[str]:
        return [name for name, _ in choices.described(group, folders)]

    if len(words) <= 1:
        found: Iterable[str] = COMMANDS
    elif command == "completion":
        found = SCRIPTS
    elif command == "docs":
        from sweep import pages

        found = pages.pages()
    elif command not in WITH_EXPERIMENT:
        return []
    elif len(words) == 2:
        found = names("experiment")
    else:
        key, equals, _ = last.partition("=")
        group = key.removeprefix("grid.")
        if equals:
            before = last[: 1 + max(map(last.rfind, "=[,"))]  # also within a list
            found = [before + name for name in (names(group) if group in (*GROUPS, "executor") else ())]
        else:
            known = [field.name for field in fields(Settings) if field.name not in ("name", "action")]
            below = [f"{above}.{name}=" for above, inner in BELOW.items() for name in inner]
            axes = [f"grid.{axis}=" for axis in (*GROUPS, "load")]
            found = [*(f"{name}=" for name in known if name not in BELOW), *below, *axes, "--config-dir"]
    return [word for word in found if word.startswith(last)]
