package look

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/idx"
	"ringtrain/input/image"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// plainRow is a record without columns: a class, and what else it has. A bad one is no record.
type plainRow struct {
	class, content int
	bad            bool
}

// plainRows returns n records of classes in turn.
func plainRows(n, from int) (rows []plainRow) {
	for i := range n {
		rows = append(rows, plainRow{class: i % 2, content: from + i})
	}
	return rows
}

// plainSet writes records in a format, and returns what a check needs of them.
func plainSet(t *testing.T, format string, rows []plainRow) *convert.Spec {
	t.Helper()
	dir := t.TempDir()
	s := &convert.Spec{Origin: convert.Origin{Format: convert.FormatName(format)}, LabelRule: input.Labels{Binary: true}, Features: 1 << 24}
	switch format {
	case "images":
		s.Images, s.Shape, s.Dense, s.Features = dir, []int{2, 2, 1}, true, 4
	case "idx":
		s.Images, s.Labels, s.Dense, s.Features = filepath.Join(dir, "images"), filepath.Join(dir, "labels"), true, 4
	default:
		s.Files = []string{filepath.Join(dir, "f."+format)}
	}
	var file bytes.Buffer
	var pixels, labels []byte
	records := tfrecord.NewWriter(&file)
	for i, r := range rows {
		cell, class := []byte{byte(r.content), byte(r.content >> 8), 0, 0}, r.class
		if r.bad {
			class = 7
		}
		var err error
		switch format {
		case "images":
			var png bytes.Buffer
			if !r.bad {
				err = image.Encode(&png, []float32{float32(cell[0]) / 255, float32(cell[1]) / 255, 0, 0}, image.Shape{Height: 2, Width: 2, Channels: 1})
			}
			folder := filepath.Join(dir, []string{"cat", "dog"}[r.class])
			if err == nil {
				err = os.MkdirAll(folder, 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d.png", i)), png.Bytes(), 0o600)
			}
		case "idx":
			pixels, labels = append(pixels, cell...), append(labels, byte(class))
		case "libsvm":
			fmt.Fprintf(&file, "%d %d:1\n", class, r.content)
		case "libffm":
			fmt.Fprintf(&file, "%d 0:%d:1\n", class, r.content)
		case "vw":
			fmt.Fprintf(&file, "%d | w%d\n", class, r.content)
		case "tfrecord":
			example := append(append(feature("label", class), feature("ids", r.content)...), feature("values", float32(1))...)
			err = records.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), example))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err := error(nil)
	if format == "idx" {
		if err = idx.WriteImages(s.Images, false, pixels, 2, 2); err == nil {
			err = idx.WriteLabels(s.Labels, false, labels)
		}
	} else if format != "images" {
		err = os.WriteFile(s.Files[0], file.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCheckPlain verifies each finding of records without columns, in each format: a set with this fault alone has it,
// and a sound one has none. The classes are counted, by their names where they have any.
func TestCheckPlain(t *testing.T) {
	const bad = 4
	train := plainRows(60, 1)
	train[bad].class = 0
	withBad := append([]plainRow{}, train...)
	withBad[bad].bad = true
	eval := plainRows(40, 300)
	same := append(plainRows(40, 300), train[:3]...)
	few := plainRows(40, 300)
	for i := range few {
		few[i].class = 0
	}
	few[0].class = 1
	for _, format := range convert.Names(func(f convert.Format) bool { return f.IsPlain() }) {
		for name, tt := range map[string]struct {
			train, eval []plainRow
			want        string // "" for none
			records     int64
			ends        bool
		}{
			"none":         {train: train},
			"none, eval":   {train: train, eval: eval},
			"bad":          {train: withBad, want: "input.train: bad records", records: 1, ends: true},
			"bad of eval":  {train: train, eval: append([]plainRow{{bad: true, content: 900}}, eval...), want: "input.eval: bad records", records: 1, ends: true},
			"same records": {train: train, eval: same, want: "records are in input.train and in input.eval", records: 3},
			"few":          {train: train, eval: few, want: "the class " + map[bool]string{true: "dog", false: "1"}[format == "images"] + " has fewer than 10 validation records", records: 1},
		} {
			t.Run(format+"/"+name, func(t *testing.T) {
				spec, held := plainSet(t, format, tt.train), (*convert.Spec)(nil)
				if tt.eval != nil {
					held = plainSet(t, format, tt.eval)
				}
				r, err := Check(t.Context(), spec, held)
				if format == "idx" && tt.ends { // a bad label is a fault of the file
					if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "label is 7, want 0 or 1") {
						t.Errorf("a bad label is %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				checkPlainReport(t, r, format, tt.want, tt.records, tt.ends)
			})
		}
	}
}

// checkPlainReport verifies that a report has one finding, "" for none, and the classes of 60 records.
func checkPlainReport(t *testing.T, r *Report, format, want string, records int64, ends bool) {
	t.Helper()
	names := map[bool]string{true: "cat dog", false: "0 1"}[format == "images"]
	if n := int64(len(r.Classes)); n != 2 || r.Classes[0].Text+" "+r.Classes[1].Text != names && r.Classes[1].Text+" "+r.Classes[0].Text != names || r.Classes[0].Records+r.Classes[1].Records != r.Records || r.Records < 59 {
		t.Errorf("classes of %d records are %+v, want %s", r.Records, r.Classes, names)
	}
	if want == "" {
		if len(r.Findings) > 0 {
			t.Errorf("finds %+v in sound records", r.Findings)
		}
		return
	}
	if len(r.Findings) != 1 {
		t.Fatalf("findings are %+v, want one", r.Findings)
	}
	f := r.Findings[0]
	if !strings.HasPrefix(f.What, want) || f.Records != records || f.Ends != ends || f.Fix == "" || (r.Err() != nil) != ends {
		t.Errorf("finds %+v, want %s, %d, ends: %v", f, want, records, ends)
	}
	place := map[string]string{"images": ".png: is empty, want an image", "tfrecord": "f.tfrecord: record "}[format]
	if place == "" {
		place = "f." + format + ":"
	}
	if ends && (len(f.Examples) != 1 || !strings.Contains(f.Examples[0].Text, place)) {
		t.Errorf("examples are %+v, want a place with %s", f.Examples, place)
	}
}

// TestCheckPlainSplit verifies that a split's validation records are compared with its training records, that test
// records are left out, and that a part without records is refused.
func TestCheckPlainSplit(t *testing.T) {
	share, tiny := 0.5, 1e-9
	rows := plainRows(200, 1)
	apart := int64(0)
	split := input.Split{Share: &share}
	parts := split.Parts(400)
	for i := range 200 {
		if parts.Trains(i) != parts.Trains(200+i) {
			apart++
		}
	}
	s := plainSet(t, "libsvm", rows)
	s.Split = split
	if r, err := Check(t.Context(), s, nil); err != nil || len(r.Findings) > 0 || r.Records != 100 {
		t.Errorf("a sound split is %+v, %v", r, err)
	}
	s = plainSet(t, "libsvm", append(rows, rows...))
	s.Split = split
	r, err := Check(t.Context(), s, nil)
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Records != apart || r.Findings[0].What != "records are in input.train and in input.split" {
		t.Errorf("records that come twice are %+v, %v, want %d on both sides", r, err, apart)
	}
	s.Split = input.Split{Test: &share}
	if r, err := Check(t.Context(), s, nil); err != nil || len(r.Findings) > 0 || r.Records != 200 {
		t.Errorf("a split of test records is %+v, %v", r, err)
	}
	s.Split = input.Split{Share: &tiny}
	if _, err := Check(t.Context(), s, nil); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "input.split: no validation records: {share: 1e-09}") {
		t.Errorf("a split without validation records is %v", err)
	}
}

// TestCheckPlainNumber verifies that the label of a regression is described by its range, and has no classes.
func TestCheckPlainNumber(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%d.5 %d:1\n", i, i+1)
	}
	s := &convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{write(t, "f.libsvm", b.String())}}}
	r, err := Check(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Columns[0].Numbers; r.Classes != nil || len(r.Findings) > 0 || n.Min != 0.5 || n.Max != 299.5 || r.Columns[0].Distinct != 300 {
		t.Errorf("a number is %+v, %+v", r, n)
	}
}
