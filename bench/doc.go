// Package bench measures what ringtrain's collectives do, in the units that
// network people use, and checks every result that it times. It is behind
// `ringtrain bench`; package peers below it runs other libraries on the same
// work.
//
// [AllReduce] walks over sizes of the buffer and makes one [Row] for each:
//
//	algbw   bytes of the buffer / time of the operation
//	busbw   algbw · 2(p-1)/p for all-reduce over p ranks
//
// busbw is the rate at which each link works, so that it can be held against
// the wire at any number of ranks. Both are defined as in nccl-tests
// (doc/PERFORMANCE.md there), and a Row prints as a line of nccl-tests' table
// with columns of ours: ranks, codec, streams, 99th percentile and the largest error.
// At the end it tells the [Memory] that the group took.
//
// [Link] measures what the machine and the wire allow, [Codecs] what a core does
// with each codec, and [Crossovers] turns times of algorithms into a table of
// them by size. [Scale] predicts all-reduce on wires and at world sizes that are
// not here, and [CheckScale] holds that against what is measured.
//
// # What is timed
//
// Operations run in batches, back to back, as the buckets of a training step
// do. In place, the buffers of a batch are filled before it; out of place, each
// is copied from a source first, and the copy is in the time. They are checked
// after the batch, and the ranks meet at a barrier before it starts; none of
// that is in the times. The first batch warms up and is checked, but not timed.
// Times are those of the slowest rank: its median and its 99th percentile.
//
// A shaped wire lets a burst pass that has waited for it. Who measures one makes
// batches that last some seconds (AllReduceConfig.BatchBytes).
//
// Residuals are not used: with error feedback, what comes out depends on the
// operations before.
//
// # What is right
//
// What goes in is chosen such that what must come out is known without a
// second all-reduce: see package oracle. The exact codec must give it bit for bit;
// a lossy one may be off by a bound that follows from its precision and the
// number of ranks, and that a missing or doubled rank breaks.
package bench
