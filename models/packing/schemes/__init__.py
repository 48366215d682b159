"""The packing schemes of Feitelson 1996, section 2; `models.packing.scheme` has their names."""
