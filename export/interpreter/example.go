package interpreter

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// parsing is the memory of a node that parses tf.Examples. The threads of the run share the work of each stage:
//
//	scan:    of each example, where its features are      ─► found
//	measure: of each feature, whether its values are fit  ─► total, most
//	fill:    of each feature, its values                  ─► outputs
type parsing struct {
	*parser
	call     *call
	keys     *keyIndex
	examples [][]byte
	one      bool     // the only example is a scalar
	found    [][]byte // by example and feature: the last Feature of the name, nil if it is missing
	total    []int    // by feature: the values of all examples
	most     []int    // by feature: the values of the example with most of them
	shape    []int

	stage func(p *parsing, i int) error
	mu    sync.Mutex
	index int // of the first error
	err   error
}

// run parses the examples of input 0.
func (p *parser) run(c *call) error {
	if err := p.check(c); err != nil {
		return err
	}
	keys, err := p.keyIndex(c.in)
	if err != nil {
		return err
	}
	s, _ := c.scratch.(*parsing)
	if s == nil {
		s = &parsing{parser: p, total: make([]int, len(p.features)), most: make([]int, len(p.features))}
		c.scratch = s
	}
	s.call, s.keys, s.examples, s.one = c, keys, c.in[0].Bytes, len(c.in[0].Shape) == 0
	s.shape = append(s.shape[:0], len(s.examples), len(p.features))
	n, err := c.frame.reserve(tfpb.DataType_DT_STRING, s.shape)
	if err != nil {
		return err
	}
	s.found = slices.Grow(s.found[:0], n)[:n]
	clear(s.found)
	if err := s.each(len(s.examples), 16, (*parsing).scan); err != nil {
		return err
	}
	if err := s.each(len(p.features), 1, (*parsing).measure); err != nil {
		return err
	}
	for k := range p.features {
		if err := s.make(k); err != nil {
			return err
		}
	}
	return s.each(len(p.features), 1, (*parsing).fill)
}

// each runs a stage for the numbers up to n and returns the error of the lowest.
func (p *parsing) each(n, grain int, stage func(p *parsing, i int) error) error {
	p.stage, p.err = stage, nil
	p.call.engine().Run(n, grain, p)
	return p.err
}

// Span is that of [kernel.Task].
func (p *parsing) Span(lo, hi, _ int) {
	for i := lo; i < hi; i++ {
		if err := p.stage(p, i); err != nil {
			p.mu.Lock()
			if p.err == nil || i < p.index {
				p.index, p.err = i, err
			}
			p.mu.Unlock()
			return
		}
	}
}

// scan finds the features of an example.
func (p *parsing) scan(i int) error {
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
	if !ok {
		return fmt.Errorf("example %d is no tf.Example", i)
	}
	return nil
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

// measure counts the values of feature k, and returns an error if the outputs cannot have them.
func (p *parsing) measure(k int) error {
	f := &p.features[k]
	p.total[k], p.most[k] = 0, 0
	for i := range p.examples {
		feature, list, ok := p.feature(i, k)
		n, wrong := f.count(list), ""
		switch {
		case feature == nil:
			if f.fixed() && p.fallback(k, p.call.in).length() == 0 {
				wrong = "is missing, and it is required"
			}
		case feature[0] != f.tag:
			wrong = fmt.Sprintf("is of another type, want %v", f.Type)
		case !ok || n < 0:
			wrong = "has a malformed list"
		case f.fixed() && n != f.stride, f.varies() && n%f.stride != 0:
			wrong = fmt.Sprintf("has %d values, want %v", n, f.Shape)
		}
		if wrong != "" {
			return fmt.Errorf("example %d: feature %s %s", i, phrase.Name(string(p.keys.keys[k])), wrong)
		}
		p.total[k] += n
		p.most[k] = max(p.most[k], n)
	}
	return nil
}

// make makes the outputs of feature k.
func (p *parsing) make(k int) error {
	f, n := &p.features[k], len(p.examples)
	p.shape = append(p.shape[:0], n)
	if p.one {
		p.shape = p.shape[:0]
	}
	switch f.Kind {
	case Dense:
		p.shape = append(p.shape, f.Shape...)
		if f.varies() {
			p.shape[len(p.shape)-len(f.Shape)] = p.most[k] / f.stride
		}
		return p.call.make(f.out, f.Type, p.shape...)
	case Ragged:
		splits := n + 1
		if p.one {
			splits = 0
		}
		err := errors.Join(p.call.make(f.out, f.Type, p.total[k]), p.call.make(f.out+p.ragged, f.splits, splits))
		if err == nil && !p.one {
			p.call.out[f.out+p.ragged].put(0, 0)
		}
		return err
	}
	p.shape = append(p.shape, p.most[k])
	shape := f.out + p.sparse
	if err := p.call.make(shape, tfpb.DataType_DT_INT64, len(p.shape)); err != nil {
		return err
	}
	for i, d := range p.shape {
		p.call.out[shape].Int64[i] = int64(d)
	}
	return errors.Join(p.call.make(f.out-p.sparse, tfpb.DataType_DT_INT64, p.total[k], len(p.shape)), p.call.make(f.out, f.Type, p.total[k]))
}

// fill sets the values of feature k.
func (p *parsing) fill(k int) error {
	p.features[k].fill(p, k)
	return nil
}

// fillFeature sets the values of feature k in dst. The default stands in the place of a fixed one that is missing,
// and behind the values of one that varies.
func fillFeature[T any](p *parsing, k int, dst, def []T, read func([]T, []byte) int) {
	f, at := &p.features[k], 0
	for i := range p.examples {
		row := dst[at:]
		if f.Kind == Dense {
			width := p.most[k]
			if f.fixed() {
				width = f.stride
			}
			row = dst[i*width:][:width]
		}
		feature, list, _ := p.feature(i, k)
		n := read(row, list)
		switch {
		case f.Kind == Ragged && !p.one:
			p.call.out[f.out+p.ragged].put(i+1, at+n)
		case f.Kind == Sparse:
			p.setIndices(p.call.out[f.out-p.sparse].Int64, at, i, n)
		case f.fixed() && feature == nil:
			copy(row, def)
		case f.varies():
			for j := n; j < len(row); j++ {
				row[j] = def[0]
			}
		}
		at += n
	}
}

// setIndices sets the indices of the n values of an example from value at on.
func (p *parsing) setIndices(indices []int64, at, example, n int) {
	for j := range n {
		if p.one {
			indices[at+j] = int64(j)
		} else {
			indices[2*(at+j)], indices[2*(at+j)+1] = int64(example), int64(j)
		}
	}
}
