package environ

// OpenMPIPrefix begins the variables that mpirun sets.
const OpenMPIPrefix = "OMPI_COMM_WORLD_"

// TorchRunID is the variable that torchrun gives every rank that it starts.
const TorchRunID = "TORCHELASTIC_RUN_ID"

// HasOpenMPI reports whether mpirun started this rank.
func HasOpenMPI(e Vars) bool { return len(e.WithPrefix(OpenMPIPrefix)) > 0 }

// HasHydra reports whether MPICH's mpiexec started this rank.
func HasHydra(e Vars) bool {
	return e.Any("PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT") && !e.Any("PMI_JOBID")
}

// Nested reports whether a launcher started this rank inside a pod or a step of Slurm.
// mpirun, mpiexec and torchrun begin with one process of their own there, and the numbers
// of that process are not those of the ranks.
func Nested(e Vars) bool {
	return HasOpenMPI(e) || HasHydra(e) || e.Any(TorchRunID)
}
