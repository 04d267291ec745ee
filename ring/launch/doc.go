// Package launch starts the ranks of a job on this host and on others, and ends them.
//
// [Run] starts ranks as mpirun does:
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
// Run passes signals on, prefixes the lines of the ranks, ends the other ranks after the
// first failure, and returns that failure's exit code. The first failure counts on whatever
// host it was; the result names the rank and its host.
//
// Package hosts assigns the ranks to hosts. Ranks of this machine need no ssh. Without a
// list of hosts all ranks are here, in any number.
//
// # Files
//
//	run.go             Run: the launcher and its loop of events
//	termination.go     how a run ends: failures, signals, timeouts; pure
//	restart.go         restarts of single ranks
//	failover.go        new places for the ranks of a lost host
//	startup.go open.go the hosts get ready
//	dialer.go login.go ssh to a host and the frames on it
//	agent.go           the other end of a login
//	frame.go           the wire; messages.go: its JSON messages
//	input.go           standard input of rank 0
//	rankoutput.go      prefixes and files of outputs, and lines that a Reader reads
//	outputmux.go       the outputs of all ranks; writequeue.go, credit.go: backpressure
//
// # Other hosts
//
// The launcher logs in by the user's own ssh program, and starts an
// agent on each: this program again, by the hidden command agent, which is [Agent]. The
// agent must have the launcher's version. The launcher looks for the program at its own
// path, then in PATH. With Push, it copies the program to
// ~/.cache/ringtrain/bin/<sha256>/ringtrain, unless the program is there already.
//
// Config.Fanout bounds the logins at a time. A host that answers and is lost before all have
// answered ends the start.
//
// # The protocol
//
// The agent writes agentMagic. From then on both sides send frames (kind, host, rank,
// length, payload) on ssh's standard input and output; the launcher does so from the start:
//
//	launcher                                agent
//	orders   version, environment, … ────►
//	         ◄──── hello   version, address of the rendezvous that it reaches, cores
//	start    rank, program, place ────►
//	         ◄──── out, err   output of the rank
//	ack      rank, output, bytes that the reader has accepted ────►
//	         ◄──── more    rank 0 has taken its input
//	input    the next 64 KiB of standard input at most ────►
//	signal   rank, number ────►
//	         ◄──── ended   exit code or signal; later cleared: no process is left
//	beat     each 5 s ────►
//	         ◄──── alive   each second without another frame
//
// One login carries the outputs and the ends of all ranks of a host, and the launcher
// accepts all frames at once. It holds output that is not read: 64 KiB per output may be
// under way. Beyond that the agent leaves output in the rank's pipe until the launcher has
// acknowledged some. A slow reader therefore stalls only the ranks that write to it. All
// other frames pass: the other output, ends and faults.
//
// An agent that is stopped, or whose host has lost power, closes nothing. After 5 s of
// silence the launcher names the host once, and its ranks. After 30 s the login is
// ended, and the host is lost; ssh notices a silent
// network sooner. Time in which the listening process itself was stopped does not count, nor
// does the time of writes to a disk that hangs.
//
// Neither the token nor the environment is ever in an argument of a process, and no environment
// has the token: launcher and agents write it to a file, and ranks get the file's name
// ([token.Token.Hold]). Ranks get the environment of the login, the launcher's RINGTRAIN_*
// variables and the exported ones (Config.Export). They get the first of the launcher's
// addresses that their agent reaches, never the loopback. Each agent tries for itself.
//
// # A lost host
//
// With Restarts, ranks of a lost host (its ssh or its agent is gone) are started again. The
// launcher itself logs in to the host once more, for redialTimeout: the host may be well and
// only a connection or an agent gone. Ranks of a host
// that does not answer go to free slots, those that Hosts has beyond the ranks:
//
//	-H a:4,b:4,spare:4 -np 8     b is lost: its ranks go to spare
//
// Hosts with ranks come first, then the others of the list. The launcher has not logged in
// to those before: a fault of a spare host shows when it is needed. One line tells people
// which ranks went where, and why. Each rank counts for one of Restarts. If there are too
// few restarts or free slots, the loss ends the job, and the message names the host.
//
// A rank learns its place when it starts. On a host with other ranks it gets the lowest free
// local rank. With BindCore it gets the share of the cores that it would have if all ranks
// had begun together; the others keep theirs. Shared memory and links do not depend on that:
// each generation works them out anew.
//
// If the lost host comes back, no rank runs twice. The rendezvous has replaced its ranks and
// refuses them whenever they come. Its agent ends them when it reads the end of its input,
// or gets no beat. Rank 0's checkpoints stay on the disk of the lost host: the job goes on
// with the newest state of a living rank, and the new rank 0 saves on its own disk. Only if
// no rank lives does the job go on with the newest checkpoint there, or from the beginning.
// With the launcher's own host the rendezvous and the job end.
//
// # Output
//
// Lines begin with "[rank] ", or with Tag "[rank,stdout] " and "[rank,stderr] ". With Bare
// those of rank 0's standard output have no prefix. A [Reader] makes other lines of them. A reason
// for the end of a rank that another rank has given is left out, unless with All. With OutputDir
// all that the ranks write, or what the Reader makes of it, also goes into files,
// without a prefix. This layout is frozen:
//
//	<OutputDir>/rank.<N>/stdout      N: the rank in decimal, no leading zeros
//	<OutputDir>/rank.<N>/stderr
//
// Both files exist from the start, replace those of an earlier run, and grow on when a rank
// is started again.
//
// If all ranks wait for one rank, one process says so once:
//
//	run                      the launcher, in a line without a prefix: the line is in the
//	                         launcher's output, not in rank.0/stderr
//	mpirun, srun, torchrun   rank 0, which serves the rendezvous
//	rendezvous               both that process and rank 0, which may write elsewhere
//
// # No process stays behind
//
// Package process ends a rank together with its process group, also if the launcher itself
// is killed. On other hosts the agent reads the end of its input: at once when the launcher
// or its ssh dies. When the network dies, the agent gets no beat for 30 s. If the agent is
// killed, its own guard ends its ranks.
//
// main must begin with process.RunGuard: see package process.
package launch
