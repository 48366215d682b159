"""Backfilling with immediate service (Chiang and Vernon 2001, section 2.4, and section 4.3 for ``soon``).

A job that cannot start when it is submitted is given a short quantum: at once, on idle processors or on
those of jobs that are preempted for it; or as soon as there are idle processors, without preemption. A
preempted job stays in execution: its end is put off by the quantum, it keeps its memory, and its processors
go to the newcomer or idle until it has them back, so that no other job can be on them then.
"""
