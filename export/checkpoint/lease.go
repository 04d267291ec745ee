package checkpoint

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"
)

// A lease says who writes into a folder of checkpoints. It is the content of the file
// lease-ATTEMPT; the highest attempt holds the folder.
type lease struct {
	Schema  int    `json:"schema"`
	Job     string `json:"job"`
	Attempt int64  `json:"attempt"`
	Host    string `json:"host"` // name, for people
	process
	Time  time.Time `json:"time"`            // of the last renewal, by that host's clock: for people
	Ended bool      `json:"ended,omitempty"` // the writer has let go of the folder
}

// leaseSchema is the version of the record. Readers take what they know of another one.
const leaseSchema = 1

// The times of a lease.
const (
	// renewEvery is how often a holder renews its record.
	renewEvery = 5 * time.Second

	// freshFor is how long a record counts after its last renewal.
	freshFor = 30 * time.Second
)

// process identifies a process on its machine, so that another one there can find
// out whether it still lives.
type process struct {
	Machine string `json:"machine"` // boot and pid namespace; "" where that is not known
	PID     int    `json:"pid"`
	Started string `json:"started"` // by the kernel's clock: a pid is given out again
}

// encode returns the record as a file.
func (l lease) encode() []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic("checkpoint: lease cannot be encoded")
	}
	return append(text, '\n')
}

// readLease reads the record of an attempt. One that cannot be read, as the empty one
// of a writer that was killed while it wrote it, is of nobody: ok is false.
func readLease(dir string, attempt int64) (l lease, ok bool) {
	text, err := readBounded(filepath.Join(dir, leaseName(attempt)))
	if err != nil || json.Unmarshal(text, &l) != nil {
		return lease{Attempt: attempt}, false
	}
	l.Attempt = attempt
	return l, true
}

// gone reports whether the holder certainly writes no more: it has let go, or it was a
// process of this machine that is not there.
func (l lease) gone() bool {
	return l.Ended || l.Machine != "" && l.Machine == thisProcess().Machine && startOf(l.PID) != l.Started
}

// here reports whether the holder is a living process of this machine.
func (l lease) here() bool {
	return l.Machine != "" && l.Machine == thisProcess().Machine && !l.gone()
}

// String names the holder.
func (l lease) String() string {
	return fmt.Sprintf("job %s (pid %d on host %s, attempt %d)", l.Job, l.PID, l.Host, l.Attempt)
}
