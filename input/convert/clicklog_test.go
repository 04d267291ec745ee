package convert_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/synth"
	"ringtrain/ring/exitcode"
)

func clickLog(format string) convert.ClickLog {
	return convert.ClickLog{
		ClickLog: synth.ClickLog{Seed: 3, Rows: 9000, IDs: 700, Fields: 6, Spread: 5, Interactions: true}, TestRows: 40, Format: convert.FormatName(format),
	}
}

// lines returns the lines of a file.
func lines(t testing.TB, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// rows is the records of a drawn log as a data set.
type rows struct{ *synth.Drawn }

func (r rows) Facts() input.Facts {
	return input.Facts{Records: r.Rows, Features: (r.IDs-1)*r.Spread + 1}
}

func (r rows) Close() error { return nil }

func (r rows) Append(b *input.Batch, records ...int) error {
	x := b.Bags(1)
	for _, i := range records {
		var label uint8
		x.Slot, label, _ = r.AppendRow(x.Slot, i)
		for range r.Fields {
			x.Weights = append(x.Weights, 1)
		}
		x.End()
		b.Y = append(b.Y, float32(label))
	}
	return nil
}

// TestMakeClicksFormats verifies that each format has exactly the records of the drawn
// log: by the readers of libsvm, libffm and tfrecord, line by line for vw and csv.
func TestMakeClicksFormats(t *testing.T) {
	for _, format := range convert.Names(convert.Format.IsDrawn) {
		t.Run("format="+format, func(t *testing.T) {
			c := clickLog(format)
			if format == "csv" {
				c.Numbers = 2
			}
			files, err := convert.MakeClicks(t.Context(), c, t.TempDir())
			if err != nil || len(files) != 2 || files[0].Rows != 9000 || files[1].Rows != 40 {
				t.Fatalf("files %v, error %v", files, err)
			}
			drawn := rows{c.Draw(synth.Train)}
			switch format {
			case "libsvm", "libffm", "tfrecord":
				d := open(t, convert.Spec{Origin: convert.Origin{Format: c.Format, Files: []string{files[0].Name}}, Features: drawn.Facts().Features})
				same(t, d, drawn)
			case "vw":
				wantLines(t, lines(t, files[0].Name), drawn, vwLine)
			case "csv":
				text := lines(t, files[0].Name)
				if text[0] != "label,I1,I2,C1,C2,C3,C4" {
					t.Errorf("names are %s", text[0])
				}
				starts, words := c.FieldStarts(), map[string]uint32{}
				wantLines(t, text[1:], drawn, func(label float32, ids []uint32) string {
					return csvLine(t, label, ids, starts, words)
				})
			}
		})
	}
}

// wantLines compares the lines of a file with the records of d. want returns an empty
// line if it has verified the line itself.
func wantLines(t *testing.T, text []string, d input.Dataset, want func(label float32, ids []uint32) string) {
	t.Helper()
	if len(text) != d.Facts().Records {
		t.Fatalf("%d lines, want %d", len(text), d.Facts().Records)
	}
	var b input.Batch
	for i, line := range text {
		b.Reset()
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
		if w := want(b.Y[0], b.X.Bags.Slot); w != line {
			t.Fatalf("line %d is %q, want %q", i, line, w)
		}
	}
}

func vwLine(label float32, ids []uint32) string {
	return fmt.Sprintf("%g | %s", 2*label-1, strings.Trim(fmt.Sprint(ids), "[]"))
}

// csvLine returns the line of a record with two numbers; words has the strings of
// earlier ids.
func csvLine(t *testing.T, label float32, ids, starts []uint32, words map[string]uint32) string {
	line := fmt.Sprintf("%g,%d,%d", label, ids[0]-starts[0], ids[1]-starts[1])
	for _, id := range ids[2:] {
		h := id * 0x9e3779b1
		h = (h ^ h>>16) * 0x85ebca6b
		word := fmt.Sprintf("%08x", h^h>>13)
		if was, seen := words[word]; seen && was != id {
			t.Fatalf("ids %d and %d are both %s", was, id, word)
		}
		words[word] = id
		line += "," + word
	}
	return line
}

// TestMakeClicksKnows verifies AUC, log loss and clicks of the hidden model against a
// count of all pairs.
func TestMakeClicksKnows(t *testing.T) {
	c := clickLog("vw")
	files, err := convert.MakeClicks(t.Context(), c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := c.ClickLog
	log.Rows = c.TestRows
	d := log.Draw(synth.Eval)
	var of [2][]float64
	loss := 0.0
	for i := range d.Rows {
		_, label, p := d.AppendRow(nil, i)
		of[label] = append(of[label], p)
		loss -= math.Log(math.Abs(1-float64(label)-p)) / float64(d.Rows)
	}
	above := 0.0
	for _, one := range of[1] {
		for _, zero := range of[0] {
			if one > zero {
				above++
			}
		}
	}
	auc := above / float64(len(of[0])*len(of[1]))
	got := files[1]
	if got.Clicks != len(of[1]) || math.Abs(got.AUC-auc) > 1e-9 || math.Abs(got.LogLoss-loss) > 1e-9 {
		t.Errorf("%+v, want %d clicks, AUC %v, log loss %v", got, len(of[1]), auc, loss)
	}
	if want := fmt.Sprintf("40 records, %.1f %% clicks; the hidden model has AUC %.4f", 100*float64(len(of[1]))/40, auc); !strings.Contains(got.String(), want) {
		t.Errorf("line is %q, want %q in it", got, want)
	}
}

// TestMakeClicksErrors verifies that an invalid log is refused with all reasons, that an
// existing file does not change, and that an interrupted write leaves no file.
func TestMakeClicksErrors(t *testing.T) {
	c := clickLog("parquet")
	c.Fields, c.Numbers, c.TestRows = 0, 3, 0
	_, err := convert.MakeClicks(t.Context(), c, t.TempDir())
	for _, want := range []string{"--fields is 0", `--format is "parquet", want one of tfrecord, libsvm, libffm, vw, csv`, "--numbers is 3", "--test-rows is 0"} {
		if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want Usage and %s", err, want)
		}
	}
	dir := t.TempDir()
	there := filepath.Join(dir, "clicks_test.vw")
	if err := os.WriteFile(there, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = convert.MakeClicks(t.Context(), clickLog("vw"), dir)
	if text, _ := os.ReadFile(there); exitcode.Of(err) != exitcode.CannotCreate || !bytes.Equal(text, []byte("mine")) {
		t.Errorf("error is %v, the file %q", err, text)
	}
	stopped, stop := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	stop(why)
	empty := t.TempDir()
	_, err = convert.MakeClicks(stopped, clickLog("csv"), empty)
	if left, _ := filepath.Glob(filepath.Join(empty, "*")); !errors.Is(err, why) || !slices.Equal(left, nil) {
		t.Errorf("error is %v, left are %v", err, left)
	}
}
