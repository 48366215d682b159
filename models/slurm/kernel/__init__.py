"""The compiled part of Slurm's scheduler: nodes, main passes, backfill cycles, priorities, the event loop."""
