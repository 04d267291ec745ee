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
	one      bool    // the only example is a scalar
	found    []found // by example and feature
}

// found is the last Feature of a name in an example.
type found struct {
	tag  byte // of its list; 0: the feature is missing
	list []byte
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
	n, err := c.frame.reserve(tfpb.DataType_DT_STRING, c.dims([]int{len(s.examples), len(p.features)}))
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
		var features, entry []byte
		features, rest, ok = delimited(rest[1:], true)
		for ok && len(features) > 0 {
			tag := features[0]
			entry, features, ok = delimited(features[1:], true)
			ok = ok && tag == tagFirst && p.place(p.found[i*len(p.features):], entry)
		}
	}
	return ok
}

// place puts the Feature of a map entry in its place of those of the example. It reports whether the entry is one.
func (p *parsing) place(example []found, entry []byte) bool {
	key, feature, ok := mapEntry(entry)
	k, asked := p.keys.places[string(key)]
	if !ok || !asked {
		return ok
	}
	if len(feature) == 0 { // is missing; of a list it takes the place of an earlier one
		if p.features[k].Kind != Dense && !p.one {
			example[k] = found{}
		}
		return true
	}
	list, _, ok := delimited(feature[1:], true)
	example[k] = found{feature[0], list}
	if !ok {
		example[k].tag = tagMalformed
	}
	return feature[0] == tagFirst || feature[0] == tagSecond || feature[0] == tagThird
}

// setter returns the function that sets the outputs of a feature: it counts the values, makes the outputs, reads.
func setter[T any](read func([]T, []byte) int, values func(*Tensor) []T) func(p *parsing, k int) error {
	count := func(list []byte) int { return read(nil, list) }
	return func(p *parsing, k int) error {
		total, most, err := p.measure(k, count)
		if err == nil {
			err = p.make(k, total, most)
		}
		if err != nil {
			return err
		}
		f, at := &p.features[k], 0
		dst, def, width := values(p.call.out[f.out]), values(p.fallback(k, p.call.in)), f.stride
		if f.varies() {
			width = most
		}
		for i := range p.examples {
			row := dst[at:]
			if f.Kind == Dense {
				row = dst[i*width:][:width]
			}
			n := read(row, p.found[i*len(p.features)+k].list)
			switch {
			case f.Kind == Sparse:
				p.call.out[f.out-p.sparse].setIndices(i, at, n)
			case f.Kind == Ragged && !p.one:
				p.call.out[f.out+p.ragged].put(i+1, at+n)
			}
			for j := n; f.Kind == Dense && j < width; j++ { // of a missing feature, or behind the values of one that varies
				row[j] = def[min(j, len(def)-1)]
			}
			at += n
		}
		return nil
	}
}

// measure counts the values of feature k, and returns an error if the outputs cannot have them.
func (p *parsing) measure(k int, count func(list []byte) int) (total, most int, err error) {
	f := &p.features[k]
	for i := range p.examples {
		found := p.found[i*len(p.features)+k]
		n := count(found.list)
		switch {
		case found.tag == 0:
			if f.Kind == Dense && p.fallback(k, p.call.in).length() == 0 {
				err = errors.New("is missing, and it is required")
			}
		case found.tag != f.tag || n < 0:
			err = fmt.Errorf("is malformed or of another type, want %v", f.Type)
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
	f, c := &p.features[k], p.call
	n := []int{len(p.examples)}
	if p.one {
		n = nil
	}
	switch f.Kind {
	case Dense:
		shape := c.dims(n, f.Shape)
		if f.varies() {
			shape[len(n)] = most / f.stride
		}
		return c.make(f.out, f.Type, shape...)
	case Ragged:
		err := errors.Join(c.make(f.out, f.Type, total), c.make(f.out+p.ragged, f.splits, len(n)*(len(p.examples)+1)))
		if err == nil && !p.one {
			c.out[f.out+p.ragged].put(0, 0)
		}
		return err
	}
	return c.makeSparse(f.out-p.sparse, p.sparse, f.Type, total, c.dims(n, []int{most})...)
}
