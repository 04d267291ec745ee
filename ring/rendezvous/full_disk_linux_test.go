package rendezvous

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/journal"
)

// TestFullDisk verifies that a full disk under the journal does not end a healthy job, that
// people are notified, and that no rendezvous can continue from the file afterwards.
func TestFullDisk(t *testing.T) {
	for _, when := range []string{"start", "end"} {
		t.Run("at="+when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { fullDisk(t, when == "start") })
		})
	}
}

func fullDisk(t *testing.T, atStart bool) {
	path := filepath.Join(t.TempDir(), "journal")
	j := journalAt(t, path)
	var mu sync.Mutex
	var lines []string
	s := serveInMemory(t, ServerConfig{Journal: j, Notice: func(l string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l)
	}})
	if atStart {
		fillDisk(t, path)
	}
	sessions := joinAll(t, s.workers(2)...)
	if !atStart {
		fillDisk(t, path)
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
	again, err := journal.Open(path, "", 0)
	if err == nil {
		defer again.Close()
	}
	if err == nil && len(again.Records()) > 0 || err != nil && exitcode.Of(err) != exitcode.BadData {
		t.Errorf("opened again: error %v, want one with 65 or an empty journal", err)
	}
}

// fillDisk makes every write to the journal at path fail as on a full disk: /dev/full replaces the
// open file.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range open {
		if file, err := os.Readlink(link); err != nil || file != path {
			continue
		}
		fd, err := strconv.Atoi(filepath.Base(link))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Dup3(int(full.Fd()), fd, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("%s is not open", path)
}
