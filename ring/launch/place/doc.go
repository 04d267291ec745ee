// Package place finds out which worker of a job this process is: its rank, the world size,
// and the address of the rendezvous.
//
// [Find] reads the environment that a launcher sets. Each launcher has a dialect of its own, a
// row of one table:
//
//	ringtrain run   RINGTRAIN_RANK RINGTRAIN_WORLD_SIZE RINGTRAIN_RENDEZVOUS
//	TF_CONFIG       one JSON text with the address of every worker
//	others          dialects.go: the names of four numbers, and how the address is found
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
//   - Schedulers yield to a launcher that runs inside a step or a pod. mpirun, mpiexec and
//     torchrun begin with one process of their own there, and the numbers of that process
//     are not those of the ranks.
//   - PMIx and Kubernetes give no world size: --world-size or RINGTRAIN_WORLD_SIZE must.
//   - If no row speaks, two variables X_RANK and X_SIZE with a size above 1 are a launcher
//     that is in no row: an error without --rendezvous. --world-size 1 silences all rows.
//
// # Errors
//
// A place that is incomplete, wrong or contradictory is exitcode.Usage. The message names
// the variables and what to set.
package place
