package convert

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/tfrecord"
)

// TestDenormal verifies for each format that a number below the normal ones of float32 is 0, as it is to
// TensorFlow, and that the smallest normal one is not.
func TestDenormal(t *testing.T) {
	const denormal, normal = 1e-40, 0x1p-126
	columns := func() *column.Plan {
		p, err := column.Compile([]column.Column{
			{Label: &column.LabelOptions{Names: []string{"y"}}}, {Numeric: &column.NumericOptions{Names: []string{"a", "b"}}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	encoder := tfrecord.Encoder{}
	var records [2]string
	for i, example := range [][]byte{
		encoder.AppendSparse(nil, 1, []uint32{1, 2}, []float32{denormal, normal}), encoder.AppendDense(nil, 1, []float32{-denormal, normal}),
	} {
		f, err := os.Create(filepath.Join(t.TempDir(), "a.tfrecord"))
		if err != nil {
			t.Fatal(err)
		}
		if err := tfrecord.NewWriter(f).Write(example); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		records[i] = string(content)
	}
	type record struct {
		Y float32 `parquet:"y"`
		A float32 `parquet:"a"`
		B float64 `parquet:"b"`
	}
	var table bytes.Buffer
	if err := parquet.Write(&table, []record{{1, denormal, normal}}); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		spec Spec
		text string
	}{
		{Spec{Origin: Origin{Format: "csv"}, Columns: columns()}, "1,1e-40,1.17549435e-38\n"},
		{Spec{Origin: Origin{Format: "csv"}, Columns: columns()}, "1,-0.00000000000000000000000000000000000000000000001,1.17549435e-38\n"},
		{Spec{Origin: Origin{Format: "criteo"}, Columns: columns()}, "1\t1e-40\t1.17549435e-38\n"},
		{Spec{Origin: Origin{Format: "parquet"}, Columns: columns()}, table.String()},
		{Spec{Origin: Origin{Format: "libsvm"}, Features: 3}, "1 1:-1e-40 2:1.17549435e-38\n"},
		{Spec{Origin: Origin{Format: "libsvm"}, Features: 3, Dense: true}, "1 1:1e-40 2:1.17549435e-38\n"},
		{Spec{Origin: Origin{Format: "libffm"}, Features: 3}, "1 0:1:1e-40 0:2:1.17549435e-38\n"},
		{Spec{Origin: Origin{Format: "vw"}, Features: 64}, "1 | a:1e-40 b:1.17549435e-38\n"},
		{Spec{Origin: Origin{Format: "vw"}, Features: 64}, "1 |n:1e-20 a:1e-20 b:1.17549435e-18\n"},
		{Spec{Origin: Origin{Format: "tfrecord"}, Features: 3}, records[0]},
		{Spec{Origin: Origin{Format: "tfrecord"}, Features: 2, Dense: true}, records[1]},
	}
	tried := map[FormatName]bool{}
	for _, tt := range cases {
		tried[tt.spec.Format] = true
	}
	wantEach(t, tried, Format.IsSparse)
	for _, tt := range cases {
		name := filepath.Join(t.TempDir(), "records")
		if err := os.WriteFile(name, []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		tt.spec.Files, tt.spec.Cache = []string{name}, CacheOff
		d, err := Open(t.Context(), tt.spec)
		if err != nil {
			t.Fatalf("format=%s: %v", tt.spec.Format, err)
		}
		var b input.Batch
		if err := d.Append(&b, 0); err != nil {
			t.Fatalf("format=%s: %v", tt.spec.Format, err)
		}
		numbers, large := append(b.X.Dense.Data, b.X.Bags.Weights...), 0
		for _, v := range numbers {
			if v != 0 && (v < normal && v > -normal) {
				t.Errorf("format=%s: %q: %g of %g, want 0 for what is below %g", tt.spec.Format, tt.text, v, numbers, normal)
			}
			if v >= normal {
				large++
			}
		}
		if large != 1 {
			t.Errorf("format=%s: %q: numbers %g, want one of %g", tt.spec.Format, tt.text, numbers, normal)
		}
		d.Close()
	}
}
