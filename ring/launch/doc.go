// Package launch starts the ranks of a job and tells a rank who it is.
//
// # Place
//
// [FindPlace] reads the environment that a launcher leaves behind. Several are
// understood; each is a dialect with a file of its own:
//
//	ringtrain run   RINGTRAIN_RANK RINGTRAIN_WORLD_SIZE RINGTRAIN_RENDEZVOUS
//	TF_CONFIG       one JSON text with every worker's address
//	torch           RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
//	Open MPI        OMPI_COMM_WORLD_*
//
// Others (PMI, PMIx, Slurm, torchrun's own PET_*, Kubernetes' indexed jobs) are
// recognised and refused: a rank that took itself for a job of its own would
// train beside the others and overwrite their result. For the same reason a
// dialect that is there in part is an error, and so are two dialects that
// differ. Reading is a pure function of the environment and the flags.
//
// # Meet
//
// [Meet] joins a worker to the others: it opens the one port, serves the
// rendezvous there if the place says so, joins, opens the links to the
// neighbours and forms the group. What it returns, a [Team], lasts for one
// generation and ends by [Team.Leave], or by [Team.Abort] with the first cause.
// A worker that cannot come tells the others by [Report].
//
// # Run
//
// [Run] starts ranks on this host, as mpirun does:
//
//	            ┌── rank 0   process group, SIGTERM when the launcher dies
//	launcher ───┼── rank 1   process group, …
//	     │      └── rank 2   process group, …
//	     └─pipe─── guard     session of its own
//
// It passes signals on, prefixes the lines that ranks print, ends the others
// after the first failure, and returns that failure's exit code.
//
// # Nobody is left behind
//
// A rank's process group is ended together with the rank: what its leader
// leaves behind has a second to end, then gets SIGTERM, then SIGKILL. If the
// launcher itself is killed, even by SIGKILL, the guard reads the end of its
// pipe and does the same to all groups. The guard is this very program again,
// so main must begin with
//
//	if launch.IsGuard() {
//		os.Exit(launch.Guard())
//	}
//
// Two things escape. A process that leaves its group on purpose (setsid, as
// daemons do) is not followed. And in the microseconds between its start and
// the guard learning of it, a rank is covered by its parent-death signal only,
// which Linux alone has.
package launch
