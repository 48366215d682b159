"""Time slices of a fixed length: the BBN TC2000 and the DEC Alpha cluster (Jette 1997).

docs/production_gang_slices.md says what is simulated; `tc2000` and `alpha` are the two engines.
"""
