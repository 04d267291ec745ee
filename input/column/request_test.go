package column

import (
	"fmt"
	"testing"

	"ringtrain/input"
)

// TestRequest verifies what a client sends of the cells of a record: numbers as float32 and without their form, words for missing
// not at all unless they are numbers, lists as they are, and texts unchanged.
func TestRequest(t *testing.T) {
	p, err := Compile([]Column{
		{Numeric: &NumericOptions{Names: []string{"n"}, Standardize: true}},
		{Numeric: &NumericOptions{Names: []string{"price"}, Decimal: ",", Strip: "$"}},
		{Categorical: &CategoricalOptions{Names: []string{"city"}, Hash: 9}},
		{Time: &TimeOptions{Names: []string{"at"}, Layout: "unix"}},
		{IDs: &IDsOptions{Names: []string{"ids"}, Values: "values", Size: 9}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.SetMissing([]string{"NA", "-1"})
	r := NewRunner(p, input.Labels{Absent: true})
	lists := []List{Floats, Floats, Texts, Integers, Integers, Floats}
	for _, tt := range []struct {
		at   int
		cell Cell
		want string
	}{
		{0, Cell{Text: []byte("0.1")}, "values [0.1]"},
		{0, Cell{Text: []byte(" 16777217 ")}, "values [1.6777216e+07]"},
		{0, Cell{Text: []byte("NA")}, ""},
		{0, Cell{Text: []byte("-1.0")}, "values [-1]"},
		{0, Cell{}, ""},
		{0, Cell{Text: []byte("x")}, ""},
		{0, Cell{IDs: []int64{7}}, "values [7]"},
		{0, Cell{Values: []float32{2.5}}, "values [2.5]"},
		{1, Cell{Text: []byte("$1,5")}, "values [1.5]"},
		{2, Cell{Text: []byte(" Bern ")}, `text " Bern "`},
		{2, Cell{IDs: []int64{7}}, `text "7"`},
		{2, Cell{Texts: [][]byte{[]byte("a"), []byte("b")}}, `texts ["a" "b"]`},
		{2, Cell{}, ""},
		{3, Cell{Text: []byte("1700000000.9")}, "ids [1700000000]"},
		{3, Cell{Text: []byte("NA")}, ""},
		{4, Cell{Text: []byte("3 5")}, "ids [3 5]"},
		{4, Cell{IDs: []int64{3, 5}}, "ids [3 5]"},
		{5, Cell{Text: []byte("0.5 2")}, "values [0.5 2]"},
	} {
		cells := make([]Cell, len(p.Inputs))
		cells[tt.at] = tt.cell
		if got := shown(r.Request(cells, lists)[tt.at]); got != tt.want {
			t.Errorf("%s of %s: %s, want %s", p.Inputs[tt.at], shown(tt.cell), got, tt.want)
		}
	}
	if sent := r.Request([]Cell{{Text: []byte("1")}, {}, {}, {}, {}, {}}, make([]List, len(lists))); shown(sent[0]) != "" {
		t.Errorf("a column that is not sent is %s", shown(sent[0]))
	}
}

// shown returns what a cell has.
func shown(c Cell) string {
	switch {
	case len(c.Values) > 0:
		return fmt.Sprintf("values %v", c.Values)
	case len(c.IDs) > 0:
		return fmt.Sprintf("ids %v", c.IDs)
	case len(c.Texts) > 0:
		return fmt.Sprintf("texts %q", c.Texts)
	case len(c.Text) > 0:
		return fmt.Sprintf("text %q", c.Text)
	}
	return ""
}
