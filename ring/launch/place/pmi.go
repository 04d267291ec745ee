package place

import (
	"errors"

	"ringtrain/ring/launch/internal/environ"
)

// PMI says how a rank of MPICH's mpiexec learns the address of the rendezvous. No variable
// gives it, so the ranks exchange it through mpiexec. See [Place.Learn].
type PMI struct {
	FD      int    // PMI_FD: an open socket to mpiexec
	OneHost bool   // all ranks are on this host
	Host    string // name of this host, as mpiexec knows it; "" if mpiexec gives none
	Listen  string // --listen
}

// errPMIPort is the error of the form that gives neither rank nor size: mpiexec tells both
// over a connection to PMI_PORT only.
var errPMIPort = errors.New("PMI_PORT is set, PMI_RANK, PMI_SIZE and PMI_FD are missing: run mpiexec without -pmi-port, " +
	"or set RINGTRAIN_RANK, RINGTRAIN_WORLD_SIZE and RINGTRAIN_RENDEZVOUS")

// pmiApplies reports whether the ranks are of MPICH's mpiexec (Hydra) or a derivative. srun
// --mpi=pmi2 sets the same variables and PMI_JOBID. Inside a step of Slurm and under Open MPI,
// the dialects of those two count instead.
func pmiApplies(e environ.Vars) (bool, error) {
	switch {
	case withinOther(e):
		return false, nil
	case e.Any("PMI_RANK", "PMI_SIZE") || !e.Any("PMI_PORT", "PMI_ID"):
		return !e.Any("PMIX_RANK", "PMIX_NAMESPACE") || e.Any("PMI_RANK", "PMI_SIZE"), nil
	case e.Any(environ.MVAPICHPrefix + "RANK"):
		return false, nil // mpirun_rsh sets both
	}
	return false, errPMIPort
}

// withinOther reports whether PMI is a detail of another launcher.
func withinOther(e environ.Vars) bool {
	return environ.HasOpenMPI(e) || e.Any("SLURM_STEP_ID") && !environ.HasHydra(e)
}

// pmiAddress stores in c how Place.Learn is to ask Hydra for the rendezvous.
func pmiAddress(e environ.Vars, _ explicitPlace, c *claim) error {
	if !environ.HasHydra(e) {
		return nil // PMI-2, which Learn does not speak
	}
	fd, err := e.Int("PMI_FD", 3, -1)
	c.PMI = &PMI{FD: fd, OneHost: c.LocalSize == c.WorldSize, Host: e.Get("MPIR_CVAR_CH3_INTERFACE_HOSTNAME")}
	return err
}

// pmixApplies reports whether PMIx alone tells the rank.
func pmixApplies(e environ.Vars) (bool, error) {
	if withinOther(e) || e.Any("PMI_RANK", "PMI_SIZE") || !e.Any("PMIX_RANK", "PMIX_NAMESPACE") {
		return false, nil
	}
	if !e.Any("PMIX_RANK") {
		return false, environ.Incomplete([]string{"PMIX_NAMESPACE"}, []string{"PMIX_RANK"})
	}
	return true, nil
}
