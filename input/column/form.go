package column

import (
	"strings"

	"ringtrain/model/graph"
)

// Form is the form in which a reader of typed columns gives the cells of an input. Forms other than AsText stand for the
// numbers that texts in their place would.
type Form int

const (
	AsText   Form = iota // Text, or Texts
	AsNumber             // Doubles, which round to the float32 of the text
	AsDouble             // Doubles: the text rounded to float64
	AsIDs                // IDs
	AsValues             // Values
	AsPrints             // Prints
)

// LosesPoint reports whether an input of a plan that is written as 1.5 would be read as 15: the point stands between thousands.
func LosesPoint(p *Plan, at int) bool {
	form := p.forms[at]
	return form != nil && strings.Contains(form.Strip, ".")
}

// FormOf returns the form in which an input of a plan is to be given. named says that the label is a class with a name.
func FormOf(p *Plan, at int, named bool) Form {
	switch how := p.used[at]; {
	case how == asIDs:
		return AsIDs
	case how == asValues:
		return AsValues
	case how == asHash && !p.Trim && len(p.textWords.list) == 0:
		return AsPrints
	case how&^(asNumber|asLabel|asWeight) != 0, how&asLabel != 0 && named, !isPlain(p.forms[at]):
		return AsText
	}
	if p.scale != nil && at == p.Label {
		return AsDouble
	}
	for i := range p.dense {
		if d := &p.dense[i]; d.input == at && d.learns() {
			return AsDouble
		}
	}
	for i := range p.bags {
		if b := &p.bags[i]; b.Kind == graph.Buckets && b.inputs[0] == at {
			return AsDouble
		}
	}
	return AsNumber
}
