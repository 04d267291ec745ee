// Package rendezvous is the service where the workers of a job find each other, learn of losses,
// and agree on the end.
//
// One process of the job, or its launcher, holds a [Server]. Every worker calls [Join] and gets a
// [Session], which keeps a gRPC stream open for as long as the worker takes part:
//
//	worker                              rendezvous
//	  │ ── hello: nonce ───────────────────► │
//	  │ ◄─────── challenge: nonce, proof ─── │   both sides prove the token
//	  │ ── join: proof, rank, options ─────► │   and never send it
//	  │ ◄──────────────────── waiting … ──── │   missing ranks, with reasons
//	  │ ◄───────────────────── membership ── │   all have joined: generation 1
//	  │ ◄─ beat ─────────────────── beat ──► │   every 0.25 s, from join on
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
// A worker is lost when its process is known to have ended, or after silence for the lease. Nothing
// else is a loss. A process is known to have ended if the launcher saw its exit, if its port refuses
// or answers for another process, or by its own word.
//
// A broken stream ends nothing. The worker dials again at once, and training goes on. A worker whose
// beats are not heard for two seconds dials a second stream beside the first: a path may be dark one
// way, and TCP waits ever longer before it tries again. Beats have numbers, and those of the
// rendezvous name the last one that it has heard. The first stream that is proved replaces the old
// one. If the rendezvous is not reached, the workers train on without limit, and say so once.
//
// A completed step proves the life of all members of the generation: no all-reduce ends without each
// of them. Silence counts only if the members that are heard are a quorum; otherwise the host of the
// rendezvous may be cut off, and it waits for the start timeout. A process that was stopped or
// starved does not blame others for its own pause: it measures silence while its own clock ticks. A
// silent worker is named to people long before a long lease ends.
//
// A worker's report about another one, after a failed exchange, is only a suspicion. It waits for a
// moment: the end of a process is better evidence. Without better evidence nobody is lost, and the
// root is at fault: a suspect that suspects no other.
//
// # The next generation
//
// A loss, or a broken link, ends the generation. The members leave their groups and form the next
// generation, with their state in memory:
//
//	worker                              rendezvous                    lost rank
//	  │ ── abort: cause ───────────────────► │ ◄──────────── process ends ─── ┘
//	  │ ◄─────────────────── end generation ─│   lost ranks and cause
//	  │ ── ready: step ────────────────────► │   it has left its group   successor
//	  │ ◄──────────────────── waiting … ──── │ ◄────────────────── join ───── │
//	  │ ◄───────────── membership, lost ──── │ ── membership, lost ─────────► │
//
// Each lost worker uses a restart. Without one left the job ends: the rendezvous sends abort with the
// first cause to all. A generation that ends with nobody lost uses none. All members, and the
// successors of lost ranks, have the start timeout to be ready. A fault that no restart can mend (an
// exit code below 128, other options) ends the job at any time. So do links that do not open at the
// start, and five generations in a row without a completed step that name one rank or link. A worker
// that was lost and is still alive is sent refused: superseded.
//
// # The workers hold the truth
//
// Each worker keeps a record: life, generation, members, who is lost. On each new stream it sends
// resume with its record in place of join. So a rendezvous may end and another one start empty at
// the same address:
//
//	worker                              rendezvous
//	  │ ── resume: record, doing ──────────► │   an empty one adopts the record
//	  │ ◄────────────────────────── resumed ─│   and what the worker has missed
//
// A generation after the first of a life holds a quorum of the one before, and of those that may
// have begun since (dynamic voting), so no two generations go on side by side. Members that are away
// are awaited; their ports are asked who listens there, see [ServeMember]. Of two rendezvous at one
// name the one with the smaller instance ends. A launcher is unique ([ServerConfig.Unique]): one
// member will do.
//
// A launcher reports each process that it starts and that ends ([Server.Started], [Server.Lost]).
// The answer says whether to start the rank again, and after which delay. Only the rendezvous
// counts restarts. A process that ends before it joins uses one too; one whose loss has used one does
// not use another.
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
// A worker that gets a signal requests to leave. All workers stop if all have requested it after half
// a second, or at once if the launcher says so ([Server.StopAll]) or no restart is left. A worker that
// hears of no stop for a second leaves alone, with an abort, which is a loss. A worker that does not
// reach the rendezvous asks the others, by the tails of a step, to stop.
//
//	worker                              rendezvous
//	  │ ── leaving: 143 ───────────────────► │
//	  │ ◄──────────── stop: 143, or silence ─│
//
// # Invariants
//
//   - A generation has one membership, and each rank has one owner.
//   - The pair of generation and issuer that a worker has taken never falls. Links and host memory
//     carry it with the life as a fence; see ring.Fence.
//   - Silence alone never makes the last holder of the state gone.
//   - The first cause wins, and every worker gets it, also the one that reported it. Of losses
//     it is the first one since the last completed step. Each process reports a loss with the
//     last step that it has completed, because heartbeats are a moment old. The last
//     heartbeat, after the end, tells the rendezvous.
//   - After the end is agreed, closing is no fault.
//   - The state machine is pure: time and events go in, effects come out.
//
// # Errors
//
// The errors of [Join], [Session.Outcome] and [Session.Next] hold a [*ring.Cause] and its exit
// code, except for wrong options and an ended context.
package rendezvous
