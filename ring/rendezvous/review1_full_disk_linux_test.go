package rendezvous

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"ringtrain/ring/exitcode"
)

// TestReview1FullDisk fills the disk under a journal, before and after the start. It fails
// if that ends a healthy job, if nobody is told, or if a rendezvous can go on from what the
// file has by then: it does not know the newest generation.
func TestReview1FullDisk(t *testing.T) {
	for _, when := range []string{"start", "end"} {
		t.Run("at="+when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { fullDisk(t, when == "start") })
		})
	}
}

func fullDisk(t *testing.T, atStart bool) {
	path := filepath.Join(t.TempDir(), "journal")
	j := openJournal(t, path)
	var mu sync.Mutex
	var lines []string
	s := serveInMemory(t, ServerConfig{Journal: j, Notice: func(l string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l)
	}})
	if atStart {
		fillDisk(t, j)
	}
	sessions := joinAll(t, s.workers(2)...)
	if !atStart {
		fillDisk(t, j)
	}
	leaveAll(t, sessions...)
	<-s.Done()
	if c := s.Cause(); c != nil {
		t.Errorf("the job ends by %v, want a clean end", c)
	}
	synctest.Wait()
	mu.Lock()
	text := strings.Join(lines, "\n")
	mu.Unlock()
	if strings.Count(text, path+" cannot be written (no space left on device)") != 1 || !strings.Contains(text, "the job goes on") {
		t.Errorf("people are told %q, want once that the job goes on without the journal", text)
	}
	s.Close()
	again, err := OpenJournal(path, "", 0)
	if err == nil {
		defer again.Close()
	}
	if err == nil && len(again.Records()) > 0 || err != nil && exitcode.Of(err) != exitcode.BadData {
		t.Errorf("opened again: error %v, want one with 65 or an empty journal", err)
	}
}

// fillDisk lets every write to the journal end as on a full disk.
func fillDisk(t *testing.T, j *FileJournal) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { full.Close() })
	j.f.Close()
	j.f = full
}
