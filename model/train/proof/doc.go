// Package proof compares the graph of an exported model with the model itself, by running both.
//
//	record ──► cells, or ids, values and numbers ──┬──► batch ──► model ───────────────┐
//	                                               └──► tf.Example ──► saved_model.pb ─┴──► difference
//
// A [Prover] has the graph of a version folder, which need not be published, and the model that it
// was made of. [Prover.Records] gives the records to compare on, [Prover.Answers] compares a batch of
// them by every signature, and [Prover.Others] compares what no file has: records that lack a column,
// an empty example, and requests that are made up. A difference beyond the bound is an error with
// [exitcode.Internal], and so is an error of the graph.
//
// The examples are what clients send: they are made of the raw cells of the records, and the graph has
// to make the same of them as the readers of the records did.
package proof
