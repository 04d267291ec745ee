//go:build unix

package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// childrenTime is the time of cores that programs took which this one started,
// and which have ended.
func childrenTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
