// Package column makes inputs of a model from the columns of records: input.columns of a job
// file.
//
// [Compile] turns the items of the list into a [Plan]: what each column of a record is for. A
// plan may have to learn: means and deviations of what is standardized, means for what is missing,
// vocabularies of what is to have one. [Learner] does so in one pass over the training records.
// [Plan.Columns] is then the first part of the model's graph, which the export writes, and [Runner]
// makes batches.
//
//	record ──► Cell by column ──► Runner ──► dense row, bag for each field, label, weight, key
//	                │
//	                └──► Learner ──► means, deviations, vocabularies
package column
