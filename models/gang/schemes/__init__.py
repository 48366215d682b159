"""The packing schemes of Feitelson 1996, section 2; `models.gang.policies` knows them by name."""
