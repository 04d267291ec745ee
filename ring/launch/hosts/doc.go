// Package hosts reads which hosts a job may use and assigns ranks to them.
//
// A list of [Host] values comes from one of three sources:
//
//	-H a:4,b:4      Parse, as mpirun reads its -H
//	--hostfile F    ReadFile, in the forms of Open MPI, Horovod and MPICH
//	an allocation   FindAllocation, from the variables of Slurm, PBS or LSF
//
// A name or an address of this machine makes a Host local: the launcher starts its ranks
// without ssh. Names are not looked up. Hosts of one name are joined, and their slots are
// added.
//
// [Assign] gives each rank a host and a local rank, by slot or by node:
//
//	-H a:2,b:2 -np 4      by slot            by node
//	                      a: 0 1             a: 0 2
//	                      b: 2 3             b: 1 3
//
// After the loss of a host [Reassign] finds free slots for its ranks. A rank that runs
// keeps its assignment: a process learns its place once.
//
// # Invariants
//
//   - No host gets more ranks than it has slots. Fewer slots than ranks are an error: ranks
//     that share a core by accident are slow, without any message.
//   - A host name has no character that a shell or ssh could take for something else.
//
// # Errors
//
// A list, a file or an allocation that makes no sense is exitcode.Usage; a file that is
// missing is exitcode.NoInput.
package hosts
