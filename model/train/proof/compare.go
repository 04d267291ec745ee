package proof

import (
	"fmt"
	"math"
	"slices"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

// Bound is how far a score of the graph may be from the model's, times max(1, |score|). Of a scaled label it may also be as far
// as that is for what the model learns: a score near 0 is a small difference of large numbers then.
const Bound = 1e-5

// boundOf returns the bound on a score.
func (e *expected) boundOf(score float64) float64 {
	bound := Bound * math.Max(1, math.Abs(score))
	if s := e.head.Scale; s != nil {
		learnt := s.Made(score)
		bound = math.Max(bound, math.Abs(s.Unit(learnt+Bound*math.Max(1, math.Abs(learnt)))-s.Unit(learnt)))
	}
	if math.IsInf(bound, 0) || math.IsNaN(bound) {
		return Bound
	}
	return bound
}

// difference is how far the answers to a record are from the model's.
type difference struct {
	size  float64 // of the score that is the farthest
	bound float64 // of that score
	what  string  // of answers that are no scores: what is wrong
}

// beyond reports whether the difference is a fault.
func (d *difference) beyond() bool { return !(d.size <= d.bound) }

// add compares one score with a bound. Two that are NaN are equal.
func (d *difference) add(got, want, bound float64) {
	size := math.Abs(got - want)
	switch {
	case got == want, math.IsNaN(got) && math.IsNaN(want):
		return
	case math.IsNaN(size): // one of them is, or both are infinite
		size = math.Inf(1)
	}
	if d.size == 0 || size/bound > d.size/d.bound {
		d.size, d.bound = size, bound
	}
}

// wrong notes an answer that is no score.
func (d *difference) wrong(format string, args ...any) {
	d.size, d.bound, d.what = math.Inf(1), Bound, fmt.Sprintf(format, args...)
}

// expected is what the model says of a block of records.
type expected struct {
	head   graph.Head
	class  map[string]int // of each name of a class
	scores tensor.Matrix  // those of a regression in the unit of its label
	keys   []string       // names of the columns that are passed through
	texts  []string       // those of each record
}

// check compares the answers of a signature to record i of the block, of n records.
func (e *expected) check(d *difference, answers map[string]*interpreter.Tensor, i, n int) {
	for key, t := range answers {
		if at := slices.Index(e.keys, key); at >= 0 {
			e.checkKey(d, t, key, at, i)
			continue
		}
		if key == "classes" {
			continue // with its scores
		}
		width := len(t.Float32) / max(n, 1)
		if t.Type != tfpb.DataType_DT_FLOAT || len(t.Float32) != n*width || len(t.Shape) == 0 || t.Shape[0] != n {
			d.wrong("%s is %v of shape %v, want float of %d records", key, t.Type, t.Shape, n)
			continue
		}
		row := t.Float32[i*width : (i+1)*width]
		want := e.scores.Row(i)
		switch classes, named := answers["classes"]; {
		case key == "scores" && named:
			e.checkClasses(d, row, classes, i)
		case key == "logits" && e.head.Kind == graph.HeadBinary:
			if checkWidth(d, key, row, 1) {
				d.add(1/(1+math.Exp(-float64(row[0]))), float64(want[0]), Bound)
			}
		case slices.Contains([]string{"scores", "outputs", "y", "probability"}, key):
			if checkWidth(d, key, row, len(want)) {
				for k := range row {
					d.add(float64(row[k]), float64(want[k]), e.boundOf(float64(want[k])))
				}
			}
		default:
			d.wrong("it answers %s, which no model of ringtrain does", key)
		}
	}
}

func checkWidth(d *difference, key string, row []float32, width int) bool {
	if len(row) != width {
		d.wrong("%s has %d numbers a record, want %d", key, len(row), width)
		return false
	}
	return true
}

// checkKey compares a column that is passed through.
func (e *expected) checkKey(d *difference, t *interpreter.Tensor, key string, at, i int) {
	if len(t.Bytes) <= i {
		d.wrong("%s has %d texts, want one a record", key, len(t.Bytes))
		return
	}
	if got, want := string(t.Bytes[i]), e.texts[i*len(e.keys)+at]; got != want {
		d.wrong("%s is %q, want %q", key, got, want)
	}
}

// checkClasses compares scores that have the names of their classes beside them: those of two classes in their order, of
// more the best first.
func (e *expected) checkClasses(d *difference, row []float32, classes *interpreter.Tensor, i int) {
	want, n := e.scores.Row(i), len(e.class)
	if !checkWidth(d, "scores", row, n) || len(classes.Bytes) < (i+1)*n {
		d.wrong("classes has %d names and scores %d numbers, want %d a record", len(classes.Bytes), len(row), n)
		return
	}
	seen := make([]bool, n)
	for k, name := range classes.Bytes[i*n : (i+1)*n] {
		class, known := e.class[string(name)]
		switch {
		case !known || seen[class] || e.head.Kind == graph.HeadBinary && class != k:
			d.wrong("class %d is %q, want each of the model's classes once, and two in their order", k, name)
			return
		case k > 0 && e.head.Kind == graph.HeadClasses && row[k] > row[k-1]:
			d.wrong("score %d is above the one before it, want the best first", k)
			return
		}
		seen[class] = true
		if e.head.Kind == graph.HeadBinary { // the scores of the model are those of the second class
			d.add(float64(row[k]), math.Abs(float64(1-class)-float64(want[0])), Bound)
			continue
		}
		d.add(float64(row[k]), float64(want[class]), Bound)
	}
}
