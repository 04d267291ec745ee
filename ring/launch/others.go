package launch

// The dialects that are recognised but not built. Each gives the rank and the
// size that it knows, so that a difference to another dialect is found.

// torchrun reads the options that torchrun takes from PET_* variables. They
// describe a host, not a rank, so a RANK beside them says all.
func torchrun(e environment) (*claim, error) {
	if e.any("RANK") || !e.any("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT",
		"PET_RDZV_ID", "PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_STANDALONE") {
		return nil, nil
	}
	return unbuilt("PET_*", "torchrun by PET_* alone"), nil
}

// pmi reads what MPICH's mpiexec, srun --mpi=pmi2 and PMIx launchers set. Open
// MPI sets PMIX_* too, and then speaks for itself.
func pmi(e environment) (*claim, error) {
	if len(e.under(openMPIPrefix)) > 0 || !hasPMI(e) {
		return nil, nil
	}
	c := unbuilt("PMI", "mpiexec by PMI or PMIx")
	rank := "PMI_RANK"
	if !e.any(rank) {
		rank = "PMIX_RANK"
	}
	var err error
	if c.Rank, err = e.integer(rank, 0, -1); err != nil {
		return nil, err
	}
	c.WorldSize, err = e.integer("PMI_SIZE", 1, 0)
	return c, err
}

func hasPMI(e environment) bool {
	return e.any("PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT", "PMI_ID", "PMIX_RANK", "PMIX_NAMESPACE")
}

// slurm reads a step of srun. A batch script has SLURM_PROCID as well, but no
// step and is no rank. Under mpirun and mpiexec the values are those of their
// daemons.
func slurm(e environment) (*claim, error) {
	if !e.any("SLURM_STEP_ID") || len(e.under(openMPIPrefix)) > 0 || hasPMI(e) {
		return nil, nil
	}
	c := unbuilt("SLURM_*", "srun by SLURM_*")
	var err error
	if c.Rank, err = e.integer("SLURM_PROCID", 0, -1); err != nil {
		return nil, err
	}
	c.WorldSize, err = e.integer("SLURM_NTASKS", 1, 0)
	return c, err
}

// kubernetes reads the index of a pod of an indexed job. There is no size.
func kubernetes(e environment) (*claim, error) {
	const name = "JOB_COMPLETION_INDEX"
	if !e.any(name) {
		return nil, nil
	}
	c := unbuilt(name, "Kubernetes by "+name)
	var err error
	c.Rank, err = e.integer(name, 0, -1)
	return c, err
}

func unbuilt(source, name string) *claim {
	return &claim{Place: Place{Rank: -1, LocalRank: -1, Source: source}, refuse: name}
}
