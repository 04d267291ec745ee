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
	"ringtrain/ring/folder"
)

const (
	fileVersion = "brain.Event:2"
	writerName  = "ringtrain"

	// maxPending bounds the bytes of unwritten events. The Writer drops further events.
	maxPending = 1 << 20

	// interval is the minimum time between two writes, unless Push or Flush asks for
	// one. An event after a longer pause is written at once.
	interval = 200 * time.Millisecond
)

// file has the file operations that a Writer needs.
type file interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
}

// Writer writes one event file and owns the file. A goroutine writes while events are
// pending. Several goroutines may call the methods.
type Writer struct {
	file file
	name string
	size int64 // bytes of whole records in the file; used by the goroutine only

	mu      sync.Mutex
	idle    sync.Cond        // signals that writing is false
	last    map[string]int64 // newest step of each tag
	message []byte           // buffer of the record being added
	summary []byte           // buffer of its summary
	records *tfrecord.Writer // appends to pending
	pending buffer           // unwritten records
	spare   buffer           // memory of written records, for reuse
	leaving int              // bytes being written; pending again after a failure
	writing bool             // the goroutine is running
	planned bool             // a timer will start the goroutine
	began   time.Time        // start of the last write
	closed  bool
	failing bool  // the last write failed
	fault   error // its error, until Add or Flush returns it
}

type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// Create creates a file in dir, which it makes if necessary, for a run whose next step
// is from. The steps before from in existing files remain valid. There must be no other
// writer.
func Create(dir string, from int64, now time.Time) (*Writer, error) {
	w, err := create(dir, from, now)
	if err != nil {
		return nil, exitcode.With(exitcode.CannotCreate, err)
	}
	return w, nil
}

func create(dir string, from int64, now time.Time) (*Writer, error) {
	if err := folder.Make(dir); err != nil {
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

func newWriter(f file, name string, last map[string]int64) *Writer {
	w := &Writer{file: f, name: name, last: last}
	w.idle.L = &w.mu
	w.records = tfrecord.NewWriter(&w.pending)
	return w
}

// begin adds the two initial events.
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

// Add adds the scalars of a step. It omits a scalar whose tag already has that step or a
// later one. Add does not wait for the disk: it returns the fault of earlier scalars that
// could not be written, once. Once its buffers have grown, it allocates only a timer per
// write. The caller may reuse scalars.
func (w *Writer) Add(step int64, scalars []Scalar, now time.Time) error {
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
	if len(w.summary) > 0 && len(w.pending)+w.leaving < maxPending && !w.closed {
		w.message = appendSummary(w.message[:0], seconds(now), step, w.summary)
		w.put()
	}
	return w.takeFault()
}

// add adds a record. The caller holds the lock.
func (w *Writer) add(e *tfpb.Event) {
	var err error
	if w.message, err = (proto.MarshalOptions{}).MarshalAppend(w.message[:0], e); err != nil {
		panic("events: an event cannot be encoded") // the only cause is a tag that is not UTF-8
	}
	w.put()
}

// put adds w.message as a record. The caller holds the lock.
func (w *Writer) put() {
	w.records.Write(w.message) // into pending
	w.plan()
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// plan schedules a write, now or at the end of the interval. The caller holds the lock.
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

// start starts the goroutine that writes pending records. The caller holds the lock.
func (w *Writer) start() {
	if !w.writing && !w.closed {
		w.writing, w.began = true, time.Now()
		go w.drain()
	}
}

// Push starts a write of all events and does not wait.
func (w *Writer) Push() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start()
}

// drain writes pending records until none is left or a write fails. It releases the lock
// during a write.
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

// write appends batch to the file, completely or not at all.
func (w *Writer) write(batch []byte) error {
	if _, err := w.file.WriteAt(batch, w.size); err != nil {
		_ = w.file.Truncate(w.size) // if this fails, the next write overwrites the remains
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return bundle.Fault(fmt.Errorf("write %s: %w", w.name, err))
	}
	w.size += int64(len(batch))
	return nil
}

// takeFault returns the error of a failing disk once per failure, else nil. The Writer keeps
// the unwritten events and retries with the next event. The caller holds the lock.
func (w *Writer) takeFault() error {
	err := w.fault
	w.fault = nil
	return err
}

// Flush waits until all events are in the file or a write has failed. It returns the
// error that Add would return.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

// flush is Flush without the lock, which the caller holds. No write is in progress when
// flush returns.
func (w *Writer) flush() error {
	if len(w.pending) > 0 {
		w.start()
	}
	for w.writing {
		w.idle.Wait()
	}
	return w.takeFault()
}

// Close flushes and closes the file. It may be called more than once. Events that are
// added later are lost.
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
