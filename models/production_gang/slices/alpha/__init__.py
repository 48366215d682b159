"""The DEC Alpha cluster: tickets for gangs that span computers, local decisions for the others, and a
fair-share class scheduler for jobs that are not gang scheduled (Jette 1997, section "DEC Alpha")."""
