"""Time slices of a fixed length: the BBN TC2000 and the DEC Alpha cluster (Jette 1997).

docs/production_gang_slices.md describes the simulation; `tc2000` and `alpha` hold the parts of the engine in
which the two systems differ.
"""
