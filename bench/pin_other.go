//go:build !linux

package bench

import "runtime"

// pin does nothing: this system cannot bind a thread to a core.
func pin(int) (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
