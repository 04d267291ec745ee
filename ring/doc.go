// Package ring implements collective operations among workers joined in a ring.
//
// A worker joins a job through package rendezvous and learns its [Membership]:
// its rank, the world size and every worker's address. A [Link] joins it to its
// neighbours: it receives from the left one, rank-1, and sends to the right
// one, rank+1, modulo the world size. A [Group] is the set of workers of one
// generation. It never changes: when a worker dies or a new one arrives, the
// generation ends, every operation fails with [ErrGenerationEnded], and the
// survivors join the next.
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
// # Invariants
//
//   - Replicas agree bit for bit. A chunk's owner encodes it once, and all
//     workers keep what those bytes decode to, the owner included.
//   - The order of summation depends on the world size and the length of the
//     buffer only, so a run repeats exactly with the same world size.
//   - A worker encodes each element exactly once per operation. Error feedback
//     therefore needs one residual per element.
//   - The tails of an all-reduce go through no codec: every worker gets every
//     other worker's bytes, and folds them in the order of ranks.
//
// # Goroutines
//
// A Group has two goroutines from New to Close. The sender sends what the
// caller's goroutine has made ready, so that a ring can start with any size of
// buffer and any link: a worker never stops receiving because it cannot send.
// Where all of an operation's frames are small the caller sends them itself,
// which halves the latency. The watchdog ends an operation whose context has
// ended, or that neither sent nor received a frame for Config.OpTimeout.
//
// # Errors
//
// An operation either completes on a worker or returns an error; there is no
// partial result. A failed exchange is a [*PeerError], which names the
// neighbour: the right one if sending failed, the left one if receiving did.
// After an error the Group is of no further use.
package ring
