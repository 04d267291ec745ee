package column

import "ringtrain/model/graph"

// A use is how items read an input.
type use uint16

const (
	asLabel use = 1 << iota
	asWeight
	asKey
	asNumber // as it is, or in buckets
	asDate
	asHash
	asVocabulary
	asWords
	asCross
	asIDs
	asValues
	divided // into several texts: words, or those of a list

	asText = asKey | asHash | asVocabulary | asWords | asCross
)

// usesOf returns how the items read each of the plan's Inputs.
func usesOf(p *Plan) []use {
	all := make([]use, len(p.Inputs))
	mark := func(how use, inputs ...int) {
		for _, at := range inputs {
			if at >= 0 {
				all[at] |= how
			}
		}
	}
	mark(asLabel, p.Label)
	mark(asWeight, p.Weight)
	mark(asKey, p.Keys...)
	for _, d := range p.dense {
		if d.Part == "" {
			mark(asNumber, d.input)
		}
	}
	for _, d := range p.dates {
		mark(asDate, d.input)
	}
	kinds := map[graph.BagKind]use{
		graph.Buckets: asNumber, graph.Hash: asHash, graph.Vocabulary: asVocabulary, graph.Words: asWords | divided, graph.Cross: asCross, graph.IDs: asIDs,
	}
	for _, b := range p.bags {
		mark(kinds[b.Kind], b.inputs...)
		if b.Separator != "" {
			mark(divided, b.inputs...)
		}
		if b.Kind == graph.IDs {
			mark(asValues, b.values)
		}
	}
	return all
}

// is reports whether an input is read in one of some ways.
func (p *Plan) is(input int, how use) bool { return p.used[input]&how != 0 }

// Predicts reports whether a prediction reads the input: as a feature, as the values of ids or as a
// key. Training and evaluation also read the label and the weight.
func (p *Plan) Predicts(input int) bool { return p.is(input, ^(asLabel | asWeight)) }

// Wanted returns the Inputs of a plan that files, or their folders, must have: for predictions no label and no weight.
func Wanted(p *Plan, absent bool) (names []string) {
	for at, name := range p.Inputs {
		if !absent || p.Predicts(at) {
			names = append(names, name)
		}
	}
	return names
}

// Divides reports whether what reads an input makes several texts of one: words, or those of a list.
func (p *Plan) Divides(input int) bool { return p.is(input, divided) }

// TakeList says that the records may have lists in an input: a column that is categorical and nothing else is a bag of
// texts.
func (p *Plan) TakeList(at int) {
	for i := range p.bags {
		if b := &p.bags[i]; b.inputs[0] == at && !p.is(at, ^(asHash|asVocabulary|divided)) {
			b.List = true
		}
	}
}
