"""Numbers of things in sentences: 1 job is, 2 jobs are."""

import re

_PLURALS = {"is": "are", "was": "were", "has": "have", "does": "do"}
_ENDINGS = ((r"(?<![aeiou])y$", "ies"), (r"(ch|s|x)$", r"\1es"), (r"$", "s"))


def counted(number: int, noun: str, verb: str = "", *, of: int | None = None) -> str:
    """Return a number with its noun, and perhaps a verb, in the singular or the plural.

    Parameters
    ----------
    noun, verb : str
        In the singular; the last word of the noun gets the ending.
    of : int, optional
        The whole of which `number` is a part.

    Examples
    --------
    >>> counted(1, "job"), counted(1200, "leading batch"), counted(2, "policy", "asks")
    ('1 job', '1,200 leading batches', '2 policies ask')
    >>> counted(1, "point", "is", of=9), counted(1, "point", "is", of=1), counted(0, "day", "was")
    ('1 of 9 points is', '1 of 1 point is', '0 days were')
    """
    if (number if of is None else of) != 1:
        ending, several = next(pair for pair in _ENDINGS if re.search(pair[0], noun))
        noun = re.sub(ending, several, noun)
    if number != 1:
        verb = _PLURALS.get(verb, re.sub(r"(?<=ss)es$|s$", "", verb))
    return f"{number:,}{'' if of is None else f' of {of:,}'} {noun} {verb}".rstrip()
