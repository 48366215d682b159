"""Processor partitioning on a mesh (McCann 1994, chapters 3 to 5)."""
