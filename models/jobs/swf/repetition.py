"""How often users submit the same job again."""

import numpy as np


def run_lengths(user: np.ndarray, application: np.ndarray | int, size: np.ndarray) -> np.ndarray:
    """Return how often users repeat a job: Feitelson 1996, section 3.3 and Fig. 6.

    A run is a maximal sequence of jobs of one user, in submit order and whatever others submit in between,
    with the same application and the same number of nodes. Jobs of unknown users (-1) are left out.

    Parameters
    ----------
    user, size : ndarray of int, shape (n_jobs,)
        In submit order.
    application : ndarray of int, shape (n_jobs,), or -1
        -1 for a log without it: jobs then differ by size only.

    Returns
    -------
    ndarray of int, shape (n_runs,)
        Grouped by user; the sum is the number of jobs of known users.

    Examples
    --------
    >>> run_lengths(np.array([1, 2, 1, 1]), -1, np.array([4, 4, 4, 8])).tolist()
    [2, 1, 1]
    """
    jobs = np.stack([user, np.broadcast_to(application, np.shape(user)), size])[:, np.asarray(user) >= 0]
    jobs = jobs[:, np.argsort(jobs[0], kind="stable")]
    differs = (jobs[:, 1:] != jobs[:, :-1]).any(axis=0)
    boundaries = np.concatenate([[True], differs, [True]]) if jobs.size else np.zeros(0, dtype=bool)
    return np.diff(np.flatnonzero(boundaries))
