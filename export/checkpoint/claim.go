package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
)

// Claim takes over the folder dir for a job, with the next higher attempt. From then on
// no earlier writer can publish anything in it: each publishes by renaming a temporary,
// and Claim removes theirs.
//
// The same job takes over at once. The folder of another job is free if that has let go
// of it, if its process was one of this machine and is gone, or if its record was not
// renewed for 30 s. Otherwise Claim tells notice, and waits for either: if the record is
// renewed, or its process lives on this machine, the error has [exitcode.Retry] and
// names the holder.
//
// The age of a record is the difference of two file times in the folder: hosts' clocks
// do not matter where the file server stamps files, and may differ by 20 s elsewhere.
func Claim(ctx context.Context, fsys bundle.FS, dir, job string, notice func(string)) (*Folder, error) {
	host, _ := os.Hostname() // "" where there is none
	f := &Folder{fs: fsys, dir: dir, attempts: map[string]int64{}, taken: map[string]bool{}}
	f.own = lease{Schema: leaseSchema, Job: job, Host: host, process: thisProcess()}
	_, err := os.Stat(dir)
	f.made = errors.Is(err, fs.ErrNotExist)
	if err = bundle.MkdirAll(fsys, dir); err == nil {
		err = f.awaitFree(ctx, notice)
	}
	for err == nil && f.own.Attempt == 0 {
		err = f.raise()
	}
	if err == nil {
		err = f.settle()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, bundle.Fault(err)
	}
	return f, nil
}

// maxAttempt bounds attempts: no writer comes near it, but a damaged record may.
const maxAttempt = 1 << 62

// lookEvery is how often Claim looks whether another job's record is renewed.
const lookEvery = 500 * time.Millisecond

// awaitFree returns nil when no other job holds the folder.
func (f *Folder) awaitFree(ctx context.Context, notice func(string)) error {
	var first lease
	for {
		l, err := list(f.dir)
		if err != nil {
			return err
		}
		holder, ok := readLease(f.dir, l.newestLease())
		if !ok || holder.gone() || holder.Job == f.own.Job {
			return nil
		}
		age, err := f.age(holder.Attempt)
		if err != nil || age.Abs() >= freshFor {
			return err
		}
		if first.Attempt == 0 {
			first = holder
		}
		if holder.here() || holder != first {
			return exitcode.With(exitcode.Retry, fmt.Errorf("%s is in use by %v, which renewed its lease %v ago: end that job, or use another folder; "+
				"a folder whose job is gone without a word is free %v later", f.dir, holder, age.Round(time.Second), freshFor))
		}
		if notice != nil {
			notice(fmt.Sprintf("%s was in use by %v until %v ago: waiting %v for a sign of life",
				f.dir, holder, age.Round(time.Second), (freshFor - age).Round(time.Second)))
			notice = nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookEvery):
		}
	}
}

// age is the time since the record of an attempt was written, by the clock that stamps
// files in the folder.
func (f *Folder) age(attempt int64) (time.Duration, error) {
	tmp := temporaryOf(f.path(leaseName(attempt+1)), attempt+1)
	if err := bundle.WriteFile(f.fs, tmp, nil); err != nil {
		return 0, err
	}
	now, err := os.Stat(tmp)
	if err := errors.Join(err, bundle.RemoveAll(f.fs, tmp)); err != nil {
		return 0, err
	}
	then, err := os.Stat(f.path(leaseName(attempt)))
	if errors.Is(err, fs.ErrNotExist) {
		return freshFor, nil // a later attempt has removed it
	}
	if err != nil {
		return 0, err
	}
	return now.ModTime().Sub(then.ModTime()), nil
}

// raise tries to make the next attempt this process's; own.Attempt stays 0 if another
// process was faster.
func (f *Folder) raise() error {
	l, err := list(f.dir)
	if err != nil {
		return err
	}
	next := l.newestLease()
	for _, name := range l.steps { // records may be lost, as in a copy
		attempt, _ := f.attemptOf(name) // one that cannot be read is nobody's
		next = max(next, attempt)
	}
	if next >= maxAttempt {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s: attempt is %d, want less than %d", f.dir, next, int64(maxAttempt)))
	}
	own := f.own
	own.Attempt, own.Time = next+1, time.Now().UTC()
	name := f.path(leaseName(own.Attempt))
	switch err := bundle.WriteFile(f.fs, name, own.encode()); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		_ = f.fs.Remove(name)
		return err
	}
	if err := f.fs.SyncDir(f.dir); err != nil {
		return err
	}
	// A process that stood still since it looked may have made a number that was passed.
	if l, err = list(f.dir); err == nil && l.newestLease() > own.Attempt {
		return f.fs.Remove(name)
	}
	f.own = own
	return err
}

// settle ends what earlier attempts have under way, and learns which names are taken.
// Another process may be about to remove or replace a folder that it found here, so a
// name that was ever seen is not given again.
func (f *Folder) settle() error {
	l, err := list(f.dir)
	if err != nil {
		return err
	}
	if err := f.sweep(l); err != nil {
		return err
	}
	for _, attempt := range l.leases {
		if attempt < f.own.Attempt {
			if err := bundle.RemoveAll(f.fs, f.path(leaseName(attempt))); err != nil {
				return err
			}
		}
	}
	for _, name := range l.steps {
		f.taken[name] = true
	}
	return nil
}

// sweep removes the temporaries of earlier attempts, and those that this one has left.
// The record has its own, which may be in use. An earlier writer may be about to publish
// a temporary: it is taken away whole before it is removed.
func (f *Folder) sweep(l listing) error {
	for _, left := range l.leftovers {
		name := f.path(left.name)
		switch {
		case left.attempt > f.own.Attempt, left.attempt == f.own.Attempt && left.lease:
			continue
		case left.attempt < f.own.Attempt:
			aside := f.temporary(left.of)
			err := f.fs.Rename(name, aside)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it is published, or its writer has removed it
			}
			if err != nil {
				return err
			}
			name = aside
		}
		if err := bundle.RemoveAll(f.fs, name); err != nil {
			return err
		}
	}
	return nil
}
