// Package process starts the process of one rank, and ends it with all that it has started.
//
// [Start] runs a [Program] in a process group of its own, on the cores that [Share] gives
// it, and passes on its output in chunks. [Child.Wait] returns how the rank ended, an
// [Ending]. [Child.Clear] then ends the processes that the rank has left behind:
//
//	rank ends ──► SettleTime ──► TERM ──grace──► KILL ──KillTimeout──► give up
//
// [Prefixer] turns the chunks into whole lines with the number of the rank.
//
// # The guard
//
// A launcher that is killed cannot end its ranks. A second process, the guard, does:
//
//	            ┌── rank 0   process group, SIGTERM when the launcher dies
//	launcher ───┼── rank 1   process group, …
//	        │
//	        └─pipe─── guard  session of its own
//
// The launcher writes the process groups of its ranks to the pipe. The end of the pipe is
// the end of the launcher, even by SIGKILL: the guard then sends TERM to all groups that are
// left, and KILL after GuardGrace. The guard is this very program again, so main must begin
// with
//
//	if process.IsGuard() {
//		os.Exit(process.RunGuard())
//	}
//
// # Limits
//
// Two processes escape. A process that leaves its group on purpose (setsid, as daemons do)
// is not followed. And between the start of a rank and the message to the guard, only the
// parent-death signal covers the rank, which Linux alone has.
package process
