package column

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// learnLines has a plan of the columns learn lines with the fields of its Inputs, with blanks between
// and - for none, and returns the errors of bad ones.
func learnLines(t *testing.T, p *Plan, labels input.Labels, lines []string) (bad []error) {
	t.Helper()
	l := NewLearner(p, labels)
	part := l.Part(0)
	for _, line := range lines {
		if err := part.Learn(cellsOf(line)); err != nil {
			bad = append(bad, err)
		}
	}
	l.End(0)
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	return bad
}

func cellsOf(line string) (cells []Cell) {
	for _, f := range strings.Fields(line) {
		if f == "-" {
			f = ""
		}
		cells = append(cells, Cell{Text: []byte(f)})
	}
	return cells
}

// TestBadRecordIsNotLearnt verifies that a record with one bad cell of any kind has no part in means,
// deviations and vocabularies, and is the same error for a Learner as for a Runner.
func TestBadRecordIsNotLearnt(t *testing.T) {
	plan := func(fixed string) *Plan {
		p, err := Compile([]Column{
			{Numeric: &NumericOptions{Names: []string{"x"}, Standardize: true, Default: &Missing{Mean: true}}},
			{Categorical: &CategoricalOptions{Names: []string{"c"}, Vocabulary: "auto"}},
			{Label: &LabelOptions{Names: []string{"y"}}},
			{Weight: &WeightOptions{Names: []string{"w"}}},
			{Numeric: &NumericOptions{Names: []string{"raw"}}},
			{Numeric: &NumericOptions{Names: []string{"b"}, Buckets: []float64{1}}},
			{Categorical: &CategoricalOptions{Names: []string{"v"}, Vocabulary: fixed, Unknown: "error"}},
			{IDs: &IDsOptions{Names: []string{"ids"}, Size: 9}},
		}, func(string) ([]string, error) { return []string{"a"}, nil })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := []string{"1 a 0 1 3 1 a 1", "5 b 1 1 4 1 a 2", "- a 1 2 5 - a -"}
	want := plan("file")
	if bad := learnLines(t, want, input.Labels{Binary: true}, good); len(bad) > 0 {
		t.Fatal(bad)
	}
	for column, line := range map[string]string{
		"y": "1e30 z 7 1 3 1 a 1", "w": "1e30 z 1 -1x 3 1 a 1", "raw": "1e30 z 1 1 1e99 1 a 1", "b": "1e30 z 1 1 3 oops a 1",
		"v": "1e30 z 1 1 3 1 q 1", "ids": "1e30 z 1 1 3 1 a 9", "x": "1e39 z 1 1 3 1 a 1", "c": "1e30 \xff 1 1 3 1 a 1",
	} {
		p := plan("file")
		bad := learnLines(t, p, input.Labels{Binary: true}, append([]string{line}, good...))
		if len(bad) != 1 || exitcode.Of(bad[0]) != exitcode.BadData || !strings.HasPrefix(bad[0].Error(), "column "+column+" ") {
			t.Errorf("%s: errors %v, want one of the column", line, bad)
		}
		if got, want := fmt.Sprintf("%+v", p.Columns()), fmt.Sprintf("%+v", want.Columns()); got != want {
			t.Errorf("%s: learnt\n%s, want\n%s", line, got, want)
		}
		var b input.Batch
		if err := NewRunner(p, input.Labels{Binary: true}).Append(&b, cellsOf(line)); column != "c" && (err == nil || err.Error() != bad[0].Error()) {
			t.Errorf("%s: the runner says %v, the learner %v", line, err, bad[0])
		}
	}
}

// TestNumbersAreDoubles verifies that mean, deviation, buckets and the standardized value of
// numbers are those of float64, where float32 would keep six of 600 numbers.
func TestNumbersAreDoubles(t *testing.T) {
	const base = 1700000000
	p, err := Compile([]Column{
		{Numeric: &NumericOptions{Names: []string{"time"}, Standardize: true, Default: &Missing{Mean: true}}},
		{Numeric: &NumericOptions{Names: []string{"slot"}, Buckets: []float64{base + 60, base + 70}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range 600 {
		lines = append(lines, fmt.Sprintf("%d %d", base+i, base+i))
	}
	learnLines(t, p, input.Labels{}, lines)
	deviation := math.Sqrt((600*600 - 1) / 12.0)
	if s := p.Columns().Dense[0]; s.Mean != base+299.5 || math.Abs(1/s.Scale-deviation) > 1e-9 || s.Min != base || s.Max != base+599 {
		t.Errorf("learnt %+v, want the mean %g and the deviation %g", s, base+299.5, deviation)
	}
	r := NewRunner(p, input.Labels{})
	for _, tt := range []struct {
		line string
		x    float64
		id   uint32
	}{
		{fmt.Sprintf("%d %d", base, base), -299.5 / deviation, 0},
		{fmt.Sprintf("- %d", base+60), 0, 1},
		{fmt.Sprintf("%d %d", base+599, base+69), 299.5 / deviation, 1},
		{fmt.Sprintf("%d %d", base+300, base+70), 0.5 / deviation, 2},
	} {
		var b input.Batch
		if err := r.Append(&b, cellsOf(tt.line)); err != nil {
			t.Fatal(err)
		}
		if got := b.X.Dense.Data[0]; got != float32(tt.x) {
			t.Errorf("%s: standardized %g, want %g", tt.line, got, tt.x)
		}
		if got := b.X.Bags.Slot[0]; got != tt.id {
			t.Errorf("%s: bucket %d, want %d", tt.line, got, tt.id)
		}
	}
	var b input.Batch // of a tf.Example, which has float32 as the export has
	if err := r.Append(&b, []Cell{{}, {Values: []float32{base + 60}}}); err != nil || b.X.Bags.Slot[0] != 0 {
		t.Errorf("a float32 has the bucket %v (%v), want 0 as in TensorFlow", b.X.Bags.Slot, err)
	}
}

// TestHugeNumbers verifies that columns of the largest and the smallest numbers are learnt, stored and
// taken again without a panic, and that what replaces missing numbers is finite as float32.
func TestHugeNumbers(t *testing.T) {
	for _, x := range []string{"3.4028235e38", "-3.4028235e38", "1e-45", "0", "1.7976931348623157e308"} {
		for _, transform := range []string{"", "log1p"} {
			p, err := Compile([]Column{{Numeric: &NumericOptions{Names: []string{"x"}, Transform: transform, Standardize: true, Default: &Missing{Mean: true}}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			bad := learnLines(t, p, input.Labels{}, []string{"1", "-1", x, x, "-"})
			if huge := x == "1.7976931348623157e308"; (len(bad) == 2) != huge {
				t.Errorf("%s: errors %v", x, bad)
			}
			if d := p.Columns().Dense[0]; !input.Finite(float32(d.Default)) || d.Scale <= 0 {
				t.Errorf("%s %s: learnt %+v", x, transform, d)
			}
			again, _ := Compile([]Column{{Numeric: &NumericOptions{Names: []string{"x"}, Transform: transform, Standardize: true, Default: &Missing{Mean: true}}}}, nil)
			if err := again.AdoptJSON(p.JSON()); err != nil || again.LearnedDigest() != p.LearnedDigest() {
				t.Errorf("%s %s: taken again: %v", x, transform, err)
			}
		}
	}
}

// TestModelsOfFloat32 verifies that what an earlier version has stored of columns, as float32, is still
// taken.
func TestModelsOfFloat32(t *testing.T) {
	p, err := Compile([]Column{
		{Numeric: &NumericOptions{Names: []string{"x"}, Standardize: true, Default: &Missing{Number: 0.123456789}}},
		{Numeric: &NumericOptions{Names: []string{"b"}, Buckets: []float64{0.7, 16777217}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const stored = `{"dense":[{"name":"x","default":0.12345679,"mean":0.1,"scale":2.5}],"bags":[{"name":"b","kind":"buckets","first":0,"size":3,"boundaries":[0.7,16777216]}]}`
	if err := p.AdoptJSON([]byte(stored)); err != nil {
		t.Fatal(err)
	}
	if got := p.Columns(); got.Dense[0] != (graph.DenseColumn{Name: "x", Default: 0.123456789, Mean: 0.1, Scale: 2.5}) {
		t.Errorf("taken %+v", got.Dense[0])
	}
}

// TestNarrow verifies of which learnt columns it is told that float32 hardly tells their numbers apart.
func TestNarrow(t *testing.T) {
	for name, tt := range map[string]struct {
		transform string
		numbers   []string
		want      string
	}{
		"seconds":  {"", []string{"1700000000", "1700000599", "1700000300"}, "x: tf.Example keeps 6 of 600 numbers; subtract 1700000000"},
		"negative": {"", []string{"-1700000599", "-1700000000"}, "x: tf.Example keeps 6 of 600 numbers; subtract -1700000599"},
		"parts":    {"", []string{"70000.25", "70000.5"}, "x: tf.Example keeps 33 numbers; subtract 70000"},
		"log":      {"log1p", []string{"1700000000", "1700000599"}, "x: tf.Example keeps 6 of 600 numbers; subtract 1700000000"},
		"years":    {"", []string{"1", "1700000599"}, ""},
		"small":    {"", []string{"0.001", "0.0011", "-3"}, ""},
		"constant": {"", []string{"1700000000", "1700000000"}, ""},
	} {
		p, err := Compile([]Column{{Numeric: &NumericOptions{Names: []string{"x"}, Transform: tt.transform, Standardize: true}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		learnLines(t, p, input.Labels{}, tt.numbers)
		again, _ := Compile([]Column{{Numeric: &NumericOptions{Names: []string{"x"}, Transform: tt.transform, Standardize: true}}}, nil)
		if err := again.AdoptJSON(p.JSON()); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Plan{p, again} {
			got := ""
			p.Narrow(func(what string) { got += what })
			if got != tt.want {
				t.Errorf("%s: told %q, want %q", name, got, tt.want)
			}
		}
	}
}

// TestNarrowBoundaries verifies that a float32 falls into the range that its text falls into, also where
// no boundary is a float32, and that it is told of such boundaries.
func TestNarrowBoundaries(t *testing.T) {
	p, err := Compile([]Column{{Numeric: &NumericOptions{Names: []string{"x"}, Buckets: []float64{-1700000060, 0.7, 1700000060, 1700000070}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := NewRunner(p, input.Labels{})
	for _, x := range []float32{-1700000128, -1700000000, 0.5, 0.75, 1, 1699999872, 1700000000, 1700000128} {
		var text, example input.Batch
		if err := errors.Join(r.Append(&text, []Cell{{Text: []byte(strconv.FormatFloat(float64(x), 'f', -1, 64))}}), r.Append(&example, []Cell{{Values: []float32{x}}})); err != nil {
			t.Fatal(err)
		}
		if a, b := text.X.Bags.Slot[0], example.X.Bags.Slot[0]; a != b {
			t.Errorf("%g has the bucket %d as text and %d as float32", x, a, b)
		}
	}
	for _, other := range []Column{{Key: &KeyOptions{Names: []string{"x"}}}, {Categorical: &CategoricalOptions{Names: []string{"x"}, Hash: 9}}} {
		both, err := Compile([]Column{{Numeric: &NumericOptions{Names: []string{"x"}, Buckets: []float64{1700000060}}}, other}, nil)
		if err != nil {
			t.Fatal(err)
		}
		both.Narrow(func(what string) { t.Errorf("told %q of a column that an export takes as text", what) })
	}
	told := ""
	p.Narrow(func(what string) { told += what })
	if want := "x: tf.Example has the boundary -1700000060 at -1700000000; subtract -1700000060"; told != want {
		t.Errorf("told %q, want %q", told, want)
	}
}
