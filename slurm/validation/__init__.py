"""The model of Slurm's scheduler beside a real Slurm: ``python -m slurm validate``."""
