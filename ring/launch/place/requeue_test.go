package place

import (
	"net"
	"strings"
	"testing"
)

// TestRequeue verifies that a job that was started again under the same id has
// another job id, and another port where that is made from the id: of what is left of the
// run before nothing passes as part of this one. All ranks of a start agree.
func TestRequeue(t *testing.T) {
	const slurmJob = "SLURM_NTASKS=4 SLURM_JOB_ID=1 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=node[1-2] SLURM_STEP_NUM_NODES=2 "
	for _, tt := range []struct {
		name, vars, rank, count string
		ported                  bool
	}{
		{"set=srun", slurmJob, "SLURM_PROCID", "SLURM_RESTART_COUNT", true},
		{"set=srun/one host", strings.ReplaceAll(slurmJob, "NUM_NODES=2", "NUM_NODES=1"), "SLURM_PROCID", "SLURM_RESTART_COUNT", true},
		{"set=Open MPI in an allocation", "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=7 ",
			"OMPI_COMM_WORLD_RANK", "SLURM_RESTART_COUNT", true},
		{"set=torchrun", "WORLD_SIZE=4 MASTER_ADDR=localhost MASTER_PORT=1 TORCHELASTIC_RUN_ID=x GROUP_WORLD_SIZE=1 ", "RANK", "TORCHELASTIC_RESTART_COUNT", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			place := func(rank, count string) (id, port string) {
				t.Helper()
				v := vars(tt.vars + tt.rank + "=" + rank + " ")
				if count != "" {
					v += vars(tt.count + "=" + count + " ")
				}
				p, err := v.find(Flags{Rank: -1})
				if err != nil {
					t.Fatal(err)
				}
				_, port, _ = net.SplitHostPort(p.Rendezvous)
				return p.JobID, port
			}
			id, at := place("0", "")
			if other, _ := place("0", "0"); other != id {
				t.Errorf("the first start has job id %q with a count of 0 and %q without a count", other, id)
			}
			for _, count := range []string{"1", "2"} {
				again, port := place("1", count)
				if again == id || tt.ported && port == at {
					t.Errorf("restart %s has job id %q and port %s, those of the start before", count, again, port)
				}
				if other, theirs := place("0", count); other != again || theirs != port {
					t.Errorf("rank 0 has job id %q and port %s, rank 1 %q and %s", other, theirs, again, port)
				}
				id, at = again, port
			}
		})
	}
}
