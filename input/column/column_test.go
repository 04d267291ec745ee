package column

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// golden has the ids and numbers that real TensorFlow makes. testdata/make_columns.py wrote it.
type golden struct {
	Sizes  []uint32
	Hashes []struct {
		Text    string
		Buckets []uint32
	}
	Buckets struct {
		Boundaries, X []float32
		Places        []uint32
	}
	Log1p struct{ X, Y []float32 }
	Words []struct {
		Text    []byte
		Lower   bool
		NGrams  int
		Buckets []uint32
	}
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	b, err := os.ReadFile("testdata/columns.json")
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	if err != nil || len(g.Hashes) < 300 || len(g.Words) < 20 {
		t.Fatalf("%d texts, error %v", len(g.Hashes), err)
	}
	return g
}

// TestColumnsAreTensorFlows verifies hash buckets of texts of all lengths, ranges of numbers and log1p
// against real TensorFlow.
func TestColumnsAreTensorFlows(t *testing.T) {
	g := readGolden(t)
	for _, h := range g.Hashes {
		for k, size := range g.Sizes {
			if got := bucket([]byte(h.Text), size); got != h.Buckets[k] {
				t.Errorf("%q modulo %d is %d, want %d", h.Text, size, got, h.Buckets[k])
			}
		}
	}
	var boundaries []float64
	for _, b := range g.Buckets.Boundaries {
		boundaries = append(boundaries, float64(b))
	}
	for i, x := range g.Buckets.X {
		if got := bucketOf(boundaries, float64(x)); got != g.Buckets.Places[i] {
			t.Errorf("%g has place %d, want %d", x, got, g.Buckets.Places[i])
		}
	}
	d := denseRule{DenseColumn: graph.DenseColumn{Log1p: true}}
	for i, x := range g.Log1p.X {
		if got, want := float32(d.transform(float64(x))), g.Log1p.Y[i]; math.Abs(float64(got-want)) > 2e-7*math.Abs(float64(want)) {
			t.Errorf("log1p of %g is %g, want %g", x, got, want)
		}
	}
}

// clicksColumns is a list with every kind.
func clicksColumns() []Column {
	missing := Missing{Number: 7}
	return []Column{
		{Label: &LabelOptions{Names: []string{"clicked"}}},
		{Weight: &WeightOptions{Names: []string{"w"}}},
		{Key: &KeyOptions{Names: []string{"request"}}},
		{Numeric: &NumericOptions{Names: []string{"I1..I2"}, Transform: "log1p", Standardize: true}},
		{Numeric: &NumericOptions{Names: []string{"age"}, Buckets: []float64{18, 25, 35}, Default: &missing}},
		{Categorical: &CategoricalOptions{Names: []string{"C1", "C2"}, Hash: 100}},
		{Categorical: &CategoricalOptions{Names: []string{"city"}, Vocabulary: "cities.txt"}},
		{Categorical: &CategoricalOptions{Names: []string{"device"}, Vocabulary: "auto", MinCount: 2, Unknown: "error"}},
		{IDs: &IDsOptions{Names: []string{"ids"}, Values: "values", Size: 50}},
		{Name: "both", Cross: &CrossOptions{Of: []string{"C1", "C2"}, Hash: 1000}},
		{Ignore: &IgnoreOptions{Names: []string{"comment"}}},
	}
}

func cities(string) ([]string, error) { return []string{"Bern", "Genève"}, nil }

func compiled(t *testing.T, columns []Column) *Plan {
	t.Helper()
	p, err := Compile(columns, cities)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// texts are the cells of a record that is written as texts.
func texts(p *Plan, record map[string]string) []Cell {
	cells := make([]Cell, len(p.Inputs))
	for i, name := range p.Inputs {
		cells[i].Text = []byte(record[name])
	}
	return cells
}

// learnt is the plan of clicksColumns after three records in two parts.
func learnt(t *testing.T) *Plan {
	t.Helper()
	p := compiled(t, clicksColumns())
	if !p.Learns() {
		t.Fatal("nothing to learn")
	}
	l := NewLearner(p, input.Labels{Absent: true})
	a, b := l.Part(0), l.Part(1)
	for i, l := range []*Part{a, b, b} {
		device := []string{"phone", "tablet", "phone"}[i]
		if err := l.Learn(texts(p, map[string]string{"I1": fmt.Sprint(i), "I2": "5", "device": device})); err != nil {
			t.Fatal(err)
		}
	}
	l.End(1)
	l.End(0)
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRun verifies the inputs that each kind of column makes of a record.
func TestRun(t *testing.T) {
	p := learnt(t)
	c := p.Columns()
	if got := []uint32{4, 100, 100, 3, 1, 50, 1000}; !slices.EqualFunc(c.Bags, got, func(b graph.BagColumn, n uint32) bool { return b.Size == n }) {
		t.Fatalf("fields %+v, want sizes %v", c.Bags, got)
	}
	if c.Size() != 1258 || !slices.Equal(c.Keys, []string{"request"}) || !slices.Equal(c.Bags[4].Vocabulary, []string{"phone"}) {
		t.Fatalf("columns %+v", c)
	}
	log := []float64{0, math.Log1p(1), math.Log1p(2)}
	mean := (log[0] + log[1] + log[2]) / 3
	deviation := math.Sqrt((log[0]*log[0]+log[1]*log[1]+log[2]*log[2])/3 - mean*mean)

	r := NewRunner(p, input.Labels{Binary: true})
	var b input.Batch
	err := r.Append(&b, texts(p, map[string]string{
		"clicked": "1", "w": "2.5", "request": "k", "I1": "2", "I2": "5", "age": "25", "C1": "a", "C2": "b",
		"city": "Genève", "device": "phone", "ids": "3  49", "values": "0.5 -2",
	}))
	if err != nil || !slices.Equal(b.Importance, []float32{2.5}) || b.Y[0] != 1 {
		t.Fatalf("weights %v, labels %v, error %v", b.Importance, b.Y, err)
	}
	row := b.X.Dense.Row(0)
	if math.Abs(float64(row[0])-(log[2]-mean)/deviation) > 1e-6 || row[1] != 0 {
		t.Errorf("dense row %v, want %g and 0: the second column is constant", row, (log[2]-mean)/deviation)
	}
	want := []uint32{
		2, 4 + bucket([]byte("a"), 100), 104 + bucket([]byte("b"), 100), 204 + 1, 207, 208 + 3, 208 + 49, 258 + bucket([]byte("a\x1fb"), 1000),
	}
	if got := b.X.Bags.Slot; !slices.Equal(got, want) || !slices.Equal(b.X.Bags.Weights, []float32{1, 1, 1, 1, 1, 0.5, -2, 1}) {
		t.Errorf("ids %v of weights %v, want %v", got, b.X.Bags.Weights, want)
	}
	b.Reset()
	if err := r.Append(&b, texts(p, map[string]string{"clicked": "-1", "C2": "b", "city": "Uri"})); err != nil || len(b.Importance) != 0 {
		t.Fatalf("weights %v, error %v", b.Importance, err)
	}
	if want := []uint32{0, 104 + bucket([]byte("b"), 100), 204 + 2}; !slices.Equal(b.X.Bags.Slot, want) || b.X.Bags.Examples() != 1 {
		t.Errorf("ids %v of what is mostly missing, want %v: the default's range, C2, an unknown city", b.X.Bags.Slot, want)
	}
}

// TestRunOfExamples verifies cells that are numbers and lists, as in a tf.Example.
func TestRunOfExamples(t *testing.T) {
	p := learnt(t)
	cells := func(change func(record map[string]Cell)) []Cell {
		record := map[string]Cell{
			"clicked": {IDs: []int64{1}}, "I1": {Values: []float32{2}}, "I2": {IDs: []int64{5}}, "C1": {IDs: []int64{-42}},
			"C2": {Text: []byte("b")}, "ids": {IDs: []int64{3, 49}}, "values": {Values: []float32{0.5, -2}},
		}
		change(record)
		list := make([]Cell, len(p.Inputs))
		for i, name := range p.Inputs {
			list[i] = record[name]
		}
		return list
	}
	r := NewRunner(p, input.Labels{Binary: true})
	var b input.Batch
	if err := r.Append(&b, cells(func(map[string]Cell) {})); err != nil {
		t.Fatal(err)
	}
	want := []uint32{0, 4 + bucket([]byte("-42"), 100), 104 + bucket([]byte("b"), 100), 211, 257, 258 + bucket([]byte("-42\x1fb"), 1000)}
	if !slices.Equal(b.X.Bags.Slot, want) {
		t.Errorf("ids %v, want %v", b.X.Bags.Slot, want)
	}
	for _, tt := range []struct {
		column string
		cell   Cell
		want   string
	}{
		{"C1", Cell{Values: []float32{1}}, "column C1 is a float, want a text or an integer"},
		{"C2", Cell{IDs: []int64{1, 2}}, "column C2 is a list of 2, want one value"},
		{"I1", Cell{Values: []float32{1, 2, 3}}, "column I1 is a list of 3, want one value"},
		{"I2", Cell{Values: []float32{float32(math.Inf(1))}}, "column I2 is +Inf, want a finite number"},
		{"ids", Cell{IDs: []int64{50, 1}}, "column ids has the id 50, want one in [0, 50)"},
		{"values", Cell{Values: []float32{1}}, "column values has 1 value for 2 ids"},
		{"values", Cell{Values: []float32{1, float32(math.NaN())}}, "column values is NaN, want finite numbers"},
	} {
		b.Reset()
		err := r.Append(&b, cells(func(record map[string]Cell) { record[tt.column] = tt.cell }))
		if err == nil || !strings.Contains(err.Error(), tt.want) || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// TestBadCells verifies that a text that does not fit its column is an error that names the
// column and shows the text.
func TestBadCells(t *testing.T) {
	r := NewRunner(learnt(t), input.Labels{Binary: true})
	for _, tt := range []struct{ column, text, want string }{
		{"clicked", "", "column clicked is missing, want a label"},
		{"clicked", "2", "column clicked label is 2"},
		{"w", "-1", "column w is -1, want a weight of 0 or more"},
		{"w", "inf", "column w is +Inf, want a finite number"},
		{"clicked", "NaN", "column clicked is missing, want a label"},
		{"I1", "1x", `column I1 is "1x", want a number`},
		{"I1", "1_0", `column I1 is "1_0", want a number`},
		{"I2", "0x1p-2", `column I2 is "0x1p-2", want a number`},
		{"I2", "1e99", `column I2 is "1e99", want a number in the range of float32`},
		{"age", "old", `column age is "old", want a number`},
		{"device", "toaster", `column device is "toaster", which is not in its vocabulary of 1`},
		{"device", strings.Repeat("y", 1000), `y…", which is not in its vocabulary`},
		{"ids", "x", `column ids has the id "x", want an integer`},
		{"ids", "-1", "column ids has the id -1, want one in [0, 50)"},
		{"ids", "3 4", "column values has fewer values than ids"},
		{"values", "1 2", "column values has more values than ids"},
	} {
		record := map[string]string{"clicked": "1", tt.column: tt.text}
		var b input.Batch
		err := r.Append(&b, texts(r.plan, record))
		if err == nil || !strings.Contains(err.Error(), tt.want) || exitcode.Of(err) != exitcode.BadData || len(err.Error()) > 200 {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// TestCompileRefuses verifies that items which do not fit are told, each by its place, and all
// at once.
func TestCompileRefuses(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		item Column
		want string
	}{
		{Column{}, "input.columns.1 has no kind or several"},
		{Column{Label: &LabelOptions{}, Key: &KeyOptions{}}, "input.columns.1 has no kind or several"},
		{Column{Label: &LabelOptions{Names: []string{"a", "b"}}}, "label names 2 columns, want one"},
		{Column{Numeric: &NumericOptions{}}, "numeric has no names"},
		{Column{Numeric: &NumericOptions{Names: []string{"C9..C1"}}}, "numeric has the range C9..C1"},
		{Column{Numeric: &NumericOptions{Names: []string{"C1..D2"}}}, "numeric has the range C1..D2"},
		{Column{Numeric: &NumericOptions{Names: []string{"C1..C999999999"}}}, "of at most 100000 columns"},
		{Column{Numeric: &NumericOptions{Names: []string{""}}}, "numeric has an empty name"},
		{Column{Numeric: &NumericOptions{Names: []string{"x"}, Transform: "log"}}, `numeric.transform is "log" (did you mean log1p?), want log1p`},
		{Column{Numeric: &NumericOptions{Names: []string{"x"}, Buckets: []float64{2, 1}}}, "want ascending numbers"},
		{Column{Numeric: &NumericOptions{Names: []string{"x"}, Buckets: []float64{nan}}}, "want ascending numbers"},
		{Column{Numeric: &NumericOptions{Names: []string{"x"}, Default: &Missing{Number: nan}}}, "has default NaN"},
		{Column{Time: &TimeOptions{Names: []string{"x"}, Layout: "%d/%m"}}, `has layout "%d/%m", which has no year or two, want %Y or %y`},
		{Column{Time: &TimeOptions{Names: []string{"x"}, Layout: "%Q"}}, `has layout "%Q", which has "%Q", want of strptime's fields`},
		{Column{Time: &TimeOptions{Names: []string{"x"}, Layout: "%Y %Y"}}, `which has "%Y" twice`},
		{Column{Time: &TimeOptions{Names: []string{"x"}, Layout: "%d %Y"}}, `which lacks a field: want %m with %d`},
		{Column{Time: &TimeOptions{Names: []string{"x"}, Layout: "%Y %H:%M:%S.%f%d"}}, `which has "%d" behind %f, want a character between`},
		{Column{Time: &TimeOptions{Names: []string{"x"}, Parts: []string{"moth"}}}, `.parts[0] is "moth" (did you mean month?), want one of days, year, month, weekday, day, hour`},
		{Column{Numeric: &NumericOptions{Names: []string{"x"}, Decimal: "ab"}}, `has decimal "ab", want one character`},
		{Column{Numeric: &NumericOptions{Names: []string{"x"}, Strip: "$."}}, `has strip "$.", want characters but digits, - and the decimal .`},
		{Column{Numeric: &NumericOptions{Names: []string{"x", "y"}, Decimal: ",", Strip: ","}}, `has strip ",", want characters but digits, - and the decimal ,`},
		{Column{Numeric: &NumericOptions{Names: []string{"x"}, Buckets: []float64{1}, Default: &Missing{Mean: true}}}, "has buckets with default mean"},
		{Column{Numeric: &NumericOptions{Names: []string{"x"}, Buckets: []float64{1}, Standardize: true}}, "want one of them"},
		{Column{Categorical: &CategoricalOptions{Names: []string{"x"}}}, "wants either hash or vocabulary"},
		{Column{Categorical: &CategoricalOptions{Names: []string{"x"}, Hash: -1}}, "categorical.hash is -1, want 1 to 2147483647"},
		{Column{Categorical: &CategoricalOptions{Names: []string{"x"}, Hash: 3, MinCount: 2}}, "has min_count 2"},
		{Column{Categorical: &CategoricalOptions{Names: []string{"x"}, Vocabulary: "auto", Unknown: "skip"}}, `categorical.unknown is "skip", want bucket or error`},
		{Column{Categorical: &CategoricalOptions{Names: []string{"x"}, Vocabulary: "none.txt"}}, "vocabulary: no such file"},
		{Column{Categorical: &CategoricalOptions{Names: []string{"x", "x"}, Hash: 3}}, "makes hash of x, which another item does"},
		{Column{Categorical: &CategoricalOptions{Names: []string{"x"}, Hash: maxIDs}}, "want at most 2147483647 in all"},
		{Column{IDs: &IDsOptions{Names: []string{"ids"}}}, "ids.size is 0, want 1 to 2147483647"},
		{Column{Cross: &CrossOptions{Of: []string{"a"}, Hash: 3}}, "cross is of 1 column,"},
		{Column{Cross: &CrossOptions{Of: []string{"a", "nobody"}, Hash: 3}}, "cross is of nobody, want columns that are categorical"},
		{Column{Cross: &CrossOptions{Of: []string{"a", "aa"}, Hash: 3}}, "cross is of aa (did you mean a?), want columns that are categorical"},
		{Column{Cross: &CrossOptions{Of: []string{"a", "a"}}}, "cross.hash is 0, want 1 to 2147483647"},
	} {
		columns := []Column{{Categorical: &CategoricalOptions{Names: []string{"a"}, Hash: 5}}, tt.item, {Key: &KeyOptions{}}}
		_, err := Compile(columns, func(string) ([]string, error) { return nil, errors.New("no such file") })
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "input.columns.2.key has no names") || exitcode.Of(err) != exitcode.Usage {
			t.Errorf("error %v, want %q and the fault of item 2", err, tt.want)
		}
	}
	twice := []Column{{Key: &KeyOptions{Names: []string{"k", "l"}}}, {Key: &KeyOptions{Names: []string{"l"}}}}
	if _, err := Compile(twice, cities); err == nil || !strings.Contains(err.Error(), "input.columns.1.key names l, which is a key already") {
		t.Errorf("a key that is one twice: error %v", err)
	}
	if _, err := Compile([]Column{{Key: &KeyOptions{Names: []string{"k"}}}}, cities); err == nil || !strings.Contains(err.Error(), "want one or more") {
		t.Errorf("error %v of columns without a feature", err)
	}
}

// TestExpand verifies ranges of names.
func TestExpand(t *testing.T) {
	got, err := Expand([]string{"a", "C8..C11", "x08..x10", "n0..n1"})
	if want := []string{"a", "C8", "C9", "C10", "C11", "x08", "x09", "x10", "n0", "n1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestLearnInParts verifies that records cut anywhere into parts make the same vocabulary and the same bits of means and
// deviations, and that the plan keeps copies of texts.
func TestLearnInParts(t *testing.T) {
	devices := []string{"b", "a", "c", "a", "b", "z", "c", "", "a"}
	var want graph.Columns
	for cut := range len(devices) {
		p := compiled(t, clicksColumns())
		whole := NewLearner(p, input.Labels{Absent: true})
		parts := [2]*Part{whole.Part(0), whole.Part(1)}
		for i, device := range devices {
			l := parts[0]
			if i >= cut {
				l = parts[1]
			}
			cells := texts(p, map[string]string{"I1": fmt.Sprint(i * i), "I2": fmt.Sprint(-i), "device": device})
			if err := l.Learn(cells); err != nil {
				t.Fatal(err)
			}
			for _, c := range cells {
				clear(c.Text) // a reader's memory, which the next record gets
			}
		}
		whole.End(1)
		whole.End(0)
		if err := whole.Finish(); err != nil {
			t.Fatal(err)
		}
		got := p.Columns()
		if !slices.Equal(got.Bags[4].Vocabulary, []string{"a", "b", "c"}) {
			t.Errorf("cut=%d: vocabulary %q, want a, b, c: the most frequent first, and none that occurs once", cut, got.Bags[4].Vocabulary)
		}
		if cut == 0 {
			want = got
		}
		for i := range got.Dense {
			if got.Dense[i].Mean != want.Dense[i].Mean || got.Dense[i].Scale != want.Dense[i].Scale {
				t.Errorf("cut=%d: %+v, want %+v", cut, got.Dense[i], want.Dense[i])
			}
		}
	}
}

// TestAdopt verifies that a plan takes over what a model has learnt, and refuses a model of
// other columns.
func TestAdopt(t *testing.T) {
	saved, err := json.Marshal(learnt(t).Columns())
	if err != nil {
		t.Fatal(err)
	}
	var columns graph.Columns
	if err := json.Unmarshal(saved, &columns); err != nil {
		t.Fatal(err)
	}
	p := compiled(t, clicksColumns())
	if err := p.Adopt(columns); err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(p.Columns()); string(again) != string(saved) {
		t.Errorf("adopted %s, want %s", again, saved)
	}
	for name, change := range map[string]func(c []Column) []Column{
		"a field less":    func(c []Column) []Column { return slices.Delete(c, 8, 9) },
		"another hash":    func(c []Column) []Column { c[5].Categorical.Hash++; return c },
		"another default": func(c []Column) []Column { c[3].Numeric.Default = &Missing{Number: 1}; return c },
		"other ranges":    func(c []Column) []Column { c[4].Numeric.Buckets[1] = 20; return c },
		"unknown is well": func(c []Column) []Column { c[7].Categorical.Unknown = ""; return c },
	} {
		p := compiled(t, change(clicksColumns()))
		if err := p.Adopt(columns); err == nil || exitcode.Of(err) != exitcode.Usage {
			t.Errorf("case=%s: error %v, want one of usage", name, err)
		}
	}
}

// TestFinishRefuses verifies that there is nothing to learn from a record without texts, and
// that no record is left to the data set.
func TestFinishRefuses(t *testing.T) {
	strict := []Column{{Categorical: &CategoricalOptions{Names: []string{"a"}, Vocabulary: "auto", Unknown: "error"}}}
	for want, columns := range map[string][]Column{"column device has no text that occurs 2 times or more": clicksColumns(), "column a has no text that occurs 1 time or more": strict} {
		p := compiled(t, columns)
		l := NewLearner(p, input.Labels{Absent: true})
		if err := l.Finish(); err != nil {
			t.Errorf("error %v of no records", err)
		}
		if err := l.Part(0).Learn(texts(p, nil)); err != nil {
			t.Fatal(err)
		}
		l.End(0)
		if err := l.Finish(); err == nil || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v of an empty record, want %q", err, want)
		}
	}
}

// TestAllocations verifies that a record costs no allocation once the batch has grown.
func TestAllocations(t *testing.T) {
	p := learnt(t)
	r := NewRunner(p, input.Labels{Binary: true})
	cells := texts(p, map[string]string{
		"clicked": "1", "I1": "2", "I2": "5", "age": "25", "C1": "a", "C2": "b", "city": "Bern", "device": "phone", "ids": "3 49", "values": "0.5 -2",
	})
	var b input.Batch
	one := func() {
		b.Reset()
		if err := r.Append(&b, cells); err != nil {
			t.Fatal(err)
		}
	}
	one()
	if n := testing.AllocsPerRun(50, one); n != 0 {
		t.Errorf("%g allocations a record, want 0", n)
	}
}

// FuzzCells verifies that columns of all kinds make any texts an error or a whole example.
func FuzzCells(f *testing.F) {
	f.Add("1", "2", "a", "phone", "3 4", "1 2")
	f.Add("", "1e-400", "\xff", "", " 3", "")
	f.Fuzz(func(t *testing.T, label, number, text, device, ids, values string) {
		p := learnt(t)
		var b input.Batch
		err := NewRunner(p, input.Labels{Binary: true}).Append(&b, texts(p, map[string]string{
			"clicked": label, "I1": number, "age": number, "C1": text, "C2": number, "city": text, "device": device, "ids": ids, "values": values,
		}))
		if err != nil {
			if exitcode.Of(err) != exitcode.BadData {
				t.Errorf("error %v, want one of bad data", err)
			}
			return
		}
		c := p.Columns()
		if b.X.Bags.Examples() != 1 || b.X.Dense.Rows != 1 || len(b.Y) != 1 {
			t.Errorf("%d examples of ids, %d rows, %d labels, want 1 of each", b.X.Bags.Examples(), b.X.Dense.Rows, len(b.Y))
		}
		for k := range c.Bags {
			first, last := b.X.Bags.Start[k], b.X.Bags.Start[k+1]
			for _, id := range b.X.Bags.Slot[first:last] {
				if id < c.Bags[k].First || id >= c.Bags[k].First+c.Bags[k].Size {
					t.Errorf("field %s has the id %d", c.Bags[k].Name, id)
				}
			}
		}
	})
}
