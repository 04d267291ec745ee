// Package peers runs all-reduce by other libraries, and by ringtrain, on the
// same work in the same minutes, and holds one against the other. It is behind
// `ringtrain bench peers`.
//
// # What is compared
//
// A [Contender] starts ranks that sum buffers of some sizes and prints, for each
// size, the median time of the slowest rank. All do the same: float32 sums in
// place, batches of buffers that are filled before and checked after, the ranks
// meeting in between, and nothing but the sums timed. The folder drivers holds
// the programs that do it for
//
//	gloo      the library under PyTorch's gloo backend; five ways
//	Open MPI  through shared memory, and over TCP; several settings
//	PyTorch   torch.distributed with the backend gloo
//
// They are in the binary, are compiled where they run, for that machine, and
// lie in the user's cache folder from then on. What they need is not installed:
// a library that cannot run is skipped, and it is said what is missing.
//
// # Rounds
//
// In a round each contender has a turn for each number of ranks and, on one host, each
// size; three for those up to 8 MiB, in the short form on 2 ranks only. Those that are compared follow
// each other within seconds, another one first in each round, so that whatever else happens
// on the machine hits all. When the number of ranks changes, some run for a few seconds that
// are not counted: machines may take that long until they are as fast as they will be. A
// figure is the median over all turns.
// Of a library's ways to do it the one with the best median counts, size by
// size: users have one setting for all.
//
// Whoever ends with an error, sums wrongly or hangs has one more try: a library in
// its next turn, after which it is left out; ringtrain at once, after which
// its cells of that turn have failed, in all rounds, it has no turn with so many ranks any
// more, and the command ends with 1 once everything is printed.
//
// # Bars
//
// A bar says by how much ringtrain is to be ahead somewhere: as a geometric
// mean over sizes and numbers of ranks, and in the worst of them. The limits of
// the machine (package bench, Link) are contenders like the others: a ratio of
// 0.97 to the wire means that a sum takes as long as the wire needs for the
// bytes, and 3 % more. A bar is SHORT if a ratio is; it is NOT MET where
// ringtrain failed, or lacks a cell that others have; and it says in how many of
// its cells one of the others is missing.
//
// # Hosts
//
// Ranks run on this host, or on several that are network namespaces with shaped
// links (package netns).
package peers
