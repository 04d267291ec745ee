// Package bucket sums the gradients of a model over all ranks while backward
// still computes: it packs them into buckets, each of which is reduced as one
// as soon as it is full.
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
// With a codec that loses nothing there is nothing to keep apart, and the plan
// has one kind of bucket. [Reducer.SetCodec] goes from the one plan to the other
// between two steps, in the same arena.
//
// # Factors
//
// After [Reducer.SetLowRank] matrices travel as the product of two thin ones
// (PowerSGD). They have buckets of their own then, and such a bucket takes two
// all-reduces, one for the left factors of all its matrices and one for the
// right; tails travel with the first. All other variables are exact. What the
// factors cannot tell stays on the rank, for the next step; it is not saved, and
// begins anew after a step whose gradients are not finite.
//
// # Step
//
// A [Reducer] owns the gradients. They lie in one arena of the group, a bucket
// is a slice of it, and [Reducer.Grad] is a view into that: backward writes
// where the ring reads. A step goes
//
//	Begin → Report → Ready of every variable, in any order → Wait
//
// One goroutine of the reducer reduces the buckets strictly in the order of the
// plan, never in the order in which they fill, so that every rank runs the same
// operations in the same order, and a run repeats bit for bit. A bucket without
// others is reduced by Wait itself. Between Begin and Wait the group belongs to
// the reducer.
//
// [Reducer.Rows] clears the rows that a step touches: backward adds to those, and
// writes all of the other gradients.
//
// # Tail
//
// Each bucket carries every rank's [Tail] beside the sums, exactly: loss, number
// of examples, requests to stop or to write a checkpoint, a digest, and the
// variable in which a rank found a value that is not finite before the sum
// smeared it over all of them. A sum that overflows although what it is of did
// not is found after a lossy codec, by all ranks alike: [Reducer.NonFinite].
//
// # Time
//
// [Reducer.Stats] tells how long buckets were being summed, and how much of that
// backward did not hide. What a choice among codecs needs is measured here too,
// on the buckets and the gradients as they are: [Reducer.Took], [Reducer.Left],
// [Reducer.Coded], [Reducer.Codings].
//
// # Errors
//
// A failed operation of the ring is kept and returned by Wait; Ready and Begin
// go on without blocking and reduce nothing any more. The gradients then mean
// nothing.
package bucket
