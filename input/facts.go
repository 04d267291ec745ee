package input

// Facts are what a Dataset knows of its records. They stay the same, but for those that Counting and
// Caching complete. A data set that wraps another one copies its facts and changes its own.
type Facts struct {
	Records  int
	Features int      // columns of dense features, or one more than the largest id of sparse ones
	Shape    []int    // of a dense record: height, width and channels of an image; nil: one axis of Features
	Keys     []string // names of the keys, of records that have no columns
	Classes  []string // names of the classes by label; nil: they have none

	// Manifest has a line for each file, "name bytes records", without folders. It must be equal on
	// all ranks. With Counting it lacks the records.
	Manifest []string

	// Blocks has the numbers of records of blocks that are read whole; nil: records are read one by
	// one. An epoch traverses the blocks in windows, so that few blocks need memory at a time.
	Blocks *Blocks

	// Bytes is the size on disk of files whose records ranks count together, and 0 of others.
	Bytes int64

	// InMemory says that Append only copies or converts memory, at least after the first record of a
	// file. Such an Append never waits, so without a spare core prefetching costs more than it saves.
	InMemory bool

	// Sequential records are slow to read in any order but that of their files. A Source reads them in
	// that order, whatever SourceConfig.Shuffle is.
	Sequential bool

	// Parts has the parts of the records, if the data set was opened with a Split.
	Parts *Parts

	// Place names a record by its file and line, for people. nil: its number is all that is known.
	Place func(record int) string

	Counting Counting        // has the records counted; nil: they are
	Caching  <-chan struct{} // is closed when the cache that is being made is whole or cannot be made; nil: none is made
	Counts   *Counts         // of all records, without labels; nil: they are not known

	// Load reads what was left to be read later. For a broken file it returns an error, and so do later
	// calls and Append. Several goroutines may call Load; all of them wait. nil: nothing is left.
	Load func() error
}

// ShapeOf returns the shape of a record: one axis, if the files do not say it.
func (f Facts) ShapeOf() []int {
	if f.Shape == nil {
		return []int{f.Features}
	}
	return f.Shape
}

// IsShared reports whether ranks compare the numbers of records only when they have met: the files are
// large, and the ranks may have to count their records first.
func (f Facts) IsShared() bool { return f.Bytes > SharedBytes }
