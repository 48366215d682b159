"""The tables that the kernels of Slurm's scheduler read and write: arrays of records in one named tuple.

Times are seconds since an instant at which Slurm's clock showed a multiple of every resolution; Slurm
compares whole seconds of that clock (``time(NULL)``), so kernels take the floor of a time where Slurm does.
Memory is in MB. ``G`` types of generic resources of ``N`` nodes are in row-major order, at ``node * G +
type``.
"""

from typing import Annotated, NamedTuple

import numpy as np
from numba import uint64

from models.arrays import Floats, Ints
from models.kernels.tables import Tables, at_address
from models.kernels.types import fields

SETS = Annotated[np.ndarray, uint64[:, ::1]]

NONE = -1

SETTINGS = fields(
    "tick completing killing cycle_time weight_age max_age weight_fair calc_period decay_per_s damping "
    "used_at_end time_slice suspend_grace power_period uptime job_time",
    "backfill bf_interval bf_resolution bf_window bf_max_job_test bf_max_job_user bf_max_job_part "
    "bf_node_space_size "
    "bf_max_job_start bf_min_age_reserve batch_sched_delay sched_interval default_queue_depth "
    "partition_job_depth sched_max_job_start defer kill_wait multifactor fair_tree n_gres "
    "track_memory least_loaded record_plans busy_nodes linear preempts by_qos youngest_first strict_order "
    "reorder_count requeue_wait message_timeout limit_stop gang by_core by_block in_rows most_rows suspends "
    "rounds_up bounded last_relevant one_by_one first_node completing_last switch_cpus switch_counts "
    "block_counts any_segment first_with_few optional_switches off_by_weight ended_at one_plan "
    "plans_licences plans_running "
    "first_licence budgets most_cpus unshared threads counts_cores saves_power suspend_rate resume_rate "
    "bf_max_time bf_min_prio_reserve shares_cores asked_sharing in_use hetjob_immediate "
    "hetjob_prio ends_pass later_checks token_rates counts_active booting_last checks_change",
)
"""Numbers of slurm.conf; seconds, and switches that are 0 or 1.

tick, cycle_time, job_time, completing, killing
    See `models.slurm.scheduler.Phases`; tick is the period there.
bf_node_space_size
    Segments of a plan with which a cycle ends, rather than add another one; as many as jobs are tested by
    default.
decay_per_s, damping
    See `models.slurm.configuration.settings.Settings`.
suspends
    Whether preempted jobs are suspended.
busy_nodes
    Whether plans prefer nodes that jobs have now.
linear
    Whether jobs get whole nodes, and plans take running jobs out one by one (`select/linear`).
preempts, by_qos
    Whether jobs preempt others, and whether their QOS decide that, else their partitions.
requeue_wait
    Seconds from the end of a requeued job on its nodes until it may start again.
time_slice, suspend_grace
    Seconds of a time slice of gang scheduling, and seconds for which a suspended job still runs.
gang, by_core
    Whether jobs are gang scheduled; whether jobs share a time slice if they share no core, or else if a node
    has CPUs for both.
by_block
    Whether jobs get cores of one socket rather than of each in turn.
most_cpus
    CPUs of the largest node.
unshared
    Whether all nodes are alike and without devices, and no node has two jobs at a time: a node is then empty
    or not offered.
most_rows
    Maximum number of jobs that may share a node, with `select/linear`.
in_rows
    Whether jobs have rows of cores, as `select/cons_tres` keeps them (`models.slurm.kernel.rows`).
shares_cores
    Whether jobs have rows because they run on shared cores at the same time, without gang scheduling.
rounds_up, bounded, last_relevant, one_by_one, first_node, completing_last, switch_cpus, switch_counts,
block_counts, any_segment, first_with_few, off_by_weight, ended_at, asked_sharing, in_use, later_checks,
token_rates, counts_active, booting_last, checks_change
    See `models.slurm.configuration.versions.RULES`.
optional_switches
    Whether only jobs that wait for few switches get nodes by them (`TopoOptional`).
one_plan
    Whether a job of several partitions has one plan in a cycle (`bf_one_resv_per_job`).
plans_licences, plans_running
    Whether plans include licences (`bf_licenses`) and running jobs (`bf_running_job_reserve`).
first_licence
    The first licence in `System.limits`: all entries after it are licences, too.
budgets
    Whether any limit counts what jobs have used.
threads, counts_cores
    The most CPUs of a core if jobs get CPUs of nodes, otherwise 1; whether all CPUs of a core count for the
    job that has it (CR_Core), or only the CPUs that it asks for. No other job gets the rest of the core.
saves_power, power_period, uptime
    Whether idle nodes are powered down, seconds between two wake-ups of the thread that does so, and seconds
    to add to the time for its monotonic clock.
hetjob_immediate, hetjob_prio
    Whether a cycle starts a heterogeneous job as soon as it has planned all components, or only at its end;
    and which priority of the components counts, see `models.slurm.configuration.settings.Settings`.
ends_pass
    See `models.slurm.configuration.versions.RULES`.
used_at_end
    Whether what a job used since the last calculation counts at its end: with AccountingStorageEnforce=limits
    only (seen on Slurm 22.05.8).
"""

STATE = fields(
    "now next_tick next_check next_calc next_immediate last_calc quiet_since next_slice "
    "next_power next_boot n_resumed n_suspended",
    "arrived n_queue n_running n_heap n_free_entry waiting_call last_sched last_full last_limits last_cycle "
    "last_update n_started n_passes n_cycles n_tested n_plans n_segments n_chosen n_held n_wake_ups "
    "n_completing n_known n_left n_pings n_pieces n_members n_slices most_shared shared n_offered n_ended "
    "n_placed busy_first weighed repeated is_copied is_viewed n_copies n_reached n_joint "
    "n_times first_time middle_time last_time n_joined n_booting n_stopping node_update n_power_log planned "
    "resume_periods suspend_periods n_unpicked cpus_by_then last_scan next_scan power_task node_changed "
    "partition verdict dedicated n_resets n_counted narrowest n_summed stride",
)
"""Scalars of the system.

next_check
    When the backfill thread checks whether a cycle is due.
waiting_call
    Whether a submission or an end waits for a pass.
last_sched, last_full, last_limits, last_cycle, last_update
    Whole seconds of the last timed pass, the last full one, the last test of limits, the end of the last
    backfill cycle, and the last change of any job.
n_chosen
    Nodes that `picking.pick` chose last.
n_held
    Jobs that are submitted and may not start yet (begin time, dependency, throttle of an array).
n_left
    Jobs of `System.leaving` that have been cancelled.
n_pieces
    Runs that preemption ended.
n_members
    Jobs in `System.order`, which are gang scheduled.
most_shared, shared
    Number of jobs that a node may have to get another one, in a test and in one attempt of it; `FEWEST`
    prefers nodes with few jobs.
n_offered
    Nodes that were offered in the previous attempt.
n_ended
    Running jobs that have ended in the view of the future where jobs preempt others or are in rows.
n_placed
    Times that a job was put into a row.
partition, verdict
    The partition for which nodes are chosen, and why none were found on its switches: `RETRY`, `HINT`, `STOP`
    or `WAITS`, see `models.slurm.kernel.switches`.
weighed
    Whether nodes that are completing are heavier at the moment.
cpus_by_then
    Upper bound of the CPUs that are free for a job by the instant up to which it found no start.
n_unpicked
    Running jobs that have ended by the start that was found, if no nodes are picked yet; else 0.
busy_first
    Whether nodes that jobs have now are preferred.
repeated
    Events at this instant before this one, see `models.kernels.standstill`.
is_copied, is_viewed, n_copies
    Whether `System.upcoming` holds the jobs that run now, and whether `System.views` belong to it; number of
    copies made.
n_summed, stride
    The copy to which `System.digits` belongs, and the running jobs that end between two lists there.
next_power, next_scan, last_scan, next_boot
    When nodes are next checked for power saving, at which wake-up, and at which wake-up they were last; when
    the next node has booted.
n_resumed, n_suspended, resume_periods, suspend_periods
    Nodes that were booted and powered down, decayed by a minute; with `token_rates` the tokens left for
    each, and the last period of the monotonic clock that has added one.
n_booting, n_stopping
    Jobs in `System.booting`, and nodes that are powering down.
power_task, node_changed
    What `models.slurm.kernel.powering` is to do; whether a node has changed at this instant.
node_update, planned
    Second in which a node changed last, and whether the last cycle planned an idle one.
dedicated
    Whether a job is tested as if it did not ask to share cores.
n_resets
    Instants of `System.resets` that have passed.
n_reached, n_joint
    Components that a cycle has reached (`System.reached`), and records of `System.joint_plans`.
n_times
    Segments in `System.timeline`.
first_time, middle_time, last_time, n_joined
    Places in it: where a window begins, where row `WINDOW` begins, where the window ends, and where that row
    ends (both excluded); see `models.slurm.kernel.plan.join_window`.
n_counted, narrowest
    Place before which segments were compared with what a job needs, and the last one with too few nodes.
"""

FEWEST, ANY = -1, 1 << 30


NODE = fields(ints="cpus sockets threads memory weight rows first_core line ranked")
"""threads: CPUs of a core. rows: jobs that may share it, on whole nodes with OverSubscribe=FORCE:n.
first_core: cores of the nodes before it. weight: 0 with `select/linear`, which has lines of NodeName instead,
light nodes first; else twice the configured one, see `models.slurm.kernel.earliest.weigh_completing`.
ranked: the node at this place in their order."""

SUPPLY = fields(ints="cpus memory")
"""What a node has left, now or in a view of the future; generic resources are apart."""

PARTITION = fields(
    ints="tier over whole rows n_rows most_rows first_row count failed ranked n_active "
    "first_switch n_switches block_nodes block_levels shares"
)
"""over: how long a job may exceed its limit, seconds. whole: whether jobs get whole nodes. rows: as for
nodes. n_rows, most_rows: its rows of cores that are open, with an empty one, and that may be; first_row:
where they begin in `System.rows`. count, failed: of a pass. ranked: the partition at this place in order of
tiers. n_active: jobs in its active row. first_switch, n_switches: by which its jobs get nodes, in
`System.switches`; block_nodes: nodes of a base block, 0 in a tree; block_levels: with bit k set, 2**k of them
are a block. shares: which of its jobs share cores: `NO_JOB`, `WHO_ASKS` or `ALL_JOBS`."""

NO_JOB, WHO_ASKS, ALL_JOBS = range(3)

JOB = fields(
    "submit begin runtime message answer call leaves factor billing",
    "limit min_nodes least_nodes max_nodes tasks task_cpus tasks_per_node node_memory cpu_memory whole user "
    "association array throttle after first_record first_charge first_answer qos exempt segment n_switches "
    "switch_wait asks component",
)
"""Jobs in order of submission, and one more that ends the list of records.

begin: earliest start. leaves: when its user cancels it, infinite for never. message: seconds from its end
until the message of its epilog, which calls the scheduler at once; -1 where its nodes only answer the
controller. answer: seconds until that, -1 for the usual time; call: until it calls the scheduler.
limit: whole seconds. max_nodes: 0 is any number. least_nodes: fewer nodes do not suffice for its tasks.
node_memory and cpu_memory: one of them is 0. whole: whether the job asks for whole nodes itself.
first_answer, first_record, first_charge: from here to the next job's first one are its entries of
`System.node_answers`, its records (one for each of its partitions) and its charges.
after: job that has to end first, -1 for none. array: number of its array, -1 for none; throttle: how many
jobs of the array may run at once, 0 for any number. qos: its row of `System.levels`, where QOS decide.
component: its row of `System.components`, -1 for none. exempt: seconds that it runs before it may be
preempted. factor: multiplies its usage; billing: its usage a second for fair share, -1 for its CPUs. segment:
nodes that are in one block; n_switches: maximum of leaf switches during the first `switch_wait` seconds, 0
for none. asks: whether it asks to share cores (``--oversubscribe``).
"""

COMPONENT = fields(ints="job leader n earliest tier priority reached planned record")
"""A component of a heterogeneous job. leader: the row of the first of its `n` components, which are adjacent.

earliest: in the leader's row, when a cycle may start the job at the earliest; tier, priority: of the whole
job, 0 before a cycle has computed them. reached: the last cycle that has reached the component; planned: its
earliest start in that cycle; record: the record with that start.
"""

JOINT_PLAN = fields(ints="leader partition start")
"""The latest start of a heterogeneous job's components in a partition, in descending order of time."""

NODE_ANSWER = fields("after", "node")
"""A node that answers before the last ones of its job, and the seconds from the job's end until then, by
job and time."""

RECORD = fields("fixed fixed_tested", "job partition priority words counted")
"""Pairs of a job and one of its partitions, the entries of the queue.

fixed, fixed_tested: the part of the priority that does not change with time, at submission and after the
first test of the job. words: the row of `System.partition_words` with its nodes. counted: what is enough for
the job, wherever it is: `BY_NODES`, as many nodes as it needs, each with its share of the CPUs; `BY_CPUS`, as
many CPUs and nodes; `UNCOUNTED`, where only a selection of nodes shows whether it fits.
"""

UNCOUNTED, BY_NODES, BY_CPUS = range(3)

LIMIT = fields("usage", "cap used of_jobs of_qos blocked kind safe ends decays")
CHARGE = fields(ints="limit amount checked need held")
"""Limits of associations and QOS, and licences, and what a job counts for one of them while it runs.

kind: `AT_ONCE`, `RUNNING_MINUTES`, `MINUTES`, `WALL`, `LICENCE` or `SUBMITTED`, see
`models.slurm.kernel.budgets`. used: what is in use; for minutes, the seconds for which running jobs may
continue. usage: seconds that were used; decays: whether they decay. safe: whether a job starts only if it can
end within the cap; ends: whether jobs are ended when it is reached. need: minutes that a job asks for; held:
added to `used` when the job starts. of_jobs: whether it limits the number of jobs. of_qos: number of the QOS
to all of whose jobs it applies, else 0. blocked: second before which a cycle plans no job under the limit
(assoc_limit_stop). checked: whether the limit keeps the job waiting; false if a QOS has the same limit, which
replaces it.
"""

RESERVATION = fields("begin end known")
"""When a reservation keeps its nodes (a row of `System.reserved_words`) from all jobs, and from when on it
counts: a recurring reservation is known once its previous occurrence has ended."""

LEVEL = fields(ints="rank mode grace")
"""A partition or a QOS, whichever decides which jobs preempt which (`System.preempts`).

rank: lower ones are preempted first. mode: how jobs are preempted (`OFF`, `REQUEUE`, `CANCEL`, `SUSPEND`).
grace: seconds until then.
"""

OFF, REQUEUE, CANCEL, SUSPEND = range(4)

REFUSED = 4

CANDIDATE = fields(ints="job key")
"""A running job that may be preempted; key decides their order."""

MEMBER = fields("since left lost", "last ran row runs signal suspended")
"""A job that is gang scheduled.

row: its place, see `models.slurm.kernel.gang`. runs: whether it comes first in rows of lower tiers. signal:
whether it is to be suspended; suspended: whether it is suspended. since, last: when it was suspended or
resumed last, and that instant's whole second. left: seconds that it still had to run then; ran: whole seconds
that it ran before; lost: seconds for which it was suspended.
"""

PIECE = fields("begin end drawn spared", "job cpus")
"""A run that preemption ended, of a job that runs again."""

FATE = fields(
    "start end reserved drawn spared",
    "status by partition tested entry n_nodes expected cpus killed warned called calling limited planned "
    "next_answer booting",
)
"""The state and the outcome of each job.

status: 0 not submitted, 1 held, 2 in the queue, 3 running, 4 ended, 5 to be requeued. killed: 1 at its limit,
2 by preemption, 3 by its user, `REFUSED` at its submission. warned: whether its time of grace runs. called:
second at which it last preempted others; calling: pass or cycle in which it does so. limited: whether a limit
kept it waiting at its last test. planned: cycle in which it had a planned start. next_answer: the next of its
nodes that answer before the last ones. by: 0 the main scheduler, 1 backfill. booting: whether it waits for
nodes that boot. drawn, spared: watts that its CPUs draw, and that they would draw idle. reserved: first
planned start, NaN for none. tested: whether the selection of nodes has seen it. entry: its first allocation;
n_nodes: number of allocations. expected: whole second at which it has to end.
"""

ENTRY = fields(ints="node cpus next cores answered")
"""Allocations of running jobs as linked lists: node, CPUs there, next entry of the job, or of free ones; in
rows of cores, its cores there as bits. answered: whether the node has confirmed the end of the job, which
counts in rows until all nodes have."""

END = fields("key", "job")
"""The heap of ends, and of answers of nodes: job is twice the job's number, plus 1 for the next answer, and
for the call of the scheduler after all of them."""

OFFER = fields(ints="cpus jobs completing")
"""For each node: the CPUs that it offers a job, the jobs that have it, and the jobs whose end it has not
confirmed."""

USE = fields(ints="alone sharing")
"""For each node, the jobs that share no core, and the jobs that ask to share cores or have to; for the view
`NOW`, then for `LATER`."""

GROUP = fields(ints="first last cpus nodes")
"""Consecutive nodes that offer anything: the first and the last one, their CPUs, and how many are left."""

CHOICE = fields(ints="node cpus given")
"""Nodes that were picked, and the CPUs of the job there; given: the CPUs among these that have got a task."""

ROW = fields(ints="n_cores listed before")
"""A row of a partition: its cores in use; the row that is at this place of the partition's list, now and
before the jobs took rows again."""

PLACE = fields(ints="row number row_before number_before")
"""The row of a job, `NONE` for none, and its number in the order of joining rows; and both as they were
before all jobs took rows again."""

AT_ONCE, RUNNING_MINUTES, MINUTES, WALL, LICENCE, SUBMITTED = range(6)

NOW, LATER, EMPTY = range(3)
"""Views: the present, the future, and nodes without jobs. Rows and places of `NOW` come before the ones of
`LATER`."""

ALLOWED, TRIED, KEPT = range(3)
"""Rows of `System.cores`: those that a job may have, that are tried, that were tried before."""

UPCOMING = fields(ints="expected first_word first_share node_cpus spread_cpus")
"""Running jobs in order of their expected ends, and one more record that ends the last job's words; see
`models.slurm.kernel.upcoming`.

first_word: its nodes are in the records of `System.upcoming_words` from here to the next job's first one.
first_share: likewise, its CPUs there in `System.upcoming_shares`. node_cpus: the most CPUs that it has on a
node; spread_cpus: its CPUs beyond one on each node.
"""

NODES_IN_WORD = fields(ints="word bits")
"""Nodes of a running job in one word of a set."""

SHARE = fields(ints="node cpus")
"""A node of a running job, and the CPUs that it has there."""

NODE_SHARE = fields(ints="place cpus")
"""A running job on a node, by its place in `System.upcoming`, and the CPUs that it has there."""

VIEW = fields(ints="first last ended")
"""For each node: its records in `System.node_shares` from first to before last, in order of expected ends,
and the first one that has not ended in the view of the future."""

ABLE_CLASS = fields(ints="copy least n")
ABLE_NODE = fields(ints="node place expected")
"""Nodes that have `least` CPUs, all of them if it is 0, once jobs of copy `copy` have ended: `n` records of
`System.able`, by the expected end and the number of jobs after which they have them. `System.able_sets` has
the first 64 * i of each list as row i of as many as there are words, and one."""

N_CLASSES = 39
"""Number of such lists, two of them for 0 and for 1."""

N_SUMS = 64
"""Lists of the CPUs that are free on each node, see `models.slurm.kernel.counting.sum_cpus`."""

POWER = fields(
    "ready boots idle_watts busy_watts boot_watts off_watts",
    "state since idle_for off_for kept spared weight begun",
)
"""For each node: when it has booted; seconds of a boot, of the idle time before it is powered down, and of
powering down; watts that it draws.

state: `UP`, `STOPPING`, `DOWN`, `BOOTING`. since: second of its last job's end, or since it is `STOPPING`.
kept: 0 stays up, 1 and more is a row of `System.kept_counts`, `NONE` is powered down. spared: whether it
stays up now. weight: twice the configured one. begun: whether it is `DOWN` at the beginning.
"""

UP, STOPPING, DOWN, BOOTING = range(4)
BEGIN, CHANGED, BOOTED, READY, SCAN, CYCLE_BEGINS, CYCLE_ENDS = range(7)
"""Tasks of `models.slurm.kernel.powering`."""

FAR = 1 << 60
"""Seconds: later than the end of any job."""

POWERED_DOWN = 1 << 33
"""Least weight of a node that is powered down."""

STAYING = fields(ints="count members marked")
"""Nodes of a group of SuspendExcNodes, of which the first `count` idle nodes stay up."""

POWER_LOG = fields("at idle boot off")
"""Changes of the watts that idle, booting and powered-down nodes draw."""

SEGMENT = fields(ints="begin end adds is_same")
"""The plan: from when to when `System.available` has the same nodes, and in `System.timeline` the places of
these segments in order of time. `System.suffixes`: see `models.slurm.kernel.plan.join_window`.

adds: bit p % 63 is set if the next segment has a node of partition p that this one lacks. is_same: whether
the next segment has the same nodes and licences.
"""

BOUND = fields(ints="end until cpus")
"""In this cycle a window from a segment to `end` or later has at most this number of CPUs of a partition that
are free by `until`.

`System.bounds` has, for each segment, N_LIMITS bounds for each of the first N_BOUNDED partitions. A bound is
for limits whose minutes have a certain number of bits, see `models.slurm.kernel.plan.pass_by`.
`System.counts` has the number of nodes of these partitions that are available in each segment, `NONE` if they
were not counted since it changed; and, after all segments, how many of them a plan takes.
"""

N_LIMITS, N_BOUNDED = 14, 16

SWITCH = fields(ints="level parent distance n_nodes n_cpus weight required")
"""A switch of a tree, or a base block: leaves have level 0. All fields but level and parent belong to one
choice of nodes, see `models.slurm.kernel.switches` and `blocks`."""

PLANNED = fields("cycle start", "job")
"""A recorded plan: instant of the cycle, and planned start of the job."""

ASSOCIATION = fields("share norm usage factor level", "parent is_user first last place held")
"""Accounts and users in them, parents before children, siblings next to each other.

share: fraction of the siblings' shares, infinite for ``Fairshare=parent``; norm: product of shares up to the
root. usage: decayed CPU seconds. factor: the fair-share factor; level: the value that it is computed from.
first, last: its children's places are from `first` to before `last`; place: its own; held: the association in
the place of this number.
"""

(
    MASK,
    NARROWED,
    FREE,
    FUTURE,
    USABLE,
    ORIGINAL,
    PICKED,
    COMPLETING,
    ADDED,
    WINDOW,
    ON_SWITCHES,
    UNAVAILABLE,
    VERIFIED,
    N_SETS,
) = range(14)
"""Rows of `System.sets`: nodes under test, and the ones with a free CPU; all nodes with a free CPU, now and
in the future; nodes that a pass may use, that a job may use, that were picked for it; nodes that have not
confirmed the end of a job; nodes of the lines of slurm.conf that were added so far; nodes that are available
in the later part of a window; nodes that a job may have on a tree of switches; nodes that are powering down;
nodes that a job may have beside jobs that share cores, or that do not."""


class System(NamedTuple):
    """All tables; sets of nodes are rows of 64-bit words. `partition_words`: nodes of each partition, then
    the nodes of a partition that meet a constraint. `reserved_from`: first planned use of each node in this
    cycle. `leaving`: jobs that their users cancel, in order of time. `reserved_words`: nodes of reservations,
    then the nodes of switches, and as many rows for one choice. `available`: the nodes of each segment of the
    plan, then how many there are of each licence. `booting`: jobs that wait for nodes that boot.
    `power_wake_ups`: when the thread that powers nodes down wakes up, as far as known. `resets`: when all
    usage is set to zero, in order. `touched`: nodes on which each partition ever had jobs."""

    state: Annotated[np.ndarray, STATE]
    settings: Annotated[np.ndarray, SETTINGS]
    nodes: Annotated[np.ndarray, NODE]
    empty: Annotated[np.ndarray, SUPPLY]
    free: Annotated[np.ndarray, SUPPLY]
    future: Annotated[np.ndarray, SUPPLY]
    empty_gres: Ints
    free_gres: Ints
    future_gres: Ints
    partitions: Annotated[np.ndarray, PARTITION]
    partition_words: SETS
    jobs: Annotated[np.ndarray, JOB]
    job_gres: Ints
    components: Annotated[np.ndarray, COMPONENT]
    reached: Ints
    joint_plans: Annotated[np.ndarray, JOINT_PLAN]
    node_answers: Annotated[np.ndarray, NODE_ANSWER]
    records: Annotated[np.ndarray, RECORD]
    limits: Annotated[np.ndarray, LIMIT]
    charges: Annotated[np.ndarray, CHARGE]
    levels: Annotated[np.ndarray, LEVEL]
    preempts: Ints
    candidates: Annotated[np.ndarray, CANDIDATE]
    members: Annotated[np.ndarray, MEMBER]
    order: Ints
    active: Ints
    slices: Floats
    pieces: Annotated[np.ndarray, PIECE]
    resets: Floats
    reservations: Annotated[np.ndarray, RESERVATION]
    reserved_words: SETS
    switches: Annotated[np.ndarray, SWITCH]
    power: Annotated[np.ndarray, POWER]
    kept_counts: Annotated[np.ndarray, STAYING]
    power_log: Annotated[np.ndarray, POWER_LOG]
    booting: Ints
    power_wake_ups: Floats
    fate: Annotated[np.ndarray, FATE]
    entries: Annotated[np.ndarray, ENTRY]
    rows: Annotated[np.ndarray, ROW]
    row_cores: SETS
    places: Annotated[np.ndarray, PLACE]
    cores: SETS
    uses: Annotated[np.ndarray, USE]
    touched: SETS
    usable: Annotated[np.ndarray, SUPPLY]
    queue: Ints
    running: Ints
    upcoming: Annotated[np.ndarray, UPCOMING]
    upcoming_words: Annotated[np.ndarray, NODES_IN_WORD]
    upcoming_shares: Annotated[np.ndarray, SHARE]
    node_shares: Annotated[np.ndarray, NODE_SHARE]
    views: Annotated[np.ndarray, VIEW]
    able: Annotated[np.ndarray, ABLE_NODE]
    able_classes: Annotated[np.ndarray, ABLE_CLASS]
    able_sets: SETS
    digits: SETS
    held: Ints
    leaving: Ints
    heap: Annotated[np.ndarray, END]
    offers: Annotated[np.ndarray, OFFER]
    reserved_from: Ints
    groups: Annotated[np.ndarray, GROUP]
    choices: Annotated[np.ndarray, CHOICE]
    sets: SETS
    segments: Annotated[np.ndarray, SEGMENT]
    available: SETS
    bounds: Annotated[np.ndarray, BOUND]
    counts: Ints
    timeline: Ints
    suffixes: SETS
    of_user: Ints
    array_running: Ints
    wake_ups: Floats
    cycles: Floats
    pings: Floats
    log: Annotated[np.ndarray, PLANNED]
    fair: Annotated[np.ndarray, ASSOCIATION]


SYSTEM = Tables(System)

system_at = at_address(SYSTEM)
