package tfrecord_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// planOf has a column of each way to read a feature, of which names replaces some. It learns nothing.
func planOf(t testing.TB, names map[string]string) *column.Plan {
	t.Helper()
	of := func(name string) []string {
		if other := names[name]; other != "" {
			name = other
		}
		return []string{name}
	}
	p, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: of("y")}},
		{Weight: &column.WeightOptions{Names: of("weight")}},
		{Key: &column.KeyOptions{Names: of("key")}},
		{Numeric: &column.NumericOptions{Names: of("n")}},
		{Numeric: &column.NumericOptions{Names: of("age"), Buckets: []float64{18}}},
		{Categorical: &column.CategoricalOptions{Names: of("city"), Hash: 10}},
		{IDs: &column.IDsOptions{Names: of("ids"), Values: of("values")[0], Size: 10}},
		{Ignore: &column.IgnoreOptions{Names: []string{"nowhere"}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var allFeatures = goodColumns.with(features{"weight": floats(1), "age": ints(20)})

// TestAbsentFeatures verifies that a name that no training record has is an error that names it, the
// number of records, the key and the nearest name, for each use of a feature; that records which are
// not those of training may lack it; and that a feature may be empty, or in the last record alone.
func TestAbsentFeatures(t *testing.T) {
	records := slices.Repeat([][]byte{allFeatures.example()}, 40)
	name := write(t, records...)
	for was, typo := range map[string]string{
		"y": "yy", "weight": "wieght", "key": "keys", "n": "m", "age": "aeg", "city": "citi", "ids": "idz", "values": "value",
	} {
		names := map[string]string{was: typo}
		_, err := tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{}, tfrecord.Columns{Plan: planOf(t, names), Learn: true})
		want := fmt.Sprintf("no feature %s in 40 records, which input.columns names", typo)
		if len(was) > 2 && was != "weight" && was != "age" {
			want += fmt.Sprintf(" (did you mean %s?)", was)
		}
		if was == "ids" && err != nil && !strings.Contains(err.Error(), "record 0 at byte 0: column values has 2 values for 0 ids") {
			t.Errorf("values without ids: error %v, want the record, too", err)
		}
		if err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("%s for %s: error %v, want %q", typo, was, err, want)
		}
		d, err := tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{}, tfrecord.Columns{Plan: planOf(t, names)})
		if err != nil {
			t.Errorf("%s for %s in other records: %v", typo, was, err)
			continue
		}
		d.Close()
	}
	bad := allFeatures.with(features{"extra": text("x"), "y": text("x")}).example()
	_, err := tfrecord.OpenColumns(t.Context(), []string{write(t, append(slices.Clone(records), bad)...)}, tfrecord.Config{Tolerate: true}, tfrecord.Columns{Plan: planOf(t, map[string]string{"city": "extra"}), Learn: true})
	if err == nil || !strings.Contains(err.Error(), "no feature extra in the good ones of 41 records") {
		t.Errorf("a name that a bad record alone has: error %v", err)
	}
	for what, last := range map[string]features{"empty": {"extra": nil}, "rare": {"extra": text("x")}} {
		name := write(t, append(slices.Clone(records), allFeatures.with(last).example())...)
		d, err := tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{}, tfrecord.Columns{Plan: planOf(t, map[string]string{"city": "extra"}), Learn: true})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		d.Close()
	}
}

// TestAbsentNames verifies that a label, ids or values that no record has are an error that names them and
// the nearest name, also without input.columns, and whether bad records are tolerated or not.
func TestAbsentNames(t *testing.T) {
	sparseRecord := example(entry("label", ints(1)), entry("ids", ints(3)), entry("values", floats(2)))
	denseRecord := example(entry("label", ints(1)), entry("features", floats(2)))
	for _, tt := range []struct {
		config tfrecord.Config
		record []byte
		want   string
	}{
		{tfrecord.Config{Label: "lable"}, sparseRecord, `no feature "lable" (did you mean label?): there are ["ids" "label" "values"]`},
		{tfrecord.Config{IDs: "id"}, sparseRecord, `no feature "id" (did you mean ids?): there are`},
		{tfrecord.Config{Values: "valves"}, sparseRecord, `no feature "valves" (did you mean values?): there are`},
		{tfrecord.Config{Dense: true, Values: "feature"}, denseRecord, `no feature "feature" (did you mean features?): there are`},
		{tfrecord.Config{Dense: true, Label: "y"}, denseRecord, `no feature "y": there are ["features" "label"]`},
	} {
		for _, tt.config.Tolerate = range []bool{false, true} {
			_, err := tfrecord.Open(t.Context(), []string{write(t, tt.record, tt.record)}, tt.config)
			if err == nil || !strings.Contains(err.Error(), "record 0 at byte 0: "+tt.want) || exitcode.Of(err) != exitcode.BadData {
				t.Errorf("tolerate=%t: error %v, want %q", tt.config.Tolerate, err, tt.want)
			}
		}
	}
}

// TestTolerates verifies that Open passes over bad records if they are tolerated, the first record
// among them, on each way to read records: while it searches names, learns, and counts features. It
// verifies that the error is that of the first bad record if they are not, or if all are bad.
func TestTolerates(t *testing.T) {
	sparseRecord := example(entry("label", ints(1)), entry("ids", ints(3)), entry("values", floats(2)))
	denseRecord := example(entry("label", ints(1)), entry("features", floats(2, 5)))
	ways := map[string]struct {
		record []byte
		open   func(name string, tolerate bool) (input.Dataset, error)
	}{
		"ids": {sparseRecord, func(name string, tolerate bool) (input.Dataset, error) {
			return tfrecord.Open(t.Context(), []string{name}, tfrecord.Config{Tolerate: tolerate})
		}},
		"dense": {denseRecord, func(name string, tolerate bool) (input.Dataset, error) {
			return tfrecord.Open(t.Context(), []string{name}, tfrecord.Config{Dense: true, Tolerate: tolerate})
		}},
		"columns": {goodColumns.example(), func(name string, tolerate bool) (input.Dataset, error) {
			return tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{Tolerate: tolerate}, columnsOf(t))
		}},
	}
	for way, w := range ways {
		good := framed(w.record)
		broken := flip(slices.Clone(good), -1)
		for what, bad := range map[string][]byte{"checksum": broken, "sequence": framed(message(2)), "no example": framed([]byte{0xff})} {
			for at := range 3 {
				files := [][]byte{good, good, good}
				files[at] = bad
				name := save(t, slices.Concat(files...))
				d, err := w.open(name, true)
				if err != nil {
					t.Errorf("%s: %s in record %d: %v", way, what, at, err)
					continue
				}
				want := map[string]int{"ids": 4, "dense": 2, "columns": 12}[way]
				var b input.Batch
				if d.Facts().Features != want || d.Append(&b, (at+1)%3) != nil {
					t.Errorf("%s: %s in record %d: %d features, want %d", way, what, at, d.Facts().Features, want)
				}
				d.Close()
				if _, err := w.open(name, false); way != "dense" || at == 0 { // a dense row tells the width of all
					if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("record %d at byte", at)) || exitcode.Of(err) != exitcode.BadData {
						t.Errorf("%s: %s in record %d: error %v, want one of it", way, what, at, err)
					}
				}
			}
			if _, err := w.open(save(t, slices.Concat(bad, bad)), true); err == nil || !strings.Contains(err.Error(), "record 0 at byte 0: ") {
				t.Errorf("%s: %s in all records: error %v, want that of record 0", way, what, err)
			}
		}
	}
}

// TestSharedSearch verifies that the ranks find a feature together that the first records of large files
// lack, and that a feature which no part has is the same error on each rank.
func TestSharedSearch(t *testing.T) {
	filler := example(entry("y", ints(1)), entry("pad", text(strings.Repeat(" ", 4<<10))))
	const n = 5000 // 20 MiB, more than a rank searches alone
	records := slices.Repeat([][]byte{filler}, n)
	records[n-2] = example(entry("y", ints(0)), entry("city", text("Bern")))
	name := write(t, records...)
	for wanted, fault := range map[string]string{"city": "", "citi": `no feature citi in 5000 records, which input.columns names; there are ["pad" "y"]`} {
		for parts := range 4 {
			p, err := column.Compile([]column.Column{
				{Label: &column.LabelOptions{Names: []string{"y"}}}, {Categorical: &column.CategoricalOptions{Names: []string{wanted}, Hash: 10}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			d, err := tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{}, tfrecord.Columns{Plan: p, Learn: true, Share: parts > 0})
			if parts == 0 { // alone
				wantFault(t, err, fault)
				if err == nil {
					d.Close()
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			s := d.Facts().Counting
			if s == nil || !d.Facts().IsShared() || strings.HasSuffix(d.Facts().Manifest[0], " 5000") {
				t.Fatalf("counted=%t, manifest %q, want what is left to be searched", s == nil, d.Facts().Manifest)
			}
			var all [][]byte
			for part := range parts {
				found, err := s.CountShare(t.Context(), nil, part, parts)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, found)
			}
			if s.JoinCounts(append(slices.Clone(all), nil)) == nil {
				t.Error("a part without columns is no error")
			}
			wantFault(t, s.JoinCounts(all), fault)
			if fault == "" && (d.Facts().Counting != nil || !strings.HasSuffix(d.Facts().Manifest[0], " 5000")) {
				t.Errorf("counted=%t, manifest %q, want all", d.Facts().Counting == nil, d.Facts().Manifest)
			}
			d.Close()
		}
	}
}

func wantFault(t testing.TB, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.BadData) {
		t.Errorf("error %v, want %q", err, want)
	}
}
