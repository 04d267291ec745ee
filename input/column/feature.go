package column

import (
	"bytes"
	"slices"

	"ringtrain/model/graph"
)

// A Feature is a column of which inputs of a model are made, with the columns that go with it: the values of ids.
type Feature struct {
	Name   string
	inputs []int // places in the plan's Inputs
}

// Features returns the features of a plan, in the order of its Inputs.
func (p *Plan) Features() (all []Feature) {
	with := make([][]int, len(p.Inputs))
	for _, b := range p.bags {
		if b.Kind == graph.IDs && b.values >= 0 {
			with[b.inputs[0]] = append(with[b.inputs[0]], b.values)
		}
	}
	for at, name := range p.Inputs {
		if p.is(at, asNumber|asDate|asText&^asKey|asIDs) && !p.is(at, asValues) {
			all = append(all, Feature{name, append([]int{at}, with[at]...)})
		}
	}
	return all
}

// Copy returns a copy of what a record has of the feature.
func (f Feature) Copy(cells []Cell) (copied []Cell) {
	for _, at := range f.inputs {
		c := cells[at]
		c.Text, c.Texts, c.IDs, c.Values, c.Doubles, c.Prints = bytes.Clone(c.Text), slices.Clone(c.Texts), slices.Clone(c.IDs), slices.Clone(c.Values), slices.Clone(c.Doubles), slices.Clone(c.Prints)
		for i, text := range c.Texts {
			c.Texts[i] = bytes.Clone(text)
		}
		copied = append(copied, c)
	}
	return copied
}

// Put replaces what a record has of the feature by a copy of another record's.
func (f Feature) Put(cells, copied []Cell) {
	for i, at := range f.inputs {
		cells[at] = copied[i]
	}
}

// Watch has f see the cells of each record before they become inputs of a model, and take other cells in their place: it
// returns those to take. Only one goroutine may then read records. With nil nothing is watched any more.
func (p *Plan) Watch(f func(cells []Cell) []Cell) { p.watch = f }

// hashed returns the texts of a record of which a hash or a cross makes ids. They are valid until the next call. at is the
// input that an error is of.
func (r *Runner) hashed(rule *bagRule, cells []Cell) (texts [][]byte, at int, err error) {
	if rule.Kind != graph.Cross {
		texts, err = r.texts(rule, cells)
		return texts, rule.inputs[0], err
	}
	r.pieces = r.pieces[:0]
	if at, err = r.join(rule, cells); err == nil && len(r.joined) > 0 {
		r.pieces = append(r.pieces, r.joined)
	}
	return r.pieces, at, err
}

// Hashed calls visit with each text of a record of which a hash or a cross makes an id, and with the id. It passes over
// what makes the record bad.
func (r *Runner) Hashed(cells []Cell, visit func(id uint32, text []byte)) {
	for i := range r.plan.bags {
		rule := &r.plan.bags[i]
		if !rule.Hashes() {
			continue
		}
		texts, _, err := r.hashed(rule, cells)
		for _, text := range texts {
			if err == nil {
				visit(rule.First+bucket(text, rule.Size), text)
			}
		}
	}
}
