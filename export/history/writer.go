package history

import (
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

const (
	// maxQueue bounds the lines that wait for a disk that does not answer. Further ones are left out.
	maxQueue = 256

	// maxUnwritten bounds the bytes that wait for a full disk. Further lines are left out.
	maxUnwritten = 1 << 20
)

// A Writer appends the events of a run to the history of a folder. A goroutine writes, so that Add never
// waits for the disk. What a full disk does not take is written with the next event that it takes.
type Writer struct {
	file  io.WriteCloser
	thin  thinner
	lines chan []byte
	done  chan struct{} // closed when the goroutine has ended

	mu    sync.Mutex
	fault error // of the first write that failed, until Fault returns it
	told  bool  // a write has failed
}

// Open opens or makes the history of dir, cuts a torn last line, and goes on behind it. The caller holds
// the folder's lease. Close ends the Writer.
func Open(dir string) (*Writer, error) {
	name := filepath.Join(dir, File)
	file, err := folder.Open(name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	var thin thinner
	if err := goOn(file, name, &thin); err != nil {
		file.Close()
		return nil, err
	}
	return newWriter(file, thin), nil
}

// newWriter returns a Writer that appends to a file and owns it.
func newWriter(file io.WriteCloser, thin thinner) *Writer {
	w := &Writer{file: file, thin: thin, lines: make(chan []byte, maxQueue), done: make(chan struct{})}
	go w.write()
	return w
}

// goOn goes to the end of a file that is there, with the thinner of its events.
func goOn(file *os.File, name string, thin *thinner) error {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", name)
	}
	if err != nil {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	whole, err := scan(file, name, func(s report.Stamped) { thin.add(s) })
	if err == nil && whole < info.Size() {
		err = exitcode.With(exitcode.IO, file.Truncate(whole))
	}
	thin.steps, thin.ranks = report.Stamped{}, report.Stamped{} // they are in the file
	return err
}

// Add takes the next event of the run. Calls must not overlap.
func (w *Writer) Add(s report.Stamped) {
	for _, kept := range w.thin.add(s) {
		select {
		case w.lines <- line(kept):
		default:
		}
	}
}

// write is the goroutine.
func (w *Writer) write() {
	defer close(w.done)
	var rest []byte // what is not written yet: whole lines, behind the end of the one in the file
	for text := range w.lines {
		if len(rest)+len(text) <= maxUnwritten {
			rest = append(rest, text...)
		}
		n, err := w.file.Write(rest)
		rest = append(rest[:0], rest[n:]...)
		if err != nil {
			w.fail(err)
		}
	}
}

func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.told {
		w.fault, w.told = err, true
	}
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
	for _, s := range w.thin.sums() {
		w.lines <- line(s)
	}
	close(w.lines)
	<-w.done
	err := w.file.Close()
	if fault := w.Fault(); fault != nil {
		return fault
	}
	return err
}
