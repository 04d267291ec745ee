package main

import (
	"slices"
	"strings"
	"testing"
)

// TestDataConvert verifies that conversions to another format and back keep the records.
func TestDataConvert(t *testing.T) {
	b := newBox(t)
	made := b.must(0, "data", "make", "clicks", "--seed", "4", "--to", "d")
	if made.stdout != "d/clicks_train.tfrecords\nd/clicks_test.tfrecords\n" {
		t.Errorf("data make prints %q, want the files", made.stdout)
	}
	b.must(0, "data", "convert", "d/clicks_test.tfrecords", "--to", "test.libsvm")
	b.must(0, "data", "convert", "test.libsvm", "--to", "again.tfrecords")
	first := b.must(0, "data", "cat", "d/clicks_test.tfrecords").stdout
	for _, file := range []string{"test.libsvm", "again.tfrecords"} {
		if got := b.must(0, "data", "cat", file).stdout; got != first {
			t.Errorf("%s does not hold the records that it was made of", file)
		}
	}
	if b.read("again.tfrecords") != b.read("d/clicks_test.tfrecords") {
		t.Error("TFRecords differ after a turn through LibSVM")
	}
	b.must(73, "data", "convert", "test.libsvm", "--to", "again.tfrecords")
	b.must(0, "data", "convert", "test.libsvm", "--to", "again.tfrecords", "--overwrite")
	b.must(73, "data", "make", "clicks", "--to", "d")
}

// TestDataConvertImages verifies that conversions of digits from IDX to a folder of
// images and to TFRecords keep the records, and that no folder is overwritten.
func TestDataConvertImages(t *testing.T) {
	b := newBox(t)
	b.must(0, "data", "make", "digits", "--to", "d")
	b.must(0, "data", "convert", "d/t10k-images-idx3-ubyte.gz", "--labels", "d/t10k-labels-idx1-ubyte.gz", "--to", "folder", "--to-format", "images")
	b.must(0, "data", "convert", "folder", "--format", "images", "--shape", "28,28,1", "--to", "again.tfrecords")
	records := func(args ...string) []string {
		var all []string
		for line := range strings.Lines(b.must(0, append([]string{"data", "cat"}, args...)...).stdout) {
			_, record, _ := strings.Cut(line, ",") // without its number: a folder is ordered by class
			all = append(all, record)
		}
		slices.Sort(all)
		return all
	}
	want := records("d/t10k-images-idx3-ubyte.gz", "--labels", "d/t10k-labels-idx1-ubyte.gz")
	if len(want) != 1000 {
		t.Fatalf("%d digits, want 1000", len(want))
	}
	if got := records("folder", "--format", "images", "--shape", "28,28,1"); !slices.Equal(got, want) {
		t.Errorf("the folder has %d records, or others than the %d that it was made of", len(got), len(want))
	}
	if got := records("again.tfrecords", "--dense"); !slices.Equal(got, want) {
		t.Errorf("the TFRecords have %d records, or others than the %d that they were made of", len(got), len(want))
	}
	b.must(73, "data", "convert", "d/t10k-images-idx3-ubyte.gz", "--labels", "d/t10k-labels-idx1-ubyte.gz", "--to", "folder", "--to-format", "images")
	b.must(64, "data", "cat", "folder", "--format", "images")
	b.must(64, "data", "convert", "again.tfrecords", "--dense", "--to", "other", "--to-format", "images")
	for _, file := range b.files() {
		if strings.HasPrefix(file, "other") || strings.Contains(file, ".tmp-") {
			t.Errorf("%s is left", file)
			break
		}
	}
}

// TestDataCat verifies that each record is printed once with the right number, and that a folder has the format of its files.
func TestDataCat(t *testing.T) {
	b := newBox(t)
	b.write("x.libsvm", "1 3:1 5:0.5\n-1 4:1\n0 7:2\n")
	all := b.must(0, "data", "cat", "x.libsvm").stdout
	if strings.Count(all, "\n") != 3 || !strings.HasPrefix(all, `{"record":0,"label":1,"ids":[3,5],"values":[1,0.5]}`+"\n") {
		t.Errorf("data cat prints\n%s", all)
	}
	second := b.must(0, "data", "cat", "--skip", "1", "--count", "1", "x.libsvm").stdout
	if lines := strings.SplitAfter(all, "\n"); second != lines[1] {
		t.Errorf("record 1 is %q, want %q", second, lines[1])
	}
	if got := b.must(0, "data", "cat", "x.libsvm", "--base", "1", "--count", "1").stdout; !strings.Contains(got, `"ids":[2,4]`) {
		t.Errorf("--base 1: %s", got)
	}
	b.must(66, "data", "cat", "none.libsvm")
	b.write("folder/part=1/x.libsvm", "1 3:1 5:0.5\n-1 4:1\n0 7:2\n")
	if got := b.must(0, "data", "cat", "folder").stdout; got != all {
		t.Errorf("data cat of a folder prints\n%s\nwant\n%s", got, all)
	}
	b.must(66, "data", "cat", "none")
	b.write("untold", "1 3:1\n")
	if e := b.must(64, "data", "cat", "untold"); !strings.Contains(e.last(), "want --format") {
		t.Errorf("last line %q, want --format", e.last())
	}
}

// TestDataFetchOffline verifies that a fetch without a network says what goes without one.
func TestDataFetchOffline(t *testing.T) {
	b := newBox(t).with("HTTPS_PROXY=http://127.0.0.1:1")
	if e := b.must(74, "data", "fetch", "mnist"); !strings.Contains(e.last(), "--set input.synthetic=true") {
		t.Errorf("last line %q, want the way without a network", e.last())
	}
	if e := b.must(66, "data", "fetch", "mnist", "--from", "nowhere"); strings.Contains(e.stderr, "synthetic") {
		t.Errorf("says %q of a folder", e.stderr)
	}
}

// TestDataFetch verifies that a fetch from a folder checks the files and puts them where
// the built-in jobs look.
func TestDataFetch(t *testing.T) {
	long(t)
	from := shared(t) + "/mnist"
	b := newBox(t)
	b.must(0, "data", "fetch", "mnist", "--from", from)
	e := b.must(0, "train", "mnist", "--set", "train.steps=1")
	if !strings.Contains(e.stdout, "of 10,000 right") {
		t.Errorf("not trained on what was fetched:\n%s", e.stdout)
	}
	b.must(0, "data", "fetch", "mnist", "--from", from, "--to", "data")
	b.must(0, "train", "mnist", "--data", "data", "--set", "train.steps=1", "--resume", "never")
	b.with("RINGTRAIN_DATA=data").must(0, "train", "mnist", "--set", "train.steps=1", "--resume", "never")
	b.write("bad/train-images-idx3-ubyte.gz", "x")
	b.must(65, "data", "fetch", "mnist", "--from", "bad", "--to", "other")
	for _, file := range b.files() {
		if strings.HasPrefix(file, "other") {
			t.Errorf("a file with a wrong checksum was kept: %s", file)
		}
	}
}
