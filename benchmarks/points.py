"""Points of a study as the sweep makes them, simulated in this process; and jobs and rules by themselves."""

from models.backfill.policies import rules_of
from models.backfill.rules import Rules
from models.family import Outcome
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.workloads import synthetic
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.executors.work import point
from sweep.plan import families
from sweep.plan.data import Plan
from sweep.plan.expansion import expand
from sweep.plan.task import Task

FIG_8 = (
    "+experiment=packing",
    "grid.alternation=[shared]",
    "exclude=[]",
    "grid.unification=[true]",
    "replications=1",
    "batches=30",
    "batch_size=1000",
    "warmup=1",
)
"""The paper's main figure: eight schemes, each under all loads, 31,000 jobs a point (later overrides win)."""


def expanded(*overrides: str) -> Plan:
    """Return the plan of a command line."""
    return expand(compose.load(parsed(overrides), locate.conf_folder()))


def tasks(*overrides: str) -> list[Task]:
    """Return the tasks of a command line, e.g. ``+experiment=packing``, ``policy=buddy``, ``load=0.9``."""
    study = expanded(*overrides)
    return [study.task(number) for number in range(study.n_cells)]


def simulate(task: Task) -> Outcome:
    """Run a task as a worker would, but without recording it."""
    family = families.find(task.family)
    return family.simulate(point(task, family))


PROCESSORS = 128


def policies(*names: str) -> dict[str, Rules]:
    """Return policies of backfilling as conf has them."""
    plan = expanded("+experiment=replay", f"grid.policy=[{','.join(names)}]", "grid.workload=[synthetic]")
    return {policy.parameters["name"]: rules_of(policy.parameters) for policy in plan.variants["policy"]}


def stream(machine: Machine, n_jobs: int, load: float = 0.8) -> Jobs:
    """Return jobs of the workload ``synthetic``."""
    plan = expanded("+experiment=replay", "grid.workload=[synthetic]")
    return synthetic.draw(plan.variants["workload"][0].parameters, machine, load, n_jobs, (1, 0, 0))
