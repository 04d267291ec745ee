package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadData damages a file of a job. It verifies that the error names the file and the position, that
// both ranks end with it, and that nothing is left. The packages of the formats have the tables of
// damages.
func TestBadData(t *testing.T) {
	drawn := newBox(t)
	for _, kind := range []string{"digits", "clicks"} {
		drawn.must(0, "data", "make", kind, "--to", kind)
	}
	labels := drawn.read("digits", "train-labels-idx1-ubyte.gz")
	clicks := drawn.read("clicks", "clicks_train.tfrecords")
	const (
		imagesName = "train-images-idx3-ubyte.gz"
		labelsName = "train-labels-idx1-ubyte.gz"
		clicksName = "clicks_train.tfrecords"
	)
	tests := []struct {
		name, job string
		file      string // the damaged file
		text      string // what it holds, "" if it is missing
		code      int
		want      []string
	}{
		{"idx=missing", "digits", imagesName, "", 66, []string{imagesName}},
		{"idx=label out of range", "digits", labelsName, changed(unzipped(t, labels), 8+41, 10), 65, []string{labelsName, "record 41: ", "label is 10"}},
		{"tfrecord=bad crc of the data", "clicks", clicksName, changed(clicks, 40, clicks[40]^1), 65, []string{clicksName, "record 0", "byte 0", "crc"}},
		{"libsvm=no number", "libsvm", "train.libsvm", "1 3:1 x:1\n", 65, []string{"train.libsvm:1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			for _, name := range []string{clicksName, "clicks_test.tfrecords"} {
				link(t, drawn.path("clicks", name), b.path(name))
			}
			for _, name := range []string{imagesName, labelsName, "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"} {
				link(t, drawn.path("digits", name), b.path(name))
			}
			b.write("train.libsvm", "1 3:1 5:1\n0 4:1\n")
			b.write("test.libsvm", "1 3:1 5:1\n0 4:1\n")
			b.write("job.yaml", readFile(t, filepath.Join("testdata", tt.job+".yaml")))
			if err := os.Remove(b.path(tt.file)); err != nil {
				t.Fatal(err)
			}
			if tt.text != "" {
				b.write(tt.file, tt.text)
			}
			before := b.files()
			ends, e := b.trainRanks(2, "job.yaml")
			b.wantFault(ends, e, tt.code, tt.want...)
			if after := b.files(); len(after) != len(before) {
				t.Errorf("files are left by a job that could not begin: %v, before %v", after, before)
			}
		})
	}
}

// TestGoodData verifies that the jobs of TestBadData succeed on undamaged files.
func TestGoodData(t *testing.T) {
	b := newBox(t)
	b.must(0, "data", "make", "digits", "--to", "data")
	b.must(0, "data", "make", "clicks", "--to", "data")
	b.write("data/train.libsvm", "1 3:1 5:1\n0 4:1\n1 5:2\n")
	b.write("data/test.libsvm", "1 3:1 5:1\n-1 4:1\n")
	for _, job := range []string{"digits", "clicks", "libsvm"} {
		b.write(job+".yaml", readFile(t, filepath.Join("testdata", job+".yaml")))
		b.must(0, "run", "-np", "2", job+".yaml", "--data", "data", "--set", "checkpoint.dir=ckpt/"+job, "--set", "export.savedmodel=export/"+job)
	}
}

// TestDrawnIsSynthetic verifies that the files of data make have the records of
// input.synthetic.
func TestDrawnIsSynthetic(t *testing.T) {
	b := newBox(t)
	b.must(0, "data", "make", "digits", "--seed", "7", "--to", "data")
	b.write("job.yaml", readFile(t, filepath.Join("testdata", "digits.yaml")))
	args := []string{"train", "job.yaml", "--json", "--set", "train.seed=7"}
	files := b.must(0, append(args, "--data", "data", "--set", "checkpoint.dir=a")...).digest(t)
	drawn := b.must(0, append(args, "--set", "input.synthetic=true", "--set", "checkpoint.dir=b")...).digest(t)
	if files != drawn {
		t.Errorf("digest %s from files, %s from drawn records, want the same", files, drawn)
	}
}

// TestBadFileOnOneRank verifies that a bad file on one rank of two ends both ranks.
func TestBadFileOnOneRank(t *testing.T) {
	for _, bad := range []string{"0", "1"} {
		t.Run("rank="+bad, func(t *testing.T) {
			b := newBox(t)
			b.must(0, "data", "make", "clicks", "--to", "data-0")
			b.must(0, "data", "make", "clicks", "--to", "data-1")
			file := filepath.Join("data-"+bad, "clicks_train.tfrecords")
			b.write(file, b.read(file)[:100])
			b.write("job.yaml", readFile(t, filepath.Join("testdata", "clicks.yaml")))
			self, _ := os.Executable()
			e := b.run("run", "--verbose", "-np", "2", "sh", "-c", tellCode, "rank", "sh", "-c", `exec "$0" train job.yaml --data data-$RINGTRAIN_RANK`, self)
			for rank := range 2 {
				lines := linesOf(e.stderr, rank)
				if len(lines) != 2 || !strings.Contains(lines[0], "rank "+bad+" ") || !strings.Contains(lines[0], file) || lines[1] != "exit=65" {
					t.Errorf("rank %d says %q, want the fault of rank %s in %s and exit=65", rank, lines, bad, file)
				}
			}
		})
	}
}

func unzipped(t *testing.T, text string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		return text // data make writes plain IDX under MNIST's names
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// changed returns text with one byte set.
func changed(text string, at int, to byte) string {
	b := []byte(text)
	b[at] = to
	return string(b)
}

// link gives a file a second name.
func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Link(from, to); err != nil {
		t.Fatal(err)
	}
}
