// Package evaluate computes metrics over a data set that the ranks share.
//
//	records ──► blocks ──► tally per block ──► all-gather ──► sums in the order of blocks ──► Metrics
//	                       counts of classes                  area under the curve, in rounds
//
// The result of an [Evaluator] has the same bits on every rank and at any world size. An error of one
// rank's records is a [Failure] on all ranks. A malformed message of a rank carries
// exitcode.Protocol.
package evaluate
