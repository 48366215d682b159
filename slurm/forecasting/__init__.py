"""When does a job start: ``python -m slurm forecast``, see docs/forecast.md."""
