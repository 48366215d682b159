"""Sweeps on a Slurm cluster: profiles, submission, and a doctor.

Nothing here is imported by `sweep`: a cluster is one of several places where tasks run.
"""
