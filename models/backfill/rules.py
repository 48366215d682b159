"""The rules that all policies of the family share, as checked values of a YAML file.

Each part of the family is a package whose ``rules`` has a subclass of `Rules` and loads no kernel. The
modules that it names in `Rules.kernels` have a function ``simulate(jobs, machine, rules)``.
`models.backfill.policies` has the disciplines by name.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Self

from models import keys
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.jobs.ties import INSTANT, TIES
from models.point import Parameters


class LongerThanRequestedError(ValueError):
    """Some jobs run longer than requested under rules that exclude it; other requests are a remedy, too."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of a scheduler, whatever its discipline.

    Parameters
    ----------
    ties : {"instant", "event"}
        All ends of an instant, then all its submissions, then one pass; or a pass after each event,
        submissions first (and ends in order of submission), see `models.jobs.ties`.
    kill : bool
        Whether jobs are ended when they have run for their requested time.
    unrequested : {"error", "runtime"}
        Whether a job without a requested time is refused, or its runtime becomes its request.
    """

    BASE = "_rigid"

    ties: str = keys.choice(*TIES)
    kill: bool = keys.switch()
    unrequested: str = keys.choice("error", "runtime")

    @classmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy's YAML file.

        Raises
        ------
        ValueError
            With one line that names the value and those allowed.
        """
        return cls(**keys.read(cls, policy, "policy"))

    @property
    def kernels(self) -> tuple[str, ...]:
        """Dotted names of the modules that `simulate` may import, to be compiled beforehand."""
        return ()

    def kernel(self, jobs: Jobs, machine: Machine) -> str:
        """Return the one of `kernels` that simulates these jobs on a machine."""
        return self.kernels[0]

    def simulate(self, jobs: Jobs, machine: Machine) -> Schedule:
        """Run all jobs to their ends.

        Parameters
        ----------
        jobs : Jobs
            As they run under the rules, see `models.backfill.requests.under`, and checked.
        machine : Machine
            The machine, whose hosts the jobs run on.
        """
        made: Schedule = import_module(self.kernel(jobs, machine)).simulate(jobs, machine, self)
        return made

    @property
    def instant(self) -> bool:
        """Whether all events of an instant come before one pass."""
        return self.ties == INSTANT

    @property
    def keeps_downtimes(self) -> bool:
        """Whether `Machine.down` is respected."""
        return False

    @property
    def takes_predictions(self) -> bool:
        """Whether jobs may be planned by `Jobs.predicted`, which is corrected if it was too short."""
        return False

    @property
    def reads_requests(self) -> bool:
        """Whether requested times matter."""
        return True

    def check(self, jobs: Jobs, machine: Machine) -> None:
        """Raise ``ValueError`` with one line for jobs to which these rules cannot be applied."""
