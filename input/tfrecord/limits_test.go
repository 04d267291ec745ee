package tfrecord_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// TestHugeIDs verifies that an id near 4·10⁹, or beyond any memory, is refused
// with file, record, offset, id and bound. The largest id below the bound is read.
func TestHugeIDs(t *testing.T) {
	for id, ok := range map[int64]bool{67108863: true, 67108864: false, 4000000000: false, 1 << 62: false} {
		var content bytes.Buffer
		w := tfrecord.NewWriter(&content)
		var e tfrecord.Encoder
		w.Write(e.AppendSparse(nil, 1, []uint32{3}, []float32{1}))
		offset := content.Len()
		w.Write(example(entry("label", ints(0)), entry("ids", ints(7, id)), entry("values", floats(1, 1))))
		name := save(t, content.Bytes())
		d, err := tfrecord.Open(t.Context(), []string{name}, tfrecord.Config{})
		if ok {
			if err != nil || d.Facts().Features != 67108864 {
				t.Errorf("id %d: error %v", id, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("id %d makes a data set of %d features, want an error", id, d.Facts().Features)
			continue
		}
		want := fmt.Sprintf("tfrecord: %s: record 1 at byte %d: feature \"ids\": id 1 is %d, want one in [0, 67108864), as input.max_features says", name, offset, id)
		if err.Error() != want || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("id %d: error %q (%d), want %q", id, err, exitcode.Of(err), want)
		}
	}
}

// TestInflateBound verifies that a small compressed file cannot exhaust the memory: a
// file with one good record of 72 MiB is refused after 64 MiB.
func TestInflateBound(t *testing.T) {
	for how, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed); return z },
		"zlib": func(w io.Writer) io.WriteCloser { z, _ := zlib.NewWriterLevel(w, zlib.BestSpeed); return z },
	} {
		t.Run("compression="+how, func(t *testing.T) {
			var packed bytes.Buffer
			w := pack(&packed)
			tfrecord.NewWriter(w).Write(make([]byte, 72<<20))
			w.Close()
			name := save(t, packed.Bytes())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d, err := tfrecord.Open(t.Context(), []string{name}, tfrecord.Config{Features: 10})
			runtime.ReadMemStats(&after)
			if err == nil {
				d.Close()
			}
			if err == nil || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), name+": its ") || !strings.Contains(err.Error(), "input.max_inflate") {
				t.Errorf("error %v (%d), want one that names the file and input.max_inflate", err, exitcode.Of(err))
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 68<<20 {
				t.Errorf("%d MiB were allocated, want 64 and little more", got>>20)
			}
		})
	}
}
