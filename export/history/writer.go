package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// File is the name of the history in a folder of checkpoints.
const File = "history.jsonl"

// maxPending bounds the bytes that wait for a disk that is full or does not answer. Further lines are left
// out.
const maxPending = 1 << 20

// A Writer appends the events of a run to the history of a folder. A goroutine writes while lines are
// pending, so Add never waits for the disk. Lines that a full disk does not take are written with a later event.
type Writer struct {
	file io.WriteCloser
	held func() error // of Open
	thin thinner

	mu      sync.Mutex
	idle    sync.Cond // signals that writing is false
	pending []byte    // lines that are not in the file, perhaps the rest of one first
	writing bool      // the goroutine runs
	failed  bool      // a write has failed
	fault   error     // of the first write that failed, until Fault returns it
}

// Open opens or makes the history of dir, hands the events in it to past, cuts a torn last line, and goes on behind it.
// The caller holds the folder's lease. The Writer passes over events once held returns an error, because the lease is
// lost.
func Open(dir string, held func() error, past func(report.Stamped)) (*Writer, error) {
	name := filepath.Join(dir, File)
	file, err := folder.Open(name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	var thin thinner
	use := func(s report.Stamped) {
		thin.add(s)
		past(s)
	}
	if err := goOn(file, name, use); err != nil {
		file.Close()
		return nil, err
	}
	thin.steps, thin.ranks = report.Stamped{}, report.Stamped{} // they are in the file
	return newWriter(file, held, thin), nil
}

// End appends the error with which a job has ended, if the history of dir is there. If the job has begun, it takes the
// place of an error of rank 0, which does not know the exit code of a rank that was killed. No process holds the
// folder's lease.
func End(dir string, s report.Stamped, begun bool) error {
	name := filepath.Join(dir, File)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil // log.history may be off
	}
	last := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
	if e, _ := report.Parse(text[last:]); begun && e.Event != nil && e.Kind() == s.Kind() {
		if err := os.Truncate(name, int64(last)); err != nil {
			return err
		}
	}
	w, err := Open(dir, free, pass)
	if err != nil {
		return err
	}
	w.Add(s)
	return w.Close()
}

// free is the lease of a folder that nobody holds, and pass is nobody who wants its events.
func free() error         { return nil }
func pass(report.Stamped) {}

// newWriter returns a Writer that appends to a file and owns it.
func newWriter(file io.WriteCloser, held func() error, thin thinner) *Writer {
	w := &Writer{file: file, held: held, thin: thin}
	w.idle.L = &w.mu
	return w
}

// goOn goes to the end of a file that is there.
func goOn(file *os.File, name string, use func(report.Stamped)) error {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", name)
	}
	if err != nil {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	whole, err := scan(file, name, use)
	if err == nil && whole < info.Size() {
		err = exitcode.With(exitcode.IO, file.Truncate(whole))
	}
	return err
}

// Add takes the next event of the run. Calls must not overlap.
func (w *Writer) Add(s report.Stamped) { w.append(w.thin.add(s)) }

// append makes the lines of events pending, and starts the goroutine if lines are.
func (w *Writer) append(events []report.Stamped) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held() != nil {
		w.pending = nil
		return
	}
	for _, s := range events {
		if text := line(s); len(w.pending)+len(text) <= maxPending {
			w.pending = append(w.pending, text...)
		}
	}
	if len(w.pending) > 0 && !w.writing {
		w.writing = true
		go w.write()
	}
}

// write is the goroutine.
func (w *Writer) write() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) > 0 {
		text := w.pending
		w.pending = nil
		w.mu.Unlock()
		n, err := w.file.Write(text)
		w.mu.Lock()
		w.pending = append(text[n:], w.pending...)
		if err == nil {
			continue
		}
		if !w.failed {
			w.failed, w.fault = true, err
		}
		break
	}
	w.writing = false
	w.idle.Broadcast()
}

// Fault returns the first fault of a write, once.
func (w *Writer) Fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.fault
	w.fault = nil
	return err
}

// Close writes what is gathered and closes the file. It returns a fault that Fault has not returned.
func (w *Writer) Close() error {
	w.append(w.thin.sums())
	w.wait()
	return errors.Join(w.Fault(), w.file.Close())
}

// wait waits until no write is under way.
func (w *Writer) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing {
		w.idle.Wait()
	}
}
