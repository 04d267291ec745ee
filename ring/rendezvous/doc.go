// Package rendezvous is the service where the workers of a job find each other, learn of losses,
// and agree on the end.
//
// One process of the job, or its launcher, holds a [Server]. Every worker calls [Join] and gets a
// [Session], which keeps one gRPC stream open for as long as the worker takes part:
//
//	worker                              rendezvous
//	  │ ── hello: nonce ───────────────────► │
//	  │ ◄─────── challenge: nonce, proof ─── │   both sides prove the token
//	  │ ── join: proof, rank, options ─────► │   and never send it
//	  │ ◄──────────────────── waiting … ──── │   missing ranks, with reasons
//	  │ ◄───────────────────── membership ── │   all have joined: generation 1
//	  │ ◄─ beat ─────────────────── beat ──► │   every second, from join on
//	  │ ── leave ──────────────────────────► │
//	  │ ◄──────────────────────────── end ── │   all have left
//
// Instead of leave a worker may send abort with a cause. A worker whose start timeout is over while
// ranks are missing does so. That ends the wait for all, with the missing ranks as the cause: no
// generation can start without the worker. A worker that alone is at fault (another job, a taken
// rank, a wrong token) is sent refused, and the others go on.
//
// # Packages
//
// Package state decides what happens, as a pure state machine: events go in, effects come out.
// The internal package wire converts messages. This package has the client and the server: it turns
// messages into events and performs the effects.
//
// # Offers
//
// Workers may differ in some properties but must use a common value, such as the kernel set of
// their processors. They offer their values in ascending order. Each generation uses the highest
// value that all of its workers offer; see [Offer] and ring.Choice. A later generation may have a
// lower value if a successor offers less, and all workers are told.
//
// # Trust
//
// Neither side trusts a message before the other side has proved the token. From a client without a
// proof the rendezvous takes only the claimed rank, as a reason why that rank is missing.
//
// For a worker, a server with another token is not the rendezvous: stale DNS, a reused address, or
// another program may answer while the rendezvous is restarted. The worker tries again. It ends
// with exitcode.Auth after 60 s of only such servers, or at the start timeout if it has met one
// shortly before. After its first generation, such a server counts as one that was not reached.
// Without a token all proofs are valid.
//
// # Loss
//
// A worker is lost as soon as its stream breaks, or when it has been silent for the lease. A worker
// loses the rendezvous in the same way, and its generation ends with a cause that names the address
// of the rendezvous.
//
// A process that was stopped or starved does not blame others for its own pause: it measures
// silence while its own clock ticks. A silent worker is named to rank 0 and to the owner of the
// Server long before a long lease ends.
//
// A worker's report about another one, after a failed exchange, is only a suspicion. It waits for a
// moment: the end of a stream or of a process is better evidence. Without better evidence the root
// is at fault: a suspect that suspects no other.
//
// # The next generation
//
// Without restarts a loss ends the job: the rendezvous sends abort with the first cause to all
// workers. With restarts left, a loss only ends the generation and uses one restart for each lost
// worker:
//
//	worker                              rendezvous                    lost rank
//	  │ ── abort: cause ───────────────────► │ ◄───────────── stream breaks ─ ┘
//	  │ ◄─────────────────── end generation ─│   lost ranks and cause
//	  │ ── ready: step ────────────────────► │   it has left its group   successor
//	  │ ◄──────────────────── waiting … ──── │ ◄────────────────── join ───── │
//	  │ ◄───────────── membership, lost ──── │ ── membership, lost ─────────► │
//
// If suspicions end a generation and no worker is lost, this uses a restart too, which then counts
// for the next loss.
//
// The other workers have the lease to be ready, and lost ranks have the start timeout to return. A
// worker that is lost meanwhile uses a restart too. A fault that no restart can mend (an exit code
// below 128, other options) ends the job at any time. So do five generations in a row that lose the
// same rank before a step is completed: that rank is in a crash loop. A worker that was lost and is
// still alive is sent refused: superseded.
//
// A launcher reports each process that it starts and that ends ([Server.Started], [Server.Lost]).
// The answer says whether to start the rank again, and after which delay. Only the rendezvous
// counts restarts. A process that ends before it joins uses one too; a process whose broken stream
// has used one does not use another.
//
// # Stalls
//
// Heartbeats carry the operation of each worker and the rank for which it waits. If all workers
// wait for one, a notice names that rank from time to time; no worker is lost while it sends
// heartbeats. [NoticeSink] selects the receivers of notices: rank 0 if a worker serves the
// rendezvous, rank 0 and the owner if the rendezvous runs alone, and only the owner in a launcher,
// which also shows the output of rank 0.
//
// If nothing moves over a link for 10 s although all workers are alive, the generation ends with
// that link as the cause. If two workers are in different operations, the job ends. If heartbeats
// of healthy workers are late, the lease grows. A [StatusClient] reads all this.
//
// # Leaving
//
// A worker that gets a signal requests to leave. All workers stop if all have requested it after a
// moment, or at once if the launcher says so ([Server.StopAll]) or no restart is left. Otherwise
// the worker leaves alone, at a step on which the workers agree among themselves: it sends leave,
// the others send parted, and the generation ends.
//
//	worker                              rendezvous
//	  │ ── leaving: 143 ───────────────────► │
//	  │ ◄────── stop: 143, or leave alone ── │
//
// # Invariants
//
//   - A generation has one membership, and each rank has one owner.
//   - Numbers of generations grow and are never used again.
//   - The first cause wins, and every worker gets it, also the one that reported it. Of losses
//     it is the first one since the last completed step. Each process reports a loss with the
//     last step that it has completed, because heartbeats are up to a second old. The last
//     heartbeat, after the end, tells the rendezvous.
//   - After the end is agreed, closing is no fault.
//   - The state machine is pure: time and events go in, effects come out.
//
// # Errors
//
// The errors of [Join], [Session.Outcome] and [Session.Next] hold a [*ring.Cause] and its exit
// code, except for wrong options and an ended context.
package rendezvous
