package history

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringtrain/model/train/report"
)

// warning returns an event that is always kept.
func warning(text string) report.Warning { return report.Warning{Cause: text} }

// causes returns the causes of the warnings of a history, in order.
func causes(t *testing.T, dir string) []string {
	t.Helper()
	run, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range run.Events {
		if w, ok := s.Event.(report.Warning); ok {
			all = append(all, w.Cause)
		}
	}
	return all
}

// appendTo opens the history of a folder, adds events and closes it.
func appendTo(t *testing.T, dir string, events ...report.Event) {
	t.Helper()
	w, err := Open(dir, free, pass)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		w.Add(after(0, e))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTornLine verifies that a history whose last line is cut anywhere is read without that line, and goes
// on without it.
func TestTornLine(t *testing.T) {
	dir := t.TempDir()
	appendTo(t, dir, report.Start{}, warning("one"), warning("two"))
	whole, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndexByte(string(whole[:len(whole)-1]), '\n') + 1
	for cut := last; cut < len(whole); cut++ {
		if err := os.WriteFile(filepath.Join(dir, File), whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		if got := causes(t, dir); !slices.Equal(got, []string{"one"}) {
			t.Fatalf("cut at byte %d of %d, the history has %v, want the first warning", cut, len(whole), got)
		}
		appendTo(t, dir, warning("three"))
		if got := causes(t, dir); !slices.Equal(got, []string{"one", "three"}) {
			t.Fatalf("cut at byte %d of %d, the history goes on as %v, want the first and the third warning", cut, len(whole), got)
		}
	}
}

// TestGoesOn verifies that a Writer that opens a history goes on with its distances: the points of the
// resumed run are as far apart as those before.
func TestGoesOn(t *testing.T) {
	dir := t.TempDir()
	w, err := Open(dir, free, pass)
	if err != nil {
		t.Fatal(err)
	}
	w.Add(after(0, report.Start{}))
	w.Add(after(1000*time.Second, report.Failure{}))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err = Open(dir, free, pass); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.thin.gone != 1000*time.Second {
		t.Errorf("the run has gone for %v, want 1000s", w.thin.gone)
	}
}

// TestLostLease verifies that a Writer whose lease is lost leaves the history to its successor.
func TestLostLease(t *testing.T) {
	dir := t.TempDir()
	var lost error
	w, err := Open(dir, func() error { return lost }, pass)
	if err != nil {
		t.Fatal(err)
	}
	w.Add(after(0, warning("one")))
	w.wait()
	lost = errors.New("another process has taken over")
	w.Add(after(0, warning("two")))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := causes(t, dir); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the history has %v, want what was before the loss", got)
	}
}

// TestEnd verifies that the end of a job is appended to a history in place of that of rank 0, again after a resume, also
// that of a job that did not begin, and that no history is made for it.
func TestEnd(t *testing.T) {
	dir := t.TempDir()
	begun := true
	end := func(code int) {
		t.Helper()
		if err := End(dir, after(0, report.Failure{ExitCode: code}), begun); err != nil {
			t.Fatal(err)
		}
	}
	end(1)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Fatalf("%v is left, error %v", left, err)
	}
	appendTo(t, dir, report.Start{})
	end(2)
	end(3)
	appendTo(t, dir, report.Start{RestoredStep: 5}, report.Done{})
	end(4)
	begun = false
	end(5)
	run, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var codes []int
	for _, s := range run.Events {
		if e, ok := s.Event.(report.Failure); ok {
			codes = append(codes, e.ExitCode)
		}
	}
	if !slices.Equal(codes, []int{3, 4, 5}) {
		t.Errorf("the ends have codes %v, want 3, 4 and 5", codes)
	}
}

// disk is a file that takes so many bytes.
type disk struct {
	mu   sync.Mutex
	text []byte
	room int
}

func (d *disk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(d.room, len(p))
	d.text, d.room = append(d.text, p[:n]...), d.room-n
	if n < len(p) {
		return n, errors.New("no space left")
	}
	return n, nil
}

func (d *disk) Close() error { return nil }

// grow gives the disk more room.
func (d *disk) grow(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room += room
}

// TestFullDisk verifies for a disk that is full after any number of bytes, also amid a line, that the
// fault is told once, and that the history has all lines once the disk has room.
func TestFullDisk(t *testing.T) {
	var want []byte
	events := []report.Stamped{after(0, report.Start{}), after(1, warning("one")), after(2, warning("two")), after(3, warning("three"))}
	for _, s := range events {
		want = append(want, line(s)...)
	}
	for room := range want {
		d := &disk{room: room}
		w := newWriter(d, free, thinner{})
		faults := 0
		for _, s := range events {
			w.Add(s)
			w.wait()
			if w.Fault() != nil {
				faults++
			}
		}
		d.grow(len(want))
		if err := w.Close(); err != nil || faults != 1 || string(d.text) != string(want) {
			t.Fatalf("full after %d bytes: %d faults, want one; error %v, text\n%s\nwant\n%s", room, faults, err, d.text, want)
		}
	}
}

// TestDeafDisk verifies that a disk that does not answer holds up neither Add nor the memory: lines beyond
// the bound are left out, and whole ones are written once it answers.
func TestDeafDisk(t *testing.T) {
	d := &disk{room: 1 << 40}
	w := newWriter(d, free, thinner{})
	d.mu.Lock() // holds up the write
	text := strings.Repeat("x", 1000)
	for range 2 * maxPending / len(text) {
		w.Add(after(0, warning(text)))
	}
	w.mu.Lock()
	pending := len(w.pending)
	w.mu.Unlock()
	d.mu.Unlock()
	if err := w.Close(); err != nil || pending > maxPending || pending == 0 {
		t.Errorf("%d bytes wait, want at most %d; error %v", pending, maxPending, err)
	}
	if _, err := scan(strings.NewReader(string(d.text)), "file", func(report.Stamped) {}); err != nil {
		t.Error(err)
	}
}

// TestNoFile verifies that a link, a folder or a FIFO in place of the history is an error, and is not
// waited for.
func TestNoFile(t *testing.T) {
	for kind, place := range map[string]func(name string) error{
		"link":   func(name string) error { return os.Symlink("/dev/full", name) },
		"folder": func(name string) error { return os.Mkdir(name, 0o777) },
		"other":  func(name string) error { return os.WriteFile(name, []byte("epoch,loss\n1,0.5\n"), 0o666) },
	} {
		dir := t.TempDir()
		if err := place(filepath.Join(dir, File)); err != nil {
			t.Fatal(err)
		}
		if w, err := Open(dir, free, pass); err == nil {
			w.Close()
			t.Errorf("a %s is opened as a history", kind)
		}
	}
}
