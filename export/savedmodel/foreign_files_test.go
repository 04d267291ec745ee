package savedmodel

import (
	"os"
	"path/filepath"
	"testing"
)

// TestForeignFilesStay verifies that an export does not remove files of another program in
// the base.
func TestForeignFilesStay(t *testing.T) {
	base := t.TempDir()
	others := filepath.Join(base, ".tmp-upload", "variables")
	if err := os.MkdirAll(others, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(base, softmax(), trained(softmax()), DefaultNames(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(others); err != nil {
		t.Errorf("another program's folder: %v", err)
	}
}
