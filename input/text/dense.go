package text

import (
	"sync"

	"ringtrain/input"
	"ringtrain/model/tensor"
)

// Dense makes rows of all features from records of pairs. The zero Dense is ready; several
// goroutines may use it.
type Dense struct {
	scratch sync.Pool // of *tensor.Bags
}

// Append adds a row of so many features to b: what pairs adds to the bag, and 0 elsewhere. An
// id that occurs more than once adds up, as in sparse rows.
func (d *Dense) Append(b *input.Batch, features int, pairs func(*tensor.Bags) error) error {
	x, ok := d.scratch.Get().(*tensor.Bags)
	if !ok {
		x = new(tensor.Bags)
	}
	defer d.scratch.Put(x)
	x.Reset(1)
	if err := pairs(x); err != nil {
		return err
	}
	row := b.DenseRow(features)
	clear(row)
	for k, id := range x.Slot {
		row[id] += x.Weights[k]
	}
	return nil
}
