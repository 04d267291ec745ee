package savedmodel

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringtrain/export/bundle"
)

// TestLeftovers verifies that an export removes the draft of a killed export, but no
// draft in use and no foreign folder.
func TestLeftovers(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{draftMark + ".tmp-dead/variables", "mine.tmp-x", ".probe.tmp-y"} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, draftMark+".tmp-dead", modelFile), []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	w := writer{bundle.NewDisk(bundle.OS, nil), base}
	living, err := w.newDraft()
	if err != nil {
		t.Fatal(err)
	}
	write := func() {
		t.Helper()
		if _, err := Write(testDisk(), base, softmax(), trained(softmax()), nil); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if got, want := list(t, base), []string{".probe.tmp-y", filepath.Base(living.path), "1", "mine.tmp-x"}; !slices.Equal(got, want) {
		t.Errorf("after an export beside a living one there are %q, want %q", got, want)
	}
	living.close() // like the end of its process
	write()
	if got, want := list(t, base), []string{".probe.tmp-y", "1", "2", "mine.tmp-x"}; !slices.Equal(got, want) {
		t.Errorf("after an export beside a dead one there are %q, want %q", got, want)
	}
}

// TestSharedBase verifies that concurrent exports into one base do not remove each
// other's drafts.
func TestSharedBase(t *testing.T) {
	const n = 8
	base := t.TempDir()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if _, err := Write(testDisk(), base, softmax(), trained(softmax()), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := strings.Join(list(t, base), " "); got != "1 2 3 4 5 6 7 8" {
		t.Errorf("there are %s, want versions 1 to %d", got, n)
	}
}

// TestForeignFilesStay verifies that an export does not remove files of another program in
// the base.
func TestForeignFilesStay(t *testing.T) {
	base := t.TempDir()
	others := filepath.Join(base, ".tmp-upload", "variables")
	if err := os.MkdirAll(others, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(testDisk(), base, softmax(), trained(softmax()), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(others); err != nil {
		t.Errorf("another program's folder: %v", err)
	}
}
