"""Units of memory: 1 KB is 1024 bytes and 1 MB is 1024 KB, for memory and for the links that move it.

All papers, logs and machines have the same convention. It is binary, because their sizes are powers of two
(McCann 1994, section 5.1: 512 KB of code and 4096 KB of data for each thread; the Origin 2000's hosts) and
Slurm counts in this way. A bandwidth in MB/s has the same MB: with 10^6 bytes in it and 1024 in a KB, every
transfer would take 4.9 % longer. So the 4096 KB of a thread take 20 ms at 200 MB/s.
"""

BYTES_IN_KB = 1024
KB_IN_MB = 1024
KB_IN_GB = 1024 * KB_IN_MB
