"""What makes each claim on the packing schemes false; `fabricated` has the dataset in which all hold."""

import fabricated
from fabricated import Change


def change(
    metric: str, scheme: str, factor: float, alternation: str = "", unification: bool = True
) -> Change:
    """Multiply a metric of one scheme by a factor, everywhere or under one value of the features."""
    features = {"alternation": alternation, "unification": unification} if alternation else {}
    return fabricated.change(None, factor, metric=metric, policy=scheme, **features)


FALSE: dict[str, dict[str, Change]] = {
    "packing": {
        "4.2-first-four-identical": change("slowdown", "best_fit", 1.3),
        "4.2-load-based-worse": change("slowdown", "min_max_load", 0.6),
        "4.2-buddy-migration-similar": change("slowdown", "buddy", 1.6),
        "4.2-buddy-migration-best": change("slowdown", "first_fit", 0.5),
        "4.2-migration-leads-highest": change("slowdown", "migration", 1.3),
        "4.2-buddy-leads-medium": change("slowdown", "buddy", 1.3),
        "4.2-load-based-few-unifications": change("unifications", "min_avg_load", 50.0),
        "4.2-load-based-few-slots": change("slots_per_job", "min_avg_load", 2.0),
        "4.2-buddy-unifications-rare": change("unifications", "buddy", 2.0),
        "4.2-migration-unifications-5": change("unifications", "migration", 2.0),
        "4.2-migration-most-unifications": change("unifications", "best_fit", 100.0),
        "4.2-migration-fewest-used-slots": change("used_slots", "migration", 2.0),
        "4.2-migration-fewest-slots-per-job": change("slots_per_job", "migration", 3.0),
        "4.2-buddy-most-slots-per-job": change("slots_per_job", "best_fit", 3.0),
        "4.2-buddy-not-by-fewer-slots": change("used_slots", "buddy", 0.5),
        "5-significant-improvement": change("slowdown", "best_fit", 0.5),
        "5-least-loaded-counterproductive": change("slowdown", "min_max_load", 0.5),
        "4.2-alternation-helps-all": change("slowdown", "best_fit", 0.5, "none"),
        "4.2-buddy-degraded-most": change("slowdown", "first_fit", 4.0, "none"),
        "4.2-buddy-poor-without-alternation": change("slowdown", "buddy", 0.4, "none"),
        "5-buddy-degrades-sharply": change("slowdown", "buddy", 0.6, "none"),
        "4.2-unification-no-effect": change("slowdown", "best_fit", 1.5, "exclusive", unification=False),
    }
}
"""Experiment -> claim -> what makes it false."""
