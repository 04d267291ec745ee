package convert

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/tensor"
	"ringtrain/ring/exitcode"
)

// unlabelled has a spec of each format of text and its records: with a label (and a weight), with a
// label that no model takes, and without either.
func unlabelled(t *testing.T) []struct {
	name                  string
	spec                  Spec
	labelled, odd, absent string
} {
	plan := func(columns ...column.Column) *column.Plan {
		p, err := column.Compile(append(columns,
			column.Column{Label: &column.LabelOptions{Names: []string{"y"}}},
			column.Column{Numeric: &column.NumericOptions{Names: []string{"a"}}},
			column.Column{Categorical: &column.CategoricalOptions{Names: []string{"c"}, Hash: 50}},
			column.Column{Weight: &column.WeightOptions{Names: []string{"w"}}},
			column.Column{Ignore: &column.IgnoreOptions{Names: []string{"z"}}},
		), nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return []struct {
		name                  string
		spec                  Spec
		labelled, odd, absent string
	}{
		{"csv", Spec{Origin: Origin{Format: "csv"}, Columns: plan()}, "1,2,x,1,\n0,3,\"y,\",2,z\n", "?,2,x,NA,\n5,3,\"y,\",-1,z\n", "2,x,\n3,\"y,\",z\n"},
		{"csv, some lines with a label", Spec{Origin: Origin{Format: "csv"}, Columns: plan()}, "1,2,x,1,\n0,3,y,2,z\n", "?,2,x,NA,\n5,3,y,-1,z\n", "2,x,\n5,3,y,-1,z\n"},
		{"csv with a header", Spec{Origin: Origin{Format: "csv", Header: true}, Columns: plan()}, "y,a,c,w,z\n1,2,x,1,\n", "y,a,c,w\n?,2,x,NA\n", "c,a\nx,2\n"},
		{"csv with a weight alone", Spec{Origin: Origin{Format: "csv", Header: true}, Columns: plan()}, "y,a,c,w,z\n1,2,x,1,\n", "a,c,w\n2,x,?\n", "c,a\nx,2\n"},
		{"tsv", Spec{Origin: Origin{Format: "csv", Separator: "tab"}, Columns: plan()}, "1\t2\tx\t1\tz\n", "?\t2\tx\tNA\tz\n", "2\tx\tz\n"},
		{"criteo", Spec{Origin: Origin{Format: "criteo"}, Columns: plan()}, "1\t2\tx\t1\tz\n", "?\t2\tx\tNA\tz\n", "2\tx\tz\n"},
		{"libsvm", Spec{Origin: Origin{Format: "libsvm"}, Features: 9}, "1 3:1 4:0.5\n-1 5:2\n", "? 3:1 4:0.5\n5 5:2\n", "3:1 4:0.5\n  5:2\n"},
		{"libsvm with queries", Spec{Origin: Origin{Format: "libsvm"}, Features: 9}, "1 qid:2 3:1\n", "NA qid:2 3:1\n", "qid:2 3:1\n"},
		{"libsvm, dense", Spec{Origin: Origin{Format: "libsvm"}, Features: 9, Dense: true}, "1 3:1 4:0.5\n", "x 3:1 4:0.5\n", "3:1 4:0.5 # 1\n"},
		{"libffm", Spec{Origin: Origin{Format: "libffm"}, Features: 9, Fields: 3}, "1 0:3:1 2:4:0.5\n", "5 0:3:1 2:4:0.5\n", "0:3:1 2:4:0.5\n"},
		{"vw", Spec{Origin: Origin{Format: "vw"}, Features: 64}, "1 2 tag|a b c:3\n", "? -3 x 'tag|a b c:3\n", "|a b c:3\n"},
	}
}

// TestUnlabelled verifies for each format of text that records to predict need neither label nor
// weight, and that one that is there is not looked at: the features are equal, the label is 0.
func TestUnlabelled(t *testing.T) {
	read := func(s Spec, text string, rule input.Labels) (x tensor.Features, err error) {
		name := filepath.Join(t.TempDir(), "records.txt")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		s.Files, s.LabelRule, s.Cache = []string{name}, rule, CacheOff
		d, err := Open(t.Context(), s)
		if err != nil {
			return x, err
		}
		defer d.Close()
		var b input.Batch
		for i := range d.Facts().Records {
			if err := d.Append(&b, i); err != nil {
				return x, err
			}
			if y := b.Y[i]; rule.Absent && y != 0 || rule.Absent && len(b.Importance) > 0 {
				t.Errorf("label %g and weights %v of a record to predict, want none", y, b.Importance)
			}
		}
		return b.X, nil
	}
	tried := map[FormatName]bool{}
	for _, tt := range unlabelled(t) {
		tried[tt.spec.Format] = true
	}
	wantEach(t, tried, Format.IsText)
	for _, tt := range unlabelled(t) {
		binary, absent := input.Labels{Binary: true}, input.Labels{Binary: true, Absent: true}
		want, err := read(tt.spec, tt.labelled, binary)
		if err != nil {
			t.Fatalf("case=%s: %v", tt.name, err)
		}
		for _, text := range []string{tt.labelled, tt.odd, tt.absent} {
			got, err := read(tt.spec, text, absent)
			if err != nil || !reflect.DeepEqual(got.Dense, want.Dense) || !reflect.DeepEqual(got.Bags, want.Bags) {
				t.Errorf("case=%s: %q: %+v, error %v, want %+v", tt.name, text, got, err, want)
			}
			s := tt.spec
			s.LabelRule = absent
			wantPiped(t, s, text)
			if text != tt.labelled && !strings.Contains(tt.name, "vw") {
				if _, err := read(tt.spec, text, binary); exitcode.Of(err) != exitcode.BadData {
					t.Errorf("case=%s: %q to train: error %v, want one of bad data", tt.name, text, err)
				}
			}
		}
	}
}

// TestUnlabelledImages verifies that a folder of images to predict may have folders of any names and
// number, or none, and that one to train may not.
func TestUnlabelledImages(t *testing.T) {
	for name, folders := range map[string][]string{"flat": {"."}, "one": {"x"}, "other names": {"a", "b", "c"}} {
		dir := t.TempDir()
		for i, folder := range folders {
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
				t.Fatal(err)
			}
			f, err := os.Create(filepath.Join(dir, folder, "image.png"))
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, &image.Gray{Pix: []byte{byte(51 * i)}, Stride: 1, Rect: image.Rect(0, 0, 1, 1)}); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		s := Spec{Origin: Origin{Format: "images", Images: dir}, Shape: []int{1, 1, 1}, LabelRule: input.Labels{Binary: true, Absent: true}}
		d, err := Open(t.Context(), s)
		if err != nil {
			t.Fatalf("case=%s: %v", name, err)
		}
		var b input.Batch
		for i := range d.Facts().Records {
			if err := d.Append(&b, i); err != nil {
				t.Fatal(err)
			}
		}
		if want := []float32{0, 0.2, 0.4}[:len(folders)]; !slices.Equal(b.X.Dense.Data, want) {
			t.Errorf("case=%s: pixels %v, want %v", name, b.X.Dense.Data, want)
		}
		d.Close()
		s.LabelRule.Absent = false
		if name == "one" {
			s.Names = []string{"y"}
		}
		if _, err := Open(t.Context(), s); exitcode.Of(err) != exitcode.BadData {
			t.Errorf("case=%s: to train: error %v, want one of bad data", name, err)
		}
	}
}

// TestFieldsToPredict verifies that a line with another number of fields than with or without label and
// weight is an error with both numbers, and that one to train has only one number.
func TestFieldsToPredict(t *testing.T) {
	for _, tt := range unlabelled(t)[:1] {
		for _, line := range []string{"2\n", "1,2,x,1\n", "1,2,x,1,q,q\n"} {
			name := filepath.Join(t.TempDir(), "records.txt")
			if err := os.WriteFile(name, []byte(line), 0o666); err != nil {
				t.Fatal(err)
			}
			tt.spec.Files, tt.spec.Cache = []string{name}, CacheOff
			tt.spec.LabelRule = input.Labels{Binary: true, Absent: true}
			if _, err := Open(t.Context(), tt.spec); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "want 5, or 3 without label and weight") {
				t.Errorf("%q: error %v", line, err)
			}
			tt.spec.LabelRule = input.Labels{Binary: true}
			if _, err := Open(t.Context(), tt.spec); exitcode.Of(err) != exitcode.BadData || !strings.HasSuffix(err.Error(), "want 5") {
				t.Errorf("%q: error %v", line, err)
			}
		}
	}
}
