package bench

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin keeps this goroutine on one of the cores that the process may use, the
// i-th, counted around. The goroutine is free again after the function that it
// returns. Where the system does not let it, nothing is done.
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
