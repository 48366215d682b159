"""What orders are called in a policy's YAML file. Loads no kernel."""

_HERE = "models.backfill.priority.orders"

ORDERS = {
    "wfp3": f"{_HERE}.waiting.wfp3",
    "unicef": f"{_HERE}.waiting.unicef",
    "f1": f"{_HERE}.learned.f1",
    "f2": f"{_HERE}.learned.f2",
    "f3": f"{_HERE}.learned.f3",
    "f4": f"{_HERE}.learned.f4",
    "smallest_area_first": f"{_HERE}.smallest.smallest_area_first",
    "shortest_first": f"{_HERE}.smallest.shortest_first",
}
"""Name -> dotted name of the function, for ``policy.priority`` and ``policy.backfill_order`` alike."""
