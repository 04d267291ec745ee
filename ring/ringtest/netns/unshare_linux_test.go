package netns

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOwnNetwork verifies that making namespaces does not move the process into one, which would
// cut it off from the machine's network. That could happen if the process's first thread did the
// work, so the test offers this thread.
func TestOwnNetwork(t *testing.T) {
	needNamespaces(t)
	before := ownNetwork(t)
	if err := mustNew(t, Config{Hosts: 1}).Close(); err != nil {
		t.Error(err)
	}
	done := make(chan bool)
	first := func() {
		defer close(done)
		if unix.Gettid() != os.Getpid() {
			t.Error("this is not the first thread, so the test shows nothing")
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that the other goroutine runs on this thread too
		runtime.UnlockOSThread()
		f, err := unshare()
		if err != nil {
			t.Error(err)
			return
		}
		f.Close()
	}
	select {
	case onFirstThread <- first:
		<-done
	default: // a second run, with -count: the thread is no longer available
	}
	if now := ownNetwork(t); now != before {
		t.Errorf("the process is in %s, was in %s", now, before)
	}
}

func ownNetwork(t *testing.T) string {
	t.Helper()
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// onFirstThread receives a function that a test runs on the process's first thread.
var onFirstThread = make(chan func())

// TestMain keeps the first thread, on which it starts, for onFirstThread.
func TestMain(m *testing.M) {
	runtime.LockOSThread()
	code := make(chan int)
	go func() { code <- m.Run() }()
	select {
	case f := <-onFirstThread:
		f()
		os.Exit(<-code)
	case c := <-code:
		os.Exit(c)
	}
}
