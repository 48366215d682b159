"""Spatial equipartitioning on hosts with processors and memory (Chiang and Vernon 2001, sections 2.5, 4.4).

Every job for which a host has the memory runs at once, on an equal part of that host's processors and on no
more than it asks for; on q of its p processors it progresses at the rate q / p. What the paper leaves open:

- A host has at most as many jobs as processors, so that each can have one; else it is as if without memory.
- A job that no host has the memory for has its quantum on a host that has the quantum's memory, by the same
  rules of placement and division; if there is none, it has none. The quantum lasts from its first processor
  on. A job that uses more memory is stopped when it is over, or when it would end, and begins again.
- The processing time that a waiting job misses is what it would have on the host where it would have been
  placed on arrival if it needed no memory, as one more of the jobs there. Other waiting jobs do not count.
  While it catches up, it continues to miss what it would have without its claim to all that it asks for.
- The time that a job has been running for is counted from the first processor of its full execution. Once
  that is long (``long_after``), it no longer counts as catching up.
- At one instant (``ties: instant``) all jobs end or change their standing, then hosts are divided, then the
  waiting jobs get memory in order of submission, then new jobs are placed; each placement divides its host.
  With ``ties: event`` new jobs are placed first, and all consequences of an end precede the next end.
- In its quantum a job is like its host's others: within MinInterval it may wait for its first processor.
"""
