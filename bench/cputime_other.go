//go:build !unix

package bench

import "time"

// childrenTime returns 0: this system has no such figure.
func childrenTime() time.Duration { return 0 }
