"""Users who submit one job after another: short jobs come in bursts, long ones are throttled.

The site let a user have three jobs in the system (Chiang and Vernon 2001, Table 2), and its logs were made
under that limit; the paper's simulations replay them without it.
"""

from heapq import heappush, heapreplace

import numpy as np

from models.arrays import Floats, Ints


def in_turn(begins: Floats, runtime: Floats, first: Ints, limit: int, period: tuple[float, float]) -> Floats:
    """Return the submission times of jobs if a user has at most `limit` in the system.

    Parameters
    ----------
    begins : ndarray of float, shape (n_jobs,), seconds
        Time at which a user submits the first jobs; the entry of the user's first job counts.
    runtime : ndarray of float, shape (n_jobs,), seconds
    first : ndarray of int, shape (n_jobs,)
        The first job of each job's user, whose jobs are consecutive.
    limit : int
        Jobs that a user has in the system at once: this number is submitted together, and each further job
        when one of them has ended. A workload has no waits, so jobs end as if each had started at once.
    period : tuple of float, seconds
        Begin and end. Submissions after its end are moved to its beginning, as of users whose first jobs came
        before it, so that the number of active users is constant.

    Returns
    -------
    ndarray of float, shape (n_jobs,), seconds

    Notes
    -----
    O(n_jobs log limit).

    Examples
    --------
    >>> begins, runtime = np.array([5.0, 0, 0, 7]), np.array([10.0, 2, 4, 1])
    >>> in_turn(begins, runtime, np.array([0, 0, 0, 3]), 2, (0.0, 100.0)).tolist()
    [5.0, 5.0, 7.0, 7.0]
    """
    begin, end = period
    submit = np.empty(len(begins))
    in_system: list[float] = []
    for job, user in enumerate(first.tolist()):
        if user == job:
            in_system = []
        if len(in_system) < limit:
            submit[job] = begins[user]
            heappush(in_system, begins[user] + runtime[job])
        else:
            submit[job] = in_system[0]
            heapreplace(in_system, submit[job] + runtime[job])
    within = begin + (submit - begin) % (end - begin)
    return np.minimum(within, np.nextafter(end, begin))  # a rounded remainder may be the end itself
