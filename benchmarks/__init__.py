"""Speed, and coverage of intervals: ``make bench``, ``python -m benchmarks [names] [--quick]``.

A benchmark is a module with a function ``run(quick)`` that returns `benchmarks.record.Findings`: tables and
targets. No test depends on a clock. Alternatives run in turn in one process (A B A B), and their
ratio counts; a single process is measured by its CPU time, which other users of the machine disturb little.
"""
