"""The NCSA-LSF policy (Chiang and Vernon 2001, section 2.1).

Twelve static job classes, four time classes in each of three size classes (Table 1,
`models.workloads.o2k.job_classes`). Each host takes waiting jobs by size class in an order of its own, by
time class within a size class, and first come, first served within a time class, under bounds on its
executing jobs of a size class and on all hosts' executing jobs of a time class (Table 2). A job that waits
for too long is given a special reservation, for which a host is kept idle.

These are the choices for what the paper leaves open:

- After every event (a submission, or an end) all hosts without a pending special reservation take waiting
  jobs in turn (``host_order``), until no job starts in a whole round: a start can lift a bar elsewhere.
- A size class without a waiting job holds no other class back, nor does a job that would not fit even on the
  empty host, nor a job with a special reservation. Whether a job barred by a system-wide or per-user limit
  does is ``barred_hold_back``.
- An overdue job has waited longer than the reserve wait time, not just as long.
- An overdue job that a bound or limit bars from a host is not considered for a special reservation there: it
  is not among the jobs that the host would schedule (the paper defines priorities "within these
  constraints"). The rule that no host skips to a smaller size class does not apply among overdue jobs.
- A host holds one special reservation at a time. A job that has one waits for that host alone, and counts as
  executing in the system-wide and per-user limits, so that nothing can bar it from its start.
- When a job ends on a host, first the reserved job starts, if it now fits; then, if no reservation is
  pending, one overdue job starts or is given a reservation; then free resources are assigned. Several ends of
  one instant on a host are one such moment under ``ties: instant``.

Every job starts at last. While a job runs, one will end. When none runs, no limit bars and no reservation is
pending (its job started with the last end on its host), so that every host starts the first job that waits
for it.
"""
