package input

// Counts count what records have in each column. The counts of a Batch are those of the data set's
// reader; Add counts the rest. A record that is bad is in none.
type Counts struct {
	Records int64   `json:"records"`
	Missing []int64 `json:"missing,omitempty"` // by column that is read: records that have nothing in it
	Unknown []int64 `json:"unknown,omitempty"` // by field of ids: records whose text is not in its vocabulary

	Labels         int64 `json:"labels,omitempty"` // with a weight above 0
	Least, Largest float32
}

// Counted is a data set that knows the counts of all its records, apart from labels; nil: not yet.
type Counted interface{ Counts() *Counts }

// Add adds the records of a batch.
func (c *Counts) Add(b *Batch) {
	c.Records += int64(len(b.Y))
	addTo(&c.Missing, b.Columns.Missing)
	addTo(&c.Unknown, b.Columns.Unknown)
	for i, y := range b.Y {
		if i < len(b.Importance) && b.Importance[i] == 0 {
			continue
		}
		c.label(1, y, y)
	}
}

// Merge adds the records of o.
func (c *Counts) Merge(o *Counts) {
	c.Records += o.Records
	addTo(&c.Missing, o.Missing)
	addTo(&c.Unknown, o.Unknown)
	c.label(o.Labels, o.Least, o.Largest)
}

// label takes so many labels.
func (c *Counts) label(n int64, least, largest float32) {
	if n > 0 && c.Labels > 0 {
		least, largest = min(least, c.Least), max(largest, c.Largest)
	}
	if n > 0 {
		c.Labels, c.Least, c.Largest = c.Labels+n, least, largest
	}
}

// Reset removes all records and keeps the memory.
func (c *Counts) Reset() { *c = Counts{Missing: c.Missing[:0], Unknown: c.Unknown[:0]} }

// addTo adds o to dst, which may be shorter.
func addTo(dst *[]int64, o []int64) {
	for len(*dst) < len(o) {
		*dst = append(*dst, 0)
	}
	for i, n := range o {
		(*dst)[i] += n
	}
}
