// Package bench measures what ringtrain's collectives do, in the units that
// network people use, and checks every result that it times.
//
// [AllReduce] walks over sizes of the buffer and makes one [Row] for each:
//
//	algbw   bytes of the buffer / time of the operation
//	busbw   algbw · 2(p-1)/p for all-reduce over p ranks
//
// busbw is the rate at which each link works, so that it can be held against
// the wire at any number of ranks. Both are defined as in nccl-tests
// (doc/PERFORMANCE.md there), and a Row prints as a line of nccl-tests' table
// with columns of ours: ranks, codec, 99th percentile and the largest error.
//
// # What is timed
//
// Operations run in batches, back to back, as the buckets of a training step
// do. The buffers of a batch are filled before it and checked after it, and
// the ranks meet at a barrier before it starts; none of that is in the times.
// The first batch warms up and is checked, but not timed. Times are those of
// the slowest rank: its median and its 99th percentile.
//
// # What is right
//
// What goes in is chosen such that what must come out is known without a
// second all-reduce: see oracle.go. The exact codec must give it bit for bit;
// a lossy one may be off by a bound that follows from its precision and the
// number of ranks, and that a missing or doubled rank breaks.
//
// The folder peers has scripts that give the same work to other libraries.
package bench
