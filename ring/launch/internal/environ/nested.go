package environ

// Beginnings of the variables that mpirun sets, of Open MPI and of MVAPICH2, and horovodrun.
const (
	OpenMPIPrefix = "OMPI_COMM_WORLD_"
	MVAPICHPrefix = "MV2_COMM_WORLD_"
	HorovodPrefix = "HOROVOD_"
)

// TorchRunID is the variable that torchrun gives every rank that it starts.
const TorchRunID = "TORCHELASTIC_RUN_ID"

// HasOpenMPI reports whether mpirun started this rank.
func HasOpenMPI(e Vars) bool { return len(e.WithPrefix(OpenMPIPrefix)) > 0 }

// HasHydra reports whether MPICH's mpiexec started this rank.
func HasHydra(e Vars) bool {
	return e.Any("PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT") && !e.Any("PMI_JOBID")
}

// Nested reports whether a launcher started this rank inside a pod or a step of Slurm.
// mpirun, mpiexec, torchrun and horovodrun begin with one process of their own there, and the
// numbers of that process are not those of the ranks.
func Nested(e Vars) bool {
	return HasOpenMPI(e) || HasHydra(e) || e.Any(TorchRunID, MVAPICHPrefix+"RANK", HorovodPrefix+"RANK")
}

// interactiveStep is the step in which salloc runs its shell, if Slurm is set up so. The
// user has started no srun there.
const interactiveStep = "4294967290"

// HasSlurmTask reports whether srun started this process.
func HasSlurmTask(e Vars) bool {
	return e.Any("SLURM_STEP_ID") && e.Get("SLURM_STEP_ID") != interactiveStep
}
