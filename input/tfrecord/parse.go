package tfrecord

import (
	"fmt"

	"ringtrain/input"
	"ringtrain/model/tensor"
)

// scratch is the memory of a reader.
type scratch struct {
	frame  []byte
	ints   []int64
	floats []float32
	texts  [][]byte
}

// wanted has the features of a record by use, nil for a missing one.
type wanted struct{ label, ids, values []byte }

// add parses an example and adds it to b. After an error b is unchanged.
func (s *scratch) add(b *input.Batch, example []byte, d *dataset) error {
	c := &d.config
	w, err := find(example, c)
	if err != nil {
		return err
	}
	y, err := s.label(example, w.label, c)
	if err != nil {
		return err
	}
	if c.Dense {
		err = s.dense(b, example, w, d)
	} else {
		err = s.sparse(b, example, w, d)
	}
	if err != nil {
		return err
	}
	b.Y = append(b.Y, y)
	return nil
}

// find returns the features with the configured names.
func find(example []byte, c *Config) (w wanted, err error) {
	err = eachEntry(example, func(name, feature []byte) error {
		var at *[]byte
		switch string(name) {
		case c.Label:
			if c.Labels.Absent {
				return nil
			}
			at = &w.label
		case c.Values:
			at = &w.values
		case c.IDs:
			at = &w.ids
		default:
			return nil
		}
		if *at != nil {
			return fmt.Errorf("feature %q: %w", name, errTwice)
		}
		*at = feature
		return nil
	})
	return w, err
}

// label returns the single number of the label's feature, which a prediction does not look at.
func (s *scratch) label(example, feature []byte, c *Config) (float32, error) {
	if c.Labels.Absent {
		return 0, nil
	}
	ints, floats, kind, err := appendList(s.ints[:0], s.floats[:0], feature)
	s.ints, s.floats = ints, floats
	switch {
	case err != nil:
		return 0, fmt.Errorf("feature %q: %w", c.Label, err)
	case kind == kindNone:
		return 0, missing(example, c.Label)
	case kind == kindBytes && c.Labels.Names != nil:
		return s.class(feature, c)
	case kind == kindBytes:
		return 0, fmt.Errorf("feature %q is %v, want one int64 or float, or model.classes: auto", c.Label, kind)
	case len(ints)+len(floats) != 1:
		return 0, fmt.Errorf("feature %q is %v of length %d, want 1", c.Label, kind, len(ints)+len(floats))
	case kind == kindInt64:
		return c.Labels.Value(float64(ints[0]))
	}
	return c.Labels.Value(float64(floats[0]))
}

// class returns the class of a label that is a text.
func (s *scratch) class(feature []byte, c *Config) (float32, error) {
	var y float32
	var err error
	s.texts, err = appendTexts(s.texts[:0], feature)
	switch n := len(s.texts); {
	case err == nil && n != 1:
		err = fmt.Errorf("is %d texts, want one", n)
	case err == nil:
		y, err = c.Labels.Names.Text(s.texts[0])
	}
	if err != nil {
		err = fmt.Errorf("feature %q %w", c.Label, err)
	}
	return y, err
}

// dense adds a row of features.
func (s *scratch) dense(b *input.Batch, example []byte, w wanted, d *dataset) error {
	name := d.config.Values
	ints, floats, kind, err := appendList(s.ints[:0], s.floats[:0], w.values)
	s.ints, s.floats = ints, floats
	if err != nil {
		return fmt.Errorf("feature %q: %w", name, err)
	}
	if kind == kindNone {
		return missing(example, name)
	}
	if err := wantKind(name, kind, kindFloat); err != nil {
		return err
	}
	if len(floats) == 0 || d.facts.Features > 0 && len(floats) != d.facts.Features {
		return fmt.Errorf("feature %q has %d values, want %d", name, len(floats), max(d.facts.Features, 1))
	}
	if err := checkFinite(name, floats); err != nil {
		return err
	}
	copy(b.DenseRow(len(floats)), floats)
	return nil
}

// sparse adds the pairs of one field. It decodes values directly to the end of b and
// removes them after an error.
func (s *scratch) sparse(b *input.Batch, example []byte, w wanted, d *dataset) error {
	x := b.Bags(1)
	before := len(x.Weights)
	ids, err := s.pairs(x, example, w, &d.config)
	if err == nil && d.ids.Drop {
		ids, x.Weights = dropBeyond(d.ids.Below, ids, x.Weights, before)
	}
	if err == nil {
		err = checkIDs(d.config.IDs, ids, d.ids)
	}
	if err != nil {
		x.Weights = x.Weights[:before]
		return err
	}
	for _, id := range ids {
		x.Slot = append(x.Slot, uint32(id))
	}
	x.End()
	return nil
}

// dropBeyond leaves out the ids that are not below a bound, and their weights, which begin at a place.
func dropBeyond(below int64, ids []int64, weights []float32, at int) ([]int64, []float32) {
	k := 0
	for i, id := range ids {
		if id < below {
			ids[k], weights[at+k] = id, weights[at+i]
			k++
		}
	}
	return ids[:k], weights[:at+k]
}

// pairs appends values to x and returns their unchecked ids. A feature without a list is
// an empty row, as in TensorFlow.
func (s *scratch) pairs(x *tensor.Bags, example []byte, w wanted, c *Config) ([]int64, error) {
	ids, floats, kind, err := appendList(s.ints[:0], s.floats[:0], w.ids)
	s.ints, s.floats = ids, floats
	if err != nil {
		return nil, fmt.Errorf("feature %q: %w", c.IDs, err)
	}
	if w.ids == nil {
		return nil, missing(example, c.IDs)
	}
	if err := wantKind(c.IDs, kind, kindInt64); kind != kindNone && err != nil {
		return nil, err
	}
	before := len(x.Weights)
	ints, values, kind, err := appendList(s.ints, x.Weights, w.values)
	s.ints, x.Weights = ints, values
	if err != nil {
		return nil, fmt.Errorf("feature %q: %w", c.Values, err)
	}
	if w.values == nil {
		return nil, missing(example, c.Values)
	}
	if err := wantKind(c.Values, kind, kindFloat); kind != kindNone && err != nil {
		return nil, err
	}
	if n := len(x.Weights) - before; len(ids) != n {
		return nil, fmt.Errorf("feature %q has %d values and %q %d, want as many", c.IDs, len(ids), c.Values, n)
	}
	return ids, checkFinite(c.Values, x.Weights[before:])
}

func wantKind(name string, have, want listKind) error {
	if have != want {
		return fmt.Errorf("feature %q is %v, want %v (as TensorFlow does, nothing is converted)", name, have, want)
	}
	return nil
}

func checkFinite(name string, values []float32) error {
	for i, v := range values {
		if !input.Finite(v) {
			return fmt.Errorf("feature %q: value %d is %g, want a finite number", name, i, v)
		}
	}
	return nil
}

func checkIDs(name string, ids []int64, bound input.IDs) error {
	for i, id := range ids {
		if id < 0 || id >= bound.Below {
			return fmt.Errorf("feature %q: id %d is %d, want one in [0, %d)%s", name, i, id, bound.Below, bound.Why)
		}
	}
	return nil
}
