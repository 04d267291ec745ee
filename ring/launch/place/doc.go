// Package place finds out which worker of a job this process is: its rank, the world size,
// and the address of the rendezvous.
//
// [Find] reads the environment that a launcher sets. Each launcher has a dialect of its
// own, and each dialect has a file of its own:
//
//	ringtrain run   RINGTRAIN_RANK RINGTRAIN_WORLD_SIZE RINGTRAIN_RENDEZVOUS
//	TF_CONFIG       one JSON text with the address of every worker
//	torch           RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
//	torchrun        PET_*, the options of torchrun in a container without torchrun
//	Open MPI        OMPI_COMM_WORLD_*
//	MPICH           PMI_RANK PMI_SIZE PMI_FD
//	Slurm           SLURM_* of a step
//	Kubernetes      JOB_COMPLETION_INDEX, completed by RINGTRAIN_*
//
// The result is a [Place]. Find is a pure function of the environment and the flags. Only
// MPICH's mpiexec tells the ranks nothing about the rendezvous in variables;
// [Place.Learn] asks mpiexec for the address.
//
// # Precedence
//
//   - Flags silence variables. A rank with a world size, by flag or as RINGTRAIN_RANK and
//     RINGTRAIN_WORLD_SIZE, silences every other dialect.
//   - Two dialects that give a different rank or world size are an error. So is a dialect
//     with only a part of its variables: a rank that took itself for a job of its own
//     would train beside the others and overwrite their result.
//   - Slurm and Kubernetes yield to a launcher that runs inside a step or a pod. mpirun,
//     mpiexec and torchrun begin with one process of their own there, and the numbers of
//     that process are not those of the ranks.
//   - PMIx and Kubernetes give no world size: --world-size or RINGTRAIN_WORLD_SIZE must.
//
// # Errors
//
// A place that is incomplete, wrong or contradictory is exitcode.Usage. The message names
// the variables and what to set.
package place
