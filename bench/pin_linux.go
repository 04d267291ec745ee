package bench

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin binds this goroutine to one of the process's cores, number i modulo their number.
// release undoes the binding. If the system refuses, pin does nothing.
func pin(i int) (release func()) {
	runtime.LockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil || all.Count() == 0 {
		return runtime.UnlockOSThread
	}
	left := i % all.Count()
	for core := 0; ; core++ {
		if !all.IsSet(core) {
			continue
		}
		if left == 0 {
			one.Set(core)
			break
		}
		left--
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		unix.SchedSetaffinity(0, &all)
		runtime.UnlockOSThread()
	}
}
