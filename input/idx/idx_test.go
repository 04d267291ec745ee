package idx_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"

	"ringtrain/input"
	"ringtrain/input/idx"
	"ringtrain/input/realdata"
	"ringtrain/ring/exitcode"
)

var digits = idx.Config{Labels: input.Labels{Classes: 10}}

// TestMNIST verifies the counts of labels and the sum of pixels of the real files.
func TestMNIST(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	d, err := idx.Open(t.Context(), realdata.Path(t, "data/mnist/train-images-idx3-ubyte.gz"), realdata.Path(t, "data/mnist/train-labels-idx1-ubyte.gz"), digits)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 52<<20 {
		t.Errorf("opening allocates %d MiB for 45 MiB of pixels, want no doubling", got>>20)
	}
	if d.Facts().Records != 60000 || d.Facts().Features != 784 {
		t.Fatalf("%d records of %d features", d.Facts().Records, d.Facts().Features)
	}
	want := []string{"train-images-idx3-ubyte.gz 9912422 60000", "train-labels-idx1-ubyte.gz 28881 60000"}
	if !slices.Equal(d.Facts().Manifest, want) {
		t.Errorf("manifest %q, want %q", d.Facts().Manifest, want)
	}
	var b input.Batch
	var counts [10]int
	sum := 0.0
	for i := range d.Facts().Records {
		b.Reset()
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
		counts[int(b.Y[0])]++
		for _, x := range b.X.Dense.Data {
			sum += float64(x)
		}
	}
	if want := [10]int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}; counts != want {
		t.Errorf("labels are %v, want %v", counts, want)
	}
	if mean := sum / (60000 * 784); mean < 0.13065 || mean > 0.13067 {
		t.Errorf("mean of the features is %.5f, want 0.13066", mean)
	}
}

// make2x3 writes a pair of files with images of 2×3 pixels and returns their names.
func make2x3(t testing.TB, n int, suffix string) (images, labels string) {
	t.Helper()
	dir := t.TempDir()
	images, labels = filepath.Join(dir, "images"+suffix), filepath.Join(dir, "labels"+suffix)
	pixels, classes := make([]byte, 6*n), make([]byte, n)
	for i := range pixels {
		pixels[i] = byte(i * 37)
	}
	for i := range classes {
		classes[i] = byte(i % 10)
	}
	if err := idx.WriteImages(images, false, pixels, 2, 3); err != nil {
		t.Fatal(err)
	}
	if err := idx.WriteLabels(labels, false, classes); err != nil {
		t.Fatal(err)
	}
	return images, labels
}

// TestRoundTrip verifies that written files are read back, with and without gzip, over
// several memory blocks, by several readers.
func TestRoundTrip(t *testing.T) {
	for end, n := range map[string]int{"": 200_000, ".gz": 5} { // more than a block, and less
		t.Run("end="+end, func(t *testing.T) { roundTrip(t, end, n) })
	}
}

func roundTrip(t *testing.T, end string, n int) {
	images, labels := make2x3(t, n, end)
	d, err := idx.Open(t.Context(), images, labels, digits)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Facts().Records != n || d.Facts().Features != 6 {
		t.Fatalf("%d records of %d features", d.Facts().Records, d.Facts().Features)
	}
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			var b input.Batch
			for i := g; i < d.Facts().Records; i += 2 {
				b.Reset()
				if err := d.Append(&b, i); err != nil {
					t.Error(err)
					return
				}
				for j, x := range b.X.Dense.Row(0) {
					if want := float32(byte((i*6+j)*37)) / 255; x != want {
						t.Errorf("record %d: pixel %d is %g, want %g", i, j, x, want)
						return
					}
				}
				if int(b.Y[0]) != i%10 {
					t.Errorf("record %d: label %g", i, b.Y[0])
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestIntegerLabels verifies labels of every integer type.
func TestIntegerLabels(t *testing.T) {
	dir := t.TempDir()
	images, _ := make2x3(t, 2, "")
	labels := filepath.Join(dir, "labels")
	for _, c := range []struct{ name, file string }{
		{"int8", "\x00\x00\x09\x01\x00\x00\x00\x02\xff\x07"},
		{"int16", "\x00\x00\x0b\x01\x00\x00\x00\x02\xff\xff\x00\x07"},
		{"int32", "\x00\x00\x0c\x01\x00\x00\x00\x02\xff\xff\xff\xff\x00\x00\x00\x07"},
	} {
		t.Run("type="+c.name, func(t *testing.T) {
			if err := os.WriteFile(labels, []byte(c.file), 0o666); err != nil {
				t.Fatal(err)
			}
			d, err := idx.Open(t.Context(), images, labels, idx.Config{})
			if err != nil {
				t.Fatal(err)
			}
			var b input.Batch
			d.Append(&b, 0)
			d.Append(&b, 1)
			if !reflect.DeepEqual(b.Y, []float32{-1, 7}) {
				t.Errorf("labels %v, want -1 and 7", b.Y)
			}
		})
	}
}

func gz(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

// TestBadFiles verifies the error of each broken file, with its name and the wanted
// value.
func TestBadFiles(t *testing.T) {
	const (
		image = "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02abcd"
		label = "\x00\x00\x08\x01\x00\x00\x00\x02\x01\x02"
	)
	tests := []struct{ name, images, labels, err string }{
		{"good", image, label, ""},
		{"good gzip", gz(image), gz(label), ""},
		{"empty", "", label, "input: I: file ends early"},
		{"no magic", "PNG?xxxxx", label, "idx: I: magic is 504e473f, want 0000, a type (08 to 0e) and a number of dimensions"},
		{"unknown type", "\x00\x00\x0a\x01", label, "idx: I: magic is 00000a01, want 0000, a type (08 to 0e) and a number of dimensions"},
		{"header cut off", image[:14], label, "input: I: file ends early"},
		{"images cut off", image[:18], label, "idx: I: 2 payload bytes, want 4 (2×1×2 of uint8)"},
		{"images too long", image + "xyz", label, "idx: I: 7 payload bytes, want 4 (2×1×2 of uint8)"},
		{"gzip too long", gz(image + "xyz"), label, "idx: I: 7 payload bytes, want 4 (2×1×2 of uint8)"},
		{"gzip without its end", gz(image)[:len(gz(image))-4], label, "input: I: file ends early"},
		{"labels for images", label, label, "idx: I: holds uint8 of 1 dimensions, want images: uint8 of 2 or more"},
		{"images for labels", image, image, "idx: L: holds uint8 of 3 dimensions, want labels: integers of 1"},
		{"float labels", image, "\x00\x00\x0d\x01\x00\x00\x00\x00", "idx: L: holds float32 of 1 dimensions, want labels: integers of 1"},
		{"counts", image, "\x00\x00\x08\x01\x00\x00\x00\x01\x01", "idx: L: 1 labels, want 2 as images in I"},
		{"label", image, label[:9] + "\x0a", "idx: L: record 1: label is 10, want a class in [0, 10)"},
		{"huge sizes", "\x00\x00\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", label, "idx: I: shape 4294967295×4294967295×4294967295 is too large"},
		{"large size of nothing", "\x00\x00\x08\x03\x00\x0f\xff\xff\x00\x00\xff\xff\x00\x00\xff\xff", label, "idx: I: shape is 1048575×65535×65535, want images of 1 to 2147483647 pixels"},
		{"large size of little", "\x00\x00\x08\x03\x00\x0f\xff\xff\x00\x00\xff\xff\x00\x00\x00\xffabc", label, "idx: I: 3 payload bytes, want 17523182469375 (1048575×65535×255 of uint8)"},
		{"no pixels", "\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x00", label, "idx: I: shape is 2×0, want images of 1 to 2147483647 pixels"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			images, labels := filepath.Join(dir, "I"), filepath.Join(dir, "L")
			os.WriteFile(images, []byte(tt.images), 0o666)
			os.WriteFile(labels, []byte(tt.labels), 0o666)
			_, err := idx.Open(t.Context(), images, labels, digits)
			text, code := "", exitcode.OK
			if err != nil {
				text = strings.ReplaceAll(err.Error(), dir+"/", "")
			}
			if tt.err != "" {
				code = exitcode.BadData
			}
			if text != tt.err || exitcode.Of(err) != code {
				t.Errorf("error %q (%d), want %q (%d)", text, exitcode.Of(err), tt.err, code)
			}
		})
	}
	_, err := idx.Open(t.Context(), "nowhere", "nowhere", digits)
	if exitcode.Of(err) != exitcode.NoInput || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("missing file: %v (%d)", err, exitcode.Of(err))
	}
}

// TestLater verifies that postponed reads give the same records, that their errors are
// reported, and that unread files are closed.
func TestLater(t *testing.T) {
	later := digits
	later.Later = true
	images, labels := make2x3(t, 1000, ".gz")
	packed, err := os.ReadFile(images)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"whole": packed, "cut off": packed[:len(packed)-20], "a bit": append(packed[:len(packed)-1:len(packed)-1], 9)} {
		if err := os.WriteFile(images, content, 0o666); err != nil {
			t.Fatal(err)
		}
		unread, err := idx.Open(t.Context(), images, labels, later)
		if err == nil {
			err = unread.Close()
		}
		if err != nil {
			t.Errorf("%s: opened and closed: %v", name, err)
		}
		now, want := idx.Open(t.Context(), images, labels, digits)
		d, err := idx.Open(t.Context(), images, labels, later)
		if err != nil || d.Facts().Records != 1000 || d.Facts().Features != 6 {
			t.Fatalf("%s: opened with error %v", name, err)
		}
		var b, same input.Batch
		for range 2 {
			b.Reset()
			if err := d.Append(&b, 7); !sameText(err, want) || !sameText(d.Facts().Load(), want) || exitcode.Of(err) != exitcode.Of(want) {
				t.Errorf("%s: error %v (%d), want %v (%d)", name, err, exitcode.Of(err), want, exitcode.Of(want))
			}
		}
		if want == nil {
			now.Append(&same, 7)
			if !reflect.DeepEqual(b.X.Dense, same.X.Dense) || !slices.Equal(b.Y, same.Y) || !slices.Equal(d.Facts().Manifest, now.Facts().Manifest) {
				t.Errorf("%s: record %v, want %v", name, b, same)
			}
		}
		if err := errors.Join(d.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
}

func sameText(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// TestAppendAllocatesNothing verifies that Append allocates nothing.
func TestAppendAllocatesNothing(t *testing.T) {
	images, labels := make2x3(t, 100, "")
	d, err := idx.Open(t.Context(), images, labels, digits)
	if err != nil {
		t.Fatal(err)
	}
	var b input.Batch
	read := func() {
		b.Reset()
		for i := range 10 {
			d.Append(&b, i)
		}
	}
	read()
	if got := testing.AllocsPerRun(100, read); got != 0 || len(b.Y) != 10 {
		t.Errorf("%g allocations a batch of %d records, want 0 for 10", got, len(b.Y))
	}
}

// TestWriteMisfit verifies that pixels that do not fit the shape panic.
func TestWriteMisfit(t *testing.T) {
	for _, tt := range []struct {
		pixels int
		shape  []int
		want   string
	}{
		{7, []int{2, 3}, "idx: pixels do not match the shape of an image"},
		{5, []int{2, 3}, "idx: pixels do not match the shape of an image"},
		{6, []int{2, 0}, "idx: pixels do not match the shape of an image"},
		{6, []int{-2, 3}, "idx: pixels do not match the shape of an image"},
		{6, []int{-2, -3}, "idx: size does not fit 32 bits"},
		{0, []int{1 << 32}, "idx: size does not fit 32 bits"},
	} {
		t.Run(fmt.Sprintf("pixels=%d/shape=%v", tt.pixels, tt.shape), func(t *testing.T) {
			dir := t.TempDir()
			defer func() {
				files, err := os.ReadDir(dir)
				if fault := recover(); fault != tt.want || err != nil || len(files) > 0 {
					t.Errorf("panic %v, files %v, error %v, want %q and no file", fault, files, err, tt.want)
				}
			}()
			idx.WriteImages(filepath.Join(dir, "images"), false, make([]byte, tt.pixels), tt.shape...)
		})
	}
}

// FuzzOpen verifies that no file makes the reader panic, and that all accepted records
// can be read.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02abcd"), []byte("\x00\x00\x08\x01\x00\x00\x00\x02\x01\x02"))
	f.Add([]byte(gz("\x00\x00\x08\x02\x00\x00\x00\x01\x00\x00\x00\x02ab")), []byte("\x00\x00\x0b\x01\x00\x00\x00\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, i, l []byte) {
		dir := t.TempDir()
		images, labels := filepath.Join(dir, "I"), filepath.Join(dir, "L")
		os.WriteFile(images, i, 0o666)
		os.WriteFile(labels, l, 0o666)
		d, err := idx.Open(t.Context(), images, labels, digits)
		if err != nil {
			if c := exitcode.Of(err); c != exitcode.BadData {
				t.Errorf("%v: code %d", err, c)
			}
			return
		}
		var b input.Batch
		for i := range d.Facts().Records {
			if err := d.Append(&b, i); err != nil {
				t.Fatal(err)
			}
		}
		if len(b.X.Dense.Data) != d.Facts().Records*d.Facts().Features || len(b.Y) != d.Facts().Records {
			t.Errorf("%d numbers and %d labels for %d records of %d features", len(b.X.Dense.Data), len(b.Y), d.Facts().Records, d.Facts().Features)
		}
	})
}
