package page

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInteropBrowser verifies in Chromium that reports of runs of each kind make no request, have the names that
// scripts may use, have no fault that axe-core finds, need no sideways scroll at 390 px, answer to the keyboard, and
// take texts of ranks as texts. PAGE_SHOTS names a folder for pictures of them.
func TestInteropBrowser(t *testing.T) {
	python, axe := os.Getenv("PAGE_PYTHON"), os.Getenv("AXE")
	if python == "" || axe == "" {
		t.Skip("set PAGE_PYTHON to a python with playwright and AXE to axe.min.js of axe-core to ask Chromium")
	}
	dir := cmp.Or(os.Getenv("PAGE_KEEP"), t.TempDir())
	for name, runs := range made() {
		var b bytes.Buffer
		if err := Report(&b, runs); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".html"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), python, "browse.py", dir, axe)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("browse.py: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}
