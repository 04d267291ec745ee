package interpreter

import (
	"errors"
	"fmt"
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// parsing is the memory of a node that parses tf.Examples.
type parsing struct {
	*parser
	call     *call
	keys     *keyIndex
	examples [][]byte
	one      bool     // the only example is a scalar
	found    [][]byte // by example and feature: the last Feature of the name, nil if it is missing
	shape    []int
}

// run parses the examples of input 0: it finds the features of each, then sets the outputs of each feature.
func (p *parser) run(c *call) error {
	if err := p.check(c.in); err != nil {
		return err
	}
	keys, err := p.keyIndex(c.in)
	if err != nil {
		return err
	}
	s, _ := c.scratch.(*parsing)
	if s == nil {
		s = &parsing{parser: p, call: c}
		c.scratch = s
	}
	s.keys, s.examples, s.one = keys, c.in[0].Bytes, len(c.in[0].Shape) == 0
	s.shape = append(s.shape[:0], len(s.examples), len(p.features))
	n, err := c.frame.reserve(tfpb.DataType_DT_STRING, s.shape)
	if err != nil {
		return err
	}
	s.found = slices.Grow(s.found[:0], n)[:n]
	clear(s.found)
	for i := range s.examples {
		if !s.scan(i) {
			return fmt.Errorf("example %d is no tf.Example", i)
		}
	}
	for k := range p.features {
		if err := p.features[k].set(s, k); err != nil {
			return fmt.Errorf("feature %s: %w", phrase.Name(string(keys.keys[k])), err)
		}
	}
	return nil
}

// scan finds the features of an example. It reports whether it is one.
func (p *parsing) scan(i int) bool {
	ok := true
	for rest := p.examples[i]; ok && len(rest) > 0; {
		if rest[0] != tagFirst {
			rest, ok = skip(rest)
			continue
		}
		var features []byte
		features, rest, ok = delimited(rest[1:], true)
		for ok && len(features) > 0 {
			var entry []byte
			tag := features[0]
			entry, features, ok = delimited(features[1:], true)
			ok = ok && tag == tagFirst && p.place(i, entry)
		}
	}
	return ok
}

// place puts the feature of a map entry of an example in its place. It reports whether the entry is one.
func (p *parsing) place(example int, entry []byte) bool {
	key, feature, ok := mapEntry(entry)
	k, asked := p.keys.places[string(key)]
	if !ok || !asked {
		return ok
	}
	found := &p.found[example*len(p.features)+k]
	switch {
	case len(feature) > 0:
		*found = feature
		return feature[0] == tagFirst || feature[0] == tagSecond || feature[0] == tagThird
	case p.features[k].Kind != Dense && !p.one: // an empty Feature is missing; of a list it takes the place of an earlier one
		*found = nil
	}
	return true
}

// feature returns where feature k of an example is, nil if it is missing, and the values in its list.
func (p *parsing) feature(example, k int) (feature, list []byte, ok bool) {
	feature = p.found[example*len(p.features)+k]
	if feature == nil {
		return nil, nil, true
	}
	list, _, ok = delimited(feature[1:], true)
	return feature, list, ok
}

// setter returns the function that sets the outputs of a feature: it counts the values, makes the outputs, reads.
func setter[T any](read func([]T, []byte) int, values func(*Tensor) []T) func(p *parsing, k int) error {
	count := func(list []byte) int { return read(nil, list) }
	return func(p *parsing, k int) error {
		total, most, err := p.measure(k, count)
		if err != nil {
			return err
		}
		if err := p.make(k, total, most); err != nil {
			return err
		}
		f := &p.features[k]
		dst, def, width, at := values(p.call.out[f.out]), values(p.fallback(k, p.call.in)), f.stride, 0
		if f.varies() {
			width = most
		}
		for i := range p.examples {
			_, list, _ := p.feature(i, k)
			row := dst[at:]
			if f.Kind == Dense {
				row = dst[i*width:][:width]
			}
			n := read(row, list)
			if f.Kind == Dense { // the default stands for a missing feature, and behind the values of one that varies
				for j := n; j < width; j++ {
					row[j] = def[min(j, len(def)-1)]
				}
			} else {
				p.locate(f, i, at, n)
			}
			at += n
		}
		return nil
	}
}

// locate sets the indices, or the split, of the n values of an example from value at on.
func (p *parsing) locate(f *asked, example, at, n int) {
	switch {
	case f.Kind == Ragged && !p.one:
		p.call.out[f.out+p.ragged].put(example+1, at+n)
	case f.Kind == Sparse:
		indices, rank := p.call.out[f.out-p.sparse].Int64, len(p.shape)
		for j := range n {
			row := indices[(at+j)*rank:][:rank]
			row[0] = int64(example)
			row[rank-1] = int64(j)
		}
	}
}

// measure counts the values of feature k, and returns an error if the outputs cannot have them.
func (p *parsing) measure(k int, count func(list []byte) int) (total, most int, err error) {
	f := &p.features[k]
	for i := range p.examples {
		feature, list, ok := p.feature(i, k)
		n := count(list)
		switch {
		case feature == nil:
			if f.Kind == Dense && p.fallback(k, p.call.in).length() == 0 {
				err = errors.New("is missing, and it is required")
			}
		case feature[0] != f.tag:
			err = fmt.Errorf("is of another type, want %v", f.Type)
		case !ok || n < 0:
			err = errors.New("has a malformed list")
		case f.Kind == Dense && n != f.stride && (!f.varies() || n%f.stride != 0):
			err = fmt.Errorf("has %d values, want those of shape %v", n, f.Shape)
		}
		if err != nil {
			return 0, 0, fmt.Errorf("example %d: %w", i, err)
		}
		total, most = total+n, max(most, n)
	}
	return total, most, nil
}

// make makes the outputs of feature k.
func (p *parsing) make(k, total, most int) error {
	f, c, n := &p.features[k], p.call, len(p.examples)
	p.shape = append(p.shape[:0], n)
	if p.one {
		p.shape = p.shape[:0]
	}
	switch f.Kind {
	case Dense:
		p.shape = append(p.shape, f.Shape...)
		if f.varies() {
			p.shape[len(p.shape)-len(f.Shape)] = most / f.stride
		}
		return c.make(f.out, f.Type, p.shape...)
	case Ragged:
		splits := n + 1
		if p.one {
			splits = 0
		}
		err := errors.Join(c.make(f.out, f.Type, total), c.make(f.out+p.ragged, f.splits, splits))
		if err == nil && !p.one {
			c.out[f.out+p.ragged].put(0, 0)
		}
		return err
	}
	p.shape = append(p.shape, most)
	const long = tfpb.DataType_DT_INT64
	err := errors.Join(c.make(f.out-p.sparse, long, total, len(p.shape)), c.make(f.out, f.Type, total), c.make(f.out+p.sparse, long, len(p.shape)))
	for i := range c.out[f.out+p.sparse].Int64 {
		c.out[f.out+p.sparse].Int64[i] = int64(p.shape[i])
	}
	return err
}
