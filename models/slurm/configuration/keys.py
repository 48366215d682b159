"""The keys of slurm.conf: those that are modelled, those that are not though they change schedules, and
all others.

From the manual page slurm.conf(5) of Slurm 22.05 and later. A key of the second kind is listed as a note
of a study; one of the third has no part in what starts when (daemons, logs, accounts of energy).
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENTITIES = _words(
    "nodename partitionname nodeset downnodes frontendname poweraction slurmctldhost qosname reservationname"
)
"""Keys that begin a line with keys of its own."""

MODELLED = _words(
    """
AccountingStorageEnforce AccountingStorageType AuthInfo CompleteWait DefMemPerCPU DefMemPerNode
FairShareDampeningFactor GresTypes JobRequeue KillWait MessageTimeout
OverTimeLimit PreemptExemptTime PreemptMode PreemptParameters PreemptType PriorityCalcPeriod
PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityType PriorityWeightAge
PriorityWeightFairshare PriorityWeightJobSize
PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES SchedulerParameters SchedulerTimeSlice
SchedulerType SelectType SelectTypeParameters
"""
)

NOT_MODELLED = {
    "BurstBufferType": "staging of data",
    "CoreSpecPlugin": "cores set aside for the system",
    "DefCPUPerGPU": "CPUs that come with GPUs",
    "DefMemPerGPU": "memory that comes with GPUs",
    "Epilog": "time that nodes are busy after a job (beyond policy.completing)",
    "EpilogSlurmctld": "work after a job",
    "InactiveLimit": "ends of inactive jobs",
    "JobSubmitPlugins": "changes of jobs at submission",
    "Licenses": "waits for licences",
    "MCSPlugin": "nodes for one group of users",
    "NodeFeaturesPlugins": "nodes that boot with other features",
    "PrEpPlugins": "work before and after a job",
    "PrioritySiteFactorPlugin": "the site's own factor of priority",
    "PriorityUsageResetPeriod": "times at which usage begins anew",
    "PriorityWeightAssoc": "priorities of associations",
    "Prolog": "time before a job begins to work",
    "PrologSlurmctld": "work before a job",
    "ResvOverRun": "ends of jobs in reservations",
    "SuspendTime": "nodes that are switched off while idle",
    "TopologyPlugin": "the choice of nodes by switches",
}
"""Key -> what a simulation leaves out."""

NEUTRAL_VALUES = {"", *_words("none no 0 -1 infinite (null) n/a topology/none topology/default")}
"""Values, in small letters, with which such a key has no effect; those of a plugin end with ``/none``."""

PARAMETERS = _words(
    """
assoc_limit_stop batch_sched_delay
bf_busy_nodes bf_interval bf_max_job_part bf_max_job_start bf_max_job_test bf_max_job_user
bf_min_age_reserve bf_resolution bf_window bf_continue default_queue_depth defer partition_job_depth
preempt_reorder_count preempt_strict_order preempt_youngest_first sched_interval sched_max_job_start
"""
)
"""Words of SchedulerParameters that are modelled. A cycle takes no time here, so that bf_continue has no
effect."""

PARAMETERS_NOT_MODELLED = {
    "bf_job_part_count_reserve": "the number of plans in a partition",
    "bf_max_job_array_resv": "the number of plans of an array (each waiting job of one has its own here)",
    "bf_max_job_assoc": "tested jobs of an association",
    "bf_max_job_user_part": "tested jobs of a user in a partition",
    "bf_min_prio_reserve": "plans for jobs of high priority only",
    "bf_one_resv_per_job": "one plan for a job of several partitions",
    "bf_running_job_reserve": "plans for running jobs on whole nodes",
    "bf_window_linear": "the growth of windows of running jobs",
    "bf_licenses": "licences",
    "max_rpc_cnt": "passes put off while many messages wait",
    "pack_serial_at_end": "serial jobs on the last nodes",
    "reduce_completing_frag": "partitions that wait for completing jobs",
    "preempt_min_exempt_priority": "jobs of high priority that are not preempted",
    "preempt_reclaim_licenses": "licences",
    "nohold_on_prolog_fail": "jobs whose prolog fails",
}
"""Other words that change schedules -> what a simulation leaves out."""

PARAMETERS_OF_TIME = _words(
    """
bf_yield_interval bf_yield_sleep bf_max_time max_sched_time sched_min_interval bf_node_space_size
bf_hetjob_prio bf_hetjob_immediate bf_ignore_newly_avail_nodes build_queue_timeout
preempt_send_user_signal preempt_suspend_grace_time
correspond_after_task_cnt allow_zero_lic bb_array_stage_cnt disable_job_shrink disable_hetjob_steps
enable_hetjob_steps enable_user_top extra_node_name ignore_prefer_validation ignore_numa
inventory_interval max_array_tasks max_depend_depth max_script_size max_switch_wait
max_submit_line_size no_backup_scheduling no_env_cache permit_job_expansion requeue_delay
requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes spec_cores_first step_retry_count
step_retry_time time_min_as_soft_limit whole_hetjob whole_pack delay_boot default_gbytes ff_wait
ff_wait_value bf_topopt_enable bf_topopt_iterations bf_allow_magnetic_slot
"""
)
"""Words that are known and change no schedule of the model, above all since a pass takes no time."""

OTHERS = _words(
    """
ClusterName
AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost AccountingStorageLoc
AccountingStorageParameters AccountingStoragePass AccountingStoragePort AccountingStorageTRES
AccountingStorageUser AccountingStoreFlags AccountingStoreJobComment AcctGatherEnergyType
AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherNodeFreq
AcctGatherProfileType AllowSpecResourcesUsage AuthAltParameters AuthAltTypes AuthType
BackupAddr BackupController BatchStartTimeout BcastExclude BcastParameters BurstBufferParameters
CertgenParameters CertgenType CertmgrParameters CertmgrType CliFilterParameters CliFilterPlugins
CommunicationParameters ControlAddr ControlMachine CpuFreqDef CpuFreqGovernors CredType CryptoType
DataParserParameters DebugFlags DefRuntimePlugin DisableRootJobs EioTimeout EpilogMsgTime EpilogTimeout
ExtSensorsFreq ExtSensorsType FastSchedule FederationParameters FirstJobId GetEnvTimeout GpuFreqDef
GroupUpdateForce GroupUpdateTime HashPlugin HealthCheckInterval HealthCheckNodeState HealthCheckProgram
HealthCheckTimeout HttpParserType InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams
JobAcctGatherType JobCompHost JobCompLoc JobCompParams JobCompPass JobCompPassScript JobCompPort
JobCompType JobCompUser JobContainerType JobCredentialPrivateKey JobCredentialPublicCertificate
JobFileAppend KeepAliveTime KillOnBadExit LaunchParameters LaunchType LicenseParameters
LogTimeFormat MCSParameters MailDomain MailProg MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount
MaxJobId MaxNodeCount MaxStepCount MetricsAuthUsers MetricsParameters MetricsType
MinJobAge MpiDefault MpiParams NamespaceType PlugStackConfig PluginDir PowerParameters PowerPlugin
PrEpParameters PrEpPlugins PriorityParameters PrioritySiteFactorParameters PrivateData ProctrackType
PrologEpilogTimeout PrologTimeout PropagatePrioProcess PropagateResourceLimits
PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram
ResumeProgram ResumeRate ResvEpilog ResvProlog ReturnToService RoutePlugin SallocDefaultCommand
SbcastParameters SchedulerAuth ScronParameters SerializerParameters SerializerPlugins SlurmSchedLogFile
SlurmSchedLogLevel SlurmUser SlurmctldAddr SlurmctldDebug SlurmctldHttpAuthParameters SlurmctldLogFile
SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack SlurmctldPort SlurmctldPrimaryOffProg
SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug SlurmdHttpAuthParameters
SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug SlurmdTimeout
SlurmdUser SlurmrestdHttpAuthParameters SlurmrestdParameters SlurmstepdParameters SrunEpilog
SrunPortRange SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts SuspendExcStates
SuspendProgram SuspendRate SuspendTimeout SwitchParameters SwitchType TCPTimeout TLSParameters TLSType
TaskEpilog TaskPlugin TaskPluginParam TaskProlog TmpFS TopologyParam TrackWCKey TreeWidth
UnkillableStepProgram UnkillableStepTimeout UrlParserType UsePAM VSizeFactor WaitTime X11Parameters
"""
)

KNOWN = {key.lower(): key for key in (*MODELLED, *NOT_MODELLED, *OTHERS)}
KNOWN |= {key: key for key in ENTITIES}

NODE_KEYS = _words(
    """
nodename cpus procs sockets corespersocket threadspercore boards socketsperboard realmemory gres
weight feature features state memspeclimit corespeccount cpuspeclist nodeaddr nodehostname port
reason tmpdisk tresweights bcastaddr cpubind topology parameters restrictedcorespergpu
"""
)

PARTITION_KEYS = _words(
    """
partitionname nodes default defaulttime maxtime maxnodes minnodes state oversubscribe shared
overtimelimit priority prioritytier priorityjobfactor lln defmempercpu defmempernode maxcpuspernode
allocnodes allowaccounts allowgroups allowqos alternate cpubind defcpupergpu defmempergpu
denyaccounts denyqos disablerootjobs exclusiveuser exclusivetopo gracetime hidden maxmempercpu
maxmempernode preemptmode qos rootonly reqresv resumetimeout selecttypeparameters suspendtime
suspendtimeout tresbillingweights maxcpuspersocket powerdownonidle topology
"""
)
