package place

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// vars is an environment, written as NAME=value with blanks between.
type vars string

func (v vars) find(f Flags) (Place, error) {
	return Find(v.getenv(), strings.Fields(string(v)), f)
}

func (v vars) getenv() func(string) string {
	return func(name string) string {
		for _, kv := range slices.Backward(strings.Fields(string(v))) {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// The environments of rank 2 of 4 (one host, then two), as mpirun 4.1.4 sets
// them, of rank 3 of srun -N2 -n4, of torchrun 1.13.1 and of TFJob.
const (
	mpi1 = "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=2 OMPI_COMM_WORLD_LOCAL_SIZE=4 OMPI_COMM_WORLD_NODE_RANK=2 " +
		"PMIX_RANK=2 PMIX_NAMESPACE=1069023233 PMIX_ID=1069023233.2 OMPI_MCA_ess_base_jobid=1069023233 OMPI_UNIVERSE_SIZE=2 OMPI_MCA_orte_num_nodes=1 "
	mpi1Zero = "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=1069023233 "
	mpi2     = "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_NODE_RANK=0 " +
		"PMIX_RANK=2 PMIX_NAMESPACE=418971649 OMPI_MCA_ess_base_jobid=418971649 OMPI_UNIVERSE_SIZE=4 OMPI_MCA_orte_num_nodes=2 PMIX_HOSTNAME=node2 "
	hydra  = "PMI_RANK=3 PMI_SIZE=4 PMI_FD=9 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2 "
	hydra2 = hydra + "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=node2 HYDI_CONTROL_FD=7 " // on two hosts
	hydra1 = "PMI_RANK=0 PMI_SIZE=2 PMI_FD=6 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2 MPIR_CVAR_CH3_INTERFACE_HOSTNAME=vm "
	pmi2   = "PMI_RANK=3 PMI_SIZE=4 PMI_FD=9 PMI_JOBID=1.0 " // under srun --mpi=pmi2
	pet    = "PET_NNODES=4 PET_NPROC_PER_NODE=1 PET_NODE_RANK=3 PET_MASTER_ADDR=job-node-0-0.job PET_MASTER_PORT=29400 "
	pod    = "JOB_COMPLETION_INDEX=3 HOSTNAME=job-3 "
	podEnv = pod + "RINGTRAIN_WORLD_SIZE=4 RINGTRAIN_RENDEZVOUS=job-0.ring:29400 "
	srun   = "SLURM_PROCID=3 SLURM_LOCALID=0 SLURM_NODEID=1 SLURM_NTASKS=4 SLURM_NPROCS=4 SLURM_JOB_ID=1 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=node[1-2] " +
		"SLURM_STEP_NUM_NODES=2 SLURM_LAUNCH_NODE_IPADDR=10.77.1.2 "
	daemon   = "SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_STEP_ID=0 " // under mpirun in an allocation
	batch    = "SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_LOCALID=0 SLURM_JOB_ID=1 "
	torchrn1 = "RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 GROUP_RANK=0 GROUP_WORLD_SIZE=1 ROLE_RANK=1 ROLE_WORLD_SIZE=2 ROLE_NAME=default " +
		"MASTER_ADDR=localhost MASTER_PORT=60833 TORCHELASTIC_RUN_ID=x TORCHELASTIC_RESTART_COUNT=0 TORCHELASTIC_USE_AGENT_STORE=False OMP_NUM_THREADS=1 "
	torchTwo = "RANK=0 WORLD_SIZE=2 MASTER_ADDR=node1 MASTER_PORT=29500 "
	store    = "TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RUN_ID=none "
	ours     = "RINGTRAIN_RANK=1 RINGTRAIN_WORLD_SIZE=4 RINGTRAIN_LOCAL_RANK=1 RINGTRAIN_LOCAL_SIZE=4 RINGTRAIN_RENDEZVOUS=127.0.0.1:7000 RINGTRAIN_JOB_ID=j "
	tfjob    = `TF_CONFIG={"cluster":{"chief":["job-chief-0.ns.svc:2222"],"ps":["job-ps-0.ns.svc:2222"],"worker":["job-worker-0.ns.svc:2222","job-worker-1.ns.svc:2222"]},` +
		`"task":{"type":"worker","index":1},"environment":"cloud"} `
	three = `"cluster":{"worker":["10.0.0.1:2222","10.0.0.2:2222","10.0.0.3:2222"]}`
)

func tf(cluster, task string) vars { return vars(`TF_CONFIG={` + cluster + `,"task":` + task + `}`) }

// TestFindPlace verifies the place of each dialect.
func TestFindPlace(t *testing.T) {
	tfjobListed := []string{"job-chief-0.ns.svc:2222", "job-worker-0.ns.svc:2222", "job-worker-1.ns.svc:2222"}
	threeListed := []string{"10.0.0.1:2222", "10.0.0.2:2222", "10.0.0.3:2222"}
	mpiAt := "127.0.0.1:28608" // 20000 + FNV-1a of the job's id mod 10000
	slurmAt := "node1:28290"   // of "1.0"
	none := Flags{Rank: -1}
	tests := []struct {
		name  string
		vars  vars
		flags Flags
		want  Place
	}{
		{"set=none", "", none, Place{WorldSize: 1, LocalSize: 1}},
		{"set=none/listen", "", Flags{Rank: -1, Listen: ":1", JobID: "j"}, Place{WorldSize: 1, LocalSize: 1, JobID: "j"}},
		{"set=ours", ours, none, Place{Rank: 1, WorldSize: 4, LocalRank: 1, LocalSize: 4, Rendezvous: "127.0.0.1:7000", Listen: "127.0.0.1:0", JobID: "j", Source: "ringtrain run"}},
		{"set=ours and all others", ours + mpi2 + srun + torchrn1 + tfjob + "JOB_COMPLETION_INDEX=7", none, Place{Rank: 1, WorldSize: 4, LocalRank: 1, LocalSize: 4, Rendezvous: "127.0.0.1:7000", Listen: "127.0.0.1:0", JobID: "j", Source: "ringtrain run"}},
		{"set=ours and half a set", ours + "RANK=3", none, Place{Rank: 1, WorldSize: 4, LocalRank: 1, LocalSize: 4, Rendezvous: "127.0.0.1:7000", Listen: "127.0.0.1:0", JobID: "j", Source: "ringtrain run"}},
		{"set=ours/flags", ours, Flags{Rank: 2, WorldSize: 8, Rendezvous: "node1:29400", Listen: "10.0.0.2", JobID: "k"}, Place{Rank: 2, WorldSize: 8, LocalRank: 1, LocalSize: 4, Rendezvous: "node1:29400", Listen: "10.0.0.2:0", JobID: "k", Source: "--rank"}},
		{"flags=host-id over set=ours", ours + "RINGTRAIN_HOST_ID=a", Flags{Rank: -1, HostID: "vm/b"}, Place{Rank: 1, WorldSize: 4, LocalRank: 1, LocalSize: 4, Rendezvous: "127.0.0.1:7000", Listen: "127.0.0.1:0", JobID: "j", HostID: "vm/b", Source: "ringtrain run"}},
		{"set=ours, one rank", "RINGTRAIN_RANK=0 RINGTRAIN_WORLD_SIZE=1 RINGTRAIN_RENDEZVOUS=127.0.0.1:7000", none, Place{WorldSize: 1, LocalSize: 1, Launcher: "127.0.0.1:7000", Source: "ringtrain run"}},
		{"flags=rank 0 at the rendezvous", "", Flags{Rank: 0, WorldSize: 2, Rendezvous: "10.0.0.1:7000", Listen: "10.0.0.1:7000"}, Place{WorldSize: 2, LocalRank: -1, Rendezvous: "10.0.0.1:7000", AtRank0: true, Serve: true, Listen: "10.0.0.1:7000", Source: "--rank"}},
		{"flags=no rank", "", Flags{Rank: -1, WorldSize: 2, Rendezvous: "node1:29400"}, Place{Rank: -1, WorldSize: 2, LocalRank: -1, Rendezvous: "node1:29400", Listen: ":0", Source: "--world-size"}},
		{"set=size only", "RINGTRAIN_WORLD_SIZE=2 RINGTRAIN_RENDEZVOUS=[::1]:29400 RINGTRAIN_LOCAL_RANK=1", none, Place{Rank: -1, WorldSize: 2, LocalRank: -1, Rendezvous: "[::1]:29400", Listen: "127.0.0.1:0", Source: "RINGTRAIN_WORLD_SIZE"}},

		{"set=TF_CONFIG", tfjob, none, Place{Rank: 2, WorldSize: 3, LocalRank: -1, Rendezvous: tfjobListed[0], AtRank0: true, Listen: ":2222", Listed: tfjobListed, Source: "TF_CONFIG"}},
		{"set=TF_CONFIG/task=chief", tf(`"cluster":{"chief":["a:1"],"worker":["b:2"],"ps":["c:3","d:4"]}`, `{"type":"chief","index":0}`), none, Place{WorldSize: 2, LocalRank: -1, Rendezvous: "a:1", AtRank0: true, Serve: true, Listen: ":1", Listed: []string{"a:1", "b:2"}, Source: "TF_CONFIG",
			Notices: []string{"TF_CONFIG: 2 ps and 0 evaluator entries are passed over: the workers need neither"}}},
		{"set=TF_CONFIG/task=worker 0", tf(three, `{"type":"worker","index":0}`), none, Place{WorldSize: 3, LocalRank: -1, Rendezvous: "10.0.0.1:2222", AtRank0: true, Serve: true, Listen: "10.0.0.1:2222", Listed: threeListed, Source: "TF_CONFIG"}},
		{"set=TF_CONFIG/index=text", tf(three, `{"type":"worker","index":"2","trial":"x"}`), none, Place{Rank: 2, WorldSize: 3, LocalRank: -1, Rendezvous: "10.0.0.1:2222", AtRank0: true, Listen: "10.0.0.3:2222", Listed: threeListed, Source: "TF_CONFIG"}},
		{"set=TF_CONFIG/rendezvous", tf(three, `{"type":"worker","index":0}`), Flags{Rank: -1, Rendezvous: "head:29400"}, Place{WorldSize: 3, LocalRank: -1, Rendezvous: "head:29400", Listen: "10.0.0.1:2222", Listed: threeListed, Source: "TF_CONFIG"}},
		{"set=TF_CONFIG/listen", tf(three, `{"type":"worker","index":0}`), Flags{Rank: -1, Listen: "0.0.0.0"}, Place{WorldSize: 3, LocalRank: -1, Rendezvous: "10.0.0.1:2222", AtRank0: true, Serve: true, Listen: "0.0.0.0:2222", Listed: threeListed, Source: "TF_CONFIG"}},
		{"set=TF_CONFIG/listen=range", tf(three, `{"type":"worker","index":0}`), Flags{Rank: -1, Listen: ":2000-3000"}, Place{WorldSize: 3, LocalRank: -1, Rendezvous: "10.0.0.1:2222", AtRank0: true, Serve: true, Listen: ":2222", Listed: threeListed, Source: "TF_CONFIG"}},
		{"set=TF_CONFIG/listen=range, not rank 0", tf(three, `{"type":"worker","index":1}`), Flags{Rank: -1, Listen: ":2000-3000"}, Place{Rank: 1, WorldSize: 3, LocalRank: -1, Rendezvous: "10.0.0.1:2222", AtRank0: true, Listen: ":2000-3000", Listed: threeListed, Source: "TF_CONFIG"}},
		{"set=TF_CONFIG/loopback among others", tf(`"cluster":{"worker":["localhost:1","10.0.0.2:1"]}`, `{"type":"worker","index":0}`), none, Place{WorldSize: 2, LocalRank: -1, Rendezvous: "localhost:1", AtRank0: true, Serve: true, Listen: "localhost:1", Listed: []string{"localhost:1", "10.0.0.2:1"}, Source: "TF_CONFIG",
			Notices: []string{"TF_CONFIG: cluster.worker[0] is localhost:1, a loopback address among those of other hosts: only its own host reaches it"}}},
		{"set=TF_CONFIG/one worker", tf(`"cluster":{"worker":["a:1"]}`, `{"type":"worker","index":0}`), none, Place{WorldSize: 1, LocalSize: 1, Listed: []string{"a:1"}, Source: "TF_CONFIG"}},
		{"set=TF_CONFIG/task=ps", tf(`"cluster":{"worker":["a:1"],"ps":["b:1"]}`, `{"type":"ps","index":0}`), none, Place{Rank: -1, LocalRank: -1, Source: "TF_CONFIG", NotNeeded: "TF_CONFIG: task ps 0 is not needed: the workers train and evaluate among themselves"}},
		{"set=TF_CONFIG/task=evaluator", tf(`"cluster":{"worker":["a:1"]}`, `{"type":"evaluator","index":0}`), none, Place{Rank: -1, LocalRank: -1, Source: "TF_CONFIG", NotNeeded: "TF_CONFIG: task evaluator 0 is not needed: the workers train and evaluate among themselves"}},
		{"set=TF_CONFIG and agreeing index", tf(three, `{"type":"worker","index":1}`) + " JOB_COMPLETION_INDEX=1", none, Place{Rank: 1, WorldSize: 3, LocalRank: -1, Rendezvous: "10.0.0.1:2222", AtRank0: true, Listen: "10.0.0.2:2222", Listed: threeListed, Source: "TF_CONFIG"}},

		{"set=torch", torchrn1, none, Place{Rank: 1, WorldSize: 2, LocalRank: 1, LocalSize: 2, Rendezvous: "localhost:60833", AtRank0: true, Listen: "127.0.0.1:0", JobID: "x", Source: "RANK/WORLD_SIZE"}},
		{"set=torch/rank 0", torchTwo, none, Place{WorldSize: 2, LocalRank: -1, Rendezvous: "node1:29500", AtRank0: true, Serve: true, Listen: ":29500", Source: "RANK/WORLD_SIZE"}},
		{"set=torch/rank 0 by IPv6", "RANK=0 WORLD_SIZE=2 MASTER_ADDR=fd77::1 MASTER_PORT=29500", none, Place{WorldSize: 2, LocalRank: -1, Rendezvous: "[fd77::1]:29500", AtRank0: true, Serve: true, Listen: "[fd77::1]:29500", Source: "RANK/WORLD_SIZE"}},
		{"set=torch/agent store", torchTwo + store, none, Place{WorldSize: 2, LocalRank: -1, Rendezvous: "node1:29501", AtRank0: true, Serve: true, Listen: ":29501", Source: "RANK/WORLD_SIZE",
			Notices: []string{"TORCHELASTIC_USE_AGENT_STORE=True: torchrun holds port 29500, so the rendezvous is at node1:29501"}}},
		{"set=torch/rendezvous", torchTwo, Flags{Rank: -1, Rendezvous: "head:1"}, Place{WorldSize: 2, LocalRank: -1, Rendezvous: "head:1", Listen: ":0", Source: "RANK/WORLD_SIZE"}},
		{"set=torch without master/rendezvous", "RANK=1 WORLD_SIZE=2", Flags{Rank: -1, Rendezvous: "head:1"}, Place{Rank: 1, WorldSize: 2, LocalRank: -1, Rendezvous: "head:1", Listen: ":0", Source: "RANK/WORLD_SIZE"}},
		{"set=torch, one rank", "RANK=0 WORLD_SIZE=1", none, Place{WorldSize: 1, LocalSize: 1, Source: "RANK/WORLD_SIZE"}},
		{"set=torch in a step that agrees", "RANK=3 WORLD_SIZE=4 MASTER_ADDR=node1 MASTER_PORT=29500 " + srun, none, Place{Rank: 3, WorldSize: 4, LocalRank: -1, Rendezvous: "node1:29500", AtRank0: true, Listen: ":0", Source: "RANK/WORLD_SIZE"}},
		{"set=torch and PET_*", torchTwo + "PET_NNODES=2 PET_NODE_RANK=0", none, Place{WorldSize: 2, LocalRank: -1, Rendezvous: "node1:29500", AtRank0: true, Serve: true, Listen: ":29500", Source: "RANK/WORLD_SIZE"}},

		{"set=Open MPI", mpi1, none, Place{Rank: 2, WorldSize: 4, LocalRank: 2, LocalSize: 4, Rendezvous: mpiAt, AtRank0: true, Listen: "127.0.0.1:0", JobID: "1069023233", Source: "Open MPI"}},
		{"set=Open MPI/rank 0", mpi1Zero, none, Place{WorldSize: 4, LocalSize: 4, Rendezvous: mpiAt, AtRank0: true, Serve: true, Listen: mpiAt, JobID: "1069023233", Source: "Open MPI"}},
		{"set=Open MPI/several hosts, rendezvous", mpi2, Flags{Rank: -1, Rendezvous: "node1:29400"}, Place{Rank: 2, WorldSize: 4, LocalSize: 2, Rendezvous: "node1:29400", Listen: ":0", JobID: "418971649", Source: "Open MPI"}},
		{"set=Open MPI in an allocation", mpi1 + daemon, none, Place{Rank: 2, WorldSize: 4, LocalRank: 2, LocalSize: 4, Rendezvous: mpiAt, AtRank0: true, Listen: "127.0.0.1:0", JobID: "1069023233", Source: "Open MPI"}},
		{"set=Open MPI on several hosts with torch", mpi2 + "RANK=2 WORLD_SIZE=4 MASTER_ADDR=node1 MASTER_PORT=29500", none, Place{Rank: 2, WorldSize: 4, LocalRank: -1, Rendezvous: "node1:29500", AtRank0: true, Listen: ":0", Source: "RANK/WORLD_SIZE"}},
		{"set=Open MPI in an allocation/rank 0", mpi1Zero + "SLURM_NTASKS=2 SLURM_JOB_ID=1 ", none, Place{WorldSize: 4, LocalSize: 4, Rendezvous: mpiAt, AtRank0: true, Serve: true, Listen: mpiAt, JobID: "1069023233", Source: "Open MPI"}},
		{"set=Open MPI in a step and a pod", mpi1 + daemon + "JOB_COMPLETION_INDEX=0", none, Place{Rank: 2, WorldSize: 4, LocalRank: 2, LocalSize: 4, Rendezvous: mpiAt, AtRank0: true, Listen: "127.0.0.1:0", JobID: "1069023233", Source: "Open MPI"}},

		{"set=MPICH", hydra2, none, Place{Rank: 3, WorldSize: 4, LocalRank: 1, LocalSize: 2, PMI: &PMI{FD: 9, Host: "node2"}, Source: "PMI"}},
		{"set=MPICH/one host", hydra1, none, Place{WorldSize: 2, LocalSize: 2, PMI: &PMI{FD: 6, OneHost: true, Host: "vm"}, Source: "PMI"}},
		{"set=MPICH/listen", hydra2, Flags{Rank: -1, Listen: "10.0.0.2", JobID: "j"}, Place{Rank: 3, WorldSize: 4, LocalRank: 1, LocalSize: 2, PMI: &PMI{FD: 9, Host: "node2", Listen: "10.0.0.2"}, JobID: "j", Source: "PMI"}},
		{"set=MPICH/rendezvous", hydra2, Flags{Rank: -1, Rendezvous: "head:1"}, Place{Rank: 3, WorldSize: 4, LocalRank: 1, LocalSize: 2, Rendezvous: "head:1", Listen: ":0", Source: "PMI"}},
		{"set=MPICH without PMI_FD/rendezvous", "PMI_RANK=1 PMI_SIZE=2", Flags{Rank: -1, Rendezvous: "head:1"}, Place{Rank: 1, WorldSize: 2, LocalRank: -1, Rendezvous: "head:1", Listen: ":0", Source: "PMI"}},
		{"set=MPICH, one rank", "PMI_RANK=0 PMI_SIZE=1 PMI_FD=6 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1", none, Place{WorldSize: 1, LocalSize: 1, Source: "PMI"}},
		{"set=MPICH in an allocation", hydra2 + daemon, none, Place{Rank: 3, WorldSize: 4, LocalRank: 1, LocalSize: 2, PMI: &PMI{FD: 9, Host: "node2"}, Source: "PMI"}},
		{"set=MPICH with torch", hydra2 + "RANK=3 WORLD_SIZE=4 MASTER_ADDR=node1 MASTER_PORT=29500", none, Place{Rank: 3, WorldSize: 4, LocalRank: -1, Rendezvous: "node1:29500", AtRank0: true, Listen: ":0", Source: "RANK/WORLD_SIZE"}},
		{"set=PMI-2 without Slurm/rendezvous", pmi2, Flags{Rank: -1, Rendezvous: "head:1"}, Place{Rank: 3, WorldSize: 4, LocalRank: -1, Rendezvous: "head:1", Listen: ":0", JobID: "1.0", Source: "PMI"}},
		{"set=PMIx/size", "PMIX_RANK=1 PMIX_NAMESPACE=7", Flags{Rank: -1, WorldSize: 2, Rendezvous: "head:1"}, Place{Rank: 1, WorldSize: 2, LocalRank: -1, Rendezvous: "head:1", Listen: ":0", JobID: "7", Source: "PMIx"}},

		{"set=srun", srun, none, Place{Rank: 3, WorldSize: 4, Rendezvous: slurmAt, AtRank0: true, Listen: ":0", JobID: "1.0", Source: "SLURM_*"}},
		{"set=srun/rank 0", vars(strings.ReplaceAll(srun, "PROCID=3", "PROCID=0")), none, Place{WorldSize: 4, Rendezvous: slurmAt, AtRank0: true, Serve: true, Listen: ":28290", JobID: "1.0", Source: "SLURM_*"}},
		{"set=srun/one host", vars(strings.ReplaceAll(srun, "NUM_NODES=2", "NUM_NODES=1")), none, Place{Rank: 3, WorldSize: 4, Rendezvous: "127.0.0.1:28290", AtRank0: true, Listen: "127.0.0.1:0", JobID: "1.0", Source: "SLURM_*"}},
		{"set=srun, part of an allocation", srun + "SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=8", none, Place{Rank: 3, WorldSize: 4, Rendezvous: slurmAt, AtRank0: true, Listen: ":0", JobID: "1.0", Source: "SLURM_*"}},
		{"set=srun/rendezvous", srun, Flags{Rank: -1, Rendezvous: "head:1"}, Place{Rank: 3, WorldSize: 4, Rendezvous: "head:1", Listen: ":0", JobID: "1.0", Source: "SLURM_*"}},
		{"set=srun with pmi2", srun + pmi2, none, Place{Rank: 3, WorldSize: 4, Rendezvous: slurmAt, AtRank0: true, Listen: ":0", JobID: "1.0", Source: "SLURM_*"}},
		{"set=srun with pmix", srun + "PMIX_RANK=3 PMIX_NAMESPACE=slurm.pmix.1.0", none, Place{Rank: 3, WorldSize: 4, Rendezvous: slurmAt, AtRank0: true, Listen: ":0", JobID: "1.0", Source: "SLURM_*"}},
		{"set=torchrun by srun", torchrn1 + daemon, none, Place{Rank: 1, WorldSize: 2, LocalRank: 1, LocalSize: 2, Rendezvous: "localhost:60833", AtRank0: true, Listen: "127.0.0.1:0", JobID: "x", Source: "RANK/WORLD_SIZE"}},
		{"set=torchrun in a pod with PET_*", vars(torchrn1 + strings.ReplaceAll(pet, "PER_NODE=1", "PER_NODE=2") + pod), none, Place{Rank: 1, WorldSize: 2, LocalRank: 1, LocalSize: 2, Rendezvous: "localhost:60833", AtRank0: true, Listen: "127.0.0.1:0", JobID: "x", Source: "RANK/WORLD_SIZE"}},

		{"set=PET_*", pet + pod, none, Place{Rank: 3, WorldSize: 4, LocalRank: -1, Rendezvous: "job-node-0-0.job:29400", AtRank0: true, Listen: ":0", Source: "PET_*"}},
		{"set=PET_*/rank 0", vars(strings.ReplaceAll(pet, "RANK=3", "RANK=0")), none, Place{WorldSize: 4, LocalRank: -1, Rendezvous: "job-node-0-0.job:29400", AtRank0: true, Serve: true, Listen: ":29400", Source: "PET_*"}},
		{"set=PET_* of as many as fit", vars(strings.ReplaceAll(pet, "PER_NODE=1", "PER_NODE=auto")), none, Place{Rank: 3, WorldSize: 4, LocalRank: -1, Rendezvous: "job-node-0-0.job:29400", AtRank0: true, Listen: ":0", Source: "PET_*"}},
		{"set=PET_* without master/rendezvous", "PET_NNODES=2 PET_NODE_RANK=1", Flags{Rank: -1, Rendezvous: "head:1"}, Place{Rank: 1, WorldSize: 2, LocalRank: -1, Rendezvous: "head:1", Listen: ":0", Source: "PET_*"}},

		{"set=indexed job", podEnv, none, Place{Rank: 3, WorldSize: 4, LocalRank: -1, Rendezvous: "job-0.ring:29400", AtRank0: true, Listen: ":0", Source: "JOB_COMPLETION_INDEX"}},
		{"set=indexed job/pod 0", vars(strings.ReplaceAll(podEnv, "INDEX=3 HOSTNAME=job-3", "INDEX=0 HOSTNAME=job-0")), none, Place{WorldSize: 4, LocalRank: -1, Rendezvous: "job-0.ring:29400", AtRank0: true, Serve: true, Listen: ":29400", Source: "JOB_COMPLETION_INDEX"}},
		{"set=indexed job/pod 0 under its node's name", vars(strings.ReplaceAll(podEnv, "INDEX=3 HOSTNAME=job-3", "INDEX=0 HOSTNAME=node7")), none, Place{WorldSize: 4, LocalRank: -1, Rendezvous: "job-0.ring:29400", AtRank0: true, Serve: true, Listen: ":29400", Source: "JOB_COMPLETION_INDEX"}},
		{"set=indexed job/rendezvous elsewhere", vars(strings.ReplaceAll(podEnv, "job-0.ring", "rendezvous-0.ring")), none, Place{Rank: 3, WorldSize: 4, LocalRank: -1, Rendezvous: "rendezvous-0.ring:29400", Listen: ":0", Source: "JOB_COMPLETION_INDEX"}},
		{"set=indexed job, one pod", "JOB_COMPLETION_INDEX=0 RINGTRAIN_WORLD_SIZE=1", none, Place{WorldSize: 1, LocalSize: 1, Source: "JOB_COMPLETION_INDEX"}},

		{"set=batch script", batch, none, Place{WorldSize: 1, LocalSize: 1}},
		{"set=batch script/explicit", srun + "RINGTRAIN_RENDEZVOUS=node1:29400", Flags{Rank: 3, WorldSize: 4}, Place{Rank: 3, WorldSize: 4, LocalRank: -1, Rendezvous: "node1:29400", Listen: ":0", Source: "--rank"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.vars.find(tt.flags)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("place differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFindPlaceRefuses verifies that wrong and incomplete environments are errors that name
// the variable.
func TestFindPlaceRefuses(t *testing.T) {
	none := Flags{Rank: -1}
	worker0 := `{"type":"worker","index":0}`
	tests := []struct {
		name  string
		vars  vars
		flags Flags
		want  string
	}{
		{"set=ours without size", "RINGTRAIN_RANK=1", none, "RINGTRAIN_RANK is set, RINGTRAIN_WORLD_SIZE (or --world-size) is missing"},
		{"set=ours without rendezvous", "RINGTRAIN_RANK=1 RINGTRAIN_WORLD_SIZE=2", none, "RINGTRAIN_RANK and RINGTRAIN_WORLD_SIZE are set, RINGTRAIN_RENDEZVOUS (or --rendezvous) is missing"},
		{"set=ours/rank=outside", "RINGTRAIN_RANK=2 RINGTRAIN_WORLD_SIZE=2", none, "RINGTRAIN_RANK is 2, want 0 to 1: RINGTRAIN_WORLD_SIZE is 2"},
		{"set=ours/rank=text", "RINGTRAIN_RANK=one", none, `RINGTRAIN_RANK is "one", want a whole number of 0 or more`},
		{"set=ours/size=0", "RINGTRAIN_WORLD_SIZE=0", none, `RINGTRAIN_WORLD_SIZE is "0", want a whole number of 1 or more`},
		{"set=ours/local=outside", ours + "RINGTRAIN_LOCAL_RANK=4", none, "RINGTRAIN_LOCAL_RANK is 4, want 0 to 3: RINGTRAIN_LOCAL_SIZE is 4"},
		{"set=ours/local=too many", ours + "RINGTRAIN_LOCAL_SIZE=5", none, "RINGTRAIN_LOCAL_SIZE is 5, want at most the world size, 4"},
		{"set=ours/rendezvous=text", "RINGTRAIN_RENDEZVOUS=node1", none, `RINGTRAIN_RENDEZVOUS is "node1", want HOST:PORT`},
		{"flags=rank", "", Flags{Rank: 0}, "--rank is set, RINGTRAIN_WORLD_SIZE (or --world-size) is missing"},
		{"set=host-id that moves the cursor", "RINGTRAIN_HOST_ID=a\x1bb", none, `RINGTRAIN_HOST_ID is "a\x1bb", want at most 64 bytes that can be printed, no space`},
		{"flags=host-id too long", "", Flags{Rank: -1, HostID: strings.Repeat("h", 65)}, "want at most 64 bytes"},
		{"flags=rank below 0", "", Flags{Rank: -2}, "--rank is -2, want 0 or more"},
		{"flags=size below 0", "", Flags{Rank: -1, WorldSize: -4}, "--world-size is -4, want 1 or more"},
		{"flags=size", "", Flags{Rank: -1, WorldSize: 2}, "--world-size is 2, the rendezvous is missing: add --rendezvous HOST:PORT"},
		{"flags=rendezvous", "", Flags{Rank: -1, Rendezvous: "a:1"}, "the world size is missing: add --world-size N"},
		{"flags=rendezvous without port", "", Flags{Rank: -1, Rendezvous: "a"}, `--rendezvous is "a", want HOST:PORT`},
		{"flags=rendezvous of port 0", "", Flags{Rank: -1, Rendezvous: "a:0"}, `--rendezvous is "a:0", want HOST:PORT`},
		{"flags=rendezvous without host", "", Flags{Rank: -1, Rendezvous: ":29400"}, `--rendezvous is ":29400", want HOST:PORT`},
		{"flags=listen on a number", torchTwo, Flags{Rank: -1, Listen: "29500"}, `--listen is "29500", want ADDR[:PORT[-PORT]]`},
		{"flags=listen backwards", torchTwo, Flags{Rank: -1, Listen: ":7-5"}, `--listen is ":7-5", want ADDR[:PORT[-PORT]]`},
		{"flags=listen elsewhere", torchTwo, Flags{Rank: -1, Listen: ":7000-7100"}, "--listen :7000-7100 leaves out port 29500, where rank 0 serves the rendezvous node1:29500"},
		{"flags=other size", torchTwo, Flags{Rank: -1, WorldSize: 3}, "RANK/WORLD_SIZE says rank 0 of 2, --world-size says world size 3"},

		{"TF_CONFIG=not JSON", `TF_CONFIG={cluster:`, none, `TF_CONFIG: "{cluster:" is not what TensorFlow reads: invalid character`},
		{"TF_CONFIG=empty", `TF_CONFIG={}`, none, "TF_CONFIG: cluster is missing"},
		{"TF_CONFIG=null", `TF_CONFIG=null`, none, "TF_CONFIG: cluster is missing"},
		{"TF_CONFIG=no task", vars(`TF_CONFIG={` + three + `}`), none, "TF_CONFIG: task is missing, want task.type and task.index"},
		{"TF_CONFIG=no index", tf(three, `{"type":"worker"}`), none, "TF_CONFIG: task.index is missing, want the number of this worker"},
		{"TF_CONFIG=index outside", tf(three, `{"type":"worker","index":3}`), none, "TF_CONFIG: task.index is 3, but cluster.worker has 3 entries"},
		{"TF_CONFIG=index below 0", tf(three, `{"type":"worker","index":-1}`), none, "TF_CONFIG: task.index is -1, but cluster.worker has 3 entries"},
		{"TF_CONFIG=index of a list that is not there", tf(three, `{"type":"ps","index":0}`), none, "TF_CONFIG: task.index is 0, but cluster.ps has 0 entries"},
		{"TF_CONFIG=index a fraction", tf(three, `{"type":"worker","index":0.5}`), none, `TF_CONFIG: task.index is "0.5", want a whole number`},
		{"TF_CONFIG=unknown task", tf(three, `{"type":"wroker","index":0}`), none, `TF_CONFIG: task.type is "wroker", want one of chief, worker, ps, evaluator`},
		{"TF_CONFIG=unknown list", tf(`"cluster":{"wroker":["a:1"]}`, worker0), none, `TF_CONFIG: cluster has "wroker", want only chief, worker, ps, evaluator`},
		{"TF_CONFIG=duplicate", tf(`"cluster":{"chief":["a:1"],"worker":["b:1","A:1"]}`, worker0), none, `TF_CONFIG: cluster.chief[0] and cluster.worker[1] are both "A:1"`},
		{"TF_CONFIG=no port", tf(`"cluster":{"worker":["a:1","b"]}`, worker0), none, `TF_CONFIG: cluster.worker[1] is "b", want HOST:PORT`},
		{"TF_CONFIG=two chiefs", tf(`"cluster":{"chief":["a:1","b:1"]}`, worker0), none, "TF_CONFIG: cluster.chief has 2 entries, want at most 1"},
		{"TF_CONFIG=no list", tf(`"cluster":{"worker":{"0":"a:1"}}`, worker0), none, `TF_CONFIG: cluster.worker is "{\"0\":\"a:1\"}", want a list of host:port`},
		{"TF_CONFIG=sparse", tf(`"sparseCluster":{"worker":{"1":"a:1"},"ps":[]}`, worker0), none, "TF_CONFIG: sparseCluster is set"},

		{"set=RANK", "RANK=1", none, "RANK is set, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are missing"},
		{"set=WORLD_SIZE", "WORLD_SIZE=4", none, "WORLD_SIZE is set, RANK, MASTER_ADDR and MASTER_PORT are missing"},
		{"set=torch without port", "RANK=1 WORLD_SIZE=4 MASTER_ADDR=a", none, "RANK, WORLD_SIZE and MASTER_ADDR are set, MASTER_PORT is missing"},
		{"set=torch/rank=outside", "RANK=4 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=1", none, "RANK is 4, want 0 to 3: WORLD_SIZE is 4"},
		{"set=torch/port=text", "RANK=1 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=x", none, `MASTER_ADDR is "a" and MASTER_PORT is "x", want a host and a port`},
		{"set=torch/port=last", store + "RANK=1 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=65535", none, `MASTER_PORT is "65535", want at most 65534`},

		{"set=Open MPI/several hosts", mpi2, none, "OMPI_COMM_WORLD_RANK is 2 and OMPI_COMM_WORLD_SIZE is 4, and no variable says where rank 0 is: add --rendezvous HOST:PORT"},
		{"set=Open MPI/half", "OMPI_COMM_WORLD_RANK=1", none, "OMPI_COMM_WORLD_RANK is set, OMPI_COMM_WORLD_SIZE is missing"},
		{"set=Open MPI/no job", vars(strings.ReplaceAll(mpi1Zero, "PMIX_NAMESPACE", "X")), none, "add --rendezvous HOST:PORT"},

		{"set=MPICH without PMI_FD", "PMI_RANK=1 PMI_SIZE=2", none, "PMI_RANK and PMI_SIZE are set, PMI_FD is missing: set all of them or none, or add --rendezvous HOST:PORT"},
		{"set=MPICH without size", "PMI_RANK=1 PMI_FD=6", none, "PMI_RANK and PMI_FD are set, PMI_SIZE is missing"},
		{"set=MPICH/rank=outside", "PMI_RANK=2 PMI_SIZE=2 PMI_FD=6", none, "PMI_RANK is 2, want 0 to 1: PMI_SIZE is 2"},
		{"set=MPICH/fd=standard input", "PMI_RANK=1 PMI_SIZE=2 PMI_FD=0", none, `PMI_FD is "0", want a whole number of 3 or more`},
		{"set=MPICH/listen on a number", hydra2, Flags{Rank: -1, Listen: "29500"}, `--listen is "29500", want ADDR[:PORT[-PORT]]`},
		{"set=MPICH by port", "PMI_PORT=node2:45173 PMI_ID=1", none, "run mpiexec without -pmi-port, or set RINGTRAIN_RANK"},
		{"set=PMI-2 without Slurm", pmi2, none, "PMI_RANK is 3 and PMI_SIZE is 4, and no variable says where rank 0 is: add --rendezvous HOST:PORT"},
		{"set=PMIx", "PMIX_RANK=0 PMIX_NAMESPACE=7", none, "PMIX_RANK is 0, and no variable has the world size: add --world-size N --rendezvous HOST:PORT"},
		{"set=PMIx without rendezvous", "PMIX_RANK=0 PMIX_NAMESPACE=7", Flags{Rank: -1, WorldSize: 2}, "add --world-size N --rendezvous HOST:PORT"},
		{"set=PMIx/rank=outside", "PMIX_RANK=2", Flags{Rank: -1, WorldSize: 2, Rendezvous: "a:1"}, "PMIx says rank 2, want 0 to 1: --world-size is 2"},
		{"set=PMIx without rank", "PMIX_NAMESPACE=7", none, "PMIX_NAMESPACE is set, PMIX_RANK is missing"},

		{"set=srun without size", "SLURM_STEP_ID=0 SLURM_PROCID=1", none, "SLURM_PROCID is set, SLURM_NTASKS is missing"},
		{"set=srun without rank", "SLURM_STEP_ID=0 SLURM_NTASKS=2", none, "SLURM_STEP_ID is set, SLURM_PROCID is missing"},
		{"set=srun without list", "SLURM_STEP_ID=0 SLURM_NTASKS=2 SLURM_PROCID=1 SLURM_JOB_ID=1", none, "SLURM_STEP_NODELIST is missing: set all of them or none, or add --rendezvous HOST:PORT"},
		{"set=srun/list=damaged", srun + "SLURM_STEP_NODELIST=node[1-", none, `SLURM_STEP_NODELIST: "node[1-" is no list of hosts`},
		{"set=srun/rank 0 elsewhere", vars(strings.ReplaceAll(srun, "PROCID=3", "PROCID=0") + "SLURMD_NODENAME=node2"), none, "rank 0 is on node2, and not on the first host of SLURM_STEP_NODELIST, node1"},
		{"set=srun/rank=outside", srun + "SLURM_PROCID=4", none, "SLURM_PROCID is 4, want 0 to 3: SLURM_NTASKS is 4"},
		{"set=srun of several components", srun + "SLURM_HET_SIZE=2", none, `SLURM_HET_SIZE is "2"`},

		{"set=PET_* without rank", "PET_NNODES=2 PET_MASTER_ADDR=a", none, "PET_NNODES and PET_MASTER_ADDR are set, PET_NODE_RANK and PET_MASTER_PORT are missing"},
		{"set=PET_* without master", "PET_NNODES=2 PET_NODE_RANK=1", none, "PET_MASTER_ADDR and PET_MASTER_PORT are missing"},
		{"set=PET_* of several ranks", vars(strings.ReplaceAll(pet, "PER_NODE=1", "PER_NODE=4")), none, `PET_NPROC_PER_NODE is "4", want 1 (numProcPerNode: 1)`},
		{"set=PET_* of several ranks beside RANK", torchTwo + "PET_NPROC_PER_NODE=2", none, `PET_NPROC_PER_NODE is "2", want 1`},
		{"set=PET_* that may grow", vars(strings.ReplaceAll(pet, "NNODES=4", "NNODES=1:4")), none, `PET_NNODES is "1:4", want a whole number of 1 or more; start the ranks by torchrun`},
		{"set=PET_*/another rendezvous", "PET_RDZV_BACKEND=c10d PET_RDZV_ENDPOINT=a:1", none, "PET_RDZV_BACKEND and PET_RDZV_ENDPOINT are set: start the ranks by torchrun"},
		{"set=PET_*/port=text", vars(strings.ReplaceAll(pet, "PORT=29400", "PORT=x")), none, `PET_MASTER_ADDR is "job-node-0-0.job" and PET_MASTER_PORT is "x", want a host and a port`},

		{"set=indexed job", pod, none, `add to the container's env {name: RINGTRAIN_WORLD_SIZE, value: "COMPLETIONS"} and {name: RINGTRAIN_RENDEZVOUS, value: "JOB-0.SERVICE:29400"}`},
		{"set=indexed job without size", pod + "RINGTRAIN_RENDEZVOUS=job-0.ring:29400", none, "JOB_COMPLETION_INDEX is 3, and says neither how many pods there are nor where they meet"},
		{"set=indexed job without rendezvous", pod + "RINGTRAIN_WORLD_SIZE=4", none, "JOB_COMPLETION_INDEX is 3, and says neither how many pods there are nor where they meet"},
		{"set=indexed job/index=outside", podEnv + "RINGTRAIN_WORLD_SIZE=3", none, "JOB_COMPLETION_INDEX says rank 3, want 0 to 2: RINGTRAIN_WORLD_SIZE is 3"},
		{"set=indexed job/index=text", "JOB_COMPLETION_INDEX=x", none, `JOB_COMPLETION_INDEX is "x"`},

		{"differ=rank", tf(three, `{"type":"worker","index":1}`) + " JOB_COMPLETION_INDEX=2", none, "TF_CONFIG says rank 1 of 3, JOB_COMPLETION_INDEX says rank 2: unset one"},
		{"differ=size", "RANK=3 WORLD_SIZE=8 MASTER_ADDR=a MASTER_PORT=1 " + srun, none, "RANK/WORLD_SIZE says rank 3 of 8, SLURM_* says rank 3 of 4"},
		{"differ=PET_* and index", pet + "JOB_COMPLETION_INDEX=2", none, "PET_* says rank 3 of 4, JOB_COMPLETION_INDEX says rank 2"},
		{"differ=MPICH and torch", torchTwo + hydra2, none, "RANK/WORLD_SIZE says rank 0 of 2, PMI says rank 3 of 4"},
		{"differ=srun and flag", srun, Flags{Rank: -1, WorldSize: 8}, "SLURM_* says rank 3 of 4, --world-size says world size 8"},
		{"differ=three", torchTwo + mpi1, none, "RANK/WORLD_SIZE says rank 0 of 2, Open MPI says rank 2 of 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.vars.find(tt.flags)
			if err == nil {
				t.Fatalf("got %+v, want the error %q", got, tt.want)
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line with %q", err, tt.want)
			}
			if code := exitcode.Of(err); code != exitcode.Usage {
				t.Errorf("code %d, want %d", code, exitcode.Usage)
			}
		})
	}
}

// TestAgreeLines verifies that ranks with different lists of workers disagree.
func TestAgreeLines(t *testing.T) {
	if got := (Place{}).AgreeLines(); got != nil {
		t.Errorf("lines without a list: %q", got)
	}
	if got, want := (Place{Listed: []string{"a:1", "b:2"}}).AgreeLines(), []string{"TF_CONFIG.cluster=a:1,b:2"}; !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

// TestCheckListen verifies that only the loopback is safe without a token.
func TestCheckListen(t *testing.T) {
	tests := []struct {
		listen string
		safe   bool
	}{
		{"", true}, {"127.0.0.1:0", true}, {"127.8.9.1:5", true}, {"[::1]:7-9", true}, {"[::ffff:127.0.0.1]:1", true}, {"localhost:29400", true}, {"LocalHost.:1", true},
		{":0", false}, {"0.0.0.0:1", false}, {"[::]:1", false}, {"10.0.0.1:1", false}, {"node1:1", false}, {"localhost.example.com:1", false}, {"nonsense", false},
	}
	for _, tt := range tests {
		t.Run("listen="+tt.listen, func(t *testing.T) {
			notice, err := CheckListen(tt.listen, token.Token{}, false)
			if (err == nil) != tt.safe || notice != "" || err != nil && (exitcode.Of(err) != exitcode.Auth || !strings.Contains(err.Error(), "ringtrain token")) {
				t.Errorf("without token: notice %q, error %v, want safe = %v", notice, err, tt.safe)
			}
			notice, err = CheckListen(tt.listen, token.Token{}, true)
			if err != nil || (notice == "") != tt.safe {
				t.Errorf("with --insecure: notice %q, error %v, want a notice: %v", notice, err, !tt.safe)
			}
			if notice, err = CheckListen(tt.listen, token.New(), false); notice != "" || err != nil {
				t.Errorf("with token: notice %q, error %v", notice, err)
			}
		})
	}
}

// FuzzFindPlace verifies that no environment makes FindPlace panic, and that an accepted place
// is valid.
func FuzzFindPlace(f *testing.F) {
	f.Add(`{"cluster":{"worker":["a:1","b:2"]},"task":{"type":"worker","index":1}}`, "1", "2", "a:1", ":7-9")
	f.Add(`{"cluster":{"worker":[null]},"task":{"type":"worker","index":null}}`, "", "", "", "[::1]")
	f.Fuzz(func(t *testing.T, tfText, rank, size, rendezvous, listen string) {
		env := map[string]string{"TF_CONFIG": tfText, "RANK": rank, "WORLD_SIZE": size}
		p, err := Find(func(name string) string { return env[name] }, nil, Flags{Rank: -1, Rendezvous: rendezvous, Listen: listen})
		switch {
		case err != nil || p.NotNeeded != "":
		case p.Rank < 0 || p.Rank >= p.WorldSize, p.WorldSize > 1 && (p.Rendezvous == "" || p.Listen == ""):
			t.Errorf("no error, but the place is %+v", p)
		}
	})
}

// TestKnownAs verifies the address by which a worker is advertised.
func TestKnownAs(t *testing.T) {
	listed := []string{"w0.svc:2222", "w1.svc:2222"}
	tests := []struct {
		name, want string
		place      Place
	}{
		{"configured=name", "w1.svc:2222", Place{Rank: 1, Listed: listed, Rendezvous: listed[0]}},
		{"configured=rank 0", "w0.svc:2222", Place{Rank: 0, Listed: listed, Rendezvous: listed[0], Serve: true}},
		{"serves=master", "node1:29500", Place{Rank: 0, Rendezvous: "node1:29500", Serve: true}},
		{"configured=nothing", "[::]:4000", Place{Rank: 1, Rendezvous: "node1:29500"}},
		{"rank=none", "[::]:4000", Place{Rank: -1, Rendezvous: "node1:29500"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.place.KnownAs("[::]:4000"); got != tt.want {
				t.Errorf("known as %s, want %s", got, tt.want)
			}
		})
	}
}
