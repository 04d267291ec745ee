package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestStateFileBounds verifies that a state file with thousands of missing checkpoints
// makes a short error, and that parsing it takes no more memory than its names.
func TestStateFileBounds(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("model_checkpoint_path: \"gone\"\n")
	for i := range 4000 {
		fmt.Fprintf(&b, "all_model_checkpoint_paths: \"gone-%d\"\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, "checkpoint"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	path, found, err := Latest(dir)
	runtime.ReadMemStats(&after)
	if found || err == nil || exitcode.Of(err) != exitcode.BadData {
		t.Fatalf("path %q, found %t, error %v (%d), want none and an error", path, found, err, exitcode.Of(err))
	}
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 64 {
		t.Errorf("%d MiB were allocated for a file of %d KiB", got, b.Len()>>10)
	}
	if text := err.Error(); strings.Count(text, "\n") > 50 || !strings.Contains(text, "and 980 more checkpoints") {
		t.Errorf("the error has %d lines, want a few, and the number of the others\n%.2000s", 1+strings.Count(text, "\n"), text)
	}
}
