"""Times of a run as people say them: ``Tue 13:25``, in some week; or so long after the beginning."""

import re

from analysis.drawings.scene import UNITS
from analysis.errors import AnalysisError
from analysis.jette1997.gangster.remaking import WEEK, Remade

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAYS = tuple(name[:3] for name in WEEKDAYS)
DAY = 86400.0
ADVICE = "give a weekday and a time, 'Tue 13:25', or a time since the beginning, 9d or 36.5h"


def weekday_time(clock: float) -> str:
    """Return a time since a Monday, 0:00, as weekday and time of the day.

    Examples
    --------
    >>> weekday_time(86400 + 13 * 3600 + 25 * 60)
    'Tue 13:25'
    """
    day, second = divmod(clock, DAY)
    return f"{DAYS[int(day) % 7]} {int(second) // 3600}:{int(second) % 3600 // 60:02}"


def parsed(text: str) -> tuple[bool, float]:
    """Return whether a text is a time of the week, and seconds since Monday, 0:00, or since the beginning.

    Raises
    ------
    AnalysisError
        If it is neither.

    Examples
    --------
    >>> parsed("Tue 13:25"), parsed("tuesday 1:05:30"), parsed("2d")
    ((True, 134700.0), (True, 90330.0), (False, 172800.0))
    """
    if found := re.fullmatch(r"(\d+\.?\d*)([smhd])", text.strip()):
        return False, float(found[1]) * UNITS[found[2]]
    found = re.fullmatch(r"([A-Za-z]{3,9})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?", text.strip())
    if not found:
        raise AnalysisError(f"--at {text!r}: {ADVICE}")
    name, hour, minute, second = found[1].capitalize(), int(found[2]), int(found[3]), int(found[4] or 0)
    day = next((n for n, full in enumerate(WEEKDAYS) if name in (full, DAYS[n])), None)
    if day is None or hour > 23 or minute > 59 or second > 59:
        raise AnalysisError(f"--at {text!r}: {ADVICE}; weekdays are {' '.join(DAYS)}, hours 0:00 to 23:59")
    return True, day * DAY + hour * 3600.0 + minute * 60.0 + second


def time_of(text: str, week: str, made: Remade) -> float:
    """Return the time of a run, in seconds, that a text names.

    Parameters
    ----------
    text : str
        See `parsed`.
    week : str
        Number of the week, from 1 on, the first being that in which the run begins; empty is the last one in
        which the moment lies before the end of what is measured.

    Raises
    ------
    AnalysisError
        If it is outside of the run.
    """
    of_week, seconds = parsed(text)
    clock = made.run.clock
    if of_week:
        if week and not (week.isdecimal() and int(week) > 0):
            raise AnalysisError(f"--week {week}: give a whole number, 1 is the week in which the run begins")
        number = int(week) - 1 if week else int((made.until + clock - seconds) // WEEK)
        time = number * WEEK + seconds - clock
    elif week:
        raise AnalysisError(f"--week {week} needs a weekday, not --at {text}; leave one of them out")
    else:
        time = seconds
    if not made.begin <= time <= made.end:
        first, last = (
            f"{weekday_time(one + clock)} of week {int((one + clock) // WEEK) + 1}"
            for one in (made.begin, made.end)
        )
        where = f" of week {int((time + clock) // WEEK) + 1}" if of_week else ""
        raise AnalysisError(
            f"--at {text!r}{where} is outside of the run, which lasts from {first} to {last}; give a time "
            "between them, with --week N for another week"
        )
    return time
