// Package bucket sums the gradients of a model over all ranks while backward
// still computes. It packs gradients into buckets and reduces each bucket by one
// operation as soon as it is full.
//
// # Plan
//
// Backward finishes the last layer first, so buckets take variables from the
// last to the first and leave in that order. A [Plan] is arithmetic only and
// depends on nothing but the variables and the bucket's size, so all ranks have
// the same:
//
//	variables   a/kernel  a/bias  b/kernel  b/bias  c/kernel  c/bias   → forward
//
//	            ┌──────────┬────────────────────────┬─────────────────────┐
//	arena       │ c/kernel │ c/bias  b/bias  a/bias │ b/kernel   a/kernel │
//	            └──────────┴────────────────────────┴─────────────────────┘
//	             bucket 0    bucket 1, exact          bucket 2             → leaves later
//
// The first bucket is full at [FirstBucketBytes], so that the exchange begins early.
//
// Variables that a lossy codec would hurt (biases, norms, whatever is below
// [ExactBelowBytes]) share buckets of their own, which no codec touches.
// Variables by rows lie in no bucket. The rows that a step has touched are summed
// by a [ring.RowSum], in one operation with the bucket that leaves last.
//
// With an exact codec the plan has one kind of bucket. [Reducer.SetCodec] changes
// from one plan to the other between two steps, in the same arena.
//
// # Factors
//
// After [Reducer.SetLowRank] matrices travel as the product of two thin ones (PowerSGD). They
// have buckets of their own. Such a bucket takes two all-reduces: one for the left factors of
// all its matrices, with the tails, and one for the right factors. All other variables are
// exact. The error of the factors stays on the rank for the next step. It is not saved, and it
// is cleared after a step whose gradients are not finite.
//
// # Step
//
// A [Reducer] owns the gradients. They lie in one arena of the group. A bucket is a slice of
// the arena, and [Reducer.Grad] is a view into the bucket: backward writes where the ring
// reads. A step is
//
//	Begin → Report → Ready of every variable, in any order → Wait
//
// A goroutine of the reducer reduces the buckets strictly in the order of the plan, never in
// the order in which they fill. So every rank runs the same operations in the same order, and a
// run repeats bit for bit. If the plan has one bucket, Wait reduces it. Between Begin and Wait
// the group belongs to the reducer.
//
// [Reducer.Rows] clears the rows that a step touches, and backward adds to them. Backward writes
// all of the other gradients.
//
// # Tail
//
// Each bucket carries the [Tail] of every rank beside the sums, exactly: loss, number of
// examples, requests to stop, to write a checkpoint or to renew keys, a digest, and the variable in
// which a rank found a value that is not finite, before the sum spread it over all ranks. After a
// lossy codec all ranks also find a sum of finite gradients that overflows: [Reducer.NonFinite].
//
// # Time
//
// [Reducer.Stats] returns how long buckets were being summed, and how much of that backward did
// not hide. For the choice of a codec, [Reducer.Took], [Reducer.Left], [Reducer.Coded] and
// [Reducer.Codings] measure the buckets and gradients of the last step.
//
// # Errors
//
// The reducer keeps the first error of the ring, and Wait returns it. Ready and Begin then do not
// block and reduce nothing. The gradients are undefined.
package bucket
