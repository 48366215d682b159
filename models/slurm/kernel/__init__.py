"""The compiled part of Slurm's scheduler: nodes, main passes, backfill cycles, priorities, and the event
loop."""
