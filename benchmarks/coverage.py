"""What 95 % intervals cover, and how far from the long run the beginning of a run is: docs/statistics.md.

Experiments are repeated, and the intervals that contain the mean are counted: of AR(1) series and waiting
times in M/M/1, for which it is known, then of a packing scheme, for which it comes from other, longer runs;
of pairs on the same jobs; and of policies on generated logs, for which it comes from all of these logs
together. Beside it is the plain interval, which takes batches as independent where a test of their lag-1
correlation at the level 0.01 does not object, and is withheld else.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.stats import binomtest

from benchmarks import points
from benchmarks.record import Findings, Table, Target
from models import backfill, gang
from models.point import Batches
from sweep import statistics
from sweep.statistics import Paired
from sweep.statistics.confidence import Floats, student
from sweep.statistics.warmup import truncation

PHI = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9)
RHO = (0.5, 0.8, 0.9, 0.95)
SHAPES = ((1, 30), (1, 10), (3, 30), (5, 30))
"""Replications and batches."""

PAIRED_SHAPES = ((1, 12), (1, 30), (2, 10), (3, 4), (3, 20), (5, 4), (8, 1))
PAIR = ("buddy", "best_fit")
RATIO = 0.8
"""Of the waits under two policies."""

SIZE = 1000
"""Customers or jobs in a batch."""

BATCHES = 30
"""Measured, after one that is discarded, as the paper does."""

MEASURED = Batches(SIZE, 1, (BATCHES,))
LONG = Batches(SIZE, 100, (200,))
"""What the long-run means of packing schemes are taken from."""

FIRST_LONG = 1000
"""Number of the first of those replications: they have jobs of their own."""

AT_ONCE = 20
"""Replications to which MSER is applied together."""

WEEKS = (12, 22, 30, 50)
"""Of logs."""

LOGS = Batches(600, 20, (30,))
"""Thirty weeks of as many jobs as a week of KTH-SP2's, from a machine that is no longer empty."""

LOG_LOADS = (0.4, 0.55)
"""At the second one FCFS no longer keeps up with Lublin's jobs."""

ON_LOGS = ("conservative", "lxf_w_backfill", "sjf_backfill", "f3", "fcfs")
"""Compared with easy."""

SETTLED = 200
"""Values of a series after which its beginning is forgotten."""

PROMISED = 0.93


def run(quick: bool) -> Findings:
    """Count, on known series and on packing schemes, and compare the beginning of runs with the long run."""
    few, long_runs = (20, 4) if quick else (400, 40)
    rng = np.random.default_rng(1)
    counted = [*known_series(rng, 40 if quick else 4000), *queues(rng, few)]
    packed = [case for load in (0.5, 0.7, 0.9) for case in _packing(load, few, long_runs)]
    rows = [row for case in (*counted, *packed) for row in case.rows()]
    columns = ["mean of", "replications x batches", "covered %", "95 % limits", "half-width / ideal"]
    columns += ["plain: covered %", "shown %"]
    least = min(covered(case.values, case.truth)[0] for case in counted if case.values.shape[1:] == (1, 30))
    return Findings(
        tables=[
            Table("What nominal 95 % intervals cover", columns, rows),
            _pairs(rng, 40 if quick else 2000, few, long_runs),
            _compared(rng, 40 if quick else 2000),
            _on_logs(10 if quick else 120),
            _best(rng, 20 if quick else 600),
            _beginnings(long_runs, long_runs * 2, 5 if quick else 200),
        ],
        targets=[Target("least coverage of known series, 30 batches", least, PROMISED, "", at_least=True)],
    )


@dataclass(frozen=True)
class Case:
    """Repeated experiments: values of shape (experiments, replications, batches), and the mean of all."""

    name: str
    values: Floats
    truth: float

    def rows(self) -> Iterator[list[str | float]]:
        """Yield what the intervals cover, beside the plain ones."""
        _, replications, batches = self.values.shape
        share, (low, high), width = covered(self.values, self.truth)
        half_width = plain(self.values)
        shown = ~np.isnan(half_width)
        error = np.abs(self.values.mean(axis=(1, 2)) - self.truth)
        before: float | str = float((error <= half_width)[shown].mean()) * 100 if shown.any() else "-"
        limits = f"{100 * low:.1f} to {100 * high:.1f}"
        shape = f"{replications} x {batches}"
        yield [self.name, shape, 100 * share, limits, width, before, float(shown.mean()) * 100]


def covered(values: Floats, truth: float) -> tuple[float, tuple[float, float], float]:
    """Return the share of intervals that hold the truth, its Wilson limits, and the median relative width.

    Widths are relative to the interval from the true standard deviation of the mean, 1.96 of them.
    """
    found = statistics.intervals(values)
    share = float((np.abs(found.mean - truth) <= found.half_width).mean())
    ideal = 1.96 * float(found.mean.std())
    return share, wilson(share, len(values)), float(np.median(found.half_width)) / ideal


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return the limits of a share of n (Wilson, JASA 22, 1927, 209-212)."""
    found = binomtest(round(share * n), n).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def plain(values: Floats) -> Floats:
    """Return half-widths that take batches as independent, NaN where a one-sided test of that rejects it.

    With five replications or more, their means are the sample.
    """
    _, replications, batches = values.shape
    if replications >= statistics.MIN_REPLICATIONS:
        return statistics.intervals(values).half_width
    centred = values - values.mean(axis=-1, keepdims=True)
    within = (centred**2).sum(axis=(-2, -1))
    lag1 = 1 - (np.diff(values, axis=-1) ** 2).sum(axis=(-2, -1)) / (2 * within)
    freedom = replications * (batches - 1)
    limit = 2.326 * math.sqrt(replications * (batches - 2) / (freedom * (freedom + 2)))
    half_width = student(freedom, 0.975) * np.sqrt(within / freedom / (replications * batches))
    return np.where(lag1 > limit, np.nan, half_width)


def known_series(rng: np.random.Generator, experiments: int) -> Iterator[Case]:
    """Yield AR(1) batch means: their lag-1 correlation is phi."""
    for phi in PHI:
        for shape in SHAPES:
            values = autoregressive(rng, phi, (experiments, *shape), skewed=False)
            yield Case(f"AR(1), {phi:g}", values, 0.0)


def queues(rng: np.random.Generator, experiments: int) -> Iterator[Case]:
    """Yield waiting times of stationary M/M/1 queues in batches of 1000 customers."""
    for rho in RHO:
        for replications, batches in SHAPES:
            values = [waits(rng, rho, SIZE * batches) for _ in range(experiments * replications)]
            shaped = np.reshape(values, (experiments, replications, batches, SIZE)).mean(axis=-1)
            yield Case(f"M/M/1, {rho:g}", shaped, rho / (1 - rho))


def waits(rng: np.random.Generator, rho: float, n: int) -> Floats:
    """Return waiting times by Lindley's recursion, solved by its running minimum; service rate 1."""
    first = rng.exponential(1 / (1 - rho)) if rng.random() < rho else 0.0
    walk = np.cumsum(rng.exponential(1, n) - rng.exponential(1 / rho, n))
    return walk + np.maximum(first, -np.minimum(np.minimum.accumulate(walk), 0))


def paired_waits(
    rng: np.random.Generator, phi: float, shape: tuple[int, ...], *, ragged: bool = False
) -> tuple[Floats, Floats]:
    """Return waits under two policies: lognormal, correlated along the batches, the second's `RATIO` times.

    Parameters
    ----------
    shape : tuple of int
        Experiments, replications, batches.
    ragged : bool
        The first run lacks its last third, and each policy has a batch that the other lacks.
    """
    usual = np.exp(0.5 * autoregressive(rng, phi, shape, skewed=False))
    quick = RATIO * usual * np.exp(0.4 * autoregressive(rng, phi, shape, skewed=False) - 0.08)
    if ragged:
        quick[:, 0, -(shape[2] // 3) :] = np.nan
        quick[:, -1, 0], usual[:, -1, 1:2] = np.nan, np.nan
    return quick, usual


def _pairs(rng: np.random.Generator, experiments: int, few: int, long_runs: int) -> Table:
    """Count what ratios and differences of two policies on the same jobs cover.

    Widths are relative to an interval from the true spread of the log ratio, 1.96 of it on both sides.
    """
    rows: list[list[str | float]] = []

    def add(name: str, mine: Floats, others: Floats, ratio: float, difference: float) -> None:
        pairs = [Paired.of(a, b) for a, b in zip(mine, others, strict=True)]
        found = [(pair.ratio(), pair.difference()) for pair in pairs]
        inside = [(a.low <= ratio <= a.high, b.low <= difference <= b.high) for a, b in found]
        ideal = 1.96 * float(np.std([math.log(a.mean) for a, _ in found]))
        width = float(np.median([math.log(a.high / a.low) / 2 for a, _ in found])) / ideal
        covers = (100 * np.mean(inside, axis=0)).tolist()
        rows.append([name, "{} x {}".format(*mine.shape[1:]), covers[0], width, covers[1]])

    for ragged in (False, True):
        for shape in PAIRED_SHAPES:
            for phi in (0.0, 0.3, 0.6) if shape[1] > 3 else (0.0,):
                name = f"waits, AR(1) {phi:g}{', ragged' * ragged}"
                waits = paired_waits(rng, phi, (experiments, *shape), ragged=ragged)
                if not ragged or shape[1] > 3:
                    add(name, *waits, RATIO, (RATIO - 1) * math.exp(0.125))
    for load in (0.5, 0.7, 0.9):
        measured, truth = zip(*(_of_scheme(one, load, few, long_runs) for one in PAIR), strict=True)
        for replications in (1, 5):
            if len(measured[0]) % replications == 0:
                mine, others = (one.reshape(-1, replications, BATCHES) for one in measured)
                add(f"buddy / best fit, {load:g}", mine, others, truth[0] / truth[1], truth[0] - truth[1])
    columns = ["pair", "replications x batches", "ratio: covered %", "width", "difference: covered %"]
    return Table("What pairs on the same jobs cover", columns, rows)


def _compared(rng: np.random.Generator, experiments: int) -> Table:
    """Count what comparisons week by week cover: differences that are normal or skewed, and ratios of waits.

    Waits are lognormal, correlated from week to week, and one policy has 0.8 times the other's, plus noise
    of its own; the truth is the ratio of the expectations. Widths are relative to an interval by Student's t
    that is given the correlation. The last column is how often a sign test at 5 % finds a difference where
    there is none.
    """
    rows: list[list[str | float]] = []
    for n in WEEKS:
        for phi in (0.0, 0.3, 0.6):
            known = float(student(n - 1, 0.975)) * math.sqrt(_stretch(phi, n) / n)
            row: list[str | float] = [n, phi]
            for skewed in (False, True):
                runs = autoregressive(rng, phi, (experiments, n), skewed)
                found = [statistics.compare(run[None], np.zeros((1, n))) for run in runs]
                row.append(100 * float(np.mean([one.low <= 0 <= one.high for one in found])))
                row.append(float(np.median([(one.high - one.low) / 2 / known for one in found])))
                if not skewed:
                    chance = 100 * float(np.mean([one.chance < 0.05 for one in found]))
            for spread in (0.5, 1.0):
                usual = np.exp(spread * autoregressive(rng, phi, (experiments, n), skewed=False))
                own = autoregressive(rng, phi, (experiments, n), skewed=False)
                quick = 0.8 * usual * np.exp(0.4 * own - 0.08)
                found = [statistics.compare(a[None], b[None]) for a, b in zip(quick, usual, strict=True)]
                inside = [one.low <= -0.2 * one.reference <= one.high for one in found]
                row.append(100 * float(np.mean(inside)))
            rows.append([*row, chance])
    columns = [
        "weeks", "AR(1)", "normal %", "width", "skewed %", "width", "ratio of waits, spread 0.5 %",
        "spread 1 %", "sign test wrong %",
    ]  # fmt: skip
    return Table("What comparisons week by week cover", columns, rows)


def _on_logs(n_logs: int) -> Table:
    """Count what comparisons with easy on generated logs cover; the truth is the ratio of all logs together.

    Widths are relative to an interval from the true spread of the log ratio, 1.96 of it on both sides. For
    comparison there is a plain paired t of the weeks' differences. The last column is how often the verdict
    is the opposite of the truth.
    """
    rows: list[list[str | float]] = []
    for load in LOG_LOADS:
        usual = _waits("easy", load, n_logs)
        for policy in ON_LOGS:
            waits = _waits(policy, load, n_logs)
            true = float(waits.mean() / usual.mean())
            spread = float(np.log(waits.mean(axis=1) / usual.mean(axis=1)).std())
            found = [statistics.compare(a[None], b[None]) for a, b in zip(waits, usual, strict=True)]
            low, high = (
                1 + np.array([getattr(f, end) / f.reference for f in found]) for end in ("low", "high")
            )
            share = float(((low <= true) & (true <= high)).mean())
            limits = "{:.0f} to {:.0f}".format(*(100 * limit for limit in wilson(share, n_logs)))
            gap = waits - usual
            reach = float(student(gap.shape[1] - 1, 0.975)) * gap.std(axis=1, ddof=1) / gap.shape[1] ** 0.5
            plain_t = float((np.abs(gap.mean(axis=1) - gap.mean()) <= reach).mean())
            opposite = "better" if true > 1 else "worse"
            wrong = float(np.mean([one.verdict == opposite for one in found]))
            width = float(np.median(np.log(high / low))) / (2 * 1.96 * spread)
            rows.append([f"{policy}, {load:g}", true, 100 * share, limits, width, 100 * plain_t, 100 * wrong])
    columns = ["policy, load", "over easy", "covered %", "95 % limits", "width", "plain t: covered %"]
    return Table("What comparisons on generated logs cover", [*columns, "opposite verdict %"], rows)


def _waits(policy: str, load: float, n_logs: int) -> Floats:
    """Return the mean wait of each week of logs by Lublin and Feitelson's model, shape (n_logs, weeks)."""
    chosen = [f"grid.policy=[{policy}]", f"grid.load=[{load}]", "grid.workload=[lublin2003]"]
    more = ["grid.machine=[pe128]", "measures.groups=[]", "batches=30", "batch_size=600", "warmup=20"]
    (task,) = points.tasks("+experiment=what_if", *chosen, *more, "replications=1")
    at = [replace(task.point, seed=(*task.point.seed[:2], number), batches=LOGS) for number in range(n_logs)]
    return np.array([backfill.FAMILY.simulate(one).metrics["wait"] for one in at])


def _stretch(phi: float, n: int) -> float:
    """Return n times the variance of the mean of n values of a series of variance 1."""
    distance = np.arange(1, n)
    return 1 + 2 * float(((1 - distance / n) * phi**distance).sum())


def _best(rng: np.random.Generator, experiments: int) -> Table:
    """Count how often the one of four that is most probably lowest is so; their true means are chance."""
    rows: list[list[str | float]] = []
    for n in WEEKS:
        for phi in (0.0, 0.6, 0.9):
            spread = 2 * math.sqrt((1 + phi) / (1 - phi) / n)
            true = rng.normal(0, spread, (experiments, 4))
            own = autoregressive(rng, phi, (experiments, 4, 1, n), skewed=True)
            shared = autoregressive(rng, phi, (experiments, 1, 1, n), skewed=True)
            probability, right = np.empty(experiments), np.empty(experiments, bool)
            for i, values in enumerate(shared + 0.8 * own + true[..., None, None]):
                found = statistics.probability_lowest(values)
                probability[i], right[i] = found.max(), found.argmax() == true[i].argmin()
            row: list[str | float] = [n, phi]
            for low, high in ((0.0, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.01)):
                those = (probability >= low) & (probability < high)
                promised, kept = probability[those], right[those]
                row.append(f"{100 * promised.mean():.0f}: {100 * kept.mean():.0f}" if len(kept) else "-")
            rows.append(row)
    columns = ["weeks", "AR(1)", "below 70 %: right %", "70 to 90 %", "90 to 99 %", "over 99 %"]
    return Table("Share of right answers by the probability of being best", columns, rows)


def autoregressive(rng: np.random.Generator, phi: float, shape: tuple[int, ...], skewed: bool) -> Floats:
    """Return series of variance 1 along the last axis, mean 0; skewed ones of gamma noise with shape 1/2."""
    noise = rng.standard_normal((*shape[:-1], shape[-1] + SETTLED))
    if skewed:
        noise = (rng.gamma(0.5, 1.0, noise.shape) - 0.5) / math.sqrt(0.5)
    for i in range(1, noise.shape[-1]):
        noise[..., i] += phi * noise[..., i - 1]
    return noise[..., SETTLED:] * math.sqrt(1 - phi**2)


def _packing(load: float, experiments: int, long_runs: int) -> Iterator[Case]:
    """Yield the slowdown of best fit."""
    measured, truth = _of_scheme("best_fit", load, experiments, long_runs)
    for replications in (1, 5):
        if len(measured) % replications == 0:
            yield Case(f"best fit, load {load:g}", measured.reshape(-1, replications, BATCHES), truth)


@cache
def _of_scheme(scheme: str, load: float, experiments: int, long_runs: int) -> tuple[Floats, float]:
    """Return the slowdowns of a packing scheme, shape (experiments, batches), and the mean of long runs."""
    of_long = slowdowns(scheme, load, "shared", range(FIRST_LONG, FIRST_LONG + long_runs), LONG)
    return slowdowns(scheme, load, "shared", range(experiments), MEASURED), float(of_long.mean())


def slowdowns(scheme: str, load: float, alternation: str, numbers: range, batches: Batches) -> Floats:
    """Return the mean slowdown of each batch, shape (replications, batches)."""
    chosen = [f"grid.policy=[{scheme}]", f"grid.load=[{load}]", f"grid.alternation=[{alternation}]"]
    more = ["grid.unification=[true]", "exclude=[]", "policy.job_limit=20000"]
    (task,) = points.tasks("+experiment=packing_paper", *chosen, *more)
    at = [replace(task.point, seed=(*task.point.seed[:2], number), batches=batches) for number in numbers]
    found = np.array([gang.FAMILY.simulate(point).metrics["slowdown"] for point in at])
    assert found.shape[1] == batches.checkpoints[-1], "a table of 20,000 jobs does not fill"
    return found


def _beginnings(long_runs: int, runs: int, draws: int) -> Table:
    """Compare runs of 31, 60 and 300 batches from an empty machine with the long run, in percent of it."""
    rng = np.random.default_rng(2)
    rows: list[list[str | float]] = []
    for alternation in ("shared", "exclusive"):
        for load in (0.85, 0.9):
            for scheme in ("best_fit", "first_fit", "min_max_load"):
                of, late = (scheme, load, alternation), range(FIRST_LONG, FIRST_LONG + long_runs)
                whole = Batches(SIZE, 0, (LONG.most,))
                longest = slowdowns(*of, late, whole)
                truth = float(longest[:, LONG.warmup :].mean())
                spread = float(longest[:, LONG.warmup :].mean(axis=1).std(ddof=1))
                short, longer = (
                    slowdowns(*of, range(runs), Batches(SIZE, 0, (n,))) for n in (BATCHES + 1, 2 * BATCHES)
                )
                means = [short[:, 1:].mean(), np.mean([run[truncation(run[None]) :].mean() for run in short])]
                means += [_on_all(some, rng, draws) for some in (short, longer, longest)]
                limits = 1.96 * spread / math.sqrt(long_runs)
                names = f"{scheme}, {alternation}, {load:g}"
                rows.append([names, truth, limits, *(100 * (float(mean) / truth - 1) for mean in means)])
    columns = ["point", "long run", "±", "31, the first dropped", "31, MSER on each", "31, MSER on all"]
    columns += ["60, MSER on all", "300, MSER on all"]
    return Table("Mean slowdown from an empty machine against the long run, %", columns, rows)


def _on_all(runs: Floats, rng: np.random.Generator, draws: int) -> float:
    """Return the mean after one cut for 20 runs, over such choices of runs."""
    means = []
    for _ in range(draws):
        some = runs[rng.choice(len(runs), min(AT_ONCE, len(runs)), replace=False)]
        means.append(some[:, truncation(some) :].mean())
    return float(np.mean(means))
