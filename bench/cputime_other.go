//go:build !unix

package bench

import "time"

// childrenTime is not known here.
func childrenTime() time.Duration { return 0 }
