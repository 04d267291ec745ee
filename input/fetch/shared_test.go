package fetch_test

import (
	"os"
	"path/filepath"
	"testing"

	"ringtrain/input/fetch"
	"ringtrain/input/realdata"
)

// TestShared verifies the sizes and sums of the catalog against the real files.
func TestShared(t *testing.T) {
	data := realdata.Path(t, "data")
	to := t.TempDir()
	for _, name := range fetch.Names() {
		if err := fetch.Fetch(t.Context(), name, data, to, nil); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "a8a", "int64-label", "a8a_test.libsvm.tfrecords")); err != nil {
		t.Error(err)
	}
}
