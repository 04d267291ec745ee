package place

import (
	"errors"
	"hash/fnv"
	"net"
	"strconv"

	"ringtrain/ring/launch/internal/environ"
)

var (
	errOpenMPIHosts = errors.New("mpirun started ranks on several hosts and names none of them: " +
		"run `ringtrain rendezvous --listen :29400` on a host that all reach and add --rendezvous HOST:29400")
	errOpenMPIJob = errors.New("PMIX_NAMESPACE is missing beside OMPI_COMM_WORLD_*: add --rendezvous HOST:PORT")
)

// openMPI reads what mpirun sets. On one host rank 0 serves the rendezvous on the loopback,
// on a port that all ranks derive from the job's id. On several hosts no variable names the
// host of rank 0: the address of mpirun, which is set, may be another host.
func openMPI(e environ.Vars) (*claim, error) {
	found := e.WithPrefix(environ.OpenMPIPrefix)
	if len(found) == 0 {
		return nil, nil
	}
	names := numberNames{environ.OpenMPIPrefix + "RANK", environ.OpenMPIPrefix + "SIZE", environ.OpenMPIPrefix + "LOCAL_RANK", environ.OpenMPIPrefix + "LOCAL_SIZE"}
	if _, missing := e.Split(names.rank, names.size, names.localRank, names.localSize); len(missing) > 0 {
		return nil, environ.Incomplete(found, missing)
	}
	c := &claim{Place: Place{Source: "Open MPI", JobID: e.Get("PMIX_NAMESPACE")}}
	if err := readNumbers(e, names, &c.Place); err != nil {
		return nil, err
	}
	if c.JobID == "" {
		c.JobID = e.Get("OMPI_MCA_ess_base_jobid")
	}
	switch {
	case c.LocalSize < c.WorldSize:
		c.missing = errOpenMPIHosts
	case c.JobID == "":
		c.missing = errOpenMPIJob
	default:
		c.JobID = restartedID(e, c.JobID) // on several hosts the daemons that ssh has started lack the count
		c.rendezvous = net.JoinHostPort("127.0.0.1", strconv.Itoa(portOf(c.JobID)))
	}
	return c, nil
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
