// Package ring implements collective operations among workers joined in a ring.
//
// A worker joins a job through package rendezvous and learns its [Membership]:
// its rank, the world size and every worker's address. A [Link] joins it to its
// neighbours: it receives from the left one and sends to the right one, which are
// rank-1 and rank+1, modulo the world size, unless the ring has another [Order]. A
// [Group] is the set of workers of one generation. It never changes: when a worker
// dies or a new one arrives, the generation ends, every operation fails with
// [ErrGenerationEnded], and the survivors join the next.
//
// All workers call the same operations in the same order. The bytes on the wire
// are in PROTOCOL.md.
//
// # All-reduce
//
// [Group.AllReduce] sums a buffer over p workers in two phases of p-1 steps.
// The buffer is cut into p chunks, and each chunk travels as segments:
//
//	buffer  ┌────────────┬────────────┬────────────┐   p = 3
//	        │  chunk 0   │  chunk 1   │  chunk 2   │
//	        ├───┬───┬────┼───┬───┬────┼───┬───┬────┤
//	        │ 0 │ 1 │ 2  │ 0 │ 1 │ 2  │ 0 │ 1 │ 2  │   segments
//	        └───┴───┴────┴───┴───┴────┴───┴───┴────┘
//
// In reduce-scatter each worker adds what it receives to its own chunk and
// passes the sum on; after p-1 steps worker r owns the full sum of chunk
// (r+1) mod p. In all-gather the owners' chunks go around unchanged. A segment
// is passed on as soon as it is summed, while the next one is still on its way.
// A worker sends 2(p-1)/p of the buffer in all, which is the least that any
// algorithm can (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms
// for clusters of workstations", 2009).
//
// # Two levels
//
// Workers of one host can share [Memory], and then no link is used between them.
// The buffer is cut into shards, and local worker i sums shard i over all
// workers' buffers where they lie, and writes the sum into all of them:
//
//	           shard 0    shard 1    shard 2
//	worker 0 ┌──────────┬──────────┬──────────┐
//	         ├──────────┼──────────┼──────────┤      a Sync before: all buffers are filled
//	worker 1 │ worker 0 │ worker 1 │ worker 2 │
//	         ├──────────┼──────────┼──────────┤      a Sync after: all sums are written
//	worker 2 │  sums    │  sums    │  sums    │
//	         └──────────┴──────────┴──────────┘
//
// For that the buffer must lie in an arena, see [Group.Arena]. Buffers up to
// 8 KiB, and those outside of all arenas, go through a board: memory of each
// worker that the others read, 520 KiB of it and 64 bytes for each rank of the
// job, of which what no operation needed stays untouched. A small buffer takes
// one Sync, after which every worker sums for itself.
//
// With several hosts, the workers that are local worker i of their hosts are the
// drivers of shard i: between the two Syncs each sums its shard over its host,
// all-reduces it with the others, over links and with the codec, and writes it
// into all buffers of its host; by ring segment by segment, so that memory works
// while the wire does. There are as many drivers as the smallest host
// has workers; a larger host's other workers wait. So each host sends
// 2(h-1)/h of the buffer for h hosts, however many workers it has. The other
// operations go through the board on one host, and around the ring on several.
//
// At the first Sync of an operation each worker says what it is about to do, and
// compares: workers that do different things learn it before anything is summed
// ([ErrRanksDiffer]).
//
// # Rows
//
// A model with tables touches few of their rows in a step. A [RowSum] sums those rows, by
// ids, with the dense elements and tails of the step, in one operation whose cost is that of
// the rows, not of the tables:
//
//	rank 0  ids  2  5     9        ┌ worker 0 ┐  2  5         all workers of the host
//	rank 1  ids     5  7  9  12    └ worker 1 ┘  7  9  12     read both pieces
//
// Each worker of a host merges a range of the ids in shared memory. Between hosts the drivers
// of a range halve its ids, or collect all rows where their number is no power of two. A
// table that the ranks together touch all over goes densely, by all-reduce.
//
// # Order of the ring
//
// A ring that goes through the ranks as they are numbered may leave a host with
// every rank, and pass between hosts that reach each other slowly. So it goes
// through the workers in an [Order]: by hosts, as measured, or as given.
//
//	ranks 0 … 3 on hosts a b a b      by rank   0a ═ 1b ═ 2a ═ 3b ═ 0a    four hops between hosts
//	                                  by host   0a ─ 2a ═ 1b ─ 3b ═ 0a    two
//
// The worker at position r of the order does what is said of worker r above. The
// rings of the drivers go through the hosts in the same order.
//
// # Invariants
//
//   - Replicas agree bit for bit. A chunk's owner encodes it once, and all
//     workers keep what those bytes decode to, the owner included.
//   - The order of summation depends on the world size, the layout of hosts, the
//     order of the ring, the length of the buffer and the algorithm only, so that a
//     run repeats exactly.
//   - A worker encodes each element exactly once per operation. Error feedback
//     therefore needs one residual per element.
//   - The tails of an all-reduce go through no codec: every worker gets every
//     other worker's bytes, and folds them in the order of ranks.
//
// # Goroutines
//
// A Group over links has two goroutines from New to Close. The sender sends what the
// caller's goroutine has made ready, so that a ring can start with any size of
// buffer and any link: a worker never stops receiving because it cannot send.
// Where all of an operation's frames are small the caller sends them itself,
// which halves the latency; where they are few, or the sender has no core of its own,
// it sends them as far as the link takes them at once ([PromptLink]), also while it finds
// nothing to receive, and the sender does the rest when it goes to sleep. The watchdog ends an operation whose context has
// ended, or that neither sent nor received a frame for Config.OpTimeout. On two
// levels a driver has a second sender, for its part between hosts. What moves anywhere on
// the host counts then, so that a worker that waits for a slow driver goes on waiting.
//
// # Errors
//
// An operation either completes on a worker or returns an error; there is no
// partial result. A failed exchange is a [*PeerError], which names the
// neighbour: the right one if sending failed, the left one if receiving did; in
// memory, the worker that did not come or has ended, or the one which that worker
// blamed for its own end.
// After an error the Group is of no further use.
package ring
