package netns

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

func supported() error { return nil }

// unshare makes a network namespace and returns the file that holds it. It runs on a locked
// thread, which ends with its goroutine.
//
// The process's first thread would not end: Go keeps it, and all that inspects the process's
// network later, such as /proc/self, would see the namespace. A goroutine on that thread
// therefore keeps it locked while another goroutine does the work.
func unshare() (*os.File, error) {
	type made struct {
		file *os.File
		err  error
	}
	done := make(chan made)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			defer runtime.UnlockOSThread()
			f, err := unshare()
			done <- made{f, err}
			return
		}
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- made{nil, os.NewSyscallError("unshare", err)}
			return
		}
		f, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
		done <- made{f, err}
	}()
	m := <-done
	return m.file, m.err
}
