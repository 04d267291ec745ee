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

// Folder is a folder of checkpoints of which this process holds the lease. The process
// may write into the folder until another one takes the lease over.
type Folder struct {
	fs  *bundle.Disk
	dir string
	own lease

	made   []string // folders that Claim made
	saved  bool     // this process saved a checkpoint
	pinned int64    // step whose newest checkpoint Save never removes; 0: none

	attempts map[string]int64 // by step folder: a cache of attemptOf
	taken    map[string]bool  // names of step folders seen or written

	record sync.Mutex // locked while the lease record is written
	ended  bool       // guarded by record

	mu     sync.Mutex // guards the fields below
	lost   error      // why this process may no longer write
	timer  *time.Timer
	closed bool
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *Folder) temporary(name string) string { return temporaryOf(f.path(name), f.own.Attempt) }

// Pin makes Save keep the newest checkpoint of a step, whatever its argument keep is,
// until another step is pinned. Step 0 pins none.
func (f *Folder) Pin(step int64) { f.pinned = step }

// OfStep returns the path of the newest checkpoint of a step.
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

// attemptOf returns the attempt that wrote a step folder. A named folder never changes,
// so attemptOf reads each folder once.
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

// CheckLease reads the newest lease record. It returns an error with [exitcode.Retry] if
// another process has taken over the folder.
func (f *Folder) CheckLease() error {
	if err := f.LeaseError(); err != nil {
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
		fmt.Errorf("%s: %v has taken over from this process, attempt %d, which no longer writes", f.dir, holder, f.own.Attempt))
	return f.lost
}

// LeaseError returns the error of the last check of the lease, nil if this process may
// write. It does not read the disk. With Keep the error appears within 5 s of a
// takeover.
func (f *Folder) LeaseError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// Keep renews the lease periodically until Close.
func (f *Folder) Keep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timer = time.AfterFunc(renewInterval, func() {
		_ = f.renew(false) // a disk that refuses renewals costs at most the lease
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.lost == nil && !f.closed {
			f.timer.Reset(renewInterval)
		}
	})
}

// renew writes the lease record again, as released if ended is true. A job without a checkpoint
// leaves no files of this package behind: the folder is then as it was before Claim, but for a history.
func (f *Folder) renew(ended bool) error {
	f.record.Lock()
	defer f.record.Unlock()
	if f.ended {
		return nil
	}
	if err := f.CheckLease(); err != nil {
		return err
	}
	f.ended = ended
	if ended && f.own.Attempt == 1 && !f.saved {
		f.fs.Discard(f.path(leaseName(f.own.Attempt)))
		for _, dir := range f.made {
			_ = f.fs.Remove(dir) // a folder with files stays
		}
		return nil
	}
	own := f.own
	own.Time, own.Ended = time.Now().UTC(), ended
	return f.replace(f.path(leaseName(own.Attempt)), own.encode(), writeUnsynced)
}

// replace writes a file by one rename, if this process still holds the lease. write
// creates the temporary.
func (f *Folder) replace(name string, data []byte, write func(bundle.FS, string, []byte) error) error {
	tmp := temporaryOf(name, f.own.Attempt)
	err := write(f.fs, tmp, data)
	if err == nil {
		err = f.CheckLease()
	}
	if err == nil {
		err = f.fs.Rename(tmp, name)
	}
	if err != nil {
		_ = bundle.RemoveAll(f.fs, tmp)
	}
	return err
}

// writeUnsynced creates a file without a sync. The file may be lost in a power failure.
func writeUnsynced(fsys bundle.FS, name string, data []byte) error {
	out, err := fsys.Create(name)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Close())
}

// Close releases the lease, so that the next job need not wait. It returns no error if
// another process has taken over the folder.
func (f *Folder) Close() error {
	f.mu.Lock()
	f.closed = true
	if f.timer != nil {
		f.timer.Stop()
	}
	f.mu.Unlock()
	if err := f.renew(true); err != nil && f.LeaseError() == nil {
		return bundle.Fault(fmt.Errorf("%s: %w", f.dir, err))
	}
	return nil
}
