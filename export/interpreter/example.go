package interpreter

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"ringtrain/ring/phrase"
)

// parsing is the memory of a node that parses tf.Examples.
type parsing struct {
	*parser
	call     *call
	asked    [][]byte
	keys     [][]byte       // that were asked for when places was made
	places   map[string]int // of features by key; as TensorFlow's, it is empty if a key is asked for twice: all features are missing then
	examples [][]byte
	one      bool    // the only example is a scalar
	found    []found // by example and feature
	values   Tensor  // of the feature that is read, of all examples
	ends     []int   // of the examples in values

	mu  sync.Mutex
	bad int // the first example that is none
}

// found is the last Feature of a name in an example.
type found struct {
	tag  byte // of its list; 0: the feature is missing
	list []byte
}

// run parses the examples of input 0: it finds the features of each, then sets the outputs of each feature.
func (p *parser) run(c *call) {
	examples := c.in[0]
	if rank := len(examples.Shape); rank > 1 || rank == 0 && p.op == "ParseExample" || rank == 1 && p.op == "ParseSingleExample" {
		refuse("the examples have the shape %v, want a vector, or a scalar where the operation takes one", examples.Shape)
	}
	s, _ := c.scratch.(*parsing)
	if s == nil {
		s = &parsing{parser: p, call: c}
		c.scratch = s
	}
	s.index()
	s.examples, s.one = examples.Bytes, len(examples.Shape) == 0
	n := c.frame.reserve(textValues.size(), c.dims([]int{len(s.examples), len(p.features)}))
	s.found = slices.Grow(s.found[:0], n)[:n]
	clear(s.found)
	s.bad = len(s.examples)
	c.engine().Run(len(s.examples), 32, s)
	if s.bad < len(s.examples) {
		refuse("example %d is no tf.Example", s.bad)
	}
	for k := range p.features {
		p.features[k].set(s, k)
	}
}

// index finds the places of the keys, unless they are those of the run before.
func (p *parsing) index() {
	p.asked = p.appendKeys(p.asked[:0], p.call.in)
	if p.places != nil && slices.EqualFunc(p.asked, p.keys, bytes.Equal) {
		return
	}
	p.keys, p.places = nil, map[string]int{}
	for k, key := range p.asked {
		p.keys = append(p.keys, bytes.Clone(key))
		p.places[string(key)] = k
	}
	if len(p.places) < len(p.keys) {
		clear(p.places)
	}
}

// Span scans examples on one of the threads of the run.
func (p *parsing) Span(lo, hi, _ int) {
	for i := lo; i < hi; i++ {
		if !p.scan(i) {
			p.mu.Lock()
			p.bad = min(p.bad, i)
			p.mu.Unlock()
		}
	}
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
	k, asked := p.places[string(key)]
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

// setter returns the function that sets the outputs of a feature, of which read appends the values of a list to others.
func setter[T any](read func(dst []T, list []byte) ([]T, bool), values values[T]) func(p *parsing, k int) {
	return func(p *parsing, k int) {
		f := &p.features[k]
		all, def, most := (*values(&p.values))[:0], *values(p.fallback(k, p.call.in)), 0
		if f.fixed() { // its values are read where the output has them
			p.make(k, 0, 0)
			all = (*values(p.call.out[f.out]))[:0]
		}
		p.ends = p.ends[:0]
		for i := range p.examples {
			found, first := p.found[i*len(p.features)+k], len(all)
			fits := found.tag == 0 && (!f.fixed() || len(def) > 0)
			switch {
			case found.tag == f.tag:
				all, fits = read(all, found.list)
			case found.tag == 0 && f.fixed():
				all = append(all, def...)
			}
			n := len(all) - first
			if !fits || f.fixed() && n != f.stride || f.varies() && n%f.stride != 0 {
				p.misfit(i, k, n)
			}
			p.ends, most = append(p.ends, len(all)), max(most, n)
		}
		if f.fixed() {
			return
		}
		*values(&p.values) = all
		p.make(k, len(all), most)
		dst, first := *values(p.call.out[f.out]), 0
		for i, end := range p.ends {
			n := copy(dst, all[first:end])
			for ; f.varies() && n < most; n++ {
				dst[n] = def[0]
			}
			p.locate(f, i, first, end)
			dst, first = dst[n:], end
		}
	}
}

// misfit refuses feature k of an example, which has n values.
func (p *parsing) misfit(example, k, n int) {
	f, tag := &p.features[k], p.found[example*len(p.features)+k].tag
	lists := map[byte]string{tagFirst: "bytes_list", tagSecond: "float_list", tagThird: "int64_list"}
	says := fmt.Sprintf("a malformed list, or %d values, want %v and shape %v", n, f.Type, f.Shape)
	switch {
	case tag == 0:
		says = "it is missing, and it is required"
	case tag == tagMalformed:
		says = "it is malformed"
	case tag != f.tag:
		says = fmt.Sprintf("it has a list of the kind %s, want %s", lists[tag], lists[f.tag])
	}
	refuse("feature %s: example %d: %s", phrase.Name(string(p.keys[k])), example, says)
}

// make makes the outputs of feature k.
func (p *parsing) make(k, total, most int) {
	f, c, n := &p.features[k], p.call, []int{len(p.examples)}
	if p.one {
		n = nil
	}
	switch f.Kind {
	case Dense:
		shape := c.dims(n, f.Shape)
		if f.varies() {
			shape[len(n)] = most / f.stride
		}
		c.make(f.out, f.Type, shape...)
	case Ragged:
		c.make(f.out, f.Type, total)
		c.make(f.out+p.ragged, f.splits, len(n)*(len(p.examples)+1))
		if !p.one {
			c.out[f.out+p.ragged].put(0, 0)
		}
	case Sparse:
		c.makeSparse(f.out-p.sparse, p.sparse, f.Type, total, c.dims(n, []int{most})...)
	}
}

// locate sets where values of an example are, which begin and end there.
func (p *parsing) locate(f *asked, example, first, end int) {
	switch {
	case f.Kind == Sparse:
		p.call.out[f.out-p.sparse].setIndices(example, first, end-first)
	case f.Kind == Ragged && !p.one:
		p.call.out[f.out+p.ragged].put(example+1, end)
	}
}
