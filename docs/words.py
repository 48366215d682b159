"""Expressions that the project's prose avoids, and what to write instead; ``make style`` runs this file.

Comments, docstrings, messages and pages are plain English as the field writes it. A reader stumbles over each
expression below, or has to guess what it refers to. Text in “…” is quoted from a paper and is skipped.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {".py", ".md", ".yaml"}
PLACES = (
    "models", "sweep", "analysis", "slurm", "schedsweep", "tests", "benchmarks", "docs", "conf", "README.md",
    "CHANGELOG.md", "CONTRIBUTING.md",
)  # fmt: skip
COMPARED = (
    r"longer|more|less|fewer|larger|smaller|shorter|wider|narrower|better|worse|slower|faster|higher|lower"
)

EXPRESSIONS = {
    r"\b(that|those) of\b": "repeat the noun, or use a possessive",
    rf"(?<!\bthere\s)\b(is|are|was|were) no (?!{COMPARED}\b)[a-z]+": "'is not a …', or what was expected",
    r"\bso (many|few)\b": "name the number, or write 'this number of'",
    r"\banew\b": "again, recompute, rerun",
    r"\b(nobody|somebody|everybody|whoever)\b": "name the user, or the missing value",
    r"\b(tells?|told)\b": "report, print, return, state",
    r"\b(an?|the|first|last|next|each|every|no|one|two) looks?\b": "checkpoint, pass, wake-up, style",
    r"\bin thought\b": "conceptually",
    r"\bmeans nothing\b": "is ignored",
    r"\bin no (mean|sentence|table)\b": "is excluded from",
    r"\b(has|have|is|as|by|no|beyond|to|left to) chance\b": "is random, is stochastic, at random",
    r"\b(hear|hears)\b": "notes for the user",
    r"\bany but\b": "any … except",
    r"\bfew enough\b": "small enough",
    r"\bclaims? too much\b": "overconfident",
    r"\bstands? (there )?alone\b": "is defined only there",
    r"\bone's own\b": "a user's own, your own",
    r"\bbut for\b": "except, except for",
    r"\b(puts?|putting) off\b": "postpone",
    r"\bworks? off\b": "completes",
    r"\bgone through\b": "is processed",
    r"\bfirst come,? first serve\b": "first come, first served",
    r"\bwhat is (highest|lowest)\b": "name the value",
}


def found(text: str) -> list[tuple[int, str, str]]:
    """Return line number, expression and advice of each expression in a text, also across a line's end."""
    own = re.sub(r"“[^”]*”", lambda quoted: re.sub(r"\S", "_", quoted[0]), text)
    plain = re.sub(r"\n[ \t]*(# ?|> ?)?", lambda end: "\n" + " " * (len(end[0]) - 1), own)
    return sorted(
        (text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), advice)
        for expression, advice in EXPRESSIONS.items()
        for match in re.finditer(expression.replace(" ", r"\s+"), plain, re.IGNORECASE)
    )


def main(places: list[str]) -> int:
    """Print each expression in some places, by default all; return 1 if there is one, else 0."""
    folders = [ROOT / place for place in places or PLACES]
    files = [path for folder in folders for path in ([folder] if folder.is_file() else folder.rglob("*"))]
    hits = 0
    for path in sorted(path for path in files if path.suffix in SUFFIXES):
        if {"_build", "generated"} & set(path.parts) or path == Path(__file__).resolve():
            continue
        for line, words, advice in found(path.read_text(encoding="utf-8")):
            print(f"{path.relative_to(ROOT)}:{line}: {words!r}: {advice}")
            hits += 1
    return min(hits, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
