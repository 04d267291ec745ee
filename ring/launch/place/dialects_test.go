package place

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// minimal returns the least environment in which d tells rank 1 of 2, with no address, and the
// variable of its world size.
func (d dialect) minimal() (env []string, size string) {
	only := func(name string) string {
		first, _, _ := strings.Cut(name, "|")
		return strings.Replace(first, "*", "WORKER", 1)
	}
	size = only(d.numbers.size)
	needs := []string{d.numbers.rank, d.numbers.size}
	if d.source == "SLURM_*" {
		needs = append(needs, "SLURM_STEP_ID")
	}
	for _, name := range needs {
		switch name = only(name); {
		case name == "":
		case name == size, strings.HasSuffix(name, "_LOCAL_SIZE"):
			env = append(env, name+"=2")
		case strings.HasSuffix(name, "STEP_ID"):
			env = append(env, name+"=0")
		default:
			env = append(env, name+"=1")
		}
	}
	return env, size
}

// TestEachDialect verifies for each launcher of the list that without an address its ranks end
// with exitcode.Usage and a message that names the way out, that --rendezvous and --world-size 1
// are ways out, that half of its variables are an error, and that its output is a log.
func TestEachDialect(t *testing.T) {
	for _, d := range dialects {
		t.Run("launcher="+d.source, func(t *testing.T) {
			env, size := d.minimal()
			v := vars(strings.Join(env, " "))
			none := Flags{Rank: -1}
			_, err := v.find(none)
			if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "endezvous") && !strings.Contains(err.Error(), "RENDEZVOUS") {
				t.Errorf("without an address: error %v, want one that names the rendezvous", err)
			}
			at := Flags{Rank: -1, Rendezvous: "head:1"}
			if size == "" {
				at.WorldSize = 2
			}
			if p, err := v.find(at); err != nil || p.Rank != 1 || p.WorldSize != 2 || p.Source != d.source {
				t.Errorf("with a rendezvous: place %+v, error %v", p, err)
			}
			if p, err := v.find(Flags{Rank: -1, WorldSize: 1}); err != nil || p.Rank != 0 || p.WorldSize != 1 {
				t.Errorf("--world-size 1: place %+v, error %v", p, err)
			}
			if by, launched := Launched(v.getenv(), env); !launched || size != "" && by != d.source+" says rank 1 of 2" {
				t.Errorf("launched %v by %q, want that %s says rank 1 of 2", launched, by, d.source)
			}
			for i, one := range env {
				if size == "" || strings.HasPrefix(one, "SLURM_") && !strings.HasPrefix(one, "SLURM_STEP_ID") {
					continue // the batch script of sbatch has these, and is no rank
				}
				_, err := vars(env[i]).find(none)
				if name, _, _ := strings.Cut(one, "="); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), name) {
					t.Errorf("%s alone: error %v, want one that names it", one, err)
				}
			}
		})
	}
}

// TestDialectAddress verifies the place of launchers that tell more than rank and size.
func TestDialectAddress(t *testing.T) {
	const jsrun = "JSM_NAMESPACE_RANK=1 JSM_NAMESPACE_SIZE=2 JSM_NAMESPACE_LOCAL_RANK=1 JSM_NAMESPACE_LOCAL_SIZE=2 PMIX_RANK=1 "
	tests := []struct {
		name string
		vars vars
		want string // rank/size source rendezvous
	}{
		{"set=Flux on one node", "FLUX_TASK_RANK=1 FLUX_JOB_SIZE=2 FLUX_TASK_LOCAL_ID=1 FLUX_JOB_NNODES=1 FLUX_JOB_ID=7", "1/2 Flux 127.0.0.1:" + fmt.Sprint(portOf("7"))},
		{"set=Flux, which speaks PMI", "FLUX_TASK_RANK=1 FLUX_JOB_SIZE=2 PMI_RANK=1 PMI_SIZE=2 PMI_FD=6", "1/2 PMI "},
		{"set=jsrun on one node", jsrun + "PMIX_NAMESPACE=9", "1/2 jsrun 127.0.0.1:" + fmt.Sprint(portOf("9"))},
		{"set=jsrun of Spectrum MPI", jsrun + mpi1, "2/4 Open MPI 127.0.0.1:28608"},
		{"set=Volcano", "VC_TASK_INDEX=1 VK_TASK_INDEX=1 VC_WORKER_NUM=2 VC_WORKER_HOSTS=job-worker-0.job,job-worker-1.job", "1/2 Volcano job-worker-0.job:29400"},
		{"set=Volcano, old name", "VK_TASK_INDEX=0 VC_WORKER_NUM=2 VC_WORKER_HOSTS=job-worker-0.job,job-worker-1.job", "0/2 Volcano job-worker-0.job:29400"},
		{"set=Volcano's PyTorch plugin", torchTwo + "VC_TASK_INDEX=1 VC_WORKER_NUM=1 VC_MASTER_NUM=1", "0/2 RANK/WORLD_SIZE node1:29500"},
		{"set=mpirun in AWS Batch", mpi1 + "AWS_BATCH_JOB_NODE_INDEX=0 AWS_BATCH_JOB_NUM_NODES=2", "2/4 Open MPI 127.0.0.1:28608"},
		{"set=torch in AWS Batch", torchTwo + "AWS_BATCH_JOB_NODE_INDEX=1 AWS_BATCH_JOB_NUM_NODES=4", "0/2 RANK/WORLD_SIZE node1:29500"},
		{"set=tracker of DMLC", "DMLC_ROLE=worker DMLC_TASK_ID=0 DMLC_NUM_WORKER=1 DMLC_NUM_SERVER=1", "0/1 DMLC "},
		{"set=Flux, one rank", "FLUX_TASK_RANK=0 FLUX_JOB_SIZE=1", "0/1 Flux "},
		{"set=shell of salloc", "SLURM_STEP_ID=4294967290 SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=1", "0/1  "},
		{"set=part of a job", "X_LOCAL_RANK=1 X_LOCAL_SIZE=2 X_NODE_RANK=1 X_NODE_SIZE=2 X_CROSS_RANK=1 X_CROSS_SIZE=2 LOCAL_RANK=1 LOCAL_SIZE=2", "0/1  "},
		{"set=unknown, one rank", "X_RANK=0 X_SIZE=1", "0/1  "},
		{"set=no numbers", "CARD_RANK=ace CARD_SIZE=2 X_RANK=1", "0/1  "},
		{"set=no place", "SEARCH_RANK=9 SEARCH_SIZE=2", "0/1  "},
		{"set=TF_CONFIG/task=master", tf(`"cluster":{"master":["a:1"],"worker":["b:2"]}`, `{"type":"master","index":0}`), "0/2 TF_CONFIG a:1"},
		{"set=TF_CONFIG/worker beside a master", tf(`"cluster":{"master":["a:1"],"worker":["b:2"]}`, `{"type":"worker","index":0}`), "1/2 TF_CONFIG a:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := tt.vars.find(Flags{Rank: -1})
			if got := fmt.Sprintf("%d/%d %s %s", p.Rank, p.WorldSize, p.Source, p.Rendezvous); err != nil || got != tt.want {
				t.Errorf("place %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
	for _, role := range []string{"server", "scheduler"} {
		if p, err := vars("DMLC_ROLE=" + role + " DMLC_NUM_WORKER=2").find(Flags{Rank: -1}); err != nil || !strings.Contains(p.NotNeeded, role) {
			t.Errorf("role %s: place %+v, error %v, want that it is not needed", role, p, err)
		}
	}
}

// TestUnknownLauncher verifies that any two variables that may be the rank and the world size of
// a launcher are an error with both values and the ways out, and that --rendezvous takes them for
// the place.
func TestUnknownLauncher(t *testing.T) {
	for _, env := range []string{"X_RANK=1 X_SIZE=2", "X_RANK=2 X_SIZE=2", "NEW_MPI_RANK=1 NEW_MPI_WORLD_SIZE=2", "X_WORLD_RANK=1 X_WORLD_SIZE=2", "X_RANK=1 X_NTASKS=2", "X_RANK=1 X_NPROCS=2"} {
		t.Run("set="+env, func(t *testing.T) {
			_, err := vars(env).find(Flags{Rank: -1})
			if exitcode.Of(err) != exitcode.Usage {
				t.Fatalf("error %v, want exitcode.Usage", err)
			}
			for _, want := range append(strings.Fields(strings.ReplaceAll(env, "=", " is ")), "--rendezvous HOST:PORT", "--world-size 1") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want %q in it", err, want)
				}
			}
			p, err := vars(env).find(Flags{Rank: -1, Rendezvous: "head:1"})
			if strings.HasPrefix(env, "X_RANK=2") { // counted from 1
				if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "rank 2 of 2, want a rank from 0 to 1") {
					t.Errorf("error %v, want the ranks that may be", err)
				}
				return
			}
			if err != nil || p.Rank != 1 || p.WorldSize != 2 {
				t.Errorf("with a rendezvous: place %+v, error %v", p, err)
			}
		})
	}
	if _, err := vars("VC_TASK_INDEX=0 VC_MASTER_NUM=1 VC_WORKER_NUM=2").find(Flags{Rank: -1}); err == nil || !strings.Contains(err.Error(), "VC_TASK_INDEX is set, a single VC_*_NUM is missing") {
		t.Errorf("several tasks of Volcano: error %v, want one that says so", err)
	}
	for _, env := range []string{"", "SLURM_JOB_ID=1"} {
		if by, launched := Launched(vars(env).getenv(), strings.Fields(env)); launched || by != "" {
			t.Errorf("set=%s: a process without a launcher counts as launched by %q", env, by)
		}
	}
}
