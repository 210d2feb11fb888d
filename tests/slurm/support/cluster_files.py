"""Configuration files of a test cluster's daemons, in FOLDER, a tmpfs that is visible only to the cluster."""
import os

FOLDER = "/run/cluster"
NETWORK = "10.77.0"
HEAD = f"{NETWORK}.254"
CPUS = 8  # per node; SLURM does not check this number or the memory


def slurm_conf(nodes, gpus):
    lines = f"""
ClusterName=test
SlurmctldHost=head({HEAD})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
# cred_expire is also the delay (s) before a requeued job starts again (default 120).
AuthInfo=socket={FOLDER}/munge.socket,cred_expire=5
StateSaveLocation={FOLDER}/state
SlurmdSpoolDir={FOLDER}/%n/spool
# PMIx creates its folders here. The nodes share the file system, so each needs its own.
TmpFS={FOLDER}/%n/tmp
SlurmctldPidFile={FOLDER}/slurmctld.pid
SlurmdPidFile={FOLDER}/%n/slurmd.pid
SlurmctldLogFile={FOLDER}/log/slurmctld
SlurmdLogFile={FOLDER}/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0,sched_min_interval=100000
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
# Use the CPU counts below instead of the machine's.
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
KillWait=5
MessageTimeout=4
MinJobAge=3600
SlurmctldTimeout=30
# A node that does not respond for this time (s) is down, and its jobs are requeued.
SlurmdTimeout=9
GresTypes=gpu,shard
NodeName={nodes_word(nodes)} CPUs={CPUS} Boards=1 SocketsPerBoard=1 CoresPerSocket={CPUS} ThreadsPerCore=1 \
RealMemory=64000 Gres=gpu:fake:{gpus},shard:{2 * gpus} State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=1-00:00:00 State=UP
PartitionName=compute Nodes=ALL MaxTime=1-00:00:00 State=UP
"""
    return lines.lstrip()


def nodes_word(nodes):
    return f"n[1-{nodes}]"


def gres_conf(nodes, gpus):
    """Each GPU can be used completely or in two halves."""
    name = f"NodeName={nodes_word(nodes)} Name="
    return f"{name}gpu Type=fake File={FOLDER}/dev/gpu[0-{gpus - 1}]\n{name}shard Count={2 * gpus}\n"


def hosts(nodes):
    lines = ["127.0.0.1 localhost", f"{HEAD} head"] + [f"{NETWORK}.{i} n{i}" for i in range(1, nodes + 1)]
    return "\n".join(lines) + "\n"


def write(name, text, mode=0o644):
    """Writes FOLDER/NAME; returns its path."""
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        os.chmod(path, mode)
        file.write(text if isinstance(text, bytes) else text.encode())
    return path
