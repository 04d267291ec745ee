package savedmodel

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReview10Draft fails if an export removes what another program has left in the base,
// or is writing there.
func TestReview10Draft(t *testing.T) {
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
