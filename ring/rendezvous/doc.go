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
// In place of the last two lines a worker may send abort with a cause. One whose own
// time to wait is over does so while others are missing, and ends the wait for all with
// their names: without it nobody can start. A worker
// that alone is at fault (another job, a rank that is taken, a wrong token) is sent
// refused, and the others are not disturbed.
//
// # Offers
//
// What ranks need not have alike, but must use alike, they offer: the sets of kernels of their
// processors, in ascending order. Each generation has the highest that all of its workers
// offer, see [Offer] and ring.Choice; a later one may have a lower one, if a host that replaces
// another has less, and says so to all.
//
// # Who is believed
//
// Neither side believes a word before the other has proved the token. Of one that has
// not, the rendezvous keeps the rank that it claims, as a reason why that rank is
// missing. For a worker a server with another token is not the rendezvous: stale DNS, a
// reused address, or a squatter while the right one is started again. It tries again, and
// ends with exitcode.Auth after 60 s of nothing else, or at the start timeout if it has met
// such a server a moment before. Once it was in a generation such a server is one more that
// was not reached. Without a token everything counts as proved.
//
// # Loss
//
// A worker is lost as soon as its stream breaks, or when nothing was heard of
// it for the lease. After a pause of a rendezvous with a journal it is not: see Journal. The rendezvous is lost for a worker in the same way, and
// the worker's generation ends with a cause that names its address. A process
// that was stopped or starved does not blame others for its own pause: silence
// is counted while one's own clock ticks. Long before a long lease is over, a
// silent worker is named to rank 0 and to the owner of the Server.
//
// What a worker says of another, because an exchange failed, is held for a moment:
// the end of a stream or of a process is better evidence. Failing that, the root is
// blamed: the suspect that suspects nobody. A rendezvous that has come back judges when
// all have, or their time for it is over: who was nearest to a dead worker may be the
// last to return, and the others blame it for having closed its links.
//
// # The next generation
//
// Without restarts a loss ends the job: the rendezvous sends abort with the first
// cause to all. With restarts left it ends the generation only, and uses one for
// each worker that is lost:
//
//	worker                              rendezvous                    lost rank
//	  │ ── abort: cause ───────────────────► │ ◄───────────── stream breaks ─ ┘
//	  │ ◄─────────────────── end generation ─│   who is lost, and why
//	  │ ── ready: step ────────────────────► │   it has left its group   successor
//	  │ ◄──────────────────── waiting … ──── │ ◄────────────────── join ───── │
//	  │ ◄───────────── membership, lost ──── │ ── membership, lost ─────────► │
//
// A generation that ends with nobody gone, by what some say of others, uses a restart
// too, and the first worker that is lost then has it.
//
// The living have the lease to be ready, the lost ones the start timeout to return.
// Who is lost meanwhile uses a restart too; what no restart can mend (a code below
// 128, other options) ends the job at any time. So do five generations in a row that
// lose the same rank before a step is completed: that rank is in a crash loop. A
// worker that was taken for dead and wakes is sent refused: superseded.
//
// A launcher reports each process that it starts and that ends ([Server.Started],
// [Server.Lost]), and is told whether to start the rank again, and after which delay.
// Restarts are counted here alone. A process that ends before it joins uses one, too;
// one whose stream broke before has used its own.
//
// # Stalls
//
// Heartbeats carry what each worker does and for whom it waits. Where all wait for
// one, that one is named to people, from time to time; nobody is lost while it beats.
// Who names it is a matter of who looks where ([NoticeSink]): rank 0, where a worker serves
// the rendezvous; a rendezvous of its own and rank 0 both; a launcher alone, for what
// rank 0 prints comes to its screen.
// Where nothing moves over a link for 10 s although all beat, the generation ends with
// that pair as the cause; where two workers are in different operations, the job does.
// Where heartbeats of healthy workers come late the lease grows. [Look] shows all this
// to who asks.
//
// # Leaving
//
// A worker that gets a signal asks what it means. All stop, if after a moment all
// have asked, or at once if the launcher says so ([Server.StopAll]) or nobody could be
// replaced. Else it alone leaves, at a step that the workers agree on among
// themselves: it says leave, the others parted, and that ends the generation.
//
//	worker                              rendezvous
//	  │ ── leaving: 143 ───────────────────► │
//	  │ ◄────── stop: 143, or leave alone ── │
//
// # Journal
//
// A rendezvous with a [Journal] says in the challenge that it is durable. If it is
// lost, training goes on; the workers try to reach it again, and each says resume
// with its generation and incarnation, and again what was not answered. It begins
// where its journal ends, with all members awaited back for the lease and 3 s. It
// is not consensus: who deletes the journal, or starts a second rendezvous with
// another one, has another job, whose workers are refused by this one's. Who comes
// anew for the place of one that is awaited back waits for the verdict on that one.
//
// That wait keeps nothing safe: who was lost is told so when it comes, and its
// generation cannot go on without those who have left it. It spares a worker that is
// well, and slow to find the rendezvous again, from being replaced, and the job a
// restart: a broken stream, which at other times is proof enough, nobody has seen. So
// it ends at once with other proof: the new one listens on the port that the awaited
// one had, on the same host; or it has come for that rank, and nobody listens on that
// port any more, as seen from the rendezvous. Else, as where that host does not answer,
// or has only a loopback address and is another one, it lasts for the whole time.
//
// A rendezvous with a journal awaits its workers back after a pause of its own, too: it
// was stopped, or its machine was. By the ticks that did not come it knows that workers may
// have given it up. So do workers that say away as they give it up, whatever its clock has
// seen. Streams that break within a lease of that moment are no losses. A port where nobody listens is
// one at once, so whoever was killed meanwhile is named. The end of a job waits for workers
// that come back for it.
//
// Writing the journal may take long. What follows a record waits until it is durable, in
// order; heartbeats and questions are answered meanwhile, and people are told what waits.
// A journal that cannot be written is abandoned: the job goes on without it, and nobody
// can go on from what it has by then. One that has become long is compacted.
//
// With [Options].Find a worker asks at each attempt where the rendezvous is: so one
// that is lost may come back elsewhere, if its journal does. Two at a time are the
// journal's to prevent: to the one that may write no more it says [ErrSuperseded],
// and that one falls silent. Package etcd has such a journal.
//
// # Invariants
//
//   - Of one generation there is one membership, and one owner of each rank.
//   - The numbers of generations grow and are never used again, also after a crash:
//     a generation is in the journal before anybody hears of it.
//   - The first cause wins. Every worker gets it, the one that reported it too. Of
//     losses it is the first since the last completed step. A loss has the step that
//     whoever tells it has completed by then: heartbeats are up to a second old. A last
//     one, after the end was heard, tells the rendezvous.
//   - After the end was agreed, nobody is blamed for closing.
//   - The machine ([State]) is pure: time and events go in, effects come out.
//
// # Errors
//
// What [Join], [Session.Outcome] and [Session.Next] return holds a [*ring.Cause] and
// carries its exit code, except for wrong options and a context that ended.
package rendezvous
