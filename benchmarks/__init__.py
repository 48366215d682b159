"""How fast it is, and what intervals cover: ``make bench``, ``python -m benchmarks [names] [--quick]``.

A clock never decides whether a test passes. Here speed is measured, and shown beside its targets, as ratios
of things that ran in turn (A B A B) in one process on one machine; where a single process is measured it is
its CPU time, so that other users of the machine disturb little.
"""
