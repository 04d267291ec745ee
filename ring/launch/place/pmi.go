package place

import (
	"errors"
	"fmt"

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

var (
	errPMIx = errors.New("PMIX_RANK is set, and PMIx has no variable for the world size: " +
		"add --world-size N --rendezvous HOST:PORT (`ringtrain rendezvous` serves one)")
	errPMI2 = errors.New("PMI_JOBID is set: this launcher speaks PMI-2, and ringtrain does not: " +
		"add --rendezvous HOST:PORT (`ringtrain rendezvous` serves one)")
)

// pmi reads what MPICH's mpiexec (Hydra) and its derivatives set. srun --mpi=pmi2 sets the
// same variables and PMI_JOBID. PMIx launchers set PMIX_*. Inside a step of Slurm and under
// Open MPI, the dialects of those two count instead.
func pmi(e environ.Vars) (*claim, error) {
	inner := environ.HasOpenMPI(e) || e.Any("SLURM_STEP_ID") && !environ.HasHydra(e)
	if inner || !e.Any("PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT", "PMI_ID", "PMIX_RANK", "PMIX_NAMESPACE") {
		return nil, nil
	}
	set, missing := e.Split("PMI_RANK", "PMI_SIZE")
	switch {
	case len(set) == 0 && e.Any("PMIX_RANK", "PMIX_NAMESPACE"):
		return pmix(e)
	case len(set) == 0 && e.Any("PMI_PORT", "PMI_ID"):
		return nil, errPMIPort
	case len(missing) > 0:
		set, missing = e.Split("PMI_RANK", "PMI_SIZE", "PMI_FD")
		return nil, environ.Incomplete(set, missing)
	}
	c := &claim{Place: Place{Source: "PMI", JobID: e.Get("PMI_JOBID")}}
	if err := readNumbers(e, numberNames{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"}, &c.Place); err != nil {
		return nil, err
	}
	if !environ.HasHydra(e) {
		c.missing = errPMI2
		return c, nil
	}
	return c, c.readHydra(e)
}

// readHydra stores in c how Place.Learn is to ask Hydra.
func (c *claim) readHydra(e environ.Vars) error {
	fd, err := e.Int("PMI_FD", 3, -1)
	if err != nil {
		return err
	}
	if fd < 0 {
		c.missing = fmt.Errorf("%w, or add --rendezvous HOST:PORT", environ.Incomplete([]string{"PMI_RANK", "PMI_SIZE"}, []string{"PMI_FD"}))
		return nil
	}
	c.PMI = &PMI{FD: fd, OneHost: c.LocalSize == c.WorldSize, Host: e.Get("MPIR_CVAR_CH3_INTERFACE_HOSTNAME")}
	return nil
}

// pmix reads the rank that PMIx gives. PMIx gives no world size.
func pmix(e environ.Vars) (*claim, error) {
	rank, err := e.Int("PMIX_RANK", 0, -1)
	if err != nil {
		return nil, err
	}
	if rank < 0 {
		return nil, environ.Incomplete([]string{"PMIX_NAMESPACE"}, []string{"PMIX_RANK"})
	}
	return &claim{Place: Place{Rank: rank, LocalRank: -1, Source: "PMIx", JobID: e.Get("PMIX_NAMESPACE")}, missing: errPMIx}, nil
}
