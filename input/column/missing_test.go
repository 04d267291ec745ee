package column

import (
	"math"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// meanColumns are numbers whose missing values count as their mean, as it is, standardized, or
// standardized after the transform, and one that has no default.
func meanColumns() []Column {
	mean := &Missing{Mean: true}
	return []Column{
		{Numeric: &NumericOptions{Names: []string{"a"}, Default: mean}},
		{Numeric: &NumericOptions{Names: []string{"b"}, Default: mean, Standardize: true}},
		{Numeric: &NumericOptions{Names: []string{"c"}, Default: mean, Standardize: true, Transform: "log1p"}},
		{Numeric: &NumericOptions{Names: []string{"d"}, Standardize: true}},
	}
}

// learnNumbers has a plan learn from records, each a number of all columns or "", in two parts.
func learnNumbers(t *testing.T, p *Plan, numbers ...string) error {
	t.Helper()
	l := NewLearner(p, input.Labels{Absent: true})
	parts := []*Part{l.Part(0), l.Part(1)}
	for i, n := range numbers {
		if err := parts[i%2].Learn(texts(p, map[string]string{"a": n, "b": n, "c": n, "d": n})); err != nil {
			t.Fatal(err)
		}
	}
	l.End(0)
	l.End(1)
	return l.Finish()
}

// TestMeanDefault verifies that a missing number counts as the mean of those that are there, that it is 0
// once standardized, that all records then have the deviation 1, and that another plan takes over what is
// learnt.
func TestMeanDefault(t *testing.T) {
	p := compiled(t, meanColumns())
	numbers := []string{"1", "", "9", "2", ""}
	if err := learnNumbers(t, p, numbers...); err != nil {
		t.Fatal(err)
	}
	again := compiled(t, meanColumns())
	if err := again.Adopt(p.Columns()); err != nil || again.LearnedDigest() != p.LearnedDigest() {
		t.Errorf("adopted %+v, error %v, want %+v", again.Columns(), err, p.Columns())
	}
	var b input.Batch
	r := NewRunner(again, input.Labels{Absent: true})
	var squares [4]float64
	for _, n := range numbers {
		if err := r.Append(&b, texts(p, map[string]string{"a": n, "b": n, "c": n, "d": n})); err != nil {
			t.Fatal(err)
		}
		row := b.X.Dense.Row(b.X.Dense.Rows - 1)
		if n == "" && (row[0] != 4 || row[1] != 0 || math.Abs(float64(row[2])) > 1e-6 || row[3] > -0.5) {
			t.Errorf("a missing number becomes %g, want 4, 0, 0 and a number below the mean", row)
		}
		for i, x := range row {
			squares[i] += float64(x) * float64(x)
		}
	}
	for i, sum := range squares[1:] {
		if math.Abs(sum/float64(len(numbers))-1) > 1e-5 {
			t.Errorf("column %d has the variance %g, want 1", i+1, sum/float64(len(numbers)))
		}
	}
	if got := p.Assumed(); !slices.Equal(got, []Assumed{{"d", 2, 5}}) || again.Assumed() != nil {
		t.Errorf("missing numbers that count as 0: %v and %v, want 2 of 5 of d, and none where nothing was counted", got, again.Assumed())
	}
}

// TestMeanDefaultRefuses verifies that a column without any number has no mean, that a fixed default is not that
// of a model with a mean, and that the two have other caches.
func TestMeanDefaultRefuses(t *testing.T) {
	p := compiled(t, meanColumns())
	if err := learnNumbers(t, p, "", ""); err == nil || !strings.Contains(err.Error(), "column a has no number in the training records") || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v of a column without numbers", err)
	}
	if err := learnNumbers(t, p, "3"); err != nil {
		t.Fatal(err)
	}
	columns := meanColumns()
	columns[0].Numeric.Default = &Missing{}
	fixed := compiled(t, columns)
	if fixed.Digest() == compiled(t, meanColumns()).Digest() {
		t.Error("a default of 0 has the digest of the mean")
	}
	if err := fixed.Adopt(p.Columns()); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v of another default than the model's", err)
	}
}

// TestMissingText verifies the forms of a default.
func TestMissingText(t *testing.T) {
	for text, want := range map[string]Missing{"mean": {Mean: true}, "-1.5": {Number: -1.5}} {
		var m Missing
		if err := m.UnmarshalText([]byte(text)); err != nil || m != want || m.String() != text {
			t.Errorf("%s is read as %v, error %v", text, m, err)
		}
	}
	if err := new(Missing).UnmarshalText([]byte("median")); err == nil || err.Error() != `is "median", want a number or mean` {
		t.Errorf("error %v of median", err)
	}
}
