package libsvm_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"ringtrain/input/libsvm"
	"ringtrain/ring/exitcode"
)

// TestHugeIDs verifies that an id near 4·10⁹ is an error that names file, line, record, id and
// bound, and that the largest id below the bound is read. A model of so many features would take
// 16 GiB.
func TestHugeIDs(t *testing.T) {
	for index, ok := range map[string]bool{"67108863": true, "67108864": false, "4000000000": false, "4294967295": false} {
		name := filepath.Join(t.TempDir(), "F")
		if err := os.WriteFile(name, []byte("1 1:1\n\n0 3:1 "+index+":1\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		d, err := libsvm.Open(t.Context(), []string{name}, libsvm.Config{})
		if ok {
			if err != nil || d.Facts().Features != 67108864 {
				t.Errorf("index %s: error %v", index, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("index %s makes a data set of %d features, want an error", index, d.Facts().Features)
			continue
		}
		want := "libsvm: " + name + ":3: record 1 at byte 7: index is " + index + ", want one in [0, 67108864), as input.max_features says"
		if err.Error() != want || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("index %s: error %q (%d), want %q", index, err, exitcode.Of(err), want)
		}
	}
}

// TestInflateBound verifies that a small gzip file cannot fill the memory: the
// reader ends where more than 64 MiB come out, and holds no more than they justify.
func TestInflateBound(t *testing.T) {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	w.Write([]byte("1 1:1\n"))
	comment := []byte("#" + strings.Repeat("x", 1<<20-2) + "\n")
	for range 80 {
		w.Write(comment)
	}
	w.Close()
	name := filepath.Join(t.TempDir(), "F")
	if err := os.WriteFile(name, packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := libsvm.Open(t.Context(), []string{name}, libsvm.Config{})
	runtime.ReadMemStats(&after)
	if err == nil || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), name+": its ") || !strings.Contains(err.Error(), "input.max_inflate") {
		t.Errorf("%d bytes that inflate to 80 MiB: error %v (%d), want one that names the file and input.max_inflate", packed.Len(), err, exitcode.Of(err))
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 256<<20 {
		t.Errorf("%d MiB were allocated", got>>20)
	}
}

// TestDenseBound verifies that two short lines cannot become rows of 240 MB each: the bound of
// inflated files holds for dense rows, too. The error names file and line.
func TestDenseBound(t *testing.T) {
	name := filepath.Join(t.TempDir(), "F")
	if err := os.WriteFile(name, []byte("1 1:1\n0 60000000:1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := libsvm.Open(t.Context(), []string{name}, libsvm.Config{Dense: true})
	if err == nil {
		t.Fatalf("the rows have %d columns, want an error", d.Facts().Features)
	}
	if !strings.Contains(err.Error(), name+":2: record 1 at byte 6: index is 60000000, ") || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v (%d), want one that names %s:2 and the index", err, exitcode.Of(err), name)
	}
	if _, err := libsvm.Open(t.Context(), []string{name}, libsvm.Config{Dense: true, Features: 60000001}); err != nil {
		t.Errorf("with the number of features: error %v", err)
	}
}
