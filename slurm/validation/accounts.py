"""Accounts, users and QOS of the cases with a database, as ``sacctmgr`` reads them."""

ASSOCIATIONS = """\
Cluster - 'testcluster':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Fairshare=30:GrpTRES=cpu=32
Account - 'biology':Fairshare=20:GrpJobs=5:MaxJobs=2
Parent - 'physics'
Account - 'theory':Fairshare=2:GrpTRES=cpu=20
User - 'daemon':DefaultAccount='physics':Fairshare=1:GrpTRES=cpu=24
User - 'lp':DefaultAccount='physics':Fairshare=1
Parent - 'theory'
User - 'bin':DefaultAccount='theory':Fairshare=3:MaxJobs=2
User - 'sys':DefaultAccount='theory':Fairshare=1
Parent - 'biology'
User - 'sys':DefaultAccount='theory':Fairshare=1:MaxJobs=3
User - 'games':DefaultAccount='biology':Fairshare=1
User - 'bin':DefaultAccount='theory':Fairshare=2
User - 'man':DefaultAccount='biology':Fairshare=1
"""
"""Associations, also for users who submit no job: they have ranks in Fair Tree as well."""

QOS = (
    "main MaxTRESPerUser=cpu=40",
    "bulk Priority=20 GrpJobs=5 MaxTRESPerAccount=cpu=24 MaxTRESPerUser=cpu=20 PreemptMode=cancel "
    "GraceTime=20",
    "urgent Priority=100 GrpTRES=cpu=40 MaxJobsPerUser=3 MaxTRESPerUser=cpu=16 Preempt=bulk,normal",
)
"""The first one is a partition's; whether the last one preempts the others is in slurm.conf."""

WHO = (
    ("daemon", "physics"),
    ("bin", "theory"),
    ("sys", "theory"),
    ("sys", "biology"),
    ("games", "biology"),
    ("bin", "biology"),
)
"""Users and accounts of jobs; every Debian system has these users."""

LEVELS = ("normal", "normal", "urgent", "bulk")
"""QOS of jobs, in equal shares."""
