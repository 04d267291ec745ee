//go:build !linux

package cache

import "os"

// resident reports whether the system holds a file in memory. Other systems are not asked.
func resident(*os.File, int64) bool { return false }
