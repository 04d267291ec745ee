//go:build !linux

package bench

import "runtime"

// pin cannot choose a core here.
func pin(int) (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
