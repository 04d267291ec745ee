// Package bench measures ringtrain's collectives in the units of network benchmarks, and
// verifies every result that it times. The command `ringtrain bench` uses it. Package
// bench/peers runs other libraries on the same work.
//
// [AllReduce] measures a list of buffer sizes and makes one [Row] for each:
//
//	algbw   bytes of the buffer / time of the operation
//	busbw   algbw · 2(p-1)/p for all-reduce over p ranks
//
// busbw is the rate of each link, comparable with the rate of the wire at any number of
// ranks. Both are defined as in nccl-tests (doc/PERFORMANCE.md there). A Row prints as a
// line of nccl-tests' table with additional columns: ranks, codec, 99th
// percentile and the largest error. The last line is the [Memory] of the group.
//
// [Link] measures the limits of the machine and the wire, and [Codecs] the speed of each
// codec on one core. [Scale] predicts all-reduce for other wires and world sizes; [CheckScale]
// compares its predictions with measurements.
//
// # Timing
//
// Operations run back to back in batches, like the buckets of a training step. In place,
// the buffers of a batch are filled before it. Out of place, each buffer is copied from
// a source, and the time includes the copy. All ranks meet at a barrier before a batch
// and check the buffers after it; the time includes neither. The first batch is a
// warm-up: checked, but not timed. A row has the median and the 99th percentile of the
// slowest rank.
//
// A shaped wire lets a burst pass that has waited for it. To measure such a wire, make
// batches that last some seconds (AllReduceConfig.BatchBytes).
//
// The benchmark uses no residuals: with error feedback a result depends on the
// operations before.
//
// # Verification
//
// The input is chosen such that the correct sum is known without a second all-reduce:
// see package oracle. An exact codec must give the sum bit for bit. A lossy codec has an
// error bound that follows from its precision and the number of ranks; a missing or
// doubled rank exceeds the bound.
package bench
