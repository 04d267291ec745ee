//go:build !unix

package speed

import "time"

// cpuTime is the time of day: that of cores is not known here.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
