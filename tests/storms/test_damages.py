"""Files of a results folder are damaged: the same command mends them, or names the file in one line."""

import os
import random
import shutil
from pathlib import Path

from storm import Storm, of_error, verdict
from study_commands import numbers

KEPT = Path("kept/queue")
WHERE = Path("results/queue")
STUDY = ("replications=1", "grid.load=[0.3]")


def flipped(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return b"\0"
    where = chance.randrange(len(data))
    return data[:where] + bytes([data[where] ^ 1 << chance.randrange(8)]) + data[where + 1 :]


CONTENTS = {
    "flip": flipped,
    "cut": lambda data, chance: data[: chance.randrange(len(data) + 1)],
    "empty": lambda data, chance: b"",
    "noise": lambda data, chance: chance.randbytes(chance.randrange(1, 200)),
    "more": lambda data, chance: data + chance.randbytes(7),
    "list": lambda data, chance: b"[1, 2]\n",
    "null": lambda data, chance: b"null\n",
    "number": lambda data, chance: b"3\n",
    "object": lambda data, chance: b'{"settings": 1}\n',
}


def damage(file: Path, chance: random.Random) -> str:
    """Damage a file, and return how."""
    how = chance.choice([*CONTENTS, "gone", "folder", "link to nothing", "link to itself", "pipe", "closed"])
    if how in CONTENTS:
        file.write_bytes(CONTENTS[how](file.read_bytes(), chance))
    elif how == "closed":
        file.chmod(0)
    else:
        file.unlink()
    if how == "folder":
        file.mkdir()
    elif how.startswith("link"):
        file.symlink_to("nowhere" if how == "link to nothing" else file.name)
    elif how == "pipe":
        os.mkfifo(file)
    return how


def test_damages(sweep) -> None:
    assert sweep(*STUDY, f"output={KEPT}").status == 0
    whole = numbers(str(KEPT))
    storm = Storm("damages", 40, in_full=5000)
    for chance in storm:
        shutil.rmtree(WHERE.parent, ignore_errors=True)
        shutil.copytree(KEPT, WHERE)
        files = sorted(path for path in WHERE.rglob("*") if path.is_file())
        damaged = {file: damage(file, chance) for file in chance.sample(files, chance.choice([1, 1, 1, 2]))}
        action = chance.choice(["run", "run", "gather", "status", "plan"])
        attack = f"{action}: {', '.join(f'{file} {how}' for file, how in damaged.items())}"
        outcome, answer = verdict(lambda action=action: sweep(*STUDY, f"action={action}"))
        if outcome == "answered" and answer.err:
            outcome = of_error(answer.err)
            if outcome == "refused in one line" and not any(file.name in answer.err for file in damaged):
                storm.note("refused without the file's name", f"{attack}: {answer.err}")
        storm.note(outcome, f"{attack}\n{answer}")
        for file in damaged:  # as the line says
            if file.is_dir() and not file.is_symlink():
                file.rmdir()
            elif (file.is_symlink() or file.exists()) and not file.is_file():
                file.unlink()
            elif file.is_file():
                file.chmod(0o644)
        outcome, answer = verdict(lambda: sweep(*STUDY))
        if outcome != "answered" or answer.status:
            storm.note("traceback" if outcome == "answered" else outcome, f"after {attack}\n{answer}")
        elif not numbers(str(WHERE)).identical(whole):
            storm.note("wrong bits", attack)
    storm.end()
