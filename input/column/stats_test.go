package column

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"ringtrain/input"
)

// TestStats verifies what is counted of numbers, texts and what is missing, in parts that end in
// any order.
func TestStats(t *testing.T) {
	p := compiled(t, []Column{
		{Label: &LabelOptions{Names: []string{"y"}}},
		{Key: &KeyOptions{Names: []string{"k"}}},
		{Numeric: &NumericOptions{Names: []string{"n"}, Transform: "log1p"}},
		{Categorical: &CategoricalOptions{Names: []string{"c"}, Hash: 10}},
	})
	if p.Learns() || p.Stats() != nil {
		t.Error("stats are made that nobody asked for")
	}
	p.Count()
	l := NewLearner(p, input.Labels{Absent: true})
	parts := []*Part{l.Part(0), l.Part(1)}
	for i, c := range []string{"b", "", "a", "b", "a", "d"} {
		record := map[string]string{"y": "1", "k": "x", "n": fmt.Sprint(i), "c": c}
		if i == 5 {
			record["n"] = ""
		}
		if err := parts[i/3].Learn(texts(p, record)); err != nil {
			t.Fatal(err)
		}
	}
	l.End(1)
	l.End(0)
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	want := []Stats{
		{Column: "y", Records: 6, Numbers: &NumberStats{1, 0, 1, 1}},
		{Column: "k", Records: 6},
		{Column: "n", Records: 6, Missing: 1, Numbers: &NumberStats{2, math.Sqrt(2), 0, 4}},
		{Column: "c", Records: 6, Missing: 1, Texts: &TextStats{Distinct: 3, Frequent: []TextCount{{"a", 2}, {"b", 2}, {"d", 1}}}},
	}
	if got := p.Stats(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestStatsOfNothing verifies that a column from which nothing can be learnt is described: all is missing.
func TestStatsOfNothing(t *testing.T) {
	p := compiled(t, []Column{
		{Numeric: &NumericOptions{Names: []string{"n"}, Standardize: true}},
		{Categorical: &CategoricalOptions{Names: []string{"c"}, Vocabulary: "auto", Unknown: "error"}},
	})
	p.Count()
	l := NewLearner(p, input.Labels{Absent: true})
	if err := l.Part(0).Learn(texts(p, nil)); err != nil {
		t.Fatal(err)
	}
	l.End(0)
	if err := l.Finish(); err != nil || len(p.Stats()) != 2 || p.Stats()[0].Missing != 1 || p.Stats()[1].Missing != 1 {
		t.Errorf("error %v, stats %+v, want one missing of each column", err, p.Stats())
	}
}

// TestStatsAreBounded verifies that texts beyond the bound are let go, whatever comes after.
func TestStatsAreBounded(t *testing.T) {
	one := int64(1)
	sum := tally{texts: map[string]*int64{}}
	for part := range 3 {
		texts := map[string]*int64{}
		for i := range maxDistinct/2 + 1 {
			texts[fmt.Sprint(part, i)] = &one
		}
		sum.merge(&tally{texts: texts})
	}
	if s := sum.textStats(); sum.texts != nil || !reflect.DeepEqual(s, &TextStats{maxDistinct, true, []TextCount{}}) {
		t.Errorf("%+v, want more than %d texts", s, maxDistinct)
	}
}
