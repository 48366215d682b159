"""What slot unification and alternative scheduling are worth (section 4.2, Figs. 12 and 13)."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import excess, ratio
from analysis.feitelson1996.claims.margins import EACH, IDENTICAL, MEDIUM, SHARP, TOP
from analysis.feitelson1996.claims.tester import Tester
from analysis.feitelson1996.labels import FIRST_FOUR, SCHEMES, label

RANGES = (MEDIUM, TOP)


def features(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "4.2-unification-no-effect",
        "4.2: “Fig. 12, where the system does not support slot unification, is essentially identical to "
        "Fig. 8. We can therefore conclude that slot unification is not such an important feature”",
        f"Without unification each scheme's slowdown stays within {IDENTICAL:.0%}, at medium and at the "
        "highest loads (migration left out by the paper's footnote 5).",
        [
            ratio(
                f"{label(scheme)}, without / with unification",
                test.slowdown(scheme, unification="false"),
                test.slowdown(scheme),
                loads,
                1 / (1 + IDENTICAL),
                1 + IDENTICAL,
            )
            for loads in EACH
            for scheme in SCHEMES
            if scheme != "migration"
        ],
        figures=("fig12", "fig8"),
    )
    alone = {scheme: test.slowdown(scheme, alternation="none") for scheme in SCHEMES}
    usual = {scheme: test.slowdown(scheme) for scheme in SCHEMES}
    impossible: list[Part] = (
        [Open("alternative scheduling", reason)] if (reason := test.without_alternation) else []
    )
    yield test.claim(
        "4.2-alternation-helps-all",
        "4.2: “In Fig. 13, where the system does not support the execution of jobs in alternative slots, "
        "all the plots show somewhat reduced performance relative to Fig. 8.”",
        "Each scheme's slowdown is higher without alternative scheduling, at medium loads and at the two "
        "highest ones at which it is stable both ways.",
        impossible
        or [
            ratio(f"{label(s)}, without / with alternation", alone[s], usual[s], loads, low=1.0)
            for loads in RANGES
            for s in SCHEMES
        ],
        figures=("fig13", "fig8"),
    )
    yield test.claim(
        "4.2-buddy-degraded-most",
        "4.2: “The most extreme degradation occurs with buddy packing.”",
        "Losing alternative scheduling adds more to buddy's slowdown than to that of each other scheme, "
        "at medium loads and at the two highest ones at which both are stable both ways.",
        impossible
        or [
            excess(
                f"buddy's rise − {label(s)}'s", (alone["buddy"], usual["buddy"]), (alone[s], usual[s]), loads
            )
            for loads in RANGES
            for s in SCHEMES
            if s != "buddy"
        ],
        figures=("fig13",),
    )
    yield test.claim(
        "4.2-buddy-poor-without-alternation",
        "4.2: “when jobs are not allowed to run in alternative slots, buddy packing performs quite poorly.”",
        "Without alternative scheduling, buddy's slowdown is higher than that of migration and of each "
        "of the first four schemes, at medium loads and at the two highest ones at which both are stable.",
        [
            ratio(f"buddy / {label(s)}, without alternation", alone["buddy"], alone[s], loads, low=1.0)
            for loads in RANGES
            for s in (*FIRST_FOUR, "migration")
        ],
        figures=("fig13",),
    )
    yield test.claim(
        "5-buddy-degrades-sharply",
        "5: “it requires the system to support gang scheduling of jobs in multiple slots … Without such "
        "a capability, the performance degrades sharply.”",
        f"Without alternative scheduling, buddy's slowdown is more than {SHARP} times as high, at the two "
        "highest loads at which it is stable both ways.",
        impossible
        or [ratio("buddy, without / with alternation", alone["buddy"], usual["buddy"], TOP, low=SHARP)],
        figures=("fig13",),
    )
