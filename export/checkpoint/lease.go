package checkpoint

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A lease names the writer of a folder of checkpoints. It is the content of the file
// lease-ATTEMPT. The highest attempt holds the folder.
type lease struct {
	Schema  int    `json:"schema"`
	Job     string `json:"job"`
	Attempt int64  `json:"attempt"`
	Host    string `json:"host"` // informational
	process
	Time  time.Time `json:"time"`            // of the last renewal, by the holder's clock; informational
	Ended bool      `json:"ended,omitempty"` // the writer released the folder
}

// leaseSchema is the version of the record. Readers ignore unknown fields of other
// versions.
const leaseSchema = 1

// Durations of a lease.
const (
	// renewInterval is the time between two renewals.
	renewInterval = 5 * time.Second

	// leaseTimeout is the age at which an unrenewed lease expires.
	leaseTimeout = 30 * time.Second
)

// process identifies a process on its machine, so that another process of this machine
// can determine whether it is alive.
type process struct {
	Machine string `json:"machine"` // boot id and pid namespace; "" if unknown
	PID     int    `json:"pid"`
	Started string `json:"started"` // start by the kernel's clock, because pids are reused
}

// encode returns the record as a file.
func (l lease) encode() []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic("checkpoint: lease cannot be encoded")
	}
	return append(text, '\n')
}

// readLease reads the record of an attempt. ok is false if the record is unreadable, for
// example empty because its writer was killed.
func readLease(dir string, attempt int64) (l lease, ok bool) {
	text, err := readBounded(filepath.Join(dir, leaseName(attempt)))
	if err != nil || json.Unmarshal(text, &l) != nil {
		return lease{Attempt: attempt}, false
	}
	l.Attempt = attempt
	return l, true
}

// over reports whether the holder has certainly stopped writing: it released the lease,
// or its process on this machine has ended.
func (l lease) over() bool {
	return l.Ended || l.Machine != "" && l.Machine == thisProcess().Machine && startOf(l.PID) != l.Started
}

// Holder returns the job that has written into a folder of checkpoints last, and whether it still may: it
// has not released the folder, and its process lives or has renewed the lease. It writes nothing, so the
// age of another host's lease is by the clock of this one. The job is "" if it is unknown.
func Holder(dir string) (job string, holds bool) {
	l, err := list(dir)
	if err != nil {
		return "", false
	}
	newest, ok := readLease(dir, l.newestLease())
	info, err := os.Stat(filepath.Join(dir, leaseName(newest.Attempt)))
	if !ok || err != nil {
		return "", false
	}
	return newest.Job, !newest.over() && time.Since(info.ModTime()).Abs() < leaseTimeout
}

// String names the holder.
func (l lease) String() string {
	return fmt.Sprintf("job %s (pid %d on host %s, attempt %d)", l.Job, l.PID, l.Host, l.Attempt)
}
