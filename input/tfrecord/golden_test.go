package tfrecord_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/realdata"
	"ringtrain/input/tfrecord"
)

func open(t testing.TB, name string, c tfrecord.Config) input.Dataset {
	t.Helper()
	d, err := tfrecord.Open([]string{name}, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// record reads one record of d.
func record(t testing.TB, d input.Dataset, i int) (b input.Batch) {
	t.Helper()
	if err := d.Append(&b, i); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGoldenA8A would fail if records that TensorFlow wrote were read otherwise
// than the text file that they were made from: 9,865 rows in both.
func TestGoldenA8A(t *testing.T) {
	dir := "fixtures/tobegit3hub_tensorflow_template_application/data/a8a/"
	text, err := os.Open(realdata.Path(t, dir+"a8a_test.libsvm"))
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	d := open(t, realdata.Path(t, dir+"a8a_test.libsvm.tfrecords"), tfrecord.Config{Labels: input.Labels{Binary: true}})
	lines := bufio.NewScanner(text)
	n := 0
	for ; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		b := record(t, d, n)
		if want, _ := strconv.ParseFloat(words[0], 32); b.Y[0] != float32(want) {
			t.Fatalf("record %d: label %g, want %g", n, b.Y[0], want)
		}
		ids, values := b.X.Sparse.Row(0)
		var got []string
		for i, id := range ids {
			got = append(got, strconv.FormatInt(id, 10)+":"+strconv.FormatFloat(float64(values[i]), 'g', -1, 32))
		}
		if !slices.Equal(got, words[1:]) {
			t.Fatalf("record %d: %v, want %v", n, got, words[1:])
		}
	}
	if n != 9865 || d.Len() != n || d.Features() != 123 {
		t.Errorf("%d lines, %d records, %d features", n, d.Len(), d.Features())
	}
	if want := "a8a_test.libsvm.tfrecords 1305380 9865"; d.Manifest()[0] != want {
		t.Errorf("manifest %q, want %q", d.Manifest(), want)
	}
}

// TestGoldenFiles would fail if some way in which TensorFlow users write records
// were not understood: float labels, dense features, gzip, missing values.
func TestGoldenFiles(t *testing.T) {
	tests := []struct {
		file              string
		config            tfrecord.Config
		records, features int
		sum               float64 // of the labels
	}{
		{"data/a8a/int64-label/a8a_train.libsvm.tfrecords", tfrecord.Config{Features: 124}, 22696, 124, 5506},
		{"data/a8a/float-label/a8a_train.libsvm.tfrecords", tfrecord.Config{}, 22696, 124, 5506},
		{"data/a8a/oct2016/a8a_test.libsvm.tfrecords", tfrecord.Config{}, 9865, 123, 2335},
		{"data/cancer/cancer_train.csv.tfrecords", tfrecord.Config{Dense: true, Labels: input.Labels{Classes: 2}}, 497, 9, 180},
		{"data/cancer/float-label/cancer_test.csv.tfrecords", tfrecord.Config{Dense: true}, 151, 9, 50},
		{"data/boston-housing/train.csv.tfrecords", tfrecord.Config{Dense: true}, 333, 13, 7582.0000104904175},
		{"data/iris/iris_train.csv.tfrecords", tfrecord.Config{Dense: true, Labels: input.Labels{Classes: 3}}, 135, 4, 133},
		{"fixtures/tensorflow_tfx/tfx/components/testdata/penguin/data/Split-train/data_tfrecord-00000-of-00001.gz",
			tfrecord.Config{Dense: true, Label: "species", Values: "body_mass_g"}, 234, 1, 224},
	}
	for _, tt := range tests {
		t.Run("file="+filepath.Base(tt.file), func(t *testing.T) {
			d := open(t, realdata.Path(t, tt.file), tt.config)
			var b input.Batch
			sum := 0.0
			for i := range d.Len() {
				b.Reset()
				if err := d.Append(&b, i); err != nil {
					t.Fatal(err)
				}
				sum += float64(b.Y[0])
			}
			if d.Len() != tt.records || d.Features() != tt.features || sum != tt.sum {
				t.Errorf("%d records, %d features, labels sum up to %g; want %d, %d, %g", d.Len(), d.Features(), sum, tt.records, tt.features, tt.sum)
			}
		})
	}
}
