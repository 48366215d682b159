"""Packing jobs into the slots of an Ousterhout matrix: what families that do so have in common."""
