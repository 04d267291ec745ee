package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// compressed reports whether any block of an index is Snappy compressed.
func compressed(t *testing.T, table []byte) bool {
	t.Helper()
	_, rest, err := parseHandle(table[len(table)-footerBytes:])
	if err != nil {
		t.Fatal(err)
	}
	index, _, err := parseHandle(rest)
	if err != nil {
		t.Fatal(err)
	}
	found := table[index.offset+index.size] == blockSnappy
	b, err := readBlock(table, index)
	if err != nil {
		t.Fatal(err)
	}
	err = eachInBlock(b, 0, func(_ string, value []byte) error {
		h, _, err := parseHandle(value)
		found = found || table[h.offset+h.size] == blockSnappy
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestTensorFlowBundles verifies that every bundle of TensorFlow is read and written
// again with the same index, if that is not compressed. If the Saver ordered the data by
// name, the data must be equal too.
func TestTensorFlowBundles(t *testing.T) {
	var plain, snappy, whole, sharded int
	for _, prefix := range slices.Concat(bundlesIn(t, filepath.Join("..", "testdata")), bundlesIn(t, filepath.Join("..", "..", "model", "optimizer", "testdata"))) {
		name := filepath.ToSlash(prefix)
		index, err := os.ReadFile(indexName(prefix))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(prefix)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		defer r.Close()
		tensors, err := r.ReadAll()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(r.shards) > 1 {
			sharded++
		}
		if compressed(t, index) {
			snappy++
			continue
		}
		plain++
		if !bytes.Equal(encodeIndex(len(r.shards), r.entries), index) {
			t.Errorf("%s: the index differs when written again", name)
		}
		if inOrder(r) {
			whole++
			writeAgain(t, prefix, tensors)
		}
	}
	if plain < 20 || snappy < 3 || whole < 13 || sharded < 1 {
		t.Errorf("met %d plain and %d compressed indices, %d bundles laid out by name, %d of several shards: want at least 20, 3, 13, 1",
			plain, snappy, whole, sharded)
	}
}

// inOrder reports whether the data lie in the order of names, in one shard.
func inOrder(r *Reader) bool {
	return len(r.shards) == 1 && slices.IsSortedFunc(r.entries, func(a, b Entry) int {
		return int(a.Offset - b.Offset)
	})
}

func writeAgain(t *testing.T, prefix string, tensors []Tensor) {
	t.Helper()
	again := filepath.Join(t.TempDir(), "again")
	if _, err := Write(OS, again, tensors); err != nil {
		t.Fatal(err)
	}
	for _, name := range []func(string) string{
		indexName,
		func(p string) string { return shardName(p, 0, 1) },
	} {
		want, err := os.ReadFile(name(prefix))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name(again))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs when written again", name(prefix))
		}
	}
}
