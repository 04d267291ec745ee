// Package launch starts the ranks of a job on this host and on others.
//
// # Run
//
// [Run] starts ranks on this host and on others, as mpirun does:
//
//	            ┌── rank 0   process group, SIGTERM when the launcher dies
//	launcher ───┼── rank 1   process group, …
//	     │  │   └─pipe─── guard     session of its own
//	     │  │
//	     │  └─pipes─ ssh ═════ agent ─┬── rank 2   as on the launcher's host
//	     │                      │     └── rank 3
//	     │                      └─pipe─── guard
//	     └─pipes─ ssh ═════ agent ─── …   one ssh for each host, or for several
//
// It passes signals on, prefixes the lines that ranks print, ends the others
// after the first failure, and returns that failure's exit code. The first
// failure counts wherever it was; the result names the rank and its host.
//
// Package hosts reads them; a name or an address of this machine means no ssh. Without
// either all ranks are here, in any number; with hosts, no host gets more ranks
// than it has slots, and fewer slots than ranks are an error.
//
// # Other hosts
//
// The launcher logs in by the user's own ssh program, to 32 hosts at a time, and
// starts an agent on each: this program again, by the hidden command agent, which is
// [Agent]. It must be the same version. It is looked for at the launcher's own path
// and then in PATH; with Push, it is copied to
// ~/.cache/ringtrain/bin/<sha256>/ringtrain, unless it lies there already.
//
// With more hosts than Config.Fanout, F, the launcher logs in to F of them, and each
// of these to its part of the others in the same way: with the same words and
// options of ssh, F at most, and so on. Here F is 2, of seven hosts:
//
//	launcher ─┬─ h0 ─┬─ h1
//	          │      └─ h2
//	          └─ h3 ─┬─ h4
//	                 └─ h5 ─── h6
//
// Often hosts have no keys for each other, or no route. Those that another one
// could not log in to the launcher tries itself, with those below them; then its
// word counts. If it is h5 in the picture, h6 is still reached by h5. Others have
// half of StartTimeout for this; the rest is the launcher's. So has h0, or any host
// that leads to others, to answer: those behind it are then tried without it. A host
// that has answered and is lost before all have ends the start.
//
// The agent says agentMagic and then, as the launcher does from the start,
// frames (kind, host, rank, length, payload), on the pipes that are ssh's standard
// input and output:
//
//	launcher                                agent
//	orders   version, environment, hosts below, … ────►
//	         ◄──── hello   version, the rendezvous' address that it reaches, cores
//	start    rank, program, place ────►
//	         ◄──── out, err   what the rank prints
//	taken    rank, output, bytes: passed on to who reads ────►
//	signal   rank, number ────►
//	         ◄──── ended   exit code or signal; later cleared: nothing is left
//	beat     each 5 s ────►
//	         ◄──── alive   each second, if nothing else was said
//	         ◄──── hello, out, ended, …   of a host below
//	         ◄──── silent   hosts below, of which nothing is heard
//	         ◄──── refused, lost   hosts below that it cannot log in to, or no more
//
// An agent does what is for its host, and hands on what is for one below. What
// comes from below it passes up as it is. The launcher and the agents check that what a
// login says is of a host that it leads to.
//
// One login carries what all ranks of a branch write and how they end, and the launcher
// takes all of it at once. What nobody reads it holds, 64 KiB for each output of a rank: so
// much may be on its way, and then the agent leaves it in the rank's pipe until the launcher
// says that it is passed on. So it is that rank that waits for who reads its output, and
// all else of the branch is heard: the other output, ends, faults, and lost hosts.
//
// An agent that is stopped, or whose host has no power, closes nothing. Whoever has logged
// in to it hears nothing for 5 s then, and the launcher names the host, once, and the ranks
// that are unheard with it. After 30 s of silence the login is ended and the host is lost,
// with those that were reached by it; ssh notices a silent network sooner. Time in which
// the one who listens was stopped itself does not count, nor what it takes to write what it
// heard to a disk that hangs.
//
// So neither the token nor the environment is ever in an argument of a process.
// Ranks get the login's environment, the launcher's RINGTRAIN_* and what is
// exported (Config.Export). They learn the first of the launcher's addresses that
// their agent reaches, never the loopback; each agent tries for itself.
//
// # A lost host
//
// With Restarts, ranks whose host is lost (its ssh or its agent is gone) are started
// again. The launcher logs in to the host once more, itself, for returnTime: the host may
// be well and only a connection or an agent be gone, as for all hosts below a lost one. Ranks
// whose host does not answer go to free slots, those that Hosts has beyond the ranks:
//
//	-H a:4,b:4,spare:4 -np 8     b is lost: its ranks go to spare
//
// Hosts on which ranks are come first, then the others of the list, to which nobody has
// logged in before: what is wrong with a spare host shows when it is needed. People read in
// one line who went where and why. Each rank counts for one of Restarts. If there
// are too few of them, or of slots, the loss ends the job, and the host is named.
//
// A rank is told its place when it starts. On a host where others run it gets the
// lowest free local rank, and with BindCore its share of the cores as if all had begun
// together; the others keep theirs. How ranks share memory and which links there are
// is not taken from there: each generation works it out anew.
//
// If the lost host comes back, nothing is there twice. The rendezvous has replaced its
// ranks and tells them so, whenever they come, and its agent ends them when it sees the
// end of its input, or hears no beat. Rank 0's checkpoints stay on the disk of the lost
// host: the job goes on with the newest state that a living rank holds, and the new rank 0
// saves on its own disk. Only if no rank lives is it the newest checkpoint there,
// or the beginning. If it is the launcher's own host that is lost, the rendezvous and the job
// end with it.
//
// # Output
//
// Lines begin with "[rank] ", or with Tag "[rank,stdout] " and "[rank,stderr] ",
// or nothing where rank 0 prints JSON. With OutputDir every byte that ranks write
// goes into files, too, without a prefix. This layout is frozen:
//
//	<OutputDir>/rank.<N>/stdout      N: the rank in decimal, no leading zeros
//	<OutputDir>/rank.<N>/stderr
//
// Both files are there from the start, replace those of a run before, and go on
// when a rank is started again.
//
// That all ranks wait for one is said once: by whom depends on who sees it.
//
//	run                      the launcher, in a line without a prefix; so it is not
//	                         in rank.0/stderr, but in what the launcher prints
//	mpirun, srun, torchrun   rank 0, which serves the rendezvous
//	rendezvous               both that process and rank 0, which may print elsewhere
//	etcd                     rank 0; while it is silent or away, the coordinator
//
// # Nobody is left behind
//
// Package process ends a rank together with its process group, also if the launcher itself
// is killed. On other hosts the agent reads the end of its input: at once when the launcher
// or its ssh dies. When the network dies, the agent hears no beat for 30 s. If the agent is
// killed, its own guard ends its ranks. Either way the hosts below it read the end of their
// input, too. Beats begin in the launcher and are passed down, so all hosts behind a silent
// network end at the same time. The launcher names the host that went first.
//
// main must begin with process.RunGuard: see package process.
package launch
