package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input/maskedcrc"
	"ringtrain/ring/exitcode"
)

// TestTensorOverlap verifies that tensors must not share bytes of the data file:
// otherwise a small bundle could expand to a GiB of memory.
func TestTensorOverlap(t *testing.T) {
	data := make([]byte, 1<<20)
	var entries []Entry
	for i := range 1000 {
		e := Entry{Name: fmt.Sprintf("t%04d", i), DType: DTFloat32, Shape: []int64{1 << 18}, Size: 1 << 20, CRC: maskedcrc.Of(data)}
		entries = append(entries, e)
	}
	_, err := Open(writtenBundle(t, encodeIndex(1, entries), data))
	refused(t, err, "overlaps")
}

// TestLongNames verifies that a small index cannot expand to very long names: an
// entry shares a prefix of its name with the previous entry.
func TestLongNames(t *testing.T) {
	w := newTableWriter()
	w.add("", appendHeader(nil, 1))
	w.data = newBlock(1 << 30) // without restarts
	w.data.add("", appendHeader(nil, 1))
	for i := range 20_000 {
		e := Entry{DType: DTFloat32, Shape: []int64{0}}
		w.data.add(fmt.Sprintf("%s%08d", strings.Repeat("x", 4000), i), e.appendTo(nil))
	}
	w.last = "y"
	index := w.finish()
	if len(index) > 1<<20 {
		t.Fatalf("the index has %d bytes, want few", len(index))
	}
	_, err := Open(writtenBundle(t, index, nil))
	refused(t, err, "names have more than")
}

func writtenBundle(t *testing.T, index, data []byte) (prefix string) {
	t.Helper()
	prefix = filepath.Join(t.TempDir(), "b")
	for name, content := range map[string][]byte{indexName(prefix): index, shardName(prefix, 0, 1): data} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return prefix
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v (%d), want one with %q and code %d", err, exitcode.Of(err), want, exitcode.BadData)
	}
}
