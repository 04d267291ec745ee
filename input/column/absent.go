package column

import (
	"ringtrain/input"
	"ringtrain/model/graph"
)

// Absent is what no record of a set has.
type Absent struct {
	Input   int    // of the plan's Inputs
	What    string // missing, or unknown to its vocabulary
	Records int64  // all, or those that have a text
}

// Absent returns the columns that no record has, and those whose vocabulary has none of their texts.
func (p *Plan) Absent(c *input.Counts) (all []Absent) {
	for i, missing := range c.Missing {
		if missing > 0 && missing == c.Records && i < len(p.Inputs) {
			all = append(all, Absent{i, "missing", missing})
		}
	}
	for i, unknown := range c.Unknown {
		if unknown == 0 || i >= len(p.bags) || p.bags[i].Kind != graph.Vocabulary {
			continue
		}
		if at := p.bags[i].inputs[0]; unknown == c.Records-c.Missing[at] {
			all = append(all, Absent{at, "unknown to its vocabulary", unknown})
		}
	}
	return all
}
