package tfrecord_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/tfrecord"
	"ringtrain/model/graph"
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
		example(entry("y", floats(0)), entry("n", ints(4)), entry("city", text("Uri")), entry("city", text("Bern")), entry("key", ints(7))),
		example(entry("y", ints(0)), entry("city", text()), entry("ids")))
	d, err := tfrecord.OpenColumns([]string{name}, tfrecord.Config{Labels: input.Labels{Binary: true}}, columnsOf(t))
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
	c := d.(interface{ Columns() graph.Columns }).Columns()
	if c.Dense[0].Mean != 2 || !slices.Equal(c.Bags[0].Vocabulary, []string{"Bern"}) || d.Features() != 12 {
		t.Errorf("learnt %+v", c)
	}
	if !slices.Equal(b.Y, []float32{1, 0, 0}) || !slices.Equal(b.Keys, []string{"a", "7", ""}) || b.X.Dense.Data[0] != 0 {
		t.Errorf("labels %v, keys %q, numbers %v", b.Y, b.Keys, b.X.Dense.Data)
	}
	if want := []uint32{0, 5, 6, 0}; !slices.Equal(b.X.Bags.Slot, want) {
		t.Errorf("ids %v, want %v: of the last feature by a name, and none where it is empty", b.X.Bags.Slot, want)
	}
}

// TestBadColumns verifies that the error of a bad record has its position.
func TestBadColumns(t *testing.T) {
	good := []([]byte){entry("y", ints(1)), entry("n", floats(2)), entry("city", text("Bern"))}
	for want, bad := range map[string][]byte{
		"column n is a list of 2, want one value":       entry("n", floats(1, 2)),
		`feature "city": 2 texts, want one`:             entry("city", text("a", "b")),
		"column city is a float, want a text":           entry("city", floats(1)),
		`column n is "two", want a number`:              entry("n", text("two")),
		"column ids has the id 10, want one in [0, 10)": entry("ids", ints(10)),
		"not a tf.Example":                              {0xff},
	} {
		c := columnsOf(t)
		c.Learn = false
		p, err := c.Plan.Columns(), error(nil)
		p.Bags[0].Vocabulary, p.Bags[0].Size = []string{"Bern"}, 2
		p.Bags[1].First = 2
		if err = c.Plan.Adopt(p); err != nil {
			t.Fatal(err)
		}
		all := append(slices.Clone(good), bad)
		if want == "column ids has the id 10, want one in [0, 10)" {
			all = append(all, entry("values", floats(1)))
		}
		d, err := tfrecord.OpenColumns([]string{write(t, example(good...), example(all...))}, tfrecord.Config{Labels: input.Labels{Binary: true}}, c)
		if err != nil {
			t.Fatal(err)
		}
		var b input.Batch
		if err := d.Append(&b, 0); err != nil {
			t.Errorf("a good record: %v", err)
		}
		err = d.Append(&b, 1)
		if d.Close(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "record 1") || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("error %v, want %q", err, want)
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
	name, learnt := write(t, records...), ""
	for range 3 {
		c := columnsOf(t)
		d, err := tfrecord.OpenColumns([]string{name}, tfrecord.Config{Labels: input.Labels{Binary: true}}, c)
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
		got := fmt.Sprintf("%+v", c.Plan.Columns())
		if learnt != "" && got != learnt {
			t.Errorf("learnt %s, and then %s", learnt, got)
		}
		if learnt = got; len(c.Plan.Columns().Bags[0].Vocabulary) != 5 {
			t.Errorf("learnt %s, want 5 texts", got)
		}
	}
}

// TestLearnTolerates verifies that a bad record ends the learning unless it is
// tolerated.
func TestLearnTolerates(t *testing.T) {
	name := write(t, example(entry("y", ints(1)), entry("n", floats(2)), entry("city", text("Bern"))), example(entry("n", text("two"))))
	for _, tolerate := range []bool{false, true} {
		c := columnsOf(t)
		c.Tolerate = tolerate
		d, err := tfrecord.OpenColumns([]string{name}, tfrecord.Config{Labels: input.Labels{Binary: true}}, c)
		if tolerate != (err == nil) {
			t.Errorf("tolerate=%t: error %v", tolerate, err)
		}
		if err == nil {
			d.Close()
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
	d, err := tfrecord.OpenColumns(files, tfrecord.Config{}, tfrecord.Columns{Plan: p, Learn: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var b input.Batch
	for i := range d.Len() {
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
	}
	if c := p.Columns(); !slices.Contains(c.Bags[0].Vocabulary, "Cash") || !slices.Contains(c.Bags[0].Vocabulary, "Credit Card") || c.Dense[0].Mean < 5 || c.Dense[0].Mean > 30 {
		t.Errorf("learnt of %d rides: %+v", d.Len(), c)
	}
}
