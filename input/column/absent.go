package column

import (
	"fmt"
	"math"

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

// minSteps is how many steps of float32 a deviation has at least where standardized numbers keep their
// meaning.
const minSteps = 256

// Narrow tells, in the order of the columns, which learnt numbers float32 hardly tells apart: a
// tf.Example, which an export takes, has no others.
func (p *Plan) Narrow(tell func(column, what string)) {
	for _, d := range p.dense {
		largest := float32(max(math.Abs(d.Min), math.Abs(d.Max)))
		step := float64(largest - math.Nextafter32(largest, 0))
		if d.Min >= d.Max || 1/d.Scale >= minSteps*(d.transform(float64(largest))-d.transform(float64(largest)-step)) {
			continue
		}
		all := ""
		if n := d.Max - d.Min + 1; n == math.Trunc(n) && d.Min == math.Trunc(d.Min) {
			all = fmt.Sprintf(" of %.0f", n)
		}
		kept := float64(float32(d.Max)-float32(d.Min))/step + 1
		tell(d.Name, fmt.Sprintf("tf.Example keeps %.0f%s numbers; subtract %.0f", kept, all, math.Floor(d.Min)))
	}
}
