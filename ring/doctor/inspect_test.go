package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspect verifies that a host describes itself, and names the folders that a job cannot
// write to.
func TestInspect(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := Inspect("1", "k", []Write{{"here", dir}, {"to be made", filepath.Join(dir, "a", "b")}, {"file", file}, {"below a file", filepath.Join(file, "a")}})
	if h.Version != "1" || h.Kernels != "k" || h.Cores < 1 || h.OpenFiles == 0 || h.Memory <= 0 || h.MemoryFree <= 0 || h.MemoryFree > h.Memory {
		t.Errorf("host is %+v", h)
	}
	for i, well := range []bool{true, true, false, false} {
		if d := h.Disks[i]; (d.Fault == "") != well || well != (d.Free > 0) {
			t.Errorf("%s: %d bytes free, fault %q; want well=%v", d.Key, d.Free, d.Fault, well)
		}
	}
	if d := h.Disks[2]; !strings.Contains(d.Fault, "is a file, want a folder") {
		t.Errorf("file: fault %q", d.Fault)
	}
}
