package column

import (
	"fmt"
	"math"
	"strconv"

	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Missing is what a missing number counts as, before transform and standardize.
type Missing struct {
	Number float64
	Mean   bool // instead of Number: the mean of the training records that have a number
}

// UnmarshalText reads a number, or mean.
func (m *Missing) UnmarshalText(text []byte) error {
	number, err := strconv.ParseFloat(string(text), 64)
	*m = Missing{Number: number, Mean: string(text) == "mean"}
	if err != nil && !m.Mean {
		return fmt.Errorf("is %s, want a number or mean", phrase.Quote(string(text)))
	}
	return nil
}

// String returns the form that UnmarshalText reads.
func (m Missing) String() string {
	if m.Mean {
		return "mean"
	}
	return fmt.Sprint(m.Number)
}

// wordCounts count the missing cells of records that are not empty: by input, and by the word of an [absence] and 1.
type wordCounts [][]int64

func (c wordCounts) add(input, word int, n int64) {
	for len(c[input]) <= word+1 {
		c[input] = append(c[input], 0)
	}
	c[input][word+1] += n
}

func (c wordCounts) merge(o wordCounts) {
	for input, counts := range o {
		for i, n := range counts {
			c.add(input, i-1, n)
		}
	}
}

// Missed is a column that some training records have nothing in.
type Missed struct {
	Column           string
	Missing, Records int64
	Words            []string // how their cells are written, and how many of each
}

// Missed returns the columns that some records have nothing in, as a [Learner] has found: none if a cache or a model
// had what is learnt.
func (p *Plan) Missed() []Missed { return p.missed }

// missed returns the columns that some records have nothing in.
func (l *Learner) missed() (all []Missed) {
	for i, n := range l.counts.Missing {
		if n == 0 {
			continue
		}
		m := Missed{Column: l.plan.Inputs[i], Missing: n, Records: l.counts.Records}
		var words []string
		empty := n
		for k, n := range l.words[i] {
			if k > 0 && n > 0 { // else blanks alone
				words = append(words, fmt.Sprintf("%d %s", n, l.plan.numberWords.list[k-1]))
				empty -= n
			}
		}
		if empty > 0 {
			m.Words = append(m.Words, fmt.Sprintf("%d empty", empty))
		}
		m.Words = append(m.Words, words...)
		all = append(all, m)
	}
	return all
}

// Assumed is a standardized column whose missing numbers count as 0 because its item has no default.
type Assumed struct {
	Column           string
	Missing, Records int64 // of the training records
}

// Assumed returns the columns that a [Learner] has found to be so, none if a cache or a model had what
// is learnt.
func (p *Plan) Assumed() []Assumed {
	var all []Assumed
	for _, d := range p.dense {
		if d.assumed && d.standardize && d.missing > 0 {
			all = append(all, Assumed{d.Name, d.missing, d.records})
		}
	}
	return all
}

// learns reports whether the column has anything to learn.
func (d *denseRule) learns() bool { return d.standardize || d.meanDefault }

// learn stores the statistics of the training records: the moments of their numbers after the
// transform, to which missing ones belong only if the default is a number.
//
// A mean that replaces missing numbers is of the transformed numbers, so that the replacement is 0 after
// standardize. The deviation is that of all records, replacements included.
func (d *denseRule) learn(m *moments, missing int64) error {
	if m.n == 0 {
		return exitcode.With(exitcode.BadData, fmt.Errorf("column %s has no number in the training records, want one or more to learn from", d.Name))
	}
	d.missing, d.records = missing, m.n
	if d.meanDefault {
		d.records += missing
		d.Default = m.mean()
		if d.Log1p {
			d.Default = math.Copysign(math.Expm1(math.Abs(d.Default)), d.Default)
		}
		d.Default = max(m.min, min(d.Default, m.max)) // not beyond float32 by rounding
	}
	if !d.standardize {
		return nil
	}
	d.Mean, d.Scale, d.Min, d.Max = m.mean(), 1, m.min, m.max
	if scale := 1 / math.Sqrt(m.deviations()/float64(d.records)); scale < math.MaxFloat32 {
		d.Scale = scale // a column that is constant becomes 0
	}
	return nil
}

// adopt takes over what an earlier run has learnt.
func (d *denseRule) adopt(learnt graph.DenseColumn) {
	if d.standardize {
		d.Mean, d.Scale, d.Min, d.Max = learnt.Mean, learnt.Scale, learnt.Min, learnt.Max
	}
	if d.meanDefault {
		d.Default = learnt.Default
	}
}
