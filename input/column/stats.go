package column

import (
	"math"
	"slices"

	"ringtrain/model/graph"
)

// Stats describes the values of a column that the plan reads.
type Stats struct {
	Column  string       `json:"column"`
	Records int64        `json:"records"`
	Missing int64        `json:"missing"`
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
	records, missing int64
	numbers          moments
	min, max         float64
	texts            map[string]*int64 // nil: not counted
	more             bool              // texts has had more than maxDistinct
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
	for i := range all {
		all[i].min, all[i].max = math.Inf(1), math.Inf(-1)
	}
	for _, b := range p.bags {
		if b.Kind != graph.Buckets && b.Kind != graph.IDs {
			for _, at := range b.inputs {
				all[at].texts = map[string]*int64{}
			}
		}
	}
	return all
}

// isNumber reports whether an input is read as a number.
func (p *Plan) isNumber(input int) bool {
	return input == p.Label || input == p.Weight ||
		slices.ContainsFunc(p.dense, func(d denseRule) bool { return d.input == input }) ||
		slices.ContainsFunc(p.bags, func(b bagRule) bool { return b.Kind == graph.Buckets && b.inputs[0] == input })
}

// count takes a record.
func (l *Part) count(cells []Cell) error {
	for i := range l.tallies {
		t, c := &l.tallies[i], &cells[i]
		t.records++
		if c.missing() {
			t.missing++
			continue
		}
		if t.texts != nil {
			text, err := c.text(&l.number)
			if err != nil {
				return l.plan.fault(i, err)
			}
			addText(t.texts, text)
		}
		if l.numeric[i] {
			x, err := c.number(0)
			if err != nil {
				return l.plan.fault(i, err)
			}
			t.numbers.add(float64(x))
			t.min, t.max = min(t.min, float64(x)), max(t.max, float64(x))
		}
	}
	return nil
}

// merge adds the records of o, which come behind those of t.
func (t *tally) merge(o *tally) {
	t.records += o.records
	t.missing += o.missing
	t.numbers.merge(o.numbers)
	t.min, t.max = min(t.min, o.min), max(t.max, o.max)
	if t.more {
		return
	}
	for text, n := range o.texts {
		if sum := t.texts[text]; sum != nil {
			*sum += *n
		} else {
			t.texts[text] = n
		}
	}
	if len(t.texts) > maxDistinct {
		t.texts, t.more = nil, true
	}
}

// stats returns the statistics of t.
func (t *tally) stats(name string) Stats {
	s := Stats{Column: name, Records: t.records, Missing: t.missing}
	if t.numbers.N > 0 {
		s.Numbers = &NumberStats{t.numbers.Mean, math.Sqrt(t.numbers.M2 / t.numbers.N), t.min, t.max}
	}
	switch {
	case t.more:
		s.Texts = &TextStats{Distinct: maxDistinct, More: true, Frequent: []TextCount{}}
	case t.texts != nil:
		s.Texts = &TextStats{Distinct: len(t.texts), Frequent: []TextCount{}}
		counts := make(map[string]int64, len(t.texts))
		for text, n := range t.texts {
			counts[text] = *n
		}
		all := frequent(counts, 1)
		for _, text := range all[:min(len(all), mostFrequent)] {
			s.Texts.Frequent = append(s.Texts.Frequent, TextCount{text, counts[text]})
		}
	}
	return s
}
