package checkpoint

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
)

// Folder is a folder of checkpoints that this process holds, and may write into until
// another one takes it over.
type Folder struct {
	fs  bundle.FS
	dir string
	own lease

	made   bool  // the folder, by Claim
	saved  bool  // at least one checkpoint
	pinned int64 // step whose checkpoint stays whatever keep says; 0: none

	attempts map[string]int64 // of the step folders that were looked into
	taken    map[string]bool  // step folders that were there, or that this process wrote

	record sync.Mutex // held while the record is written
	ended  bool       // guarded by record

	mu     sync.Mutex // guards what follows
	lost   error      // why this process may write no more
	timer  *time.Timer
	closed bool
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *Folder) temporary(name string) string { return temporaryOf(f.path(name), f.own.Attempt) }

// Pin keeps the newest checkpoint of a step, whatever keep of Save is, until another step
// is pinned; 0: of none.
func (f *Folder) Pin(step int64) { f.pinned = step }

// OfStep returns the newest checkpoint of a step.
func (f *Folder) OfStep(step int64) (path string, found bool) {
	all, err := f.newestFirst()
	if err != nil {
		return "", false
	}
	for _, c := range all {
		if c.step == step {
			return c.path, true
		}
	}
	return "", false
}

// attemptOf returns the attempt that wrote a step folder. What has a name does not
// change, so it is read once.
func (f *Folder) attemptOf(name string) (int64, error) {
	if attempt, ok := f.attempts[name]; ok {
		return attempt, nil
	}
	attempt, err := readAttempt(f.path(name))
	if err == nil {
		f.attempts[name] = attempt
	}
	return attempt, err
}

// Held returns an error with [exitcode.Retry] if another process has taken the folder
// over. It looks; Lost does not.
func (f *Folder) Held() error {
	if err := f.Lost(); err != nil {
		return err
	}
	l, err := list(f.dir)
	newest := l.newestLease()
	if err != nil || newest <= f.own.Attempt {
		return err
	}
	holder, _ := readLease(f.dir, newest)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = exitcode.With(exitcode.Retry,
		fmt.Errorf("%s: %v has taken over from this process, attempt %d, which writes no more", f.dir, holder, f.own.Attempt))
	return f.lost
}

// Lost returns why this process may write no more, as far as it has noticed; nil if it
// may. With Keep it notices within 5 s.
func (f *Folder) Lost() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// Keep renews the record until Close.
func (f *Folder) Keep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timer = time.AfterFunc(renewEvery, func() {
		_ = f.renew(false) // a disk that takes no record for a while costs the lease at most
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.lost == nil && !f.closed {
			f.timer.Reset(renewEvery)
		}
	})
}

// renew writes the record again.
func (f *Folder) renew(ended bool) error {
	f.record.Lock()
	defer f.record.Unlock()
	if f.ended {
		return nil
	}
	if err := f.Held(); err != nil {
		return err
	}
	f.ended = ended
	own := f.own
	own.Time, own.Ended = time.Now().UTC(), ended
	tmp := f.temporary(leaseName(own.Attempt))
	err := writeUnsynced(f.fs, tmp, own.encode())
	if err == nil {
		err = f.fs.Rename(tmp, f.path(leaseName(own.Attempt)))
	}
	if err != nil {
		_ = bundle.RemoveAll(f.fs, tmp)
	}
	return err
}

// writeUnsynced creates a file. What is in it after a power failure does not matter.
func writeUnsynced(fsys bundle.FS, name string, data []byte) error {
	out, err := fsys.Create(name)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Close())
}

// Close lets go of the folder: the next job need not wait. It is no error if another
// process has it by now.
func (f *Folder) Close() error {
	f.mu.Lock()
	if f.closed = true; f.timer != nil {
		f.timer.Stop()
	}
	f.mu.Unlock()
	end := func() error { return f.renew(true) }
	if f.own.Attempt == 1 && !f.saved {
		end = f.undo
	}
	if err := end(); err != nil && f.Lost() == nil {
		return bundle.Fault(fmt.Errorf("%s: %w", f.dir, err))
	}
	return nil
}

// undo leaves the folder as it was before anybody claimed it: a job that saves nothing
// leaves nothing behind.
func (f *Folder) undo() error {
	f.record.Lock()
	defer f.record.Unlock()
	if f.ended {
		return nil
	}
	if err := f.Held(); err != nil {
		return err
	}
	f.ended = true
	err := bundle.RemoveAll(f.fs, f.path(leaseName(f.own.Attempt)))
	if f.made {
		_ = f.fs.Remove(f.dir) // if it is empty
	}
	return err
}
