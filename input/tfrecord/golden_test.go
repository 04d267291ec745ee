package tfrecord_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"ringtrain/input"
	"ringtrain/input/tfrecord"
)

func open(t testing.TB, name string, c tfrecord.Config) input.Dataset {
	t.Helper()
	d, err := tfrecord.Open(t.Context(), []string{name}, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// record returns one record of d.
func record(t testing.TB, d input.Dataset, i int) (b input.Batch) {
	t.Helper()
	if err := d.Append(&b, i); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGoldenA8A verifies that TensorFlow's records equal the first 100 records of their
// text file.
func TestGoldenA8A(t *testing.T) {
	compressed, err := os.Open(filepath.Join("..", "testdata", "a8a", "a8a_test.libsvm.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer compressed.Close()
	text, err := gzip.NewReader(compressed)
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, filepath.Join("..", "testdata", "a8a", "a8a_test.100.int64-label.tfrecords"), tfrecord.Config{Labels: input.Labels{Binary: true}})
	lines := bufio.NewScanner(text)
	n := 0
	for ; n < d.Facts().Records && lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		b := record(t, d, n)
		if want, _ := strconv.ParseFloat(words[0], 32); b.Y[0] != float32(want) {
			t.Fatalf("record %d: label %g, want %g", n, b.Y[0], want)
		}
		ids, values := b.X.Bags.Slot, b.X.Bags.Weights
		var got []string
		for i, id := range ids {
			got = append(got, strconv.FormatUint(uint64(id), 10)+":"+strconv.FormatFloat(float64(values[i]), 'g', -1, 32))
		}
		if !slices.Equal(got, words[1:]) {
			t.Fatalf("record %d: %v, want %v", n, got, words[1:])
		}
	}
	if n != 100 || d.Facts().Records != n || d.Facts().Features != 118 {
		t.Errorf("%d lines, %d records, %d features", n, d.Facts().Records, d.Facts().Features)
	}
	if want := "a8a_test.100.int64-label.tfrecords 13275 100"; d.Facts().Manifest[0] != want {
		t.Errorf("manifest %q, want %q", d.Facts().Manifest, want)
	}
}

// TestGoldenFiles verifies the usual forms of TensorFlow's records: float labels, dense
// features, gzip, missing values.
func TestGoldenFiles(t *testing.T) {
	tests := []struct {
		file              string
		config            tfrecord.Config
		records, features int
		sum               float64 // of the labels
	}{
		{"a8a/a8a_test.100.int64-label.tfrecords", tfrecord.Config{Features: 124}, 100, 124, 21},
		{"a8a/a8a_test.100.float-label.tfrecords", tfrecord.Config{}, 100, 118, 21},
		{"a8a/a8a_test.100.oct2016.tfrecords", tfrecord.Config{}, 100, 118, 21},
		{"cancer/cancer_test.csv.tfrecords", tfrecord.Config{Dense: true, Labels: input.Labels{Classes: 2}}, 151, 9, 50},
		{"cancer/float-label_test.csv.tfrecords", tfrecord.Config{Dense: true}, 151, 9, 50},
		{"regression/train.tfrecords", tfrecord.Config{Dense: true}, 50, 3, 492.75},
		{"iris/iris_train.csv.tfrecords", tfrecord.Config{Dense: true, Labels: input.Labels{Classes: 3}}, 135, 4, 133},
		{"penguin/data_tfrecord-00000-of-00001.gz",
			tfrecord.Config{Dense: true, Label: "species", Values: "body_mass_g"}, 234, 1, 224},
	}
	for _, tt := range tests {
		t.Run("file="+filepath.Base(tt.file), func(t *testing.T) {
			d := open(t, filepath.Join("..", "testdata", tt.file), tt.config)
			var b input.Batch
			sum := 0.0
			for i := range d.Facts().Records {
				b.Reset()
				if err := d.Append(&b, i); err != nil {
					t.Fatal(err)
				}
				sum += float64(b.Y[0])
			}
			if d.Facts().Records != tt.records || d.Facts().Features != tt.features || sum != tt.sum {
				t.Errorf("%d records, %d features, labels sum up to %g; want %d, %d, %g", d.Facts().Records, d.Facts().Features, sum, tt.records, tt.features, tt.sum)
			}
		})
	}
}
