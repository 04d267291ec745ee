package input

import "math"

// Counts count what records have in each column. Those of a Batch have no labels and no NoIDs: Add counts
// them. A record that is bad is in none.
type Counts struct {
	Records int64   `json:"records"`
	Missing []int64 `json:"missing,omitempty"` // by column that is read: records that have nothing in it
	Unknown []int64 `json:"unknown,omitempty"` // by field of ids: records whose text is not in its vocabulary
	NoIDs   int64   `json:"no_ids,omitempty"`  // records without an id in any field, up to the first that has one

	Labels  int64   `json:"labels,omitempty"` // with a weight above 0
	Least   float32 `json:"least,omitempty"`
	Largest float32 `json:"largest,omitempty"`

	// Whole are the counts of all records of the set, without labels, if its reader knows them.
	Whole *Counts `json:"whole,omitempty"`
}

// Add adds the records of a batch.
func (c *Counts) Add(b *Batch) {
	known := c.NoIDs < c.Records // a record has an id
	c.Records += int64(len(b.Y))
	addTo(&c.Missing, b.Columns.Missing)
	addTo(&c.Unknown, b.Columns.Unknown)
	n, least, largest := int64(0), float32(math.MaxFloat32), float32(-math.MaxFloat32)
	for i, y := range b.Y {
		if i >= len(b.Importance) || b.Importance[i] != 0 {
			n, least, largest = n+1, min(least, y), max(largest, y)
		}
	}
	c.label(n, least, largest)
	x := &b.X.Bags
	for i := range x.Examples() {
		if known || x.Start[i*x.Fields] < x.Start[(i+1)*x.Fields] {
			return
		}
		c.NoIDs++
	}
}

// Merge adds the records of o.
func (c *Counts) Merge(o *Counts) {
	c.Records += o.Records
	addTo(&c.Missing, o.Missing)
	addTo(&c.Unknown, o.Unknown)
	c.NoIDs += o.NoIDs
	c.label(o.Labels, o.Least, o.Largest)
	if c.Whole == nil {
		c.Whole = o.Whole
	}
}

// label takes so many labels.
func (c *Counts) label(n int64, least, largest float32) {
	if n == 0 {
		return
	}
	if c.Labels > 0 {
		least, largest = min(least, c.Least), max(largest, c.Largest)
	}
	c.Labels, c.Least, c.Largest = c.Labels+n, least, largest
}

// Reset removes all records and keeps the memory.
func (c *Counts) Reset() {
	clear(c.Missing)
	clear(c.Unknown)
	*c = Counts{Missing: c.Missing, Unknown: c.Unknown}
}

// addTo adds o to dst, which may be shorter.
func addTo(dst *[]int64, o []int64) {
	for len(*dst) < len(o) {
		*dst = append(*dst, 0)
	}
	for i, n := range o {
		(*dst)[i] += n
	}
}
