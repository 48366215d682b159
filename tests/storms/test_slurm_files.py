"""A site's files with words exchanged, huge numbers, odd bytes, missing ends and keys that are repeated.

Each of slurm.conf, a dump of associations, QOS, reservations and sacct ends in a schedule or in one line.
"""

import random
import re
import shutil
from pathlib import Path

import pytest
from storm import Storm, of_error, verdict

from models.slurm.configuration.keys import KNOWN, names_of, words_of
from models.slurm.configuration.nodes import NodeKeys
from models.slurm.configuration.partitions import Partition
from models.slurm.configuration.settings import Settings

FILES = Path(__file__).parents[1] / "data" / "slurm"
ATTACKED = ["slurm.conf", "slurm.conf", "associations.cfg", "qos.txt", "reservations.txt", "sacct.txt"]
STUDY = (
    *("+experiment=slurm_what_if", "policy.path=slurm.conf", "workload.path=sacct.txt", "executor=serial"),
    *("policy.over_limit=cap", "batches=1", "batch_size=null", "output=out"),
)
GANG = "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\nSchedulerTimeSlice=30\n"
NUMBERS = [
    "0",
    "-1",
    "1",
    "65536",
    "4294967295",
    "999999999999",
    "9" * 25,
    "9" * 401,
    "1e300",
    "nan",
    "0x7f",
    "٣",
]
TEXTS = [
    *NUMBERS,
    "",
    "abc",
    "UNLIMITED",
    "FORCE:1000",
    "n[1-",
    "n[1-99999999]",
    "(null)",
    "a=b",
    "é",
    "*",
    "\\",
]
BYTES = [b"\0", b"\xff\xfe", b"\x1b[2J", "\u202e".encode(), b"\r", b'"', b"'", b"#", b"\\\n", b"|", b"\t=\t"]


def exchanged(text: bytes, chance: random.Random) -> bytes:
    """Exchange two words."""
    words = re.split(rb"([ |=:,\n]+)", text)
    places = [k for k in range(0, len(words), 2) if words[k]]
    one, other = chance.choice(places), chance.choice(places)
    words[one], words[other] = words[other], words[one]
    return b"".join(words)


def with_number(text: bytes, chance: random.Random) -> bytes:
    """Put another number, or another text, in place of one."""
    found = chance.choice(list(re.finditer(rb"\d+", text)))
    new = chance.choice(NUMBERS if chance.random() < 0.7 else TEXTS)
    return text[: found.start()] + new.encode() + text[found.end() :]


def with_bytes(text: bytes, chance: random.Random) -> bytes:
    """Put bytes anywhere."""
    at = chance.randrange(len(text))
    return text[:at] + chance.choice(BYTES) + text[at:]


def cut(text: bytes, chance: random.Random) -> bytes:
    """Leave out a part, or the end."""
    begin = chance.randrange(len(text))
    return text[:begin] + (text[begin + chance.randrange(200) :] if chance.random() < 0.7 else b"")


def repeated(text: bytes, chance: random.Random) -> bytes:
    """Have a line twice, or a word of it."""
    lines = text.split(b"\n")
    at = chance.randrange(len(lines))
    words = lines[at].split(b" ")
    further = [lines[at]] if chance.random() < 0.5 else [b" ".join([*words, chance.choice(words)])]
    lines[at:at] = further
    return b"\n".join(lines)


def with_key(text: bytes, chance: random.Random) -> bytes:
    """Set any key that Slurm knows to anything."""
    alone = [*names_of(Settings), *KNOWN["settings"]["not_modelled"], *KNOWN["settings"]["no_effect"].split()]
    kind = chance.random()
    value = chance.choice(TEXTS)
    if kind < 0.4:
        line = f"{chance.choice(alone)}={value}"
    elif kind < 0.6:
        line = f"SchedulerParameters={chance.choice(list(words_of(Settings)))}={value}"
    elif kind < 0.8:
        line = f"PartitionName=more Nodes=n[001-004] {chance.choice(names_of(Partition))}={value}"
    else:
        line = f"NodeName=x[1-4] CPUs=4 {chance.choice(names_of(NodeKeys))}={value}"
    return text + b"\n" + line.encode() + b"\n"


WAYS = [exchanged, with_number, with_number, with_bytes, cut, repeated]


def attacked(chance: random.Random, folder: Path) -> str:
    """Write a site's files, one of them changed, and return how."""
    for file in (one for one in FILES.iterdir() if one.is_file()):
        shutil.copy(file, folder / file.name)
    conf = folder / "slurm.conf"
    if chance.random() < 0.3:
        conf.write_text(GANG + re.sub("OverSubscribe=NO", "OverSubscribe=FORCE:3", conf.read_text()))
    name, done = chance.choice(ATTACKED), []
    for _ in range(chance.choice([1, 1, 2, 3])):
        way = with_key if name == "slurm.conf" and chance.random() < 0.4 else chance.choice(WAYS)
        path = folder / name
        path.write_bytes(way(path.read_bytes() or b"a 1", chance) or b"1")
        done.append(way.__name__)
    return f"{name}: {', '.join(done)}"


def test_files_of_a_site(ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    storm = Storm("slurm files", 40, in_full=4000)
    for number, chance in enumerate(storm):
        attack = f"{number}, {attacked(chance, tmp_path)}"
        outcome, answer = verdict(lambda: ask(*STUDY))
        if outcome == "answered":
            refused = [line for line in answer.err.splitlines() if line.startswith("error: ")]
            outcome = "simulated" if answer.status == 0 else of_error(refused[-1] if refused else answer.err)
            if "Traceback" in answer.err + answer.out or (answer.status and not answer.err.strip()):
                outcome = "traceback"
        storm.note(outcome, f"{attack}\n{answer}")
        shutil.rmtree("out", ignore_errors=True)
    storm.end()
