"""Sweeps on a Slurm cluster: profiles, submission, a doctor, and a throw-away cluster for tests.

Nothing here is imported by `sweep`: a cluster is one of several places where tasks run.
"""
