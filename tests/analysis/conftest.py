"""Puts this folder on the path, so that the tests of each subfolder find the fabricated datasets."""
