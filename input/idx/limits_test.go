package idx_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"ringtrain/input/idx"
	"ringtrain/ring/exitcode"
)

// TestHeaderBounds verifies that the header of a compressed file does not determine
// the decompressed size: 100 MiB of a file of 100 kB are refused before the read if the
// header declares them, and during the read if it declares less.
func TestHeaderBounds(t *testing.T) {
	labels := save(t, "L", append([]byte{0, 0, 8, 1, 0, 0, 0, 1}, 5))
	for name, tt := range map[string]struct {
		count uint32 // number of images of 1 MiB
		most  uint64 // maximum allocation in bytes
	}{
		"a lot":        {100, 8 << 20},
		"all there is": {4095, 8 << 20},
		"little":       {1, 16 << 20},
	} {
		t.Run("wanted="+name, func(t *testing.T) {
			header := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 3}, tt.count)
			header = binary.BigEndian.AppendUint32(header, 1024)
			header = binary.BigEndian.AppendUint32(header, 1024)
			images := save(t, "I", packedHeader(header, 100))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d, err := idx.Open(t.Context(), images, labels, idx.Config{})
			runtime.ReadMemStats(&after)
			if err == nil {
				d.Close()
			}
			if err == nil || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), images) || !strings.Contains(err.Error(), "input.max_inflate") {
				t.Errorf("error %v (%d), want one that names the file and input.max_inflate", err, exitcode.Of(err))
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > tt.most {
				t.Errorf("%d KiB were allocated, want at most %d", got>>10, tt.most>>10)
			}
		})
	}
}

// packedHeader returns gzip of head and the given number of MiB of zeros.
func packedHeader(head []byte, mebibytes int) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	w.Write(head)
	for range mebibytes {
		w.Write(make([]byte, 1<<20))
	}
	w.Close()
	return packed.Bytes()
}

func save(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
