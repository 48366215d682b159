"""Spatial equipartitioning on hosts with processors and memory (Chiang and Vernon 2001, sections 2.5, 4.4).

Every job for which a host has the memory runs at once, on an equal part of that host's processors and at most
on as many as it requests; on q of its p processors it progresses at the rate q / p. These are the choices for
what the paper leaves open:

- A host has at most as many jobs as processors, so that each can have one; a full host counts as one without
  memory.
- A job for which no host has the memory has its quantum on a host that has the quantum's memory, by the same
  rules of placement and division; without such a host it has no quantum. The quantum begins with its first
  processor. A job that uses more memory is stopped when the quantum is over, or when the job would end, and
  begins again.
- The processing time that a waiting job misses is the time it would have as an additional job on the host
  where it would have been placed on arrival if it needed no memory. Other waiting jobs do not count. While it
  catches up, it continues to miss the time that it would have without its claim to its full request.
- The running time of a job counts from the first processor of its full execution. Once that time is long
  (``long_after``), the job no longer counts as catching up.
- At one instant (``ties: instant``) all jobs end or change their standing, then hosts are divided, then the
  waiting jobs get memory in order of submission, then new jobs are placed; each placement divides its host.
  With ``ties: event`` new jobs are placed first, and all consequences of an end precede the next end.
- In its quantum a job is treated like the other jobs of its host: within MinInterval it may wait for its
  first processor.
"""
