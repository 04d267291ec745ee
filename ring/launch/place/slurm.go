package place

import (
	"fmt"
	"net"
	"strconv"

	"ringtrain/ring/launch/internal/environ"
)

// slurmApplies reports whether this process is a task of srun.
//
// The batch script of sbatch has SLURM_PROCID as well, but no step: it is no rank. A
// process that mpirun, mpiexec or torchrun starts inside a step has the variables of their
// daemon, and none of those is right. Nor is the shell of salloc a task.
func slurmApplies(e environ.Vars) (bool, error) {
	if !environ.HasSlurmTask(e) || environ.Nested(e) {
		return false, nil
	}
	if _, missing := e.Split("SLURM_PROCID"); len(missing) > 0 {
		return false, environ.Incomplete([]string{"SLURM_STEP_ID"}, missing)
	}
	if e.Any("SLURM_HET_SIZE") {
		return false, fmt.Errorf("SLURM_HET_SIZE is %q: the numbers of a heterogeneous job are those of its components: "+
			"set RINGTRAIN_RANK, RINGTRAIN_WORLD_SIZE and RINGTRAIN_RENDEZVOUS", e.Get("SLURM_HET_SIZE"))
	}
	return true, nil
}

// slurmStep stores the step's id and the address of its first host in c. Rank 0 is there and
// serves the rendezvous. All ranks derive its port from the step's id and the job's restarts.
// With one host the address is the loopback.
func slurmStep(e environ.Vars, _ explicitPlace, c *claim) error {
	job, list := e.Get("SLURM_JOB_ID"), e.Get("SLURM_STEP_NODELIST")
	if set, missing := e.Split("SLURM_JOB_ID", "SLURM_STEP_NODELIST"); len(missing) > 0 {
		c.missing = fmt.Errorf("%w, or add --rendezvous HOST:PORT", environ.Incomplete(append([]string{"SLURM_STEP_ID"}, set...), missing))
		return nil
	}
	host, err := environ.FirstNode(list)
	if err != nil {
		return fmt.Errorf("SLURM_STEP_NODELIST: %w", err)
	}
	if own := e.Get("SLURMD_NODENAME"); c.Rank == 0 && own != "" && own != host {
		c.missing = fmt.Errorf("rank 0 is on %s, and not on the first host of SLURM_STEP_NODELIST, %s, where the others look for it: add --rendezvous HOST:PORT",
			own, host)
		return nil
	}
	c.JobID = restartedID(e, job+"."+e.Get("SLURM_STEP_ID"))
	if e.Get("SLURM_STEP_NUM_NODES") == "1" {
		host = "127.0.0.1"
	}
	c.rendezvous = net.JoinHostPort(host, strconv.Itoa(portOf(c.JobID)))
	return nil
}

// restartedID appends the number of times that Slurm has requeued the job to its id. A
// requeued job keeps its id, and its steps begin at 0 again. Without the count, leftovers
// of the last run would pass as workers of this run.
func restartedID(e environ.Vars, id string) string {
	if n := e.Get("SLURM_RESTART_COUNT"); n != "" && n != "0" {
		return id + ".restart" + n
	}
	return id
}
