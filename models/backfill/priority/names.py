"""What published orders are called in a policy's YAML file. Loads no kernel."""

ORDERS = {
    name: f"models.backfill.priority.published.{name}"
    for name in ("wfp3", "unicef", "f1", "f2", "f3", "f4", "smallest_area_first", "shortest_first")
}
"""Name -> dotted name of the function, for ``policy.priority`` and ``policy.backfill_order`` alike."""
