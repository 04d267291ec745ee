package column

import "ringtrain/model/graph"

// Use is a set of ways in which a column is read.
type Use uint8

const (
	AsNumber Use = 1 << iota // label, weight, numeric
	AsText                   // key, categorical, part of a cross
	AsIDs                    // ids
	AsValues                 // values of ids
)

// Uses returns how each of the plan's Inputs is read, and the places of ids and of their values.
func (p *Plan) Uses() (uses []Use, pairs [][2]int) {
	uses = make([]Use, len(p.Inputs))
	for _, one := range []struct {
		at int
		as Use
	}{{p.Label, AsNumber}, {p.Weight, AsNumber}, {p.Key, AsText}} {
		if one.at >= 0 {
			uses[one.at] |= one.as
		}
	}
	for _, d := range p.dense {
		uses[d.input] |= AsNumber
	}
	for _, b := range p.bags {
		as := AsText
		switch b.Kind {
		case graph.Buckets:
			as = AsNumber
		case graph.IDs:
			as = AsIDs
			if b.values >= 0 {
				uses[b.values] |= AsValues
				pairs = append(pairs, [2]int{b.inputs[0], b.values})
			}
		}
		for _, at := range b.inputs {
			uses[at] |= as
		}
	}
	return uses, pairs
}
