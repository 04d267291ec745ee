package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// Claim takes over the folder dir for a job, with the next higher attempt. After Claim
// no earlier writer can publish: each publishes by renaming a temporary, and Claim
// removes all earlier temporaries.
//
// The same job takes over at once. The folder of another job is free if that job has
// released the lease, if its process ran on this machine and has ended, or if its lease
// was not renewed for 30 s. Otherwise Claim calls notice and waits. If the holder renews
// the lease or lives on this machine, Claim returns an error with [exitcode.Retry] that
// names the holder.
//
// The age of a lease is the difference of two file times in the folder. The clocks of
// hosts do not matter if the file server stamps files; otherwise they may differ by 20
// s.
func Claim(ctx context.Context, disk *bundle.Disk, dir, job string, notice func(string)) (*Folder, error) {
	host, _ := os.Hostname() // "" where there is none
	f := &Folder{fs: disk, dir: dir, attempts: map[string]int64{}, taken: map[string]bool{}}
	f.own = lease{Schema: leaseSchema, Job: job, Host: host, process: thisProcess()}
	var err error
	if f.made, err = bundle.MkdirAll(f.fs, dir); err == nil {
		_, err = folder.File(f.path(stateFile))
	}
	if err == nil {
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

// maxAttempt bounds attempts. Only a damaged record can exceed it.
const maxAttempt = 1 << 62

// pollInterval is the time between two looks at another job's lease.
const pollInterval = 500 * time.Millisecond

// awaitFree blocks until no other job holds the folder.
func (f *Folder) awaitFree(ctx context.Context, notice func(string)) error {
	var first lease
	for {
		l, err := list(f.dir)
		if err != nil {
			return err
		}
		holder, ok := readLease(f.dir, l.newestLease())
		if !ok || holder.over() || holder.Job == f.own.Job {
			return nil
		}
		age, err := f.age(holder.Attempt)
		if err != nil || age.Abs() >= leaseTimeout {
			return err
		}
		if first.Attempt == 0 {
			first = holder
		}
		if holder.Machine != "" && holder.Machine == f.own.Machine || holder != first {
			return exitcode.With(exitcode.Retry, fmt.Errorf("%s is in use by %v, which renewed its lease %v ago: end that job, or use another folder; "+
				"the lease of a dead job expires after %v", f.dir, holder, age.Round(time.Second), leaseTimeout))
		}
		if notice != nil {
			notice(fmt.Sprintf("%s was in use by %v until %v ago: waiting %v for a renewal of its lease",
				f.dir, holder, age.Round(time.Second), (leaseTimeout - age).Round(time.Second)))
			notice = nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}

// age returns the time since the lease of an attempt was written, by the clock that
// stamps the folder's files.
func (f *Folder) age(attempt int64) (time.Duration, error) {
	tmp := temporaryOf(f.path(leaseName(attempt+1)), attempt+1)
	if err := bundle.WriteFile(f.fs, tmp, nil); err != nil {
		return 0, err
	}
	now, err := os.Stat(tmp)
	f.fs.Discard(tmp)
	if err != nil {
		return 0, err
	}
	then, err := os.Stat(f.path(leaseName(attempt)))
	if errors.Is(err, fs.ErrNotExist) {
		return leaseTimeout, nil // a later attempt has removed it
	}
	if err != nil {
		return 0, err
	}
	return now.ModTime().Sub(then.ModTime()), nil
}

// raise tries to acquire the next attempt. own.Attempt stays 0 if another process was
// faster.
func (f *Folder) raise() error {
	l, err := list(f.dir)
	if err != nil {
		return err
	}
	next := l.newestLease()
	for _, name := range l.steps { // lease records may be missing, as in a copy of the folder
		attempt, _ := f.attemptOf(name) // 0 if unreadable
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
	// A process that was suspended after list may have created an attempt that is no
	// longer the highest.
	if l, err = list(f.dir); err == nil && l.newestLease() > own.Attempt {
		f.fs.Discard(name)
		return nil
	}
	f.own = own
	return err
}

// settle removes temporaries and leases of earlier attempts, and records the names in
// use. Another process may be about to remove or replace a folder that it listed, so a
// name is never used twice.
func (f *Folder) settle() error {
	l, err := list(f.dir)
	if err != nil {
		return err
	}
	f.sweep(l)
	for _, attempt := range l.leases {
		if attempt < f.own.Attempt {
			f.fs.Discard(f.path(leaseName(attempt)))
		}
	}
	for _, name := range l.steps {
		f.taken[name] = true
	}
	return nil
}

// sweep removes the temporaries of earlier attempts and this attempt's own leftovers,
// except those of the lease, which may be in use.
func (f *Folder) sweep(l listing) {
	f.discard(slices.DeleteFunc(l.leftovers, func(left leftover) bool {
		return left.attempt > f.own.Attempt || left.attempt == f.own.Attempt && left.lease
	}))
}
