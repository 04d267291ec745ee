package input

import (
	"slices"

	"ringtrain/model/tensor"
)

// DenseRow adds a dense row to b.X and returns it for the caller to fill. Its initial
// content is unspecified. DenseRow panics if b has rows of another length.
func (b *Batch) DenseRow(cols int) []float32 {
	m := &b.X.Dense
	if m.Rows > 0 && m.Cols != cols {
		panic("input: dense rows of different lengths")
	}
	at := len(m.Data)
	m.Data = slices.Grow(m.Data, cols)[:at+cols]
	m.Rows, m.Cols = m.Rows+1, cols
	return m.Data[at:]
}

// Bags returns the bags of b, to which the caller adds an example with the given number
// of fields: pairs with Add, and an End for each field. It panics if b has examples with
// another number of fields.
func (b *Batch) Bags(fields int) *tensor.Bags {
	bags := &b.X.Bags
	if bags.Fields != fields {
		if len(bags.Start) > 1 {
			panic("input: examples of different fields")
		}
		bags.Reset(fields)
	}
	return bags
}

// AddKeys adds the n keys of the last example of b and returns them for the caller to set. Examples without keys have
// empty ones.
func (b *Batch) AddKeys(n int) []string {
	b.KeyColumns = n
	for len(b.Keys) < n*len(b.Y) {
		b.Keys = append(b.Keys, "")
	}
	return b.Keys[len(b.Keys)-n:]
}

// SetImportance sets the weight of the last example of b. Without it the weight is 1.
func (b *Batch) SetImportance(w float32) {
	if w == 1 && len(b.Importance) == 0 {
		return
	}
	for len(b.Importance) < len(b.Y)-1 {
		b.Importance = append(b.Importance, 1)
	}
	b.Importance = append(b.Importance, w)
}
