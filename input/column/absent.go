package column

import (
	"fmt"
	"math"

	"ringtrain/input"
	"ringtrain/ring/phrase"
)

// Absent tells which columns no record of a set has, and of which none of the texts is in its
// vocabulary, with the number of these records.
func (p *Plan) Absent(c *input.Counts, tell func(input int, what string, records int64)) {
	if len(c.Missing) != len(p.Inputs) || len(c.Unknown) != len(p.bags) {
		return // nothing is counted
	}
	for i, missing := range c.Missing {
		if missing > 0 && missing == c.Records {
			tell(i, "missing", missing)
		}
	}
	for i, unknown := range c.Unknown {
		if unknown > 0 && unknown == c.Records-c.Missing[p.bags[i].inputs[0]] {
			tell(p.bags[i].inputs[0], "unknown to its vocabulary", unknown)
		}
	}
}

// LabelText returns the label of which records have y: the name of a class, or a number in its unit.
func (p *Plan) LabelText(y float32) string {
	switch {
	case p.Classes != nil && int(y) < len(p.Classes.Names()):
		return phrase.Name(p.Classes.Names()[int(y)])
	case p.scale != nil:
		return fmt.Sprintf("%.6g", p.scale.Unit(float64(y)))
	}
	return fmt.Sprint(y)
}

// minSteps is how many steps of float32 a deviation has at least where standardized numbers keep their
// meaning.
const minSteps = 256

// Narrow tells, in the order of the columns, which learnt numbers float32 hardly tells apart: a
// tf.Example, which an export takes, has no others.
func (p *Plan) Narrow(tell func(what string)) {
	for _, d := range p.dense {
		if d.Part != "" {
			continue // is computed from a text or an int64
		}
		largest := float32(max(math.Abs(d.Min), math.Abs(d.Max)))
		step := float64(largest - math.Nextafter32(largest, 0))
		if d.Min >= d.Max || 1/d.Scale >= minSteps*(d.transform(float64(largest))-d.transform(float64(largest)-step)) || p.is(d.input, asText) {
			continue
		}
		all := ""
		if n := d.Max - d.Min + 1; n == math.Trunc(n) && d.Min == math.Trunc(d.Min) {
			all = fmt.Sprintf(" of %.0f", n)
		}
		kept := float64(float32(d.Max)-float32(d.Min))/step + 1
		tell(fmt.Sprintf("%s: tf.Example keeps %.0f%s numbers; subtract %.0f", d.Name, kept, all, math.Floor(d.Min)))
	}
	for _, b := range p.bags {
		for i, at := range b.narrow {
			if exact := b.Boundaries[i]; at != exact && math.Abs(exact) >= 1<<24 && !p.is(b.inputs[0], asText) {
				tell(fmt.Sprintf("%s: tf.Example has the boundary %.0f at %.0f; subtract %.0f", b.Name, exact, at, b.Boundaries[0]))
				break
			}
		}
	}
}
