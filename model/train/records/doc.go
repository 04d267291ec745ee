// Package records opens the records that a job names, and builds the model that reads them.
//
//	job.Config ──► Opener ──► compile input.columns ──► open train, eval, evals ──► Set ──► model.Model
//
// An [Opener] finds files in the data folders, opens them by package input/convert, or draws synthetic
// records. It learns the vocabularies and means of input.columns from the training records; for a
// trained model it takes them from the checkpoint ([Opener.Adopt]).
//
// A missing file carries exitcode.NoInput, a malformed one exitcode.BadData, and a job that does not
// fit its records exitcode.Usage.
package records
