// Package rendezvous is where the workers of a job find each other, are told
// when one is lost, and agree on the end.
//
// One process of the job, or of its launcher, holds a [Server]; every worker
// calls [Join] and gets a [Session]. Each worker keeps one gRPC stream open for
// as long as it takes part:
//
//	worker                              rendezvous
//	  │ ── hello: nonce ───────────────────► │
//	  │ ◄─────── challenge: nonce, proof ─── │   the token is proved on both
//	  │ ── join: proof, rank, options ─────► │   sides and never sent
//	  │ ◄──────────────────── waiting … ──── │   who is missing, and why
//	  │ ◄───────────────────── membership ── │   all are here: generation 1
//	  │ ◄─ beat ─────────────────── beat ──► │   every second, from join on
//	  │ ── leave ──────────────────────────► │
//	  │ ◄──────────────────────────── end ── │   all have said leave
//
// In place of the last two lines a worker may send abort with a cause; then,
// and whenever a worker is lost, the rendezvous sends abort with the first
// cause to all. A worker that alone is at fault (another job, a rank that is
// taken, a wrong token) is sent refused, and the others are not disturbed.
//
// # Loss
//
// A worker is lost as soon as its stream breaks, or when nothing was heard of
// it for the lease. The rendezvous is lost for a worker in the same way, and
// the worker's generation ends with a cause that names its address. A process
// that was stopped or starved does not blame others for its own pause: silence
// is counted while one's own clock ticks.
//
// # Invariants
//
//   - Of one generation there is one membership, and one owner of each rank.
//   - The first cause wins. Every worker gets it, the one that reported it too.
//   - After the end was agreed, nobody is blamed for closing.
//   - The machine ([State]) is pure: time and events go in, effects come out.
//
// # Errors
//
// What [Join] returns holds a [*ring.Cause] and carries its exit code, except
// for wrong options and a context that ended.
package rendezvous
