//go:build unix

package speed

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the time of cores that this process has taken.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
