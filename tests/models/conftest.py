"""Puts this folder on the path, so that tests of one family find `family_cases`."""
