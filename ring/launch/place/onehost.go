package place

import (
	"hash/fnv"
	"net"
	"strconv"

	"ringtrain/ring/launch/internal/environ"
)

// onOneHost has rank 0 serve the rendezvous on the loopback if all ranks are on this host, on
// a port that they derive from the job's id. On several hosts no variable names the host of rank
// 0: the address of mpirun, which is set, may be another host.
func onOneHost(e environ.Vars, _ explicitPlace, c *claim) error {
	if c.LocalSize == c.WorldSize && c.JobID != "" {
		c.JobID = restartedID(e, c.JobID) // on several hosts the daemons that ssh has started lack the count
		c.rendezvous = net.JoinHostPort("127.0.0.1", strconv.Itoa(portOf(c.JobID)))
	}
	return nil
}

// fluxAddress is onOneHost. Flux tells the number of hosts, and not that of the ranks on each.
func fluxAddress(e environ.Vars, g explicitPlace, c *claim) error {
	if e.Get("FLUX_JOB_NNODES") == "1" && c.LocalRank >= 0 {
		c.LocalSize = c.WorldSize
	}
	return onOneHost(e, g, c)
}

// Range of the ports that portOf returns: below the ephemeral ports of systems, and
// below the node ports of Kubernetes.
const (
	firstPort = 20000
	portCount = 10000
)

// portOf derives a port from a job's id. Two jobs on one host share a port in 1 of
// portCount cases; the second job then ends with exitcode.Retry. Its next start has another
// id and so another port: an id contains the pid of mpirun or mpiexec, or the restart count
// of a Slurm job that was requeued.
func portOf(jobID string) int {
	h := fnv.New32a()
	h.Write([]byte(jobID))
	return firstPort + int(h.Sum32()%portCount)
}
