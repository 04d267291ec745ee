package column

import (
	"math"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestMissingWords verifies which cells are missing where a column is a number, a range or a text, by default and by a
// list, that a word that is a number is any cell of this number, and that a list is instead of both defaults.
func TestMissingWords(t *testing.T) {
	for _, tt := range []struct {
		missing []string
		trim    bool
		cell    Cell
		number  float64 // 7: missing
		text    string  // "": missing
		counted int64
	}{
		{cell: Cell{Text: []byte("3")}, number: 3, text: "3"},
		{cell: Cell{Text: []byte(" \t3 ")}, number: 3, text: " \t3 "},
		{cell: Cell{}, number: 7, counted: 1},
		{cell: Cell{Text: []byte("NA")}, number: 7, text: "NA", counted: 1},
		{cell: Cell{Text: []byte(" <NA> ")}, number: 7, text: " <NA> ", counted: 1},
		{cell: Cell{Text: []byte(`\N`)}, number: 7, text: `\N`, counted: 1},
		{cell: Cell{Text: []byte("  ")}, number: 7, text: "  ", counted: 1},
		{trim: true, cell: Cell{Text: []byte("  ")}, number: 7, counted: 1},
		{trim: true, cell: Cell{Text: []byte(" 4 ")}, number: 4, text: "4"},
		{cell: Cell{Values: []float32{float32(math.NaN())}}, number: 7, counted: 1},
		{missing: []string{"-", "-999"}, cell: Cell{Text: []byte("-")}, number: 7, counted: 1},
		{missing: []string{"-", "-999"}, cell: Cell{Text: []byte("-999")}, number: 7, counted: 1},
		{missing: []string{"-", "-999"}, cell: Cell{Text: []byte("-999.0")}, number: 7, text: "-999.0", counted: 1},
		{missing: []string{"-", "-999"}, cell: Cell{Text: []byte("-99")}, number: -99, text: "-99"},
		{missing: []string{"-", "-999"}, cell: Cell{Values: []float32{-999}}, number: 7, counted: 1},
		{missing: []string{"-", "-999"}, cell: Cell{IDs: []int64{-999}}, number: 7, counted: 1},
	} {
		columns := []Column{
			{Numeric: &NumericOptions{Names: []string{"a"}, Default: &Missing{Number: 7}}},
			{Numeric: &NumericOptions{Names: []string{"a"}, Buckets: []float64{0}}},
			{Categorical: &CategoricalOptions{Names: []string{"a"}, Hash: 1000}},
		}
		if len(tt.cell.Values) > 0 {
			columns = columns[:2] // a float is no text
		}
		p := compiled(t, columns)
		p.SetMissing(tt.missing)
		p.Trim = tt.trim
		r := NewRunner(p, input.Labels{Absent: true})
		var b input.Batch
		if err := r.Append(&b, []Cell{tt.cell}); err != nil {
			t.Errorf("%q %+v: %v", tt.missing, tt.cell, err)
			continue
		}
		var want []uint32
		if tt.number != 7 {
			want = append(want, uint32(max(0, min(1, tt.number+1))))
		}
		if tt.text != "" {
			want = append(want, 2+bucket([]byte(tt.text), 1000))
		}
		if x := b.X.Dense.Row(0)[0]; x != float32(tt.number) || !slices.Equal(b.X.Bags.Slot, want) || b.Columns.Missing[0] != tt.counted {
			t.Errorf("%q trim=%t %+v: %g, ids %v, %d missing, want %g, %v, %d", tt.missing, tt.trim, tt.cell, x, b.X.Bags.Slot, b.Columns.Missing[0], tt.number, want, tt.counted)
		}
	}
}

// TestMissingWordsRefused verifies that a cell which is a word of the default list is no number where input.missing has
// a list of its own, and that a plan with another list than a model's does not adopt what it has learnt.
func TestMissingWordsRefused(t *testing.T) {
	p := compiled(t, meanColumns()[:1])
	p.SetMissing([]string{"-"})
	var b input.Batch
	err := NewRunner(p, input.Labels{Absent: true}).Append(&b, []Cell{{Text: []byte("NA")}})
	if want := `column a is "NA", want a number`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	usual := compiled(t, meanColumns()[:1])
	if err := p.Adopt(usual.Columns()); err == nil {
		t.Error("a plan of other words for missing adopts a model's")
	}
	for name, columns := range map[string][]Column{
		"decimal": {{Numeric: &NumericOptions{Names: []string{"a"}, Decimal: ",", Standardize: true}}},
		"layout":  {{Time: &TimeOptions{Names: []string{"d"}, Parts: []string{"days"}, Layout: "unix"}}},
		"trim":    {{Numeric: &NumericOptions{Names: []string{"a"}, Standardize: true}}},
	} {
		other := compiled(t, columns)
		was := other.Columns()
		was.Forms, was.Trim = nil, name == "trim"
		for i := range was.Dates {
			was.Dates[i].Layout = "auto"
		}
		if err := other.Adopt(was); err == nil || exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), name) {
			t.Errorf("case=%s: error %v, want one of usage that names it", name, err)
		}
	}
	learnt := usual.Columns()
	learnt.NumberWords = nil // an older model
	if err := p.Adopt(learnt); err != nil {
		t.Error(err)
	}
}

// TestMissed verifies the numbers of missing cells by column and word, over parts.
func TestMissed(t *testing.T) {
	p := compiled(t, []Column{{Numeric: &NumericOptions{Names: []string{"a"}, Default: &Missing{Mean: true}}}, {Categorical: &CategoricalOptions{Names: []string{"c"}, Hash: 9}}})
	l := NewLearner(p, input.Labels{Absent: true})
	for i, a := range []string{"1", "NA", "", " ", "?", "NA"} {
		if err := l.Part(i).Learn(texts(p, map[string]string{"a": a, "c": a})); err != nil {
			t.Fatal(err)
		}
		l.End(i)
	}
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	want := []Missed{{"a", 5, 6, []string{"2 empty", "2 NA", "1 ?"}}, {"c", 1, 6, []string{"1 empty"}}}
	if got := p.Missed(); !slices.EqualFunc(got, want, func(a, b Missed) bool {
		return a.Column == b.Column && a.Missing == b.Missing && a.Records == b.Records && slices.Equal(a.Words, b.Words)
	}) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
