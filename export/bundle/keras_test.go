package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestKerasFile verifies that a model file of Keras is refused by the line that makes a SavedModel of it, whatever reads it,
// and that a folder or another file is none.
func TestKerasFile(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]bool{"m.keras": true, "m.h5": true, "M.HDF5": true, "m.npz": false} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("PK"), 0o666); err != nil {
			t.Fatal(err)
		}
		err := KerasFile(path)
		if want && (exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "model.export(")) || !want && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Open(path); want != strings.Contains(err.Error(), "model.export(") {
			t.Errorf("%s as a checkpoint: %v", name, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.keras"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := KerasFile(filepath.Join(dir, "folder.keras")); err != nil {
		t.Errorf("a folder: %v", err)
	}
}
