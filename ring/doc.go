// Package ring implements collective operations among the workers of a job: all-reduce,
// all-gather, broadcast, barrier, and sums of table rows.
//
// A worker joins a job through package rendezvous and receives its [Membership]: its rank,
// the world size and all workers. A [Transport] connects it to the others, by links or by
// shared memory. A [Group] is the set of workers of one generation, as one of them sees it.
// The set never changes. When a worker dies or a new one joins, the generation ends: every
// operation fails with [ErrGenerationEnded], and the workers that are left join the next
// generation. Package join does all of this for a Go program.
//
// All workers call the same operations in the same order, with buffers of the same length.
// One goroutine of a worker at a time may call an operation; SentBytes, Waiting and Close
// may be called at any time. PROTOCOL.md has the bytes on the wire and in shared memory.
//
// # All-reduce
//
// [Group.AllReduce] replaces a buffer by its sum over p workers. By ring it takes two phases
// of p-1 steps each. It divides the buffer into p chunks, and each chunk travels in segments:
//
//	buffer  ┌────────────┬────────────┬────────────┐   p = 3
//	        │  chunk 0   │  chunk 1   │  chunk 2   │
//	        ├───┬───┬────┼───┬───┬────┼───┬───┬────┤
//	        │ 0 │ 1 │ 2  │ 0 │ 1 │ 2  │ 0 │ 1 │ 2  │   segments
//	        └───┴───┴────┴───┴───┴────┴───┴───┴────┘
//
// A worker receives from its left neighbour, rank-1, and sends to its right neighbour,
// rank+1, both modulo p. In reduce-scatter each worker adds what it receives to its own chunk
// and forwards the sum. After p-1 steps worker r owns the full sum of chunk (r+1) mod p. In
// all-gather each owner's chunk travels around the ring unchanged. A worker forwards a segment
// as soon as it is summed, while the next one is on its way. It sends 2(p-1)/p of the buffer
// in total, the minimum for any algorithm (Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations", 2009).
//
// Small buffers take fewer hops: recursive doubling, then recursive halving, then the ring, see
// [Algorithm].
//
// # Two levels
//
// Workers of one host may share [Memory]; no link is then used between them. The buffer is
// divided into shards. Local worker i sums shard i over all workers' buffers in place, and
// writes the sum to all of them:
//
//	           shard 0    shard 1    shard 2
//	worker 0 ┌──────────┬──────────┬──────────┐
//	         ├──────────┼──────────┼──────────┤      a Sync before: all buffers are filled
//	worker 1 │ worker 0 │ worker 1 │ worker 2 │
//	         ├──────────┼──────────┼──────────┤      a Sync after: all sums are written
//	worker 2 │  sums    │  sums    │  sums    │
//	         └──────────┴──────────┴──────────┘
//
// The buffer must lie in an arena for that: see [Group.Arena]. Other buffers, and small ones,
// go through a board, which is memory of each worker that the others read. After one Sync each
// worker sums a small buffer for itself.
//
// With several hosts, the workers with local rank i are the drivers of shard i. Between the
// two Syncs each driver sums its shard over its host, all-reduces it with the other drivers
// over links, with the codec, and writes it to all buffers of its host. By ring it does so
// segment by segment, so that memory works while the wire does. Each host has as many drivers
// as the smallest host has workers; the other workers wait. A host therefore sends 2(h-1)/h of
// the buffer for h hosts, however many workers it has. The other operations go through the
// board on one host and around the ring on several.
//
// At the first Sync of an operation the workers of a host compare what they are about to do.
// Workers that differ fail with [ErrRanksDiffer] before anything is summed.
//
// # Rows
//
// A step touches few rows of a large table. A [RowSum] sums those rows by id, together with
// dense elements and tails, in one operation. The cost is that of the rows, not of the table:
//
//	rank 0  ids  2  5     9        ┌ worker 0 ┐  2  5         all workers of the host
//	rank 1  ids     5  7  9  12    └ worker 1 ┘  7  9  12     read both pieces
//
// Each worker of a host merges a range of the ids in shared memory. Between hosts the drivers
// of a range exchange its rows by recursive halving if their number is a power of two, and
// otherwise collect all rows. If all ranks together have about twice the rows of the table then
// the table goes by all-reduce: see [WayOfRows].
//
// # Order of the ring
//
// The ring follows Membership.Order instead of the ranks if that leaves each host only once,
// or avoids a slow path: see package order. The worker at position r of the order then does
// what this page says of worker r. The rings of the drivers visit the hosts in the same order.
//
// # Invariants
//
//   - Replicas agree bit for bit. The owner of a chunk encodes it once. All workers, including
//     the owner, keep the decoded values.
//   - The order of summation depends only on the world size, the layout of hosts, the order of
//     the ring, the length of the buffer and the algorithm. A run therefore repeats exactly.
//   - A worker encodes each element exactly once per operation. Error feedback therefore needs
//     one residual per element.
//   - No codec touches the tails of an all-reduce. Each worker gets the bytes of all workers
//     and folds them in the order of ranks.
//   - An operation allocates nothing once the group's memory has grown to the job.
//
// # Goroutines
//
// A Group of several workers has a watchdog and, for each wire, a sender. A worker has one wire
// among all workers unless they share one host, and a driver has another one between hosts.
//
// The sender sends frames that the caller's goroutine cannot send without waiting. A worker
// never stops receiving because it cannot send, so a ring of any size can start with buffers of
// any size. The caller's goroutine sends small frames itself, which halves the latency. It also
// sends larger ones as far as the link takes them at once, see [Link], if they are few or
// the sender has no core of its own.
//
// The watchdog ends an operation whose context has ended, or that has made no progress for
// Config.OpTimeout. On two levels the progress of any worker of the host counts, so a worker
// that waits for a slow driver keeps waiting.
//
// # Errors
//
// An operation either completes on a worker or returns an error; there is no partial result. A
// failed exchange returns a [*PeerError] with the rank at fault: the right neighbour if the
// worker could not send, the left one if it could not receive. In memory that is the worker
// that did not arrive or has ended. A worker that ends sends its reason to its neighbours as an
// [Abort]. They pass it on, so every worker names the first cause. After an error the group is
// of no further use: the caller must close it.
//
// # Files
//
// The package has more than 25 files because all collectives share the state of a Group. A Group
// passes its running operation down to its host and its wires, which do not know the Group. Each
// collective or algorithm has its own file, such as allreduce.go, doubling.go and broadcast.go.
// The files host*.go hold the same collectives in memory, and row*.go and hostrows.go the sum of
// rows. wire.go and exchange.go carry frames; operation.go and watchdog.go start, watch and end
// operations. Data without a Group has packages of its own: order, token, codec, cost and
// internal/rows.
package ring
