// Package parquet reads records of Parquet files.
//
// A file has row groups, a row group has a chunk for each column, and a chunk has pages:
//
//	PAR1 │ row group 0: a │ b │ c │ row group 1: a │ b │ c │ footer │ length │ PAR1
//	                    │
//	                    └ [dictionary] page page …  each a header, and values that are encoded and compressed
//
// [Open] reads the footers alone. Records are read in blocks of some thousand cells: a block has a vector of
// values for each column that the job names. A cursor for each column goes forward through the pages of a chunk, and has
// one page in memory, however large the row group is.
//
// A number of a record goes to the model as a number, and any other value as the text that pandas writes into CSV. Both
// are such that the same rows as CSV make the same bits: a float32 of which a mean is to be learnt is the decimal number
// that stands for it.
//
// The reader is our own: of files with flipped bits parquet-go 0.32 panics, takes gigabytes, or goes on with wrong values.
// It is the oracle of the tests.
//
// Nothing that a file says of itself is believed. Footers and headers take no memory for what is not there, and a page
// inflates to what input.max_inflate allows. The errors name file, column, row group and byte.
package parquet
