package events

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

const (
	fileVersion = "brain.Event:2"
	writerName  = "ringtrain"

	// maxPending bounds what waits for the disk, in bytes. More is dropped.
	maxPending = 1 << 20

	// interval is the least time between two writes that nobody waits for. Events that
	// are further apart are written at once.
	interval = 200 * time.Millisecond
)

// File is what a Writer needs of a file.
type File interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
}

// Writer writes one event file, which it owns. A goroutine writes it while something is
// pending. The methods may be called by several goroutines at once.
type Writer struct {
	file File
	name string
	size int64 // of the whole records in the file; of the goroutine

	mu      sync.Mutex
	idle    sync.Cond        // writing is false
	last    map[string]int64 // newest step of each tag
	message []byte           // of the record that is added
	summary []byte           // in it
	records *tfrecord.Writer // to pending
	pending buffer           // records that are not written
	spare   buffer           // memory of those that are
	leaving int              // bytes that the goroutine is writing: pending again if that fails
	writing bool             // there is a goroutine
	planned bool             // there will be one, at the end of the interval
	began   time.Time        // of the last write
	closed  bool
	failing bool  // the last attempt has failed
	fault   error // of it, until somebody asks
}

type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// Check reports whether event files can be written into dir, which need not exist yet.
// The error has [exitcode.CannotCreate]. Nothing is left behind.
func Check(dir string) error { return bundle.Probe(bundle.OS, dir) }

// Create begins a file in dir, which it makes, for a run whose next step is from. What
// dir holds of steps before from stands; there shall be no other writer.
func Create(dir string, from int64, now time.Time) (*Writer, error) {
	w, err := create(dir, from, now)
	if err != nil {
		return nil, exitcode.With(exitcode.CannotCreate, err)
	}
	return w, nil
}

func create(dir string, from int64, now time.Time) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	there, err := Files(dir)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	path := filepath.Join(dir, name(there, now, host, os.Getpid()))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	w := newWriter(f, path, readHistory(there, from).last())
	w.begin(from, now)
	if err := w.Flush(); err != nil {
		return nil, errors.Join(err, w.Close(), os.Remove(path))
	}
	return w, nil
}

// New begins an empty file, which errors call name, for a run whose next step is from.
func New(f File, name string, from int64, now time.Time) *Writer {
	w := newWriter(f, name, map[string]int64{})
	w.begin(from, now)
	return w
}

func newWriter(f File, name string, last map[string]int64) *Writer {
	w := &Writer{file: f, name: name, last: last}
	w.idle.L = &w.mu
	w.records = tfrecord.NewWriter(&w.pending)
	return w
}

// begin adds the first two events.
func (w *Writer) begin(from int64, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(&tfpb.Event{
		WallTime: seconds(now), What: &tfpb.Event_FileVersion{FileVersion: fileVersion},
		SourceMetadata: &tfpb.SourceMetadata{Writer: writerName},
	})
	start := &tfpb.SessionLog{Status: tfpb.SessionLog_START}
	w.add(&tfpb.Event{WallTime: seconds(now), Step: from, What: &tfpb.Event_SessionLog{SessionLog: start}})
}

// Name is the path of the file.
func (w *Writer) Name() string { return w.name }

// Add adds the scalars of a step, but for those whose tag has that step or a later one.
// It does not wait for the disk. Once its memory has grown, it allocates nothing but a
// timer for each write of the file. The caller may reuse scalars.
func (w *Writer) Add(step int64, scalars []Scalar, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.summary = w.summary[:0]
	for _, s := range scalars {
		if newest, ok := w.last[s.Tag]; ok && step <= newest {
			continue
		}
		w.last[s.Tag] = step
		w.summary = appendValue(w.summary, s)
	}
	if len(w.summary) == 0 || len(w.pending)+w.leaving >= maxPending || w.closed {
		return
	}
	w.message = appendSummary(w.message[:0], seconds(now), step, w.summary)
	w.put()
}

// add has a record written. The caller has the lock.
func (w *Writer) add(e *tfpb.Event) {
	var err error
	if w.message, err = (proto.MarshalOptions{}).MarshalAppend(w.message[:0], e); err != nil {
		panic("events: an event cannot be encoded") // only a tag that is no UTF-8 can do that
	}
	w.put()
}

// put has w.message written as a record. The caller has the lock.
func (w *Writer) put() {
	w.records.Write(w.message) // into memory
	w.plan()
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// plan has what is pending written, now or at the end of the interval. The caller has the
// lock.
func (w *Writer) plan() {
	wait := interval - time.Since(w.began)
	switch {
	case w.writing || w.planned:
	case wait <= 0:
		w.start()
	default:
		w.planned = true
		time.AfterFunc(wait, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.planned = false
			w.start()
		})
	}
}

// start has a goroutine write what is pending. The caller has the lock.
func (w *Writer) start() {
	if !w.writing && !w.closed {
		w.writing, w.began = true, time.Now()
		go w.drain()
	}
}

// Push has all that was added written, and does not wait.
func (w *Writer) Push() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start()
}

// drain writes what is pending, until that fails. It has no lock while the disk works.
func (w *Writer) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for err := error(nil); len(w.pending) > 0 && err == nil; {
		batch := w.pending
		w.pending, w.spare, w.leaving = w.spare[:0], nil, len(batch)
		w.mu.Unlock()
		err = w.write(batch)
		w.mu.Lock()
		w.leaving = 0
		if err == nil {
			w.spare = batch
		} else {
			w.pending = append(batch, w.pending...)
		}
		if err != nil && !w.failing {
			w.fault = err
		}
		w.failing = err != nil
	}
	w.writing = false
	w.idle.Broadcast()
}

// write appends to the file, all or nothing.
func (w *Writer) write(batch []byte) error {
	if _, err := w.file.WriteAt(batch, w.size); err != nil {
		_ = w.file.Truncate(w.size) // the next attempt writes over what stays
		return bundle.Fault(w.named(err))
	}
	w.size += int64(len(batch))
	return nil
}

// named is err with the file's name.
func (w *Writer) named(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Errorf("write %s: %w", w.name, err)
}

// Fault returns why events are not on the disk, once for each time that the disk begins
// to fail, else nil. They are tried again with the next one.
func (w *Writer) Fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.takeFault()
}

// takeFault is Fault. The caller has the lock.
func (w *Writer) takeFault() error {
	err := w.fault
	w.fault = nil
	return err
}

// Flush waits until all that was added is in the file, or could not be written: then it
// returns what Fault would.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

// flush is Flush. The caller has the lock; nothing is being written when it returns.
func (w *Writer) flush() error {
	if len(w.pending) > 0 {
		w.start()
	}
	for w.writing {
		w.idle.Wait()
	}
	return w.takeFault()
}

// Close is Flush, and closes the file. It may be called more than once. What is added
// after it is lost.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.flush()
	if w.closed {
		return nil
	}
	w.closed = true
	return errors.Join(err, w.file.Close())
}
