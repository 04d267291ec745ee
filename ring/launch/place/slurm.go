package place

import (
	"fmt"
	"net"
	"strconv"

	"ringtrain/ring/launch/internal/environ"
)

// slurm reads a step of srun. Rank 0 is on the first host of the step's list
// and serves the rendezvous there, on a port that all ranks derive from the
// step's id and the job's restarts; on the loopback if there is no other host.
//
// The batch script of sbatch has SLURM_PROCID as well, but no step: it is no
// rank. What mpirun, mpiexec and torchrun start within a step has the variables
// of their daemon, of which none is right.
func slurm(e environ.Vars) (*claim, error) {
	if !e.Any("SLURM_STEP_ID") || environ.Nested(e) {
		return nil, nil
	}
	size := "SLURM_STEP_NUM_TASKS"
	if !e.Any(size) {
		size = "SLURM_NTASKS"
	}
	if set, missing := e.Split("SLURM_STEP_ID", "SLURM_PROCID", size); len(missing) > 0 {
		return nil, environ.Incomplete(set, missing)
	}
	if e.Any("SLURM_HET_SIZE") {
		return nil, fmt.Errorf("SLURM_HET_SIZE is %q: the numbers of a heterogeneous job are those of its components: "+
			"set RINGTRAIN_RANK, RINGTRAIN_WORLD_SIZE and RINGTRAIN_RENDEZVOUS", e.Get("SLURM_HET_SIZE"))
	}
	c := &claim{Place: Place{Source: "SLURM_*"}}
	if err := readNumbers(e, numberNames{rank: "SLURM_PROCID", size: size, localRank: "SLURM_LOCALID"}, &c.Place); err != nil {
		return nil, err
	}
	return c, c.findStep(e)
}

// findStep fills in the step's id and where its first host is.
func (c *claim) findStep(e environ.Vars) error {
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

// attempt is the id of a job with how often Slurm has requeued it. A requeued job keeps
// its id, and its steps begin at 0 again: without the count what is left of the job's
// last run would pass as part of this one.
func restartedID(e environ.Vars, id string) string {
	if n := e.Get("SLURM_RESTART_COUNT"); n != "" && n != "0" {
		return id + ".restart" + n
	}
	return id
}
