"""Fig. 7: the workload model itself, under the parameters that the dataset was made with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.feitelson1996.labels import MACHINE_SIZE
from analysis.figures.style import ACCENT, NEUTRAL
from analysis.paper import Picture
from analysis.study import Study

N_JOBS = 10_000
"""Jobs of which the histograms show the expected number, so that their axes read as counts."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield Fig. 7 if the study's workload is the paper's model."""
    if study.parameters("workload").get("model") == "feitelson1996":
        yield Picture(
            "fig7",
            "Fig. 7: The workload model",
            "Job sizes (powers of two in blue), mean runtime over size, and run lengths: exact "
            f"distributions, as expected numbers in {N_JOBS:,} jobs or runs, not a sample.",
            partial(draw, study),
        )


def draw(study: Study) -> Figure:
    """Draw the three panels of Fig. 7."""
    from models.workloads import feitelson1996 as model

    workload, machine = study.parameters("workload"), study.parameters("machine")
    if MACHINE_SIZE not in machine:
        raise DrawingError("the dataset does not say how many PEs its machine has")
    n_pes = machine[MACHINE_SIZE]
    probabilities = model.size_probabilities(workload, n_pes)
    run_lengths = model.run_length_probabilities(workload)
    sizes = np.arange(1, n_pes + 1)
    power = sizes & (sizes - 1) == 0
    figure = Figure(figsize=(7.4, 2.9), layout="constrained")
    histogram, correlation, runs = figure.subplots(1, 3)
    histogram.bar(sizes[~power], N_JOBS * probabilities[~power], width=1.0, color=NEUTRAL)
    histogram.bar(sizes[power], N_JOBS * probabilities[power], width=1.0, color=ACCENT)
    histogram.set_yscale("log")
    histogram.set(
        title="Sizes", xlabel="Job size (PEs)", ylabel=f"Jobs in {N_JOBS:,}", xlim=(0, sizes[-1] + 1)
    )
    correlation.plot(sizes, model.mean_runtimes(workload, n_pes), color=ACCENT)
    correlation.set(
        title="Runtimes",
        xlabel="Job size (PEs)",
        ylabel="Mean runtime (time units)",
        xlim=(0, None),
        ylim=(0, None),
    )
    lengths = np.arange(1, len(run_lengths) + 1)
    runs.loglog(lengths, N_JOBS * run_lengths, color=ACCENT)
    runs.set(title="Run lengths", xlabel="Run length", ylabel=f"Runs in {N_JOBS:,}")
    return figure
