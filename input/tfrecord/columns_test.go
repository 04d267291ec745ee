package tfrecord_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// text returns a feature of bytes.
func text(values ...string) []byte {
	var list []byte
	for _, v := range values {
		list = append(list, message(1, []byte(v))...)
	}
	return message(1, list)
}

func columnsOf(t testing.TB) tfrecord.Columns {
	t.Helper()
	p, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"y"}}},
		{Key: &column.KeyOptions{Names: []string{"key"}}},
		{Numeric: &column.NumericOptions{Names: []string{"n"}, Standardize: true}},
		{Categorical: &column.CategoricalOptions{Names: []string{"city"}, Vocabulary: "auto"}},
		{IDs: &column.IDsOptions{Names: []string{"ids"}, Values: "values", Size: 10}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tfrecord.Columns{Plan: p, Learn: true}
}

// TestColumns verifies records of texts, numbers of both kinds, lists, and missing
// values.
func TestColumns(t *testing.T) {
	name := write(t,
		example(entry("y", ints(1)), entry("n", floats(2)), entry("city", text("Bern")), entry("ids", ints(3, 4)), entry("values", floats(0.5, 2)), entry("key", text("a")), entry("other", text("x", "y"))),
		example(entry("y", floats(0)), entry("n", ints(4)), entry("city", text("Bern")), entry("key", ints(7))),
		example(entry("y", ints(0)), entry("city", text()), entry("ids")))
	columns := columnsOf(t)
	d, err := tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{Labels: input.Labels{Binary: true}}, columns)
	if err == nil {
		defer d.Close()
	}
	b := input.Batch{WantKeys: true}
	for i := range 3 {
		if err == nil {
			err = d.Append(&b, i)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	c := columns.Plan.Columns()
	if c.Dense[0].Mean != 2 || !slices.Equal(c.Bags[0].Vocabulary, []string{"Bern"}) || d.Facts().Features != 12 {
		t.Errorf("learnt %+v", c)
	}
	if !slices.Equal(b.Y, []float32{1, 0, 0}) || !slices.Equal(b.Keys, []string{"a", "7", ""}) || b.X.Dense.Data[0] != 0 {
		t.Errorf("labels %v, keys %q, numbers %v", b.Y, b.Keys, b.X.Dense.Data)
	}
	if want := []uint32{0, 5, 6, 0}; !slices.Equal(b.X.Bags.Slot, want) {
		t.Errorf("ids %v, want %v: none where the list is empty", b.X.Bags.Slot, want)
	}
}

// TestLists verifies that a column that is categorical alone takes lists of texts and of int64, and that what
// one record has does not stay for the next.
func TestLists(t *testing.T) {
	name := write(t,
		example(entry("y", ints(1)), entry("tags", text("b", "", "a", "b"))),
		example(entry("y", ints(0)), entry("tags", text("a"))),
		example(entry("y", ints(0))),
		example(entry("y", ints(0)), entry("tags", ints(7, 8))))
	p, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"y"}}},
		{Categorical: &column.CategoricalOptions{Names: []string{"tags"}, Vocabulary: "auto"}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for at := range p.Inputs {
		p.TakeList(at)
	}
	d, err := tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{Labels: input.Labels{Binary: true}}, tfrecord.Columns{Plan: p, Learn: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var b input.Batch
	for i := range 4 {
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.Columns().Bags[0].Vocabulary; !slices.Equal(got, []string{"a", "b", "7", "8"}) {
		t.Errorf("vocabulary %q", got)
	}
	if x := &b.X.Bags; !slices.Equal(x.Slot, []uint32{1, 0, 1, 0, 2, 3}) || !slices.Equal(x.Start, []int32{0, 3, 4, 4, 6}) {
		t.Errorf("ids %v in bags from %v", x.Slot, x.Start)
	}
}

// features are the entries of a record by name.
type features map[string][]byte

// example encodes the features in the order of their names.
func (f features) example() []byte {
	var all [][]byte
	for _, name := range slices.Sorted(maps.Keys(f)) {
		all = append(all, entry(name, f[name]))
	}
	return example(all...)
}

// with returns f with other features in place of some.
func (f features) with(other features) features {
	all := maps.Clone(f)
	maps.Copy(all, other)
	return all
}

var goodColumns = features{
	"y": ints(1), "n": floats(2), "city": text("Bern"), "ids": ints(3, 4), "values": floats(0.5, 2), "key": text("a"),
}

// TestBadColumns verifies that the error of a record that contradicts its columns has its position, the
// feature, the kind found and the kinds wanted, and that other features may be anything.
func TestBadColumns(t *testing.T) {
	for _, tt := range []struct {
		bad  features
		want string // "" for a good record
	}{
		{features{"n": floats(1, 2)}, "column n is a list of 2, want one value"},
		{features{"y": ints(1, 0)}, "column y is a list of 2, want one value"},
		{features{"n": text("two")}, `column n is "two", want a number`},
		{features{"n": text("1", "2")}, "column n is a list of 2, want one value"},
		{features{"city": text("a", "b")}, "column city is a list of 2, want one value"},
		{features{"city": floats(1)}, "column city is a float, want a text or an integer"},
		{features{"key": floats(1)}, "column key is a float, want a text or an integer"},
		{features{"ids": floats(3, 4)}, "column ids is a list of floats, want a list of int64"},
		{features{"values": ints(1, 2)}, "column values is a list of int64, want a list of floats"},
		{features{"values": text("0.5 2")}, "column values has 0 values for 2 ids, want as many"},
		{features{"ids": text("3 4")}, "column values has 2 values for 0 ids, want as many"},
		{features{"ids": nil}, "column values has 2 values for 0 ids, want as many"},
		{features{"values": nil}, "column values has 0 values for 2 ids, want as many"},
		{features{"values": floats(1)}, "column values has 1 value for 2 ids, want as many"},
		{features{"ids": ints(3, 10)}, "column ids has the id 10, want one in [0, 10)"},

		{features{"n": text("2.5"), "y": text("1"), "ids": text("3 4"), "values": text("0.5 2")}, ""},
		{features{"n": ints(2), "y": floats(0), "city": ints(7), "key": ints(8)}, ""},
		{features{"city": ints(), "n": text(), "ids": floats(), "values": ints()}, ""},
		{features{"other": append(ints(1), floats(2)...), "others": {0xff}}, ""},
	} {
		c := columnsOf(t)
		c.Learn = false
		p := c.Plan.Columns()
		p.Bags[0].Vocabulary, p.Bags[0].Size, p.Bags[1].First = []string{"Bern"}, 2, 2
		if err := c.Plan.Adopt(p); err != nil {
			t.Fatal(err)
		}
		d, err := tfrecord.OpenColumns(t.Context(), []string{write(t, goodColumns.example(), goodColumns.with(tt.bad).example())}, tfrecord.Config{Labels: input.Labels{Binary: true}}, c)
		if err != nil {
			t.Fatal(err)
		}
		b := input.Batch{WantKeys: true}
		if err := d.Append(&b, 0); err != nil {
			t.Errorf("a good record: %v", err)
		}
		err = d.Append(&b, 1)
		d.Close()
		if tt.want == "" && err != nil {
			t.Errorf("%q: error %v", tt.bad, err)
		} else if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "record 1 at byte ") || exitcode.Of(err) != exitcode.BadData) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// TestLearnColumns verifies that learning from several parts gives the same bits each
// time.
func TestLearnColumns(t *testing.T) {
	var records [][]byte
	for i := range 10000 {
		records = append(records, example(entry("y", ints(int64(i%2))), entry("n", floats(1/float32(i+1))), entry("city", text(fmt.Sprint(i%5)))))
	}
	records[9000] = goodColumns.with(features{"city": text("4")}).example()
	name, learnt := write(t, records...), ""
	for range 3 {
		c := columnsOf(t)
		d, err := tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{Labels: input.Labels{Binary: true}}, c)
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
		got := fmt.Sprintf("%+v", c.Plan.Columns())
		if learnt != "" && got != learnt {
			t.Errorf("learnt %s, and then %s", learnt, got)
		}
		learnt = got
		if len(c.Plan.Columns().Bags[0].Vocabulary) != 5 {
			t.Errorf("learnt %s, want 5 texts", got)
		}
	}
}

// TestLearnTolerates verifies that a bad record ends the learning unless it is
// tolerated, and that the error is that of the first record if all are bad.
func TestLearnTolerates(t *testing.T) {
	name := write(t, goodColumns.example(), goodColumns.with(features{"n": text("two")}).example())
	for _, tolerate := range []bool{false, true} {
		c := columnsOf(t)
		d, err := tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{Labels: input.Labels{Binary: true}, Tolerate: tolerate}, c)
		if tolerate != (err == nil) {
			t.Errorf("tolerate=%t: error %v", tolerate, err)
		}
		if err == nil {
			d.Close()
		}
		bad := goodColumns.with(features{"y": text("many")}).example()
		_, err = tfrecord.OpenColumns(t.Context(), []string{write(t, bad, bad)}, tfrecord.Config{Tolerate: tolerate}, columnsOf(t))
		if want := `record 0 at byte 0: column y is "many"`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("tolerate=%t, all records are bad: error %v, want %q", tolerate, err, want)
		}
	}
}

// TestTaxi verifies texts, floats and integers of records written by TensorFlow
// Extended.
func TestTaxi(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "taxi", "*.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, error %v", files, err)
	}
	p, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"tips"}}},
		{Numeric: &column.NumericOptions{Names: []string{"fare", "trip_miles"}, Standardize: true}},
		{Categorical: &column.CategoricalOptions{Names: []string{"payment_type"}, Vocabulary: "auto"}},
		{Categorical: &column.CategoricalOptions{Names: []string{"trip_start_hour"}, Hash: 100}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := tfrecord.OpenColumns(t.Context(), files, tfrecord.Config{}, tfrecord.Columns{Plan: p, Learn: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var b input.Batch
	for i := range d.Facts().Records {
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
	}
	if c := p.Columns(); !slices.Contains(c.Bags[0].Vocabulary, "Cash") || !slices.Contains(c.Bags[0].Vocabulary, "Credit Card") || c.Dense[0].Mean < 5 || c.Dense[0].Mean > 30 {
		t.Errorf("learnt of %d rides: %+v", d.Facts().Records, c)
	}
}

// TestSplitByFeature verifies that a split by a feature puts a record into the part of its value, a number as text has
// it, that a record without one trains, and that a name that no record has is an error.
func TestSplitByFeature(t *testing.T) {
	share := 0.5
	split := input.Split{Share: &share, By: "who"}
	values := [][]byte{text("a"), text("b"), ints(7), floats(2.5), text(), ints(1, 2), text("c"), text("a")}
	texts := []string{"a", "b", "7", "2.5", "", "", "c", "a"}
	want := split.Parts(len(values))
	var records [][]byte
	for i, v := range values {
		records = append(records, example(entry("y", ints(1)), entry("n", floats(2)), entry("city", text("Bern")), entry("ids", ints(3)), entry("values", floats(1)), entry("key", text("k")), entry("who", v)))
		want.PutCell(i, []byte(texts[i]))
	}
	name := write(t, records...)
	config := tfrecord.Config{Labels: input.Labels{Binary: true}, Split: split}
	d, err := tfrecord.OpenColumns(t.Context(), []string{name}, config, columnsOf(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	parts := d.Facts().Parts
	for i, text := range texts {
		if parts.Trains(i) != want.Trains(i) {
			t.Errorf("record %d, %q, is in another part", i, text)
		}
	}
	if parts.Without() != 2 {
		t.Errorf("%d records without a value, want 2", parts.Without())
	}
	config.Split.By = "woh"
	_, err = tfrecord.OpenColumns(t.Context(), []string{name}, config, columnsOf(t))
	if err == nil || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), `no feature woh in 8 records, which input.split.by names (did you mean who?)`) {
		t.Errorf("error %v of a feature that is not there", err)
	}
}

// TestWidthOfTraining verifies that the number of features is that of the records that are not held out, and that ids
// beyond it, with their values, are left out of those that are.
func TestWidthOfTraining(t *testing.T) {
	share := 0.5
	split := input.Split{Share: &share}
	parts := split.Parts(40)
	var records [][]byte
	for i := range 40 {
		id := int64(3)
		if !parts.Trains(i) {
			id = 100
		}
		records = append(records, example(entry("label", floats(1)), entry("ids", ints(id, 1)), entry("values", floats(7, 8))))
	}
	d, err := tfrecord.Open(t.Context(), []string{write(t, records...)}, tfrecord.Config{Label: "label", IDs: "ids", Values: "values", Labels: input.Labels{Binary: true}, Split: split})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if n := d.Facts().Features; n != 4 {
		t.Errorf("%d features, want 4", n)
	}
	for i := range 40 {
		var b input.Batch
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
		ids, values := []uint32{1}, []float32{8}
		if parts.Trains(i) {
			ids, values = []uint32{3, 1}, []float32{7, 8}
		}
		if !slices.Equal(b.X.Bags.Slot, ids) || !slices.Equal(b.X.Bags.Weights, values) {
			t.Errorf("record %d has the ids %v and values %v, want %v and %v", i, b.X.Bags.Slot, b.X.Bags.Weights, ids, values)
		}
	}
}
