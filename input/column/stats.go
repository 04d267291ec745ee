package column

import (
	"math"

	"ringtrain/model/graph"
)

// Stats describes the values of a column that the plan reads.
type Stats struct {
	Column  string       `json:"column"`
	Records int64        `json:"records"`
	Missing int64        `json:"missing"`
	Unknown *int64       `json:"unknown,omitempty"` // records whose text is not in the column's vocabulary; nil without one
	Numbers *NumberStats `json:"numbers,omitempty"` // of label, weight and numeric, where a record has one
	Texts   *TextStats   `json:"texts,omitempty"`   // of categorical and cross
}

// NumberStats is of numbers as they stand in the records, without transform and default.
type NumberStats struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // of all, not of a sample
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
}

// TextStats is of texts.
type TextStats struct {
	Distinct int         `json:"distinct"`
	More     bool        `json:"more,omitempty"` // there are more than Distinct, which were not counted
	Frequent []TextCount `json:"frequent"`       // the most frequent first; empty with More
}

// TextCount is a text and the records that have it.
type TextCount struct {
	Text    string `json:"text"`
	Records int64  `json:"records"`
}

const (
	maxDistinct  = 1 << 20 // texts of a column that are counted
	mostFrequent = 10
)

// tally accumulates the values of a column over a part of the records.
type tally struct {
	numbers moments
	texts   textCounts // nil: not counted
	more    bool       // texts has had more than maxDistinct
}

// Count has a [Learner] of the plan make Stats of the columns, too.
func (p *Plan) Count() { p.stats = []Stats{} }

// Stats returns the statistics that a Learner has collected since Count.
func (p *Plan) Stats() []Stats { return p.stats }

// tallies are those of the plan's Inputs, nil without Count.
func (p *Plan) tallies() []tally {
	if p.stats == nil {
		return nil
	}
	all := make([]tally, len(p.Inputs))
	for _, b := range p.bags {
		if b.Kind != graph.Buckets && b.Kind != graph.IDs {
			for _, at := range b.inputs {
				all[at].texts = textCounts{}
			}
		}
	}
	return all
}

// numericInputs reports of each input whether it is read as a number.
func (p *Plan) numericInputs() []bool {
	numeric := make([]bool, len(p.Inputs))
	for _, d := range p.dense {
		numeric[d.input] = true
	}
	for _, b := range p.bags {
		numeric[b.inputs[0]] = numeric[b.inputs[0]] || b.Kind == graph.Buckets
	}
	for _, at := range []int{p.Label, p.Weight} {
		if at >= 0 && p.stats != nil { // nothing else is learnt of these
			numeric[at] = true
		}
	}
	return numeric
}

// merge adds the records of o, which come behind those of t.
func (t *tally) merge(o *tally) {
	t.numbers.merge(o.numbers)
	if t.more {
		return
	}
	t.texts.merge(o.texts)
	if len(t.texts) > maxDistinct {
		t.texts, t.more = nil, true
	}
}

// stats returns the statistics of an input.
func (l *Learner) stats(at int) Stats {
	t, s := &l.tallies[at], Stats{Column: l.plan.Inputs[at], Records: l.counts.Records, Missing: l.counts.Missing[at]}
	if n := &t.numbers; n.N > 0 {
		s.Numbers = &NumberStats{n.Mean, math.Sqrt(n.M2 / n.N), n.Min, n.Max}
	}
	s.Texts = t.textStats()
	return s
}

// textStats returns the statistics of the texts, nil if they are not counted.
func (t *tally) textStats() *TextStats {
	if t.more {
		return &TextStats{Distinct: maxDistinct, More: true, Frequent: []TextCount{}}
	}
	if t.texts == nil {
		return nil
	}
	s := &TextStats{Distinct: len(t.texts), Frequent: []TextCount{}}
	all := t.texts.frequent(1)
	for _, text := range all[:min(len(all), mostFrequent)] {
		s.Frequent = append(s.Frequent, TextCount{text, *t.texts[text]})
	}
	return s
}
