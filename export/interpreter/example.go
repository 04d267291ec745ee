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
//	scan:    of each example, where its features are ─► found
//	measure: of each list, how many values there are  ─► total, most
//	fill:    of each feature, its values              ─► outputs
type parsing struct {
	*parser
	call     *call
	keys     *keyIndex
	examples [][]byte
	one      bool     // the only example is a scalar
	found    [][]byte // by example and feature: the last Feature of the name, nil if it is missing
	total    []int    // by feature, unless it is dense and of fixed size: the values of all examples
	most     []int    // … and of the example with most of them
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
	for i := range p.features {
		if err := s.make(&p.features[i], s.total[i], s.most[i]); err != nil {
			return fmt.Errorf("feature %s: %w", phrase.Name(string(keys.keys[i])), err)
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

// errNoExample is that of bytes that are no tf.Example.
var errNoExample = errors.New("is no tf.Example")

// scan finds the features of an example.
func (p *parsing) scan(i int) error {
	found := p.found[i*len(p.features):][:len(p.features)]
	for rest := p.examples[i]; len(rest) > 0; {
		ok := true
		if rest[0] != tagFirst {
			rest, ok = skip(rest)
		} else {
			var features []byte
			features, rest, ok = message(rest[1:])
			ok = ok && p.scanFeatures(found, features)
		}
		if !ok {
			return fmt.Errorf("example %d %w", i, errNoExample)
		}
	}
	return nil
}

// scanFeatures finds the features that are asked for. It reports whether the message is whole.
func (p *parsing) scanFeatures(found [][]byte, features []byte) bool {
	for len(features) > 0 {
		if features[0] != tagFirst {
			return false
		}
		entry, rest, ok := message(features[1:])
		if !ok {
			return false
		}
		key, value, ok := mapEntry(entry)
		if !ok {
			return false
		}
		features = rest
		k, ok := p.keys.places[string(key)]
		switch {
		case !ok:
		case len(value) > 0:
			if value[0] != tagFirst && value[0] != tagSecond && value[0] != tagThird {
				return false
			}
			found[k] = value
		case p.features[k].Kind != Dense && !p.one: // an empty Feature is missing; of a list it takes the place of an earlier one
			found[k] = nil
		}
	}
	return true
}

// at names feature k of example i for errors.
func (p *parsing) at(i, k int) string {
	return fmt.Sprintf("example %d: feature %s", i, phrase.Name(string(p.keys.keys[k])))
}

// decode reads the values of feature k of example i. It returns their number, which may be more than dst takes.
func decode[T any](p *parsing, i, k int, dst []T, read func([]T, []byte) int) (int, error) {
	feature := p.found[i*len(p.features)+k]
	if feature == nil {
		return 0, nil
	}
	f := &p.features[k]
	if feature[0] != f.tag {
		lists := [...]string{"bytes_list", "float_list", "int64_list"}
		return 0, fmt.Errorf("%s is a %s, want a %s", p.at(i, k), lists[feature[0]>>3-1], lists[f.tag>>3-1])
	}
	n := read(dst, feature)
	if n < 0 {
		return 0, fmt.Errorf("%s: its list is malformed", p.at(i, k))
	}
	return n, nil
}

// measure counts the values of feature k.
func (p *parsing) measure(k int) error {
	switch p.features[k].Type {
	case tfpb.DataType_DT_FLOAT:
		return measureList(p, k, readFloats)
	case tfpb.DataType_DT_INT64:
		return measureList(p, k, readIntegers)
	}
	return measureList(p, k, readTexts)
}

func measureList[T any](p *parsing, k int, read func([]T, []byte) int) error {
	f := &p.features[k]
	p.total[k], p.most[k] = 0, 0
	if f.Kind == Dense && !f.varies {
		return nil
	}
	for i := range p.examples {
		n, err := decode(p, i, k, nil, read)
		if err != nil {
			return err
		}
		if f.varies && n%f.stride != 0 {
			return fmt.Errorf("%s has %d values, want a multiple of %d", p.at(i, k), n, f.stride)
		}
		p.total[k] += n
		p.most[k] = max(p.most[k], n)
	}
	return nil
}

// make makes the outputs of a feature.
func (p *parsing) make(f *asked, total, most int) error {
	n := len(p.examples)
	p.shape = p.shape[:0]
	if !p.one {
		p.shape = append(p.shape, n)
	}
	switch f.Kind {
	case Dense:
		p.shape = append(p.shape, f.Shape...)
		if f.varies {
			p.shape[len(p.shape)-len(f.Shape)] = most / f.stride
		}
		return p.call.make(f.out, f.Type, p.shape...)
	case Ragged:
		splits := n + 1
		if p.one {
			splits = 0
		}
		return errors.Join(p.call.make(f.out, f.Type, total), p.call.make(f.out+p.ragged, f.splits, splits))
	}
	p.shape = append(p.shape, most)
	if err := p.call.make(f.out+2*p.sparse, tfpb.DataType_DT_INT64, len(p.shape)); err != nil {
		return err
	}
	for i, d := range p.shape {
		p.call.out[f.out+2*p.sparse].Int64[i] = int64(d)
	}
	return errors.Join(p.call.make(f.out, tfpb.DataType_DT_INT64, total, len(p.shape)), p.call.make(f.out+p.sparse, f.Type, total))
}

// fill sets the values of feature k.
func (p *parsing) fill(k int) error {
	f, none := &p.features[k], Tensor{}
	out := p.call.out[f.out]
	if f.Kind == Sparse {
		out = p.call.out[f.out+p.sparse]
	}
	def := p.fallback(k, p.call.in)
	if def == nil {
		def = &none
	}
	switch f.Type {
	case tfpb.DataType_DT_FLOAT:
		return fillFeature(p, k, out.Float32, def.Float32, readFloats)
	case tfpb.DataType_DT_INT64:
		return fillFeature(p, k, out.Int64, def.Int64, readIntegers)
	}
	return fillFeature(p, k, out.Bytes, def.Bytes, readTexts)
}

func fillFeature[T any](p *parsing, k int, dst, def []T, read func([]T, []byte) int) error {
	f := &p.features[k]
	switch {
	case f.varies:
		return fillRows(p, k, dst, def[0], read)
	case f.Kind == Dense:
		return fillFixed(p, k, dst, def, read)
	}
	at := 0
	p.split(f, 0, 0)
	for i := range p.examples {
		n, err := decode(p, i, k, dst[at:], read)
		if err != nil {
			return err
		}
		if f.Kind == Sparse {
			p.place(p.call.out[f.out].Int64, at, i, n)
		}
		at += n
		p.split(f, i+1, at)
	}
	return nil
}

// place sets the indices of the n values of an example from value at on.
func (p *parsing) place(indices []int64, at, example, n int) {
	for j := range n {
		if p.one {
			indices[at+j] = int64(j)
		} else {
			indices[2*(at+j)], indices[2*(at+j)+1] = int64(example), int64(j)
		}
	}
}

// split sets split i of a ragged feature.
func (p *parsing) split(f *asked, i, at int) {
	switch {
	case f.Kind != Ragged || p.one:
	case f.splits == tfpb.DataType_DT_INT32:
		p.call.out[f.out+p.ragged].Int32[i] = int32(at)
	default:
		p.call.out[f.out+p.ragged].Int64[i] = int64(at)
	}
}

// fillRows sets a row of equal length for each example, with pad after its values.
func fillRows[T any](p *parsing, k int, dst []T, pad T, read func([]T, []byte) int) error {
	most := p.most[k]
	for i := range p.examples {
		row := dst[i*most:][:most]
		n, err := decode(p, i, k, row, read)
		if err != nil {
			return err
		}
		for j := n; j < most; j++ {
			row[j] = pad
		}
	}
	return nil
}

// fillFixed sets as many values for each example as the shape of the feature has.
func fillFixed[T any](p *parsing, k int, dst, def []T, read func([]T, []byte) int) error {
	width := p.features[k].stride
	for i := range p.examples {
		row := dst[i*width:][:width]
		n, err := decode(p, i, k, row, read)
		switch {
		case err != nil:
			return err
		case p.found[i*len(p.features)+k] != nil:
			if n != width {
				return fmt.Errorf("%s has %d values, want %d", p.at(i, k), n, width)
			}
		case len(def) == 0:
			return fmt.Errorf("%s is missing, and it is required", p.at(i, k))
		default:
			copy(row, def)
		}
	}
	return nil
}
