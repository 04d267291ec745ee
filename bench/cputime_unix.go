//go:build unix

package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// childrenTime returns the CPU time of all child processes that have ended.
func childrenTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
