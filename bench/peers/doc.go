// Package peers runs all-reduce by ringtrain and by other libraries on the same work at
// the same time, and compares them. The command `ringtrain bench peers` uses it.
//
// # Contenders
//
// A [Contender] starts ranks that sum buffers of given sizes, and prints for each size
// the median time of the slowest rank. All contenders do the same work: float32 sums in
// place, in batches of buffers that are filled before and checked after, with a barrier
// in between. Only the sums are timed. The folder drivers has the programs for
//
//	gloo      the library of PyTorch's gloo backend; five variants
//	Open MPI  through shared memory, and over TCP; several settings
//	PyTorch   torch.distributed with the backend gloo
//
// The binary embeds the drivers. They are compiled on the machine that runs them and
// cached in the user's cache folder. Nothing is installed: a library that cannot run is
// skipped, with a message that names the missing package.
//
// # Rounds
//
// In a round each contender has a turn for each world size and, on one host, for each
// buffer size. Sizes up to 8 MiB have three turns, in the short form on 2 ranks only.
// Contenders that are compared follow each other within seconds, in rotating order, so
// that other load on the machine affects all of them. When the world size changes, the
// first contender runs uncounted for a few seconds until the machine reaches its final
// speed. A figure is the median over all turns. Of a library's variants the one with the
// best median counts, separately for each size.
//
// A contender that fails, sums wrongly or hangs has one more try. A library retries in
// its next turn; after a second failure it is left out. ringtrain retries at once; after
// a second failure the cells of that turn have failed in all rounds, ringtrain has no
// more turns with that world size, and the command ends with 1 after it has printed
// everything.
//
// # Bars
//
// A bar is a required ratio: a geometric mean over sizes and world sizes, and a minimum.
// The limits of the machine (package bench, Link) are contenders too: a ratio of 0.97 to
// the wire means that a sum takes 3 % longer than the wire needs for its bytes. A bar is
// SHORT if a ratio is too small. It is NOT MET if ringtrain failed or lacks a cell that
// others have. It lists how many cells another contender lacks.
//
// # Hosts
//
// Ranks run on this host, or on network namespaces with shaped links (package netns).
package peers
